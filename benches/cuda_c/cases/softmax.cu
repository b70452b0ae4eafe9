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

// In all threads.
template <typename Combine> __device__ __forceinline__ float block_reduce_for_all(float own, float identity, Combine combine) {
    __shared__ float partial[32];
    unsigned warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    own = warp_reduce(own, combine);
    __syncthreads();
    if (lane == 0) partial[warp] = own;
    __syncthreads();
    return warp_reduce(lane < blockDim.x / 32 ? partial[lane] : identity, combine);
}

extern "C" __global__ void softmax(const float4 *__restrict__ x, float4 *__restrict__ y) {
    size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x;
    float4 v = x[i];
    float most = block_reduce_for_all(fmaxf(fmaxf(v.x, v.y), fmaxf(v.z, v.w)), -__int_as_float(0x7f800000), Max());
    v = make_float4(expf(v.x - most), expf(v.y - most), expf(v.z - most), expf(v.w - most));
    float scale = 1.0f / block_reduce_for_all(v.x + v.y + v.z + v.w, 0.0f, Add());
    y[i] = make_float4(v.x * scale, v.y * scale, v.z * scale, v.w * scale);
}
