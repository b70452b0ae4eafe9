// The CUDA C side of black_scholes.rs, compiled with -use_fast_math.

__device__ __forceinline__ float normal(float d) {
    float k = 1.0f / (1.0f + 0.2316419f * fabsf(d));
    float polynomial =
        k * (0.31938153f + k * (-0.356563782f + k * (1.781477937f + k * (-1.821255978f + k * 1.330274429f))));
    float tail = 0.39894228f * expf(-0.5f * d * d) * polynomial;
    return d > 0.0f ? 1.0f - tail : tail;
}

// Of the call and the put.
__device__ __forceinline__ float2 prices(float s, float x, float t, float rate, float volatility) {
    float spread = volatility * sqrtf(t);
    float d1 = (logf(s / x) + (rate + 0.5f * volatility * volatility) * t) / spread;
    float d2 = d1 - spread;
    float n1 = normal(d1), n2 = normal(d2);
    float discounted = x * expf(-rate * t);
    return make_float2(s * n1 - discounted * n2, discounted * (1.0f - n2) - s * (1.0f - n1));
}

extern "C" __global__ void black_scholes(const float4 *__restrict__ price, const float4 *__restrict__ strike,
                                         const float4 *__restrict__ years, float rate, float volatility,
                                         float4 *__restrict__ call, float4 *__restrict__ put, size_t n) {
    size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x;
    if (i >= n) return;
    float4 s = price[i], x = strike[i], t = years[i];
    float2 a = prices(s.x, x.x, t.x, rate, volatility), b = prices(s.y, x.y, t.y, rate, volatility);
    float2 c = prices(s.z, x.z, t.z, rate, volatility), d = prices(s.w, x.w, t.w, rate, volatility);
    call[i] = make_float4(a.x, b.x, c.x, d.x);
    put[i] = make_float4(a.y, b.y, c.y, d.y);
}
