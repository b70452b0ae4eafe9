//! The Rust kernels' device code: what of this program's PTX is whose.
//!
//! In: the PTX of this program. Out: for a kernel its text, and what `ptx-report` counts in it.

use std::ffi::CStr;
use std::sync::LazyLock;

use oxwarp::__private::{DeviceCode, inventory};
use ptx_report::{Code, Module, Position};

/// This program's device code.
pub fn device_code() -> &'static DeviceCode {
    let mut codes = inventory::iter::<DeviceCode>.into_iter();
    codes
        .find(|code| code.crate_name == "cuda_c")
        .expect("the kernels are of this crate")
}

/// The PTX for the highest target that a device of this compute capability (90 for 9.0) runs.
pub fn image(compute_capability: u32) -> Option<&'static CStr> {
    let images = device_code().images.iter();
    let runs = images.filter(|image| image.target <= compute_capability);
    runs.max_by_key(|image| image.target).map(|image| image.ptx)
}

/// The target of that PTX.
pub fn target(compute_capability: u32) -> u32 {
    let targets = device_code().images.iter().map(|image| image.target);
    targets
        .filter(|&target| target <= compute_capability)
        .max()
        .unwrap_or(0)
}

/// A kernel's name in the PTX: its own and the 32 digits of its instance.
pub fn symbol(kernel: &str) -> Option<&'static CStr> {
    let kernels = device_code().kernels.iter();
    kernels.map(|compiled| compiled.symbol).find(|symbol| {
        let instance = symbol
            .to_str()
            .ok()
            .and_then(|symbol| symbol.strip_prefix(kernel));
        instance.is_some_and(|rest| rest.starts_with('_') && rest.len() == 33)
    })
}

/// The PTX for the highest target, divided.
fn module() -> &'static Module<'static> {
    static MODULE: LazyLock<Module> = LazyLock::new(|| {
        let ptx = image(u32::MAX).and_then(|ptx| ptx.to_str().ok());
        Module::parse(ptx.unwrap_or_default())
    });
    &MODULE
}

/// The PTX of one kernel.
pub fn text(kernel: &str) -> Option<&'static str> {
    module().kernel(symbol(kernel)?.to_str().ok()?)
}

/// What is in a kernel's PTX.
pub fn of(kernel: &str) -> Option<Code> {
    Code::of(module(), symbol(kernel)?.to_str().ok()?)
}

/// How many checks stand somewhere.
pub fn checks(code: &Code, position: Position) -> usize {
    code.checks_at(position).count()
}
