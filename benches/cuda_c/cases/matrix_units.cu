// The CUDA C side of matrix_units.rs.

typedef unsigned short bf16;

__device__ __forceinline__ unsigned shared_address(const void *p) { return (unsigned)__cvta_generic_to_shared(p); }

__device__ __forceinline__ void copy_async(void *to, const void *from) {
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(shared_address(to)), "l"(from) : "memory");
}

// Four 8x8 matrices, whose rows the 32 lanes point to.
__device__ __forceinline__ void load_matrices(unsigned (&x)[4], const void *row) {
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(x[0]), "=r"(x[1]), "=r"(x[2]), "=r"(x[3])
                 : "r"(shared_address(row)));
}

__device__ __forceinline__ void mma(float (&c)[4], const unsigned (&a)[4], unsigned b0, unsigned b1) {
    asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
                 : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}

extern "C" __global__ void __launch_bounds__(128)
    matmul_bf16(const bf16 *__restrict__ a, const bf16 *__restrict__ b, float *__restrict__ c, int n) {
    __shared__ __align__(16) bf16 tiles_a[2][64][40], tiles_b[2][64][40];
    __shared__ __align__(16) float result[64][72];
    int t = threadIdx.x, lane = t % 32, warp_row = t / 64 * 32, warp_col = t / 32 % 2 * 32;
    int first_row = blockIdx.y * 64, first_col = blockIdx.x * 64;
    auto fetch = [&](int first) {
        int stage = first / 32 % 2;
#pragma unroll
        for (int part = 0; part < 2; part++) {
            int chunk = t + part * 128, row = chunk / 4, col = chunk % 4 * 8;
            copy_async(&tiles_a[stage][row][col], &a[(first_row + row) * n + first + col]);
            copy_async(&tiles_b[stage][row][col], &b[(first_col + row) * n + first + col]);
        }
    };
    float sums[2][4][4] = {};
    fetch(0);
    asm volatile("cp.async.commit_group;");
    for (int first = 0; first < n; first += 32) {
        if (first + 32 < n) fetch(first + 32);
        asm volatile("cp.async.commit_group;");
        asm volatile("cp.async.wait_group 1;" ::: "memory");
        __syncthreads();
        int stage = first / 32 % 2;
#pragma unroll
        for (int k = 0; k < 32; k += 16) {
            unsigned of_a[2][4], of_b[2][4];
#pragma unroll
            for (int r = 0; r < 2; r++)
                load_matrices(of_a[r], &tiles_a[stage][warp_row + 16 * r + lane % 16][k + lane / 16 * 8]);
            // Two fragments of B at once: columns 0-7 and 8-15 of 16, each for both halves of k.
#pragma unroll
            for (int q = 0; q < 2; q++)
                load_matrices(of_b[q], &tiles_b[stage][warp_col + 16 * q + lane / 16 * 8 + lane % 8][k + lane / 8 % 2 * 8]);
#pragma unroll
            for (int r = 0; r < 2; r++)
#pragma unroll
                for (int q = 0; q < 4; q++) mma(sums[r][q], of_a[r], of_b[q / 2][q % 2 * 2], of_b[q / 2][q % 2 * 2 + 1]);
        }
        __syncthreads();
    }
#pragma unroll
    for (int r = 0; r < 2; r++)
#pragma unroll
        for (int q = 0; q < 4; q++) {
            int row = warp_row + 16 * r + lane / 4, col = warp_col + 8 * q + lane % 4 * 2;
            *(float2 *)&result[row][col] = make_float2(sums[r][q][0], sums[r][q][1]);
            *(float2 *)&result[row + 8][col] = make_float2(sums[r][q][2], sums[r][q][3]);
        }
    __syncthreads();
    for (int place = t; place < 64 * 64; place += 128) {
        int row = place / 64, col = place % 64;
        if (first_row + row < n && first_col + col < n) c[(first_row + row) * n + first_col + col] = result[row][col];
    }
}
