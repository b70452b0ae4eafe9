//! The device's clocks, as nanoseconds of the host's.

use std::sync::LazyLock;
use std::time::Instant;

fn nanoseconds() -> u64 {
    static START: LazyLock<Instant> = LazyLock::new(Instant::now);
    START.elapsed().as_nanos() as u64
}

#[unsafe(export_name = "gpu.llvm.nvvm.read.ptx.sreg.clock")]
extern "C" fn clock() -> u32 {
    nanoseconds() as u32
}

#[unsafe(export_name = "gpu.llvm.nvvm.read.ptx.sreg.clock64")]
extern "C" fn clock64() -> u64 {
    nanoseconds()
}

#[unsafe(export_name = "gpu.llvm.nvvm.read.ptx.sreg.globaltimer")]
extern "C" fn globaltimer() -> u64 {
    nanoseconds()
}

/// Any time up to twice the given one is right: none, because the other threads of the block run on this OS thread.
#[unsafe(export_name = "gpu.llvm.nvvm.nanosleep")]
extern "C" fn nanosleep(_nanoseconds: u32) {}
