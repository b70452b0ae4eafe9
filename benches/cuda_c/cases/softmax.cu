// The CUDA C side of softmax.rs, compiled with -use_fast_math.

struct Max {
    __device__ float operator()(float a, float b) const { return fmaxf(a, b); }
};
struct Add {
    __device__ float operator()(float a, float b) const { return a + b; }
};

template <typename Combine> __device__ __forceinline__ float warp_reduce(float result, Combine combine) {
    for (int lanes = 16; lanes > 0; lanes /= 2) result = combine(result, __shfl_xor_sync(0xffffffffu, result, lanes));
    return result;
}

// In all threads of a block of four warps.
template <typename Combine> __device__ __forceinline__ float block_reduce_for_all(float own, float identity, Combine combine) {
    __shared__ float partial[32];
    unsigned warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    own = warp_reduce(own, combine);
    __syncthreads();
    if (lane == 0) partial[warp] = own;
    __syncthreads();
    return warp_reduce(lane < 4 ? partial[lane] : identity, combine);
}

// A block has a row of 256 vectors, a thread two of it.
extern "C" __global__ void __launch_bounds__(128) softmax(const float4 *__restrict__ x, float4 *__restrict__ y) {
    size_t i = blockIdx.x * (size_t)256 + threadIdx.x;
    float4 v = x[i], w = x[i + 128];
    float own = fmaxf(fmaxf(fmaxf(v.x, w.x), fmaxf(v.y, w.y)), fmaxf(fmaxf(v.z, w.z), fmaxf(v.w, w.w)));
    float most = block_reduce_for_all(own, -__int_as_float(0x7f800000), Max());
    v = make_float4(expf(v.x - most), expf(v.y - most), expf(v.z - most), expf(v.w - most));
    w = make_float4(expf(w.x - most), expf(w.y - most), expf(w.z - most), expf(w.w - most));
    own = (v.x + w.x) + (v.y + w.y) + (v.z + w.z) + (v.w + w.w);
    float scale = 1.0f / block_reduce_for_all(own, 0.0f, Add());
    y[i] = make_float4(v.x * scale, v.y * scale, v.z * scale, v.w * scale);
    y[i + 128] = make_float4(w.x * scale, w.y * scale, w.z * scale, w.w * scale);
}
