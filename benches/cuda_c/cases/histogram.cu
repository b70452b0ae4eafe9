// The CUDA C side of histogram.rs.

extern "C" __global__ void __launch_bounds__(256) histogram_shared(const unsigned *__restrict__ x, unsigned *__restrict__ counts, size_t n) {
    __shared__ unsigned bins[256];
    bins[threadIdx.x] = 0;
    __syncthreads();
    for (size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x; i < n; i += gridDim.x * (size_t)blockDim.x) {
        unsigned word = x[i];
        atomicAdd(&bins[word & 255], 1);
        atomicAdd(&bins[word >> 8 & 255], 1);
        atomicAdd(&bins[word >> 16 & 255], 1);
        atomicAdd(&bins[word >> 24], 1);
    }
    __syncthreads();
    atomicAdd(&counts[threadIdx.x], bins[threadIdx.x]);
}

extern "C" __global__ void histogram_global(const unsigned *__restrict__ x, unsigned *__restrict__ counts, size_t n) {
    size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x;
    if (i < n) atomicAdd(&counts[x[i]], 1);
}
