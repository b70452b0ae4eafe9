// Device functions for tests/linking.rs: `ops.bc` is what `clang-14 --target=nvptx64 -O1 -emit-llvm -c ops.c` writes.
static unsigned steps(unsigned x) {
  unsigned n = 0;
  while (x > 1) {
    x = x & 1 ? 3 * x + 1 : x / 2;
    n++;
  }
  return n;
}

unsigned longest_collatz(const unsigned *x, unsigned long n) {
  unsigned longest = 0;
  for (unsigned long i = 0; i < n; i++) {
    unsigned here = steps(x[i]);
    if (here > longest) longest = here;
  }
  return longest;
}

float axpy(float a, float x, float y) { return a * x + y; }
