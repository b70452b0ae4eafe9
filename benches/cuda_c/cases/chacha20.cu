// The CUDA C side of chacha20.rs.

struct Key {
    unsigned words[8];
};
struct Nonce {
    unsigned words[3];
};

#define ROTATE(x, n) __funnelshift_l(x, x, n)
#define QUARTER_ROUND(a, b, c, d) \
    a += b; d = ROTATE(d ^ a, 16); \
    c += d; b = ROTATE(b ^ c, 12); \
    a += b; d = ROTATE(d ^ a, 8); \
    c += d; b = ROTATE(b ^ c, 7);

extern "C" __global__ void chacha20(Key key, Nonce nonce, uint4 *__restrict__ text, size_t n) {
    size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x;
    if (i >= n) return;
    unsigned start[16] = {0x61707865, 0x3320646e, 0x79622d32, 0x6b206574};
#pragma unroll
    for (int k = 0; k < 8; k++) start[4 + k] = key.words[k];
    start[12] = (unsigned)i;
#pragma unroll
    for (int k = 0; k < 3; k++) start[13 + k] = nonce.words[k];
    unsigned x[16];
#pragma unroll
    for (int k = 0; k < 16; k++) x[k] = start[k];
#pragma unroll
    for (int round = 0; round < 10; round++) {
        QUARTER_ROUND(x[0], x[4], x[8], x[12]);
        QUARTER_ROUND(x[1], x[5], x[9], x[13]);
        QUARTER_ROUND(x[2], x[6], x[10], x[14]);
        QUARTER_ROUND(x[3], x[7], x[11], x[15]);
        QUARTER_ROUND(x[0], x[5], x[10], x[15]);
        QUARTER_ROUND(x[1], x[6], x[11], x[12]);
        QUARTER_ROUND(x[2], x[7], x[8], x[13]);
        QUARTER_ROUND(x[3], x[4], x[9], x[14]);
    }
#pragma unroll
    for (int k = 0; k < 4; k++) {
        uint4 word = text[4 * i + k];
        word.x ^= x[4 * k] + start[4 * k];
        word.y ^= x[4 * k + 1] + start[4 * k + 1];
        word.z ^= x[4 * k + 2] + start[4 * k + 2];
        word.w ^= x[4 * k + 3] + start[4 * k + 3];
        text[4 * i + k] = word;
    }
}
