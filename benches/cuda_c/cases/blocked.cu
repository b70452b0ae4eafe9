// The CUDA C side of blocked.rs.

extern "C" __global__ void __launch_bounds__(256, 2)
    matmul_blocked(const float4 *__restrict__ a, const float4 *__restrict__ b, float4 *__restrict__ c, int n) {
    __shared__ __align__(16) float tile_a[8][128];
    __shared__ float4 tile_b[8][32];
    int x = threadIdx.x, y = threadIdx.y, t = y * 16 + x, row = n / 4;
    int a_row = t / 2, a_col = t % 2, b_row = t / 32, b_col = t % 32;
    int of_a = (blockIdx.y * 128 + a_row) * row + a_col, of_b = b_row * row + blockIdx.x * 32 + b_col;
    float4 next_a = a[of_a], next_b = b[of_b];
    float sums[8][8] = {};
    for (int first = 0; first < n; first += 8) {
        tile_a[4 * a_col][a_row] = next_a.x;
        tile_a[4 * a_col + 1][a_row] = next_a.y;
        tile_a[4 * a_col + 2][a_row] = next_a.z;
        tile_a[4 * a_col + 3][a_row] = next_a.w;
        tile_b[b_row][b_col] = next_b;
        __syncthreads();
        if (first + 8 < n) {
            next_a = a[of_a + (first + 8) / 4];
            next_b = b[of_b + (first + 8) * row];
        }
#pragma unroll
        for (int k = 0; k < 8; k++) {
            float4 a_low = *(const float4 *)&tile_a[k][8 * y], a_high = *(const float4 *)&tile_a[k][8 * y + 4];
            float4 b_low = tile_b[k][2 * x], b_high = tile_b[k][2 * x + 1];
            float own_a[8] = {a_low.x, a_low.y, a_low.z, a_low.w, a_high.x, a_high.y, a_high.z, a_high.w};
            float own_b[8] = {b_low.x, b_low.y, b_low.z, b_low.w, b_high.x, b_high.y, b_high.z, b_high.w};
#pragma unroll
            for (int i = 0; i < 8; i++)
#pragma unroll
                for (int j = 0; j < 8; j++) sums[i][j] += own_a[i] * own_b[j];
        }
        __syncthreads();
    }
    int first_row = (blockIdx.y * 16 + y) * 8, first_col = (blockIdx.x * 16 + x) * 2;
#pragma unroll
    for (int i = 0; i < 8; i++) {
        c[(first_row + i) * row + first_col] = make_float4(sums[i][0], sums[i][1], sums[i][2], sums[i][3]);
        c[(first_row + i) * row + first_col + 1] = make_float4(sums[i][4], sums[i][5], sums[i][6], sums[i][7]);
    }
}
