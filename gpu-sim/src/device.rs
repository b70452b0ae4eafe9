//! What tells device code from host code, and what the device has: the simulator is a host, and has no PTX, but every
//! function of `gpu_std`.

/// The simulator's code is the host's.
#[unsafe(export_name = "gpu.on_device")]
extern "C" fn on_device() -> bool {
    false
}

/// What the simulator is taken for.
const SM: u32 = 90;

#[unsafe(export_name = "gpu.target.sm")]
extern "C" fn sm() -> u32 {
    SM
}

#[unsafe(export_name = "gpu.require.sm")]
extern "C" fn require_sm(_sm: u32, _item: *const u8, _length: usize) {}

#[unsafe(export_name = "gpu.require.ptx")]
extern "C" fn require_ptx(_version: u32) {}

#[unsafe(export_name = "gpu.unroll")]
extern "C" fn unroll(_count: u32) {}

#[unsafe(export_name = "gpu.linked")]
extern "C" fn linked(_symbol: *const u8, _file: *const u8) {}

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

#[unsafe(export_name = "gpu.llvm.nvvm.isspacep.shared")]
extern "C" fn is_space_shared(_address: *const ()) -> bool {
    false
}
