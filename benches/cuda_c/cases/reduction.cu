// The CUDA C side of reduction.rs.

__device__ __forceinline__ float warp_sum(float sum) {
    for (int lanes = 16; lanes > 0; lanes /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, lanes);
    return sum;
}

// In the threads of the first warp.
__device__ __forceinline__ float block_sum(float own) {
    __shared__ float sums[32];
    unsigned warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    own = warp_sum(own);
    if (lane == 0) sums[warp] = own;
    __syncthreads();
    if (warp > 0) return 0.0f;
    return warp_sum(lane < blockDim.x / 32 ? sums[lane] : 0.0f);
}

extern "C" __global__ void __launch_bounds__(256) block_reduce(const float4 *__restrict__ x, float *__restrict__ partial, size_t n) {
    size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x;
    float own = 0.0f;
    if (i < n) {
        float4 v = x[i];
        own = v.x + v.y + v.z + v.w;
    }
    float sum = block_sum(own);
    if (threadIdx.x == 0) partial[blockIdx.x] = sum;
}

extern "C" __global__ void sum_blocks(const float4 *__restrict__ x, float *__restrict__ partial, size_t n) {
    float own = 0.0f;
    for (size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x; i < n; i += gridDim.x * (size_t)blockDim.x) {
        float4 v = x[i];
        own += v.x + v.y + v.z + v.w;
    }
    float sum = block_sum(own);
    if (threadIdx.x == 0) partial[blockIdx.x] = sum;
}

extern "C" __global__ void sum_partials(const float *__restrict__ partial, float *__restrict__ total, size_t n) {
    float own = 0.0f;
    for (size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x; i < n; i += gridDim.x * (size_t)blockDim.x) own += partial[i];
    float sum = block_sum(own);
    if (threadIdx.x == 0) total[blockIdx.x] = sum;
}

extern "C" __global__ void dot_blocks(const float4 *__restrict__ a, const float4 *__restrict__ b, float *__restrict__ partial, size_t n) {
    float own = 0.0f;
    for (size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x; i < n; i += gridDim.x * (size_t)blockDim.x) {
        float4 v = a[i], w = b[i];
        own += v.x * w.x + v.y * w.y + v.z * w.z + v.w * w.w;
    }
    float sum = block_sum(own);
    if (threadIdx.x == 0) partial[blockIdx.x] = sum;
}

extern "C" __global__ void __launch_bounds__(256) dot_tree(const float *__restrict__ a, const float *__restrict__ b, float *__restrict__ partial, size_t n) {
    __shared__ float sums[256];
    unsigned t = threadIdx.x;
    float own = 0.0f;
#pragma unroll
    for (unsigned k = 0; k < 1024; k += 256) {
        size_t i = blockIdx.x * (size_t)1024 + k + t;
        if (i < n) own += a[i] * b[i];
    }
    sums[t] = own;
    __syncthreads();
    for (unsigned stride = 128; stride > 0; stride /= 2) {
        if (t < stride) sums[t] += sums[t + stride];
        __syncthreads();
    }
    if (t == 0) partial[blockIdx.x] = sums[0];
}
