// What the device reaches at most: eight independent chains of fused multiply-adds a thread, and of mma.sync a warp.

extern "C" __global__ void fma_ceiling(float a, float b, int trips, float *out) {
    float x[8];
    for (int k = 0; k < 8; k++) x[k] = threadIdx.x + k;
    for (int trip = 0; trip < trips; trip++) {
#pragma unroll
        for (int unroll = 0; unroll < 16; unroll++) {
#pragma unroll
            for (int k = 0; k < 8; k++) x[k] = fmaf(x[k], a, b);
        }
    }
    float sum = 0;
    for (int k = 0; k < 8; k++) sum += x[k];
    // Never true: the work must not be optimised away.
    if (sum == 1.2345f) *out = sum;
}

extern "C" __global__ void mma_ceiling(int trips, float *out) {
    float c[8][4] = {};
    unsigned a[4] = {threadIdx.x, 1, 2, 3}, b[2] = {threadIdx.x, 5};
    for (int trip = 0; trip < trips; trip++) {
#pragma unroll
        for (int k = 0; k < 8; k++)
            asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
                         : "+f"(c[k][0]), "+f"(c[k][1]), "+f"(c[k][2]), "+f"(c[k][3])
                         : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
    }
    float sum = 0;
    for (int k = 0; k < 8; k++) sum += c[k][0] + c[k][1] + c[k][2] + c[k][3];
    if (sum == 1.2345f) *out = sum;
}
