// The CUDA C side of benches/cuda_c.rs: each kernel as one writes it by hand, without bounds checks.
// nvcc -O3 -arch=native -cubin -o cuda_c.cubin benches/cuda_c.cu
// A slice is a pointer and a length, so that both sides take the same words.

extern "C" __global__ void saxpy(float alpha, const float *__restrict__ x, size_t, float *__restrict__ y, size_t n) {
    size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x;
    if (i < n) y[i] = alpha * x[i] + y[i];
}

extern "C" __global__ void dot(const float *__restrict__ a, size_t n, const float *__restrict__ b, size_t, float *__restrict__ partial, size_t) {
    __shared__ float sums[256];
    size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x;
    unsigned t = threadIdx.x;
    sums[t] = i < n ? a[i] * b[i] : 0.0f;
    __syncthreads();
    for (unsigned stride = blockDim.x / 2; stride > 0; stride /= 2) {
        if (t < stride) sums[t] += sums[t + stride];
        __syncthreads();
    }
    if (t == 0) partial[blockIdx.x] = sums[0];
}

extern "C" __global__ void matmul_naive(const float *__restrict__ a, size_t, const float *__restrict__ b, size_t, size_t n, float *__restrict__ c, size_t, size_t) {
    size_t row = blockIdx.y * (size_t)blockDim.y + threadIdx.y, col = blockIdx.x * (size_t)blockDim.x + threadIdx.x;
    if (row < n && col < n) {
        float sum = 0;
        for (size_t k = 0; k < n; k++) sum += a[row * n + k] * b[k * n + col];
        c[row * n + col] = sum;
    }
}

extern "C" __global__ void matmul_tiled(const float *__restrict__ a, size_t, const float *__restrict__ b, size_t, size_t n, float *__restrict__ c, size_t, size_t) {
    __shared__ float tile_a[32][32], tile_b[32][32];
    unsigned x = threadIdx.x, y = threadIdx.y;
    size_t row = blockIdx.y * (size_t)32 + y, col = blockIdx.x * (size_t)32 + x;
    float sum = 0;
    for (size_t m = 0; m < (n + 31) / 32; m++) {
        tile_a[y][x] = row < n && m * 32 + x < n ? a[row * n + m * 32 + x] : 0.0f;
        tile_b[y][x] = col < n && m * 32 + y < n ? b[(m * 32 + y) * n + col] : 0.0f;
        __syncthreads();
        for (int k = 0; k < 32; k++) sum += tile_a[y][k] * tile_b[k][x];
        __syncthreads();
    }
    if (row < n && col < n) c[row * n + col] = sum;
}

extern "C" __global__ void nbody(const float4 *__restrict__ bodies, size_t n, float4 *__restrict__ forces, size_t) {
    size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x;
    if (i >= n) return;
    float4 own = bodies[i];
    float fx = 0, fy = 0, fz = 0;
    for (size_t j = 0; j < n; j++) {
        float4 other = bodies[j];
        float dx = other.x - own.x, dy = other.y - own.y, dz = other.z - own.z;
        float r2 = dx * dx + dy * dy + dz * dz + 1e-6f;
        float f = other.w / sqrtf(r2 * r2 * r2);
        fx += dx * f; fy += dy * f; fz += dz * f;
    }
    forces[i] = make_float4(fx, fy, fz, 0);
}

extern "C" __global__ void mandelbrot(size_t width, size_t height, unsigned most, unsigned *__restrict__ counts, size_t, size_t) {
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
