// The CUDA C side of matmul.rs.

extern "C" __global__ void __launch_bounds__(1024) matmul_naive(const float *__restrict__ a, const float *__restrict__ b, float *__restrict__ c, int n) {
    int row = blockIdx.y * blockDim.y + threadIdx.y, col = blockIdx.x * blockDim.x + threadIdx.x;
    if (row < n && col < n) {
        float sum = 0;
        for (int k = 0; k < n; k++) sum += a[row * n + k] * b[k * n + col];
        c[row * n + col] = sum;
    }
}

extern "C" __global__ void __launch_bounds__(1024) matmul_tiled(const float *__restrict__ a, const float *__restrict__ b, float *__restrict__ c, int n) {
    __shared__ float tile_a[32][32], tile_b[32][32];
    int x = threadIdx.x, y = threadIdx.y;
    int row = blockIdx.y * 32 + y, col = blockIdx.x * 32 + x;
    float sum = 0;
    for (int m = 0; m < n; m += 32) {
        tile_a[y][x] = row < n && m + x < n ? a[row * n + m + x] : 0.0f;
        tile_b[y][x] = col < n && m + y < n ? b[(m + y) * n + col] : 0.0f;
        __syncthreads();
        for (int k = 0; k < 32; k++) sum += tile_a[y][k] * tile_b[k][x];
        __syncthreads();
    }
    if (row < n && col < n) c[row * n + col] = sum;
}
