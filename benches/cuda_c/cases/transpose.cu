// The CUDA C side of transpose.rs.

extern "C" __global__ void transpose_naive(const float *__restrict__ x, float *__restrict__ y, size_t rows, size_t cols) {
    size_t row = blockIdx.y * (size_t)blockDim.y + threadIdx.y, col = blockIdx.x * (size_t)blockDim.x + threadIdx.x;
    if (row < rows && col < cols) y[row * cols + col] = x[col * rows + row];
}

// A block of 16x16 makes a tile of 64x64 numbers, of which a thread loads and stores four at once.
extern "C" __global__ void __launch_bounds__(256) transpose_tiled(const float4 *__restrict__ x, float4 *__restrict__ y, size_t rows, size_t cols) {
    __shared__ float tile[64][65];
    unsigned tx = threadIdx.x, ty = threadIdx.y;
    size_t row0 = blockIdx.y * (size_t)64, col0 = blockIdx.x * (size_t)64;
    float4 fours[4];
#pragma unroll
    for (unsigned k = 0; k < 4; k++) {
        bool is_inside = col0 + ty + 16 * k < cols && row0 / 4 + tx < rows / 4;
        fours[k] = is_inside ? x[(col0 + ty + 16 * k) * (rows / 4) + row0 / 4 + tx] : make_float4(0, 0, 0, 0);
    }
#pragma unroll
    for (unsigned k = 0; k < 4; k++) {
        tile[ty + 16 * k][4 * tx] = fours[k].x;
        tile[ty + 16 * k][4 * tx + 1] = fours[k].y;
        tile[ty + 16 * k][4 * tx + 2] = fours[k].z;
        tile[ty + 16 * k][4 * tx + 3] = fours[k].w;
    }
    __syncthreads();
#pragma unroll
    for (unsigned k = 0; k < 4; k++) {
        unsigned r = ty + 16 * k;
        if (row0 + r < rows && col0 / 4 + tx < cols / 4)
            y[(row0 + r) * (cols / 4) + col0 / 4 + tx] = make_float4(tile[4 * tx][r], tile[4 * tx + 1][r], tile[4 * tx + 2][r], tile[4 * tx + 3][r]);
    }
}
