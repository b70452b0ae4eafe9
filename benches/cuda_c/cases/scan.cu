// The CUDA C side of scan.rs.

__device__ __forceinline__ unsigned warp_scan(unsigned sum) {
    unsigned lane = threadIdx.x % 32;
    for (unsigned delta = 1; delta < 32; delta *= 2) {
        unsigned below = __shfl_up_sync(0xffffffffu, sum, delta);
        if (lane >= delta) sum += below;
    }
    return sum;
}

__device__ __forceinline__ unsigned block_scan(unsigned own, unsigned *all) {
    __shared__ unsigned sums[32];
    unsigned warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    unsigned inclusive = warp_scan(own);
    if (lane == 31) sums[warp] = inclusive;
    __syncthreads();
    if (warp == 0) sums[lane] = warp_scan(sums[lane]);
    __syncthreads();
    unsigned before = warp > 0 ? sums[warp - 1] : 0;
    *all = sums[31];
    __syncthreads();
    return before + inclusive - own;
}

extern "C" __global__ void __launch_bounds__(1024) scan_sums(const uint4 *__restrict__ x, unsigned *__restrict__ sums, size_t n) {
    size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x;
    uint4 v = i < n ? x[i] : make_uint4(0, 0, 0, 0);
    unsigned all;
    block_scan(v.x + v.y + v.z + v.w, &all);
    if (threadIdx.x == 0) sums[blockIdx.x] = all;
}

extern "C" __global__ void __launch_bounds__(1024) scan_offsets(unsigned *__restrict__ sums, size_t n) {
    unsigned before = 0, all;
    for (size_t i = threadIdx.x; i < n; i += blockDim.x) {
        sums[i] = before + block_scan(sums[i], &all);
        before += all;
    }
}

extern "C" __global__ void __launch_bounds__(1024) scan_tiles(const uint4 *__restrict__ x, const unsigned *__restrict__ offsets, uint4 *__restrict__ y, size_t n) {
    size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x;
    uint4 v = i < n ? x[i] : make_uint4(0, 0, 0, 0);
    unsigned all, before = block_scan(v.x + v.y + v.z + v.w, &all);
    if (i < n) {
        unsigned a = offsets[blockIdx.x] + before + v.x, b = a + v.y, c = b + v.z;
        y[i] = make_uint4(a, b, c, c + v.w);
    }
}
