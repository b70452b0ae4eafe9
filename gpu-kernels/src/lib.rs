//! Ready-made generic kernels, written with oxwarp.
