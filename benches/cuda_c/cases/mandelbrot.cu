// The CUDA C side of mandelbrot.rs.

extern "C" __global__ void mandelbrot(unsigned most, unsigned *__restrict__ counts, size_t height, size_t width) {
    size_t x = blockIdx.x * (size_t)blockDim.x + threadIdx.x, y = blockIdx.y * (size_t)blockDim.y + threadIdx.y;
    if (x >= width || y >= height) return;
    float cx = x / (float)width * 3.0f - 2.0f, cy = y / (float)height * 2.0f - 1.0f;
    float zx = 0, zy = 0;
    unsigned count = 0;
    while (count < most && zx * zx + zy * zy < 4.0f) {
        float next = zx * zx - zy * zy + cx;
        zy = 2.0f * zx * zy + cy;
        zx = next;
        count++;
    }
    counts[y * width + x] = count;
}
