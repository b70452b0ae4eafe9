// The CUDA C side of scan.rs.

__device__ __forceinline__ unsigned warp_scan(unsigned sum) {
    unsigned lane = threadIdx.x % 32;
    for (unsigned delta = 1; delta < 32; delta *= 2) {
        unsigned below = __shfl_up_sync(0xffffffffu, sum, delta);
        if (lane >= delta) sum += below;
    }
    return sum;
}

__device__ __forceinline__ unsigned of_lane(unsigned value, unsigned lane) { return __shfl_sync(0xffffffffu, value, lane); }

// The sum over the warps of the block before this one, and over all.
template <unsigned WARPS> __device__ __forceinline__ unsigned scan_of_warps(unsigned of_warp, unsigned *all) {
    __shared__ unsigned sums[WARPS];
    unsigned warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    __syncthreads();
    if (lane == 0) sums[warp] = of_warp;
    __syncthreads();
    unsigned inclusive = warp_scan(lane < WARPS ? sums[lane] : 0);
    *all = of_lane(inclusive, 31);
    return of_lane(inclusive, warp) - of_warp;
}

__device__ __forceinline__ unsigned sum(uint4 v) { return v.x + v.y + v.z + v.w; }

// A block has a tile of 2048 vectors.
extern "C" __global__ void __launch_bounds__(512) scan_sums(const uint4 *__restrict__ x, unsigned *__restrict__ sums, size_t n) {
    unsigned own = 0, all;
#pragma unroll
    for (unsigned k = 0; k < 2048; k += 512) {
        size_t i = blockIdx.x * (size_t)2048 + k + threadIdx.x;
        if (i < n) own += sum(x[i]);
    }
    scan_of_warps<16>(of_lane(warp_scan(own), 31), &all);
    if (threadIdx.x == 0) sums[blockIdx.x] = all;
}

extern "C" __global__ void __launch_bounds__(1024) scan_offsets(uint4 *__restrict__ sums, size_t n) {
    unsigned before = 0, all;
    for (size_t i = threadIdx.x; i < n; i += blockDim.x) {
        uint4 v = sums[i];
        unsigned inclusive = warp_scan(sum(v));
        unsigned a = before + scan_of_warps<32>(of_lane(inclusive, 31), &all) + inclusive - sum(v);
        sums[i] = make_uint4(a, a + v.x, a + v.x + v.y, a + v.x + v.y + v.z);
        before += all;
    }
}

// A warp has 128 vectors of its block's tile.
extern "C" __global__ void __launch_bounds__(512) scan_tiles(const uint4 *__restrict__ x, const unsigned *__restrict__ offsets, uint4 *__restrict__ y, size_t warps) {
    size_t warp = blockIdx.x * (size_t)16 + threadIdx.x / 32, first = warp * 128 + threadIdx.x % 32;
    uint4 v[4];
    unsigned before[4], of_warp = 0, all;
#pragma unroll
    for (int k = 0; k < 4; k++) v[k] = warp < warps ? x[first + 32 * k] : make_uint4(0, 0, 0, 0);
#pragma unroll
    for (int k = 0; k < 4; k++) {
        unsigned inclusive = warp_scan(sum(v[k]));
        before[k] = of_warp + inclusive - sum(v[k]);
        of_warp += of_lane(inclusive, 31);
    }
    unsigned offset = offsets[blockIdx.x] + scan_of_warps<16>(of_warp, &all);
    if (warp >= warps) return;
#pragma unroll
    for (int k = 0; k < 4; k++) {
        unsigned a = offset + before[k] + v[k].x, b = a + v[k].y, c = b + v[k].z;
        y[first + 32 * k] = make_uint4(a, b, c, c + v[k].w);
    }
}
