// The CUDA C side of convolution.rs.

// Not `const`: the host may set them, so they are no literals in the code.
__constant__ float weights[17] = {0.0038f, 0.0088f, 0.0181f, 0.0333f, 0.0549f, 0.081f, 0.107f, 0.1264f, 0.1336f, 0.1264f, 0.107f, 0.081f, 0.0549f, 0.0333f, 0.0181f, 0.0088f, 0.0038f};

extern "C" __global__ void __launch_bounds__(256) convolve_rows(const float *__restrict__ x, float *__restrict__ y, size_t rows, size_t cols) {
    __shared__ float line[256 + 16];
    size_t row = blockIdx.y, col = blockIdx.x * (size_t)256 + threadIdx.x;
    unsigned t = threadIdx.x;
    line[t] = col >= 8 && col - 8 < cols ? x[row * cols + col - 8] : 0.0f;
    if (t < 16) line[t + 256] = col + 256 - 8 < cols ? x[row * cols + col + 256 - 8] : 0.0f;
    __syncthreads();
    if (col < cols) {
        float sum = 0;
#pragma unroll
        for (int k = 0; k < 17; k++) sum += weights[k] * line[t + k];
        y[row * cols + col] = sum;
    }
}

extern "C" __global__ void __launch_bounds__(1024) convolve_columns(const float *__restrict__ x, float *__restrict__ y, size_t rows, size_t cols) {
    __shared__ float tile[32 + 16][32];
    unsigned tx = threadIdx.x, ty = threadIdx.y;
    size_t row = blockIdx.y * (size_t)32 + ty, col = blockIdx.x * (size_t)32 + tx;
    tile[ty][tx] = col < cols && row >= 8 && row - 8 < rows ? x[(row - 8) * cols + col] : 0.0f;
    if (ty < 16) tile[ty + 32][tx] = col < cols && row + 32 - 8 < rows ? x[(row + 32 - 8) * cols + col] : 0.0f;
    __syncthreads();
    if (row < rows && col < cols) {
        float sum = 0;
#pragma unroll
        for (int k = 0; k < 17; k++) sum += weights[k] * tile[ty + k][tx];
        y[row * cols + col] = sum;
    }
}
