// Device functions for tests/linking.rs. `ops.ptx` is what `nvcc -ptx -rdc=true -arch=compute_75 ops.cu` (CUDA 13.0)
// writes, with `.version` lowered from 9.0 to 6.3 by hand, so that older drivers take it.
#include <cstdio>

__device__ int bias = 5;

static __device__ __noinline__ float helper(float a) { return a * 3.0f + bias; }

extern "C" __device__ float mul_f32_f32(float a, float b) { return a * b; }

extern "C" __device__ double sum_reduce(const double *x, long long n) {
  double sum = 0;
  for (long long i = 0; i < n; i++) sum += x[i];
  return sum;
}

extern "C" __device__ float with_helper(float a) { return helper(a) - 1; }

__device__ int times2(int x) { return 2 * x; }

extern "C" __device__ void store(unsigned *p, unsigned short v) {
  if (v == 0xffff) printf("nobody stores %d\n", v);
  *p = v + 1u;
}
