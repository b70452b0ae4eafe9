"""Host time of a launch by Numba, CuPy and PyCUDA, as `launch.rs` measures it for oxwarp: best batch of queued launches, in
microseconds. What Python does not have is left out."""

import importlib
import time

import numpy as np

LAUNCHES, BATCHES, LENGTH = 1000, 20, 1024
SOURCE = """
extern "C" __global__ void empty() {}
extern "C" __global__ void add(const float *a, const float *b, float *c, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) c[i] = a[i] + b[i];
}
"""


def best(launch, synchronize):
    launch()
    times = []
    for _ in range(BATCHES):
        synchronize()
        start = time.perf_counter()
        for _ in range(LAUNCHES):
            launch()
        times.append((time.perf_counter() - start) / LAUNCHES)
    synchronize()
    return min(times) * 1e6


def numba():
    from numba import cuda

    @cuda.jit
    def empty():
        pass

    @cuda.jit
    def add(a, b, c):
        i = cuda.grid(1)
        if i < c.size:
            c[i] = a[i] + b[i]

    a, b, c = (cuda.to_device(np.ones(LENGTH, np.float32)) for _ in range(3))
    nothing, sums = empty[4, 256], add[4, 256]
    return {
        "0": best(lambda: nothing(), cuda.synchronize),
        "3 arrays": best(lambda: sums(a, b, c), cuda.synchronize),
    }


def cupy():
    import cupy

    module = cupy.RawModule(code=SOURCE)
    empty, add = module.get_function("empty"), module.get_function("add")
    stream = cupy.cuda.Stream(non_blocking=True)
    with stream:
        a, b, c = (cupy.ones(LENGTH, cupy.float32) for _ in range(3))
        n = np.int32(LENGTH)
        times = {
            "0": best(lambda: empty((4,), (256,), ()), stream.synchronize),
            "3 arrays": best(lambda: add((4,), (256,), (a, b, c, n)), stream.synchronize),
        }
        stream.begin_capture()
        add((4,), (256,), (a, b, c, n))
        graph = stream.end_capture()
        times["a graph"] = best(lambda: graph.launch(), stream.synchronize)
    return times


def pycuda():
    import pycuda.autoinit  # noqa: F401
    import pycuda.driver as driver
    import pycuda.gpuarray as gpuarray
    from pycuda.compiler import SourceModule

    # It needs nvcc.
    add = SourceModule(SOURCE, no_extern_c=True).get_function("add")
    a, b, c = (gpuarray.to_gpu(np.ones(LENGTH, np.float32)) for _ in range(3))
    n, synchronize = np.int32(LENGTH), driver.Context.synchronize
    times = {"3 arrays": best(lambda: add(a, b, c, n, block=(256, 1, 1), grid=(4, 1)), synchronize)}
    add.prepare("PPPi")
    pointers = (a.gpudata, b.gpudata, c.gpudata)
    prepared = lambda: add.prepared_call((4, 1), (256, 1, 1), *pointers, LENGTH)
    times["3 arrays, prepared"] = best(prepared, synchronize)
    return times


def main():
    for measure in (numba, cupy, pycuda):
        name = measure.__name__
        try:
            importlib.import_module(name)
            times = measure()
        except Exception as error:  # not installed, or not whole
            print(f"{name}: left out: {type(error).__name__}: {error}")
            continue
        for arguments, microseconds in times.items():
            print(f"{name:<8} {arguments:<20} {microseconds:>8.3f}")


main()
