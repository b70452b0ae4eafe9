// The CUDA C side of monte_carlo.rs, compiled with -use_fast_math.

__device__ __forceinline__ uint4 philox4x32_10(uint4 counter, uint2 key) {
#pragma unroll
    for (int round = 0; round < 10; round++) {
        unsigned high0 = __umulhi(0xd2511f53u, counter.x), low0 = 0xd2511f53u * counter.x;
        unsigned high1 = __umulhi(0xcd9e8d57u, counter.z), low1 = 0xcd9e8d57u * counter.z;
        counter = make_uint4(high1 ^ counter.y ^ key.x, low1, high0 ^ counter.w ^ key.y, low0);
        key.x += 0x9e3779b9u;
        key.y += 0xbb67ae85u;
    }
    return counter;
}

__device__ __forceinline__ float payoff(float z) { return fmaxf(100.0f * expf(-0.025f + 0.3f * z) - 105.0f, 0.0f); }

__device__ __forceinline__ float payoffs(unsigned a, unsigned b) {
    const float scale = 1.0f / 4294967296.0f;
    float u = a * scale + 0.5f * scale;
    float angle = b * (scale * 6.283185307f);
    float radius = sqrtf(-2.0f * logf(u));
    return payoff(radius * cosf(angle)) + payoff(radius * sinf(angle));
}

extern "C" __global__ void monte_carlo(uint2 seed, float *__restrict__ sums, size_t n) {
    size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x;
    float sum = 0;
    for (unsigned call = 0; call < 16; call++) {
        uint4 words = philox4x32_10(make_uint4(call, 0, (unsigned)i, (unsigned)(i >> 32)), seed);
        sum += payoffs(words.x, words.y) + payoffs(words.z, words.w);
    }
    if (i < n) sums[i] = sum;
}
