// The CUDA C side of layer_norm.rs. What cuda_fp16.h would give is written out, since NVRTC may be there without headers.

__device__ __forceinline__ float2 half2_to_float2(unsigned pair) {
    float2 x;
    asm("{ .reg .b16 lo, hi; mov.b32 {lo, hi}, %2; cvt.f32.f16 %0, lo; cvt.f32.f16 %1, hi; }" : "=f"(x.x), "=f"(x.y) : "r"(pair));
    return x;
}

__device__ __forceinline__ unsigned float2_to_half2(float lo, float hi) {
    unsigned pair;
    asm("cvt.rn.f16x2.f32 %0, %2, %1;" : "=r"(pair) : "f"(lo), "f"(hi));
    return pair;
}

__device__ __forceinline__ float warp_sum(float sum) {
    for (int lanes = 16; lanes > 0; lanes /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, lanes);
    return sum;
}

// In all threads of a block of four warps.
__device__ __forceinline__ float block_sum_for_all(float own) {
    __shared__ float sums[32];
    unsigned warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    own = warp_sum(own);
    __syncthreads();
    if (lane == 0) sums[warp] = own;
    __syncthreads();
    return warp_sum(lane < 4 ? sums[lane] : 0.0f);
}

__device__ __forceinline__ void unpack(uint4 eight, float *x) {
    unsigned pairs[4] = {eight.x, eight.y, eight.z, eight.w};
    for (int k = 0; k < 4; k++) {
        float2 pair = half2_to_float2(pairs[k]);
        x[2 * k] = pair.x;
        x[2 * k + 1] = pair.y;
    }
}

// A block has a row of 256 vectors of eight, a thread two of it.
extern "C" __global__ void __launch_bounds__(128) layer_norm(const uint4 *__restrict__ x, const uint4 *__restrict__ gamma, const uint4 *__restrict__ beta,
                                      uint4 *__restrict__ y) {
    size_t first = blockIdx.x * (size_t)256;
    unsigned t = threadIdx.x;
    float own[16], sum = 0, squares = 0;
    unpack(x[first + t], own);
    unpack(x[first + t + 128], own + 8);
#pragma unroll
    for (int k = 0; k < 16; k++) sum += own[k];
    float mean = block_sum_for_all(sum) / 2048;
#pragma unroll
    for (int k = 0; k < 16; k++) {
        own[k] -= mean;
        squares += own[k] * own[k];
    }
    float variance = block_sum_for_all(squares) / 2048;
    float scale = 1.0f / sqrtf(variance + 1e-5f);
#pragma unroll
    for (int half = 0; half < 2; half++) {
        float g[8], b[8];
        unpack(gamma[t + 128 * half], g);
        unpack(beta[t + 128 * half], b);
        unsigned pairs[4];
#pragma unroll
        for (int k = 0; k < 4; k++) {
            const float *x = own + 8 * half + 2 * k;
            pairs[k] = float2_to_half2(x[0] * scale * g[2 * k] + b[2 * k], x[1] * scale * g[2 * k + 1] + b[2 * k + 1]);
        }
        y[first + t + 128 * half] = make_uint4(pairs[0], pairs[1], pairs[2], pairs[3]);
    }
}
