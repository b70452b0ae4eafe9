// The CUDA C side of nbody.rs.

extern "C" __global__ void __launch_bounds__(256) nbody(const float4 *__restrict__ bodies, float4 *__restrict__ forces, size_t n) {
    __shared__ float4 tile[256];
    size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x;
    unsigned t = threadIdx.x;
    float4 nowhere = make_float4(0, 0, 0, 0);
    float4 own = i < n ? bodies[i] : nowhere;
    float fx = 0, fy = 0, fz = 0;
    for (size_t first = 0; first < n; first += 256) {
        tile[t] = first + t < n ? bodies[first + t] : nowhere;
        __syncthreads();
        for (int j = 0; j < 256; j++) {
            float4 other = tile[j];
            float dx = other.x - own.x, dy = other.y - own.y, dz = other.z - own.z;
            float r2 = dx * dx + dy * dy + dz * dz + 1e-6f;
            float f = other.w / sqrtf(r2 * r2 * r2);
            fx += dx * f;
            fy += dy * f;
            fz += dz * f;
        }
        __syncthreads();
    }
    if (i < n) forces[i] = make_float4(fx, fy, fz, 0);
}
