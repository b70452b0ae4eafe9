// The CUDA C side of stencil.rs.

extern "C" __global__ void stencil_2d(float k, const float *__restrict__ x, float *__restrict__ y, size_t rows, size_t cols) {
    size_t row = blockIdx.y * (size_t)blockDim.y + threadIdx.y, col = blockIdx.x * (size_t)blockDim.x + threadIdx.x;
    if (row >= rows || col >= cols) return;
    size_t p = row * cols + col;
    if (row > 0 && row < rows - 1 && col > 0 && col < cols - 1)
        y[p] = x[p] + k * (x[p - 1] + x[p + 1] + x[p - cols] + x[p + cols] - 4.0f * x[p]);
    else
        y[p] = x[p];
}

extern "C" __global__ void stencil_3d(float k, const float *__restrict__ x, float *__restrict__ y, size_t planes, size_t rows, size_t cols) {
    size_t plane = blockIdx.z * (size_t)blockDim.z + threadIdx.z, row = blockIdx.y * (size_t)blockDim.y + threadIdx.y;
    size_t col = blockIdx.x * (size_t)blockDim.x + threadIdx.x;
    if (plane >= planes || row >= rows || col >= cols) return;
    size_t of_plane = rows * cols, p = plane * of_plane + row * cols + col;
    if (plane > 0 && plane < planes - 1 && row > 0 && row < rows - 1 && col > 0 && col < cols - 1)
        y[p] = x[p] + k * (x[p - 1] + x[p + 1] + (x[p - cols] + x[p + cols]) + (x[p - of_plane] + x[p + of_plane]) - 6.0f * x[p]);
    else
        y[p] = x[p];
}
