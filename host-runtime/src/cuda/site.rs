//! Where a thread panicked that left its kernel with a number: its module's PTX says what that stands for.

use std::sync::PoisonError;

use super::CudaStream;
use super::module::PANIC_SLOT;
use super::panic::Site;
use crate::explain::text;
use crate::registry;

impl CudaStream {
    /// The site of that number in the module whose variable for the panic slot is at `variable`.
    pub(super) fn panic_site(&self, variable: u64, number: u32) -> Option<Site> {
        let code = {
            let modules = self.modules.lock().unwrap_or_else(PoisonError::into_inner);
            let mut modules = modules.values();
            let is_there = |module| matches!(self.variable(module, PANIC_SLOT), Ok(Some((address, _))) if address == variable);
            modules.find(|module| is_there(module.handle))?.code
        };
        let (major, minor) = self.compute_capability();
        let image = registry::best_image(code.images, major * 10 + minor)?;
        let site = ptx_report::Module::parse(text(image)).panic_site(number)?;
        let symbol = site.kernel.as_bytes();
        let mut kernels = code.kernels.iter();
        let kernel = kernels.find(|kernel| kernel.symbol.to_bytes() == symbol);
        Some(Site {
            kernel: kernel.and_then(|kernel| self.kernel_name(kernel.id as u64)),
            file: site.place.file,
            line: site.place.line,
            column: site.place.column,
            message: site.message,
        })
    }
}
