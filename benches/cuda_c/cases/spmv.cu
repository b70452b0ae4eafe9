// The CUDA C side of spmv.rs.

extern "C" __global__ void spmv(const unsigned *__restrict__ offsets, const unsigned *__restrict__ columns,
                                const float *__restrict__ values, const float *__restrict__ x, float *__restrict__ y, unsigned n) {
    unsigned row = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
    if (row >= n) return;
    float sum = 0;
    for (unsigned k = offsets[row] + lane, end = offsets[row + 1]; k < end; k += 32) sum += values[k] * x[columns[k]];
    for (int lanes = 16; lanes > 0; lanes /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, lanes);
    if (lane == 0) y[row] = sum;
}
