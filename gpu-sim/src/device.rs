//! What tells device code from host code: the simulator is a host, and has no PTX.

/// The simulator's code is the host's.
#[unsafe(export_name = "gpu.on_device")]
extern "C" fn on_device() -> bool {
    false
}

/// Only code behind `gpu.on_device` calls it.
#[unsafe(export_name = "gpu.ptx")]
extern "C" fn ptx() {
    unreachable!("inline PTX stands behind `on_device`")
}

/// The simulator has one memory.
#[unsafe(export_name = "gpu.llvm.nvvm.isspacep.global")]
extern "C" fn is_space_global(_address: *const ()) -> bool {
    false
}
