// The CUDA C side of stencil.rs.

// Four cells of a row: `cols` is the number of such fours.
extern "C" __global__ void __launch_bounds__(256) stencil_2d(float k, const float4 *__restrict__ x, float4 *__restrict__ y, size_t rows, size_t cols) {
    size_t row = blockIdx.y * (size_t)blockDim.y + threadIdx.y, col = blockIdx.x * (size_t)blockDim.x + threadIdx.x;
    if (row >= rows || col >= cols) return;
    size_t p = row * cols + col;
    float4 here = x[p], next = here;
    if (row > 0 && row < rows - 1) {
        float4 above = x[p - cols], below = x[p + cols];
        float left = col > 0 ? x[p - 1].w : 0.0f, right = col < cols - 1 ? x[p + 1].x : 0.0f;
        next.x += k * (left + here.y + above.x + below.x - 4.0f * here.x);
        next.y += k * (here.x + here.z + above.y + below.y - 4.0f * here.y);
        next.z += k * (here.y + here.w + above.z + below.z - 4.0f * here.z);
        next.w += k * (here.z + right + above.w + below.w - 4.0f * here.w);
        if (col == 0) next.x = here.x;
        if (col == cols - 1) next.w = here.w;
    }
    y[p] = next;
}

// A thread goes through 32 planes. `cells` is the number of fours in a plane, `cols` that in a row.
extern "C" __global__ void __launch_bounds__(384) stencil_3d(float k, size_t cols, const float4 *__restrict__ x, float4 *__restrict__ y, size_t planes, size_t cells) {
    size_t cell = blockIdx.x * (size_t)blockDim.x + threadIdx.x, first = blockIdx.y * (size_t)32;
    if (cell >= cells || first >= planes) return;
    unsigned col = (unsigned)cell % (unsigned)cols;
    bool is_inside = cell >= cols && cell < cells - cols;
    size_t p = first * cells + cell;
    float4 none = make_float4(0.0f, 0.0f, 0.0f, 0.0f), behind = first > 0 ? x[p - cells] : none, here = x[p];
#pragma unroll 2
    for (size_t plane = first; plane < first + 32 && plane < planes; plane++, p += cells) {
        float4 ahead = plane < planes - 1 ? x[p + cells] : none, next = here;
        if (is_inside && plane > 0 && plane < planes - 1) {
            float4 above = x[p - cols], below = x[p + cols];
            float left = x[p - 1].w, right = x[p + 1].x;
            next.x += k * (left + here.y + (above.x + below.x) + (behind.x + ahead.x) - 6.0f * here.x);
            next.y += k * (here.x + here.z + (above.y + below.y) + (behind.y + ahead.y) - 6.0f * here.y);
            next.z += k * (here.y + here.w + (above.z + below.z) + (behind.z + ahead.z) - 6.0f * here.z);
            next.w += k * (here.z + right + (above.w + below.w) + (behind.w + ahead.w) - 6.0f * here.w);
            if (col == 0) next.x = here.x;
            if (col == cols - 1) next.w = here.w;
        }
        y[p] = next;
        behind = here;
        here = ahead;
    }
}
