//! Devices, memory and launches: CUDA through cust, and the CPU simulator.
