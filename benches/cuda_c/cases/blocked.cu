// The CUDA C side of blocked.rs.

// In a row of a tile of B, even columns lie before odd ones.
struct Tiles {
    float a[8][128];
    float4 b[8][2][20];
};

__device__ __forceinline__ void store(Tiles &tiles, int t, float4 a, float4 b) {
    int a_row = t / 2, a_col = t % 2, b_row = t / 32, b_col = t % 32;
    tiles.a[4 * a_col][a_row] = a.x;
    tiles.a[4 * a_col + 1][a_row] = a.y;
    tiles.a[4 * a_col + 2][a_row] = a.z;
    tiles.a[4 * a_col + 3][a_row] = a.w;
    tiles.b[b_row][b_col % 2][b_col / 2] = b;
}

extern "C" __global__ void __launch_bounds__(256, 2)
    matmul_blocked(const float4 *__restrict__ a, const float4 *__restrict__ b, float4 *__restrict__ c, int n) {
    __shared__ __align__(16) Tiles tiles[2];
    int x = threadIdx.x, y = threadIdx.y, t = y * 16 + x, row = n / 4;
    int of_a = (blockIdx.y * 128 + t / 2) * row + t % 2, of_b = t / 32 * row + blockIdx.x * 32 + t % 32;
    store(tiles[0], t, a[of_a], b[of_b]);
    __syncthreads();
    float sums[8][8] = {};
    for (int first = 0; first < n; first += 16) {
#pragma unroll
        for (int stage = 0; stage < 2; stage++) {
            // After the last tiles, these once more, which nobody reads.
            int next = min(first + 8 * (stage + 1), n - 8);
            float4 next_a = a[of_a + next / 4], next_b = b[of_b + next * row];
#pragma unroll
            for (int k = 0; k < 8; k++) {
                float4 a_low = *(const float4 *)&tiles[stage].a[k][8 * y], a_high = *(const float4 *)&tiles[stage].a[k][8 * y + 4];
                float4 b_low = tiles[stage].b[k][0][x], b_high = tiles[stage].b[k][1][x];
                float own_a[8] = {a_low.x, a_low.y, a_low.z, a_low.w, a_high.x, a_high.y, a_high.z, a_high.w};
                float own_b[8] = {b_low.x, b_low.y, b_low.z, b_low.w, b_high.x, b_high.y, b_high.z, b_high.w};
#pragma unroll
                for (int i = 0; i < 8; i++)
#pragma unroll
                    for (int j = 0; j < 8; j++) sums[i][j] += own_a[i] * own_b[j];
            }
            store(tiles[1 - stage], t, next_a, next_b);
            __syncthreads();
        }
    }
    int first_row = (blockIdx.y * 16 + y) * 8, first_col = (blockIdx.x * 16 + x) * 2;
#pragma unroll
    for (int i = 0; i < 8; i++) {
        c[(first_row + i) * row + first_col] = make_float4(sums[i][0], sums[i][1], sums[i][2], sums[i][3]);
        c[(first_row + i) * row + first_col + 1] = make_float4(sums[i][4], sums[i][5], sums[i][6], sums[i][7]);
    }
}
