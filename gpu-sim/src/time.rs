//! The device's clocks, as nanoseconds of the host's.

use std::sync::LazyLock;
use std::time::Instant;

use crate::context;
use crate::spin;
use crate::symbols::kernel;

/// A thread that looks at the clock may wait for nothing else.
fn nanoseconds() -> u64 {
    if let Some(context) = context::current() {
        context.spin.progress();
    }
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

/// Any time up to twice the given one is right: that of the other threads of the block, which run on this OS thread.
#[unsafe(export_name = "gpu.llvm.nvvm.nanosleep")]
extern "C" fn nanosleep(_nanoseconds: u32) {
    spin::let_others_run(kernel("time::nanosleep"));
}
