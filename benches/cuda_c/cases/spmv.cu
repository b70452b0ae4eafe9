// The CUDA C side of spmv.rs.

// A block has as many rows as threads, sixteen lanes a row, three elements of it each at once.
extern "C" __global__ void __launch_bounds__(1024, 2) spmv(const unsigned *__restrict__ offsets, const unsigned *__restrict__ columns,
                                const float *__restrict__ values, const float *__restrict__ x, float *__restrict__ y, unsigned n) {
    __shared__ float sums[1024];
    unsigned t = threadIdx.x, lane = t % 16, first = blockIdx.x * 1024;
#pragma unroll 1
    for (unsigned r = t / 16; r < 1024; r += 64) {
        float sum = 0;
        if (first + r < n) {
            unsigned begin = offsets[first + r] + lane;
            int left = offsets[first + r + 1] - begin;
            const unsigned *columns_of_row = columns + begin;
            const float *values_of_row = values + begin;
#pragma unroll 1
            for (; left > 0; left -= 48, columns_of_row += 48, values_of_row += 48) {
                unsigned column[3];
                float value[3];
#pragma unroll
                for (int j = 0; j < 3; j++)
                    if (16 * j < left) {
                        column[j] = __ldcs(columns_of_row + 16 * j);
                        value[j] = __ldcs(values_of_row + 16 * j);
                    }
#pragma unroll
                for (int j = 0; j < 3; j++)
                    if (16 * j < left) sum += value[j] * x[column[j]];
            }
        }
        for (int lanes = 8; lanes > 0; lanes /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, lanes);
        if (lane == 0) sums[r] = sum;
    }
    __syncthreads();
    if (first + t < n) y[first + t] = sums[t];
}
