// The CUDA C side of batched.rs.

__device__ __forceinline__ void add(float4 &sum, float a, float4 b) {
    sum = make_float4(sum.x + a * b.x, sum.y + a * b.y, sum.z + a * b.z, sum.w + a * b.w);
}

// A warp has a matrix, a thread four columns of two rows.
extern "C" __global__ void __launch_bounds__(128) batched_matmul(const float4 *__restrict__ a, const float4 *__restrict__ b, float4 *__restrict__ c) {
    __shared__ float4 tile_a[4][64], tile_b[4][64];
    unsigned warp = threadIdx.x / 32, lane = threadIdx.x % 32, row = lane / 4, col = lane % 4;
    size_t i = (blockIdx.x * (size_t)4 + warp) * 64 + lane;
    tile_a[warp][lane] = a[i];
    tile_b[warp][lane] = b[i];
    tile_a[warp][lane + 32] = a[i + 32];
    tile_b[warp][lane + 32] = b[i + 32];
    __syncwarp();
    float4 low = make_float4(0, 0, 0, 0), high = low;
#pragma unroll
    for (int k = 0; k < 4; k++) {
        float4 u = tile_a[warp][4 * row + k], v = tile_a[warp][4 * (row + 8) + k];
        float of_low[4] = {u.x, u.y, u.z, u.w}, of_high[4] = {v.x, v.y, v.z, v.w};
#pragma unroll
        for (int j = 0; j < 4; j++) {
            float4 of_b = tile_b[warp][16 * k + 4 * j + col];
            add(low, of_low[j], of_b);
            add(high, of_high[j], of_b);
        }
    }
    c[i] = low;
    c[i + 32] = high;
}
