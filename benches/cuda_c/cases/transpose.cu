// The CUDA C side of transpose.rs.

extern "C" __global__ void transpose_naive(const float *__restrict__ x, float *__restrict__ y, size_t rows, size_t cols) {
    size_t row = blockIdx.y * (size_t)blockDim.y + threadIdx.y, col = blockIdx.x * (size_t)blockDim.x + threadIdx.x;
    if (row < rows && col < cols) y[row * cols + col] = x[col * rows + row];
}

// A block of 32x8 makes a tile of 32x32.
extern "C" __global__ void __launch_bounds__(256) transpose_tiled(const float *__restrict__ x, float *__restrict__ y, size_t rows, size_t cols) {
    __shared__ float tile[32][33];
    unsigned tx = threadIdx.x, ty = threadIdx.y;
    size_t row0 = blockIdx.y * (size_t)32, col0 = blockIdx.x * (size_t)32;
    for (unsigned k = 0; k < 32; k += 8)
        if (col0 + ty + k < cols && row0 + tx < rows) tile[ty + k][tx] = x[(col0 + ty + k) * rows + row0 + tx];
    __syncthreads();
    for (unsigned k = 0; k < 32; k += 8)
        if (row0 + ty + k < rows && col0 + tx < cols) y[(row0 + ty + k) * cols + col0 + tx] = tile[tx][ty + k];
}
