// What the device reaches at most in f32: eight independent chains of fused multiply-adds a thread.

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
