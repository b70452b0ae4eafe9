//! Constant memory of a device: the values that the host has set, and the variables of the modules that hold them.
//!
//! Each module that uses a constant has a variable of its own for it, named after the constant's key, which is looked up once.
//! The values are the device's, with a count of the changes. A stream whose modules have an earlier count brings them up to
//! date, in queue order, before its next launch.

use std::any::TypeId;
use std::ffi::CString;
use std::mem::MaybeUninit;
use std::ptr;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::{CudaStream, Handle};
use crate::constant::{ConstantRecord, records};
use crate::error::Result;
use crate::registry::{IdMap, bits_of};

/// The values that the host has set.
#[derive(Default)]
pub(super) struct Constants {
    /// By the bits of the key. A thread that also locks the modules of a stream locks those first.
    values: Mutex<IdMap<Value>>,
    /// How many times one was set.
    version: AtomicU64,
}

struct Value {
    /// Not all bytes of a value need be initialised.
    bytes: Box<[MaybeUninit<u8>]>,
    /// The count when it was set.
    version: u64,
}

/// A constant's variable in a module.
#[derive(Clone, Copy, Debug)]
pub(super) struct ConstantVariable {
    /// The bits of the constant's key.
    key: u128,
    address: u64,
    bytes: usize,
}

impl Constants {
    fn version(&self) -> u64 {
        self.version.load(Ordering::Acquire)
    }

    fn values(&self) -> MutexGuard<'_, IdMap<Value>> {
        self.values.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The variable of a constant.
fn symbol(key: TypeId) -> CString {
    CString::new(format!("constant_{:032x}", bits_of(key))).unwrap_or_default()
}

impl CudaStream {
    /// Sets a constant for what is queued from now on, on all streams of the device.
    ///
    /// # Safety
    ///
    /// `value` points to a value of the constant's type, which has so many bytes.
    pub unsafe fn set_constant(&self, key: TypeId, value: *const u8, bytes: usize) -> Result<()> {
        self.refuse_after_panic()?;
        let mut kept = vec![MaybeUninit::uninit(); bytes].into_boxed_slice();
        // SAFETY: the caller's value has so many bytes, and so has the new box.
        unsafe { ptr::copy_nonoverlapping(value.cast(), kept.as_mut_ptr(), bytes) };
        let constants = &self.device.constants;
        let mut values = constants.values();
        let version = constants.version() + 1;
        let value = Value {
            bytes: kept,
            version,
        };
        values.insert(bits_of(key), value);
        constants.version.store(version, Ordering::Release);
        Ok(())
    }

    /// Brings the constants of the loaded modules up to date.
    #[inline]
    pub(super) fn update_constants(&self) -> Result<()> {
        if self.device.constants.version() == self.constants.load(Ordering::Acquire) {
            return Ok(());
        }
        self.queue_updates()
    }

    #[cold]
    fn queue_updates(&self) -> Result<()> {
        let modules = self.modules.lock().unwrap_or_else(PoisonError::into_inner);
        let values = self.device.constants.values();
        let known = self.constants.load(Ordering::Acquire);
        for variable in modules.values().flat_map(|module| &module.constants) {
            let value = values.get(&variable.key);
            if let Some(value) = value.filter(|value| value.version > known) {
                // SAFETY: the value is one of the constant's type.
                unsafe { self.fill_constant(variable, value.bytes.as_ptr().cast()) }?;
            }
        }
        let version = self.device.constants.version();
        self.constants.store(version, Ordering::Release);
        Ok(())
    }

    /// Gives the constants of a module that was just loaded their values, and returns where they are.
    pub(super) fn fill_constants(&self, module: Handle) -> Result<Vec<ConstantVariable>> {
        let values = self.device.constants.values();
        let mut variables = Vec::new();
        for record in records() {
            let Some(variable) = self.constant_variable(module, record)? else {
                continue;
            };
            let value = match values.get(&variable.key) {
                Some(value) => value.bytes.as_ptr().cast(),
                None => record.initial(),
            };
            // SAFETY: both are values of the constant's type.
            unsafe { self.fill_constant(&variable, value) }?;
            variables.push(variable);
        }
        Ok(variables)
    }

    /// The variable of a constant, if the module has it.
    fn constant_variable(
        &self,
        module: Handle,
        record: &ConstantRecord,
    ) -> Result<Option<ConstantVariable>> {
        let found = self.variable(module, &symbol(record.key()))?;
        Ok(found.map(|(address, bytes)| ConstantVariable {
            key: bits_of(record.key()),
            address,
            bytes: bytes.min(record.layout().size()),
        }))
    }

    /// Queues a copy of the value to the variable.
    ///
    /// # Safety
    ///
    /// `value` is of the constant's type. It is the host's pageable memory, which the driver has read when the call returns.
    unsafe fn fill_constant(&self, variable: &ConstantVariable, value: *const u8) -> Result<()> {
        // SAFETY: variable and value have so many bytes.
        unsafe {
            self.driver.cuMemcpyHtoDAsync_v2(
                variable.address,
                value.cast_mut().cast(),
                variable.bytes,
                self.handle(),
            )
        }?;
        Ok(())
    }
}
