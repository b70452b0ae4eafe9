// The CUDA C side of convolution.rs.

// Not `const`: the host may set them, so they are no literals in the code.
__constant__ float weights[17] = {0.0038f, 0.0088f, 0.0181f, 0.0333f, 0.0549f, 0.081f, 0.107f, 0.1264f, 0.1336f, 0.1264f, 0.107f, 0.081f, 0.0549f, 0.0333f, 0.0181f, 0.0088f, 0.0038f};

// Four numbers a thread; `cols` is the number of fours in a row. What lies between the threads' fours comes from the L1 cache.
extern "C" __global__ void __launch_bounds__(128) convolve_rows(const float4 *__restrict__ x, float4 *__restrict__ y, size_t rows, size_t cols) {
    size_t row = blockIdx.y, col = blockIdx.x * (size_t)blockDim.x + threadIdx.x;
    if (row >= rows || col >= cols) return;
    float near[20], sums[4] = {};
#pragma unroll
    for (int k = 0; k < 5; k++) {
        float4 four = col + k >= 2 && col + k - 2 < cols ? x[row * cols + col + k - 2] : make_float4(0.0f, 0.0f, 0.0f, 0.0f);
        near[4 * k] = four.x;
        near[4 * k + 1] = four.y;
        near[4 * k + 2] = four.z;
        near[4 * k + 3] = four.w;
    }
#pragma unroll
    for (int i = 0; i < 4; i++)
#pragma unroll
        for (int k = 0; k < 17; k++) sums[i] += weights[k] * near[i + k];
    y[row * cols + col] = make_float4(sums[0], sums[1], sums[2], sums[3]);
}

// 32 numbers of a column a thread; `rows` is a multiple of 32.
extern "C" __global__ void __launch_bounds__(256) convolve_columns(const float *__restrict__ x, float *__restrict__ y, size_t rows, size_t cols) {
    size_t row = blockIdx.y * (size_t)32, col = blockIdx.x * (size_t)blockDim.x + threadIdx.x;
    if (row >= rows || col >= cols) return;
    float near[32 + 16];
#pragma unroll
    for (int k = 0; k < 32 + 16; k++) near[k] = row + k >= 8 && row + k - 8 < rows ? x[(row + k - 8) * cols + col] : 0.0f;
#pragma unroll
    for (int i = 0; i < 32; i++) {
        float sum = 0;
#pragma unroll
        for (int k = 0; k < 17; k++) sum += weights[k] * near[i + k];
        y[(row + i) * cols + col] = sum;
    }
}
