//! Runs oxwarp kernels on the CPU: blocks in parallel, barriers, shared memory.
