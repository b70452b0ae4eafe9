//! Constant memory of a device: the values that the host has set, and the variables of the modules that hold them.
//!
//! Each module that uses a constant has a variable of its own for it, named after the constant's key. A module that is
//! loaded gets the values of that moment; a value that is set goes to all modules that are loaded.

use std::any::TypeId;
use std::ffi::CString;
use std::mem::MaybeUninit;
use std::ptr;
use std::sync::PoisonError;

use super::{CudaDevice, Handle};
use crate::constant::ConstantRecord;
use crate::error::Result;
use crate::registry::{IdMap, bits_of};

/// The values that were set, by the bits of the key. Not all bytes of a value need be initialised.
pub(super) type Constants = IdMap<Box<[MaybeUninit<u8>]>>;

/// The variable of a constant.
fn symbol(key: TypeId) -> CString {
    CString::new(format!("constant_{:032x}", bits_of(key))).unwrap_or_default()
}

impl CudaDevice {
    /// Sets a constant in all modules, loaded or not, for what is queued from now on. Waits for what was queued before.
    ///
    /// # Safety
    ///
    /// `value` points to a value of the constant's type, which has so many bytes.
    pub unsafe fn set_constant(&self, key: TypeId, value: *const u8, bytes: usize) -> Result<()> {
        self.make_current()?;
        // Before the locks, that a module which is being loaded gets the new value too.
        let modules = self.modules.lock().unwrap_or_else(PoisonError::into_inner);
        let mut constants = self
            .constants
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        let mut kept = vec![MaybeUninit::uninit(); bytes].into_boxed_slice();
        // SAFETY: the caller's value has so many bytes, and so has the new box.
        unsafe { ptr::copy_nonoverlapping(value.cast(), kept.as_mut_ptr(), bytes) };
        constants.insert(bits_of(key), kept);
        let filled = modules.values().try_for_each(|&module| {
            // SAFETY: as the caller promises; the wait below lets the copy end before the value does.
            unsafe { self.fill_constant(module, key, value, bytes) }
        });
        drop((constants, modules));
        self.synchronize()?;
        filled
    }

    /// Gives the constants of a module that was just loaded their values.
    pub(super) fn fill_constants(&self, module: Handle) -> Result<()> {
        let constants = self
            .constants
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        for record in inventory::iter::<ConstantRecord> {
            let bytes = record.layout().size();
            let value = match constants.get(&bits_of(record.key())) {
                Some(value) => value.as_ptr().cast(),
                None => record.initial(),
            };
            // SAFETY: both are values of the constant's type, and live until the wait below.
            unsafe { self.fill_constant(module, record.key(), value, bytes) }?;
        }
        self.wait()
    }

    /// Queues a copy of the value to the module's variable, if it has one.
    ///
    /// # Safety
    ///
    /// `value` has so many bytes until the copy is done.
    unsafe fn fill_constant(
        &self,
        module: Handle,
        key: TypeId,
        value: *const u8,
        bytes: usize,
    ) -> Result<()> {
        let Some((address, there)) = self.variable(module, &symbol(key))? else {
            return Ok(());
        };
        // SAFETY: the variable has so many bytes, and the caller sees to the value.
        unsafe {
            self.driver.cuMemcpyHtoDAsync_v2(
                address,
                value.cast_mut().cast(),
                bytes.min(there),
                self.stream_handle(),
            )
        }?;
        Ok(())
    }
}
