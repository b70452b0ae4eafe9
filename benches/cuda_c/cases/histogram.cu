// The CUDA C side of histogram.rs.

__device__ __forceinline__ void count(unsigned (*bins)[32], unsigned word) {
    unsigned lane = threadIdx.x % 32;
    atomicAdd(&bins[word & 255][lane], 1);
    atomicAdd(&bins[word >> 8 & 255][lane], 1);
    atomicAdd(&bins[word >> 16 & 255][lane], 1);
    atomicAdd(&bins[word >> 24][lane], 1);
}

// Each lane of a warp has bins of its own.
extern "C" __global__ void __launch_bounds__(512) histogram_shared(const uint4 *__restrict__ x, unsigned *__restrict__ counts, size_t n) {
    __shared__ unsigned bins[256][32];
    unsigned t = threadIdx.x;
    for (unsigned i = t; i < 256 * 32; i += 512) bins[i / 32][i % 32] = 0;
    __syncthreads();
    for (size_t i = blockIdx.x * (size_t)512 + t; i < n; i += gridDim.x * (size_t)512) {
        uint4 words = x[i];
        count(bins, words.x);
        count(bins, words.y);
        count(bins, words.z);
        count(bins, words.w);
    }
    __syncthreads();
    if (t < 256) {
        unsigned sum = 0;
#pragma unroll
        for (unsigned k = 0; k < 32; k++) sum += bins[t][(t + k) % 32];
        atomicAdd(&counts[t], sum);
    }
}

extern "C" __global__ void histogram_global(const unsigned *__restrict__ x, unsigned *__restrict__ counts, size_t n) {
    size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x;
    if (i < n) atomicAdd(&counts[x[i]], 1);
}
