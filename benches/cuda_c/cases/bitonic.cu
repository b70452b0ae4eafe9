// The CUDA C side of bitonic.rs.

extern "C" __global__ void __launch_bounds__(1024) bitonic_sort(const uint2 *__restrict__ keys, uint2 *__restrict__ sorted) {
    __shared__ unsigned tile[2048];
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x, t = threadIdx.x;
    uint2 own = keys[i];
    tile[2 * t] = own.x;
    tile[2 * t + 1] = own.y;
    for (unsigned size = 2; size <= 2048; size *= 2) {
        for (unsigned distance = size / 2; distance > 0; distance /= 2) {
            __syncthreads();
            unsigned low = 2 * t - (t & (distance - 1)), high = low + distance;
            unsigned a = tile[low], b = tile[high];
            bool is_ascending = (low & size) == 0;
            if ((a > b) == is_ascending) {
                tile[low] = b;
                tile[high] = a;
            }
        }
    }
    __syncthreads();
    sorted[i] = make_uint2(tile[2 * t], tile[2 * t + 1]);
}
