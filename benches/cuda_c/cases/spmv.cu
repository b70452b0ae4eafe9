// The CUDA C side of spmv.rs.

// A block has as many rows as threads, eight lanes a row, four elements of it each at once.
extern "C" __global__ void __launch_bounds__(1024, 2) spmv(const unsigned *__restrict__ offsets, const unsigned *__restrict__ columns,
                                const float *__restrict__ values, const float *__restrict__ x, float *__restrict__ y, unsigned n) {
    __shared__ float sums[1024];
    unsigned t = threadIdx.x, lane = t % 8, first = blockIdx.x * 1024;
#pragma unroll 1
    for (unsigned r = t / 8; r < 1024; r += 128) {
        float sum = 0;
        if (first + r < n) {
            unsigned end = offsets[first + r + 1];
            for (unsigned k = offsets[first + r] + lane; k < end; k += 32) {
                unsigned column[4];
                float value[4];
#pragma unroll
                for (int j = 0; j < 4; j++)
                    if (k + 8 * j < end) {
                        column[j] = __ldcs(&columns[k + 8 * j]);
                        value[j] = __ldcs(&values[k + 8 * j]);
                    }
#pragma unroll
                for (int j = 0; j < 4; j++)
                    if (k + 8 * j < end) sum += value[j] * x[column[j]];
            }
        }
        for (int lanes = 4; lanes > 0; lanes /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, lanes);
        if (lane == 0) sums[r] = sum;
    }
    __syncthreads();
    if (first + t < n) y[first + t] = sums[t];
}
