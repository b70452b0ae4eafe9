// The CUDA C side of memory.rs.

extern "C" __global__ void copy(const float4 *__restrict__ x, float4 *__restrict__ y, size_t n) {
    size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x;
    if (i < n) y[i] = x[i];
}

extern "C" __global__ void triad(float scale, const float4 *__restrict__ x, const float4 *__restrict__ y,
                                 float4 *__restrict__ z, size_t n) {
    size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x;
    if (i < n) {
        float4 a = x[i], b = y[i];
        z[i] = make_float4(a.x + scale * b.x, a.y + scale * b.y, a.z + scale * b.z, a.w + scale * b.w);
    }
}

// A block has a tile of 1024, a thread four of it.
extern "C" __global__ void __launch_bounds__(256) saxpy(float alpha, const float *__restrict__ x, float *__restrict__ y, size_t tiles) {
    if (blockIdx.x >= tiles) return;
    size_t i = blockIdx.x * (size_t)1024 + threadIdx.x;
#pragma unroll
    for (unsigned k = 0; k < 1024; k += 256) y[i + k] += alpha * x[i + k];
}

extern "C" __global__ void saxpy4(float alpha, const float4 *__restrict__ x, float4 *__restrict__ y, size_t n) {
    size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x;
    if (i < n) {
        float4 a = x[i], b = y[i];
        y[i] = make_float4(b.x + alpha * a.x, b.y + alpha * a.y, b.z + alpha * a.z, b.w + alpha * a.w);
    }
}
