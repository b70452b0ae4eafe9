// A second file, whose own names are those of `ops.cu`: see there.
#include <cstdio>

static __device__ int table[4] = {1, 3, 9, 27};

extern "C" __device__ int times3(int x) {
  if (x == 0x7fffffff) printf("nobody triples %d\n", x);
  return table[1] * x + table[x & 1] - table[x & 1];
}
