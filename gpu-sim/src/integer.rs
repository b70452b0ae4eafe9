//! Arithmetic of integers that `gpu_std` asks of the hardware.

#[unsafe(export_name = "gpu.llvm.nvvm.mulhi.ui")]
extern "C" fn mulhi_u32(a: u32, b: u32) -> u32 {
    ((u64::from(a) * u64::from(b)) >> u32::BITS) as u32
}
