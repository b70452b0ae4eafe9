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

extern "C" __global__ void saxpy(float alpha, const float *__restrict__ x, float *__restrict__ y, size_t n) {
    size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x;
    if (i < n) y[i] += alpha * x[i];
}

extern "C" __global__ void saxpy4(float alpha, const float4 *__restrict__ x, float4 *__restrict__ y, size_t n) {
    size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x;
    if (i < n) {
        float4 a = x[i], b = y[i];
        y[i] = make_float4(b.x + alpha * a.x, b.y + alpha * a.y, b.z + alpha * a.z, b.w + alpha * a.w);
    }
}
