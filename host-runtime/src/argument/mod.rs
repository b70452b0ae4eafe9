//! Which host arguments a kernel's parameters take.
//!
//! In: references to device arrays, views of parts of them, and host data ([`host_argument`](crate::host_argument)). Out:
//! their raw views, as they stand in the parameter struct, and which device the launch goes to. `&` gives what the whole grid
//! only reads; `&mut` what it writes.
//!
//! Here is what the arguments of one launch have in common; [`read`], [`write`] and [`atomics`] say what passes for which
//! parameter, [`raw`] makes the views.

mod atomics;
mod raw;
mod read;
mod write;

use core::ptr::NonNull;

use gpu_std::kernel::KernelParam;
use ndarray::Dimension;
use smallvec::SmallVec;

use crate::DeviceCopy;
use crate::array::DeviceArray;
use crate::bound;
use crate::config::LaunchConfig;
use crate::error::{Error, Result};
use crate::gpu::Gpu;
use crate::host_argument::Held;
use crate::launch::default_gpu;
use crate::memory::Memory;
use crate::ordering::{Access, Turn, ticket};
use crate::view::{DeviceView, DeviceViewMut};

pub use atomics::AtomicElement;

/// What the arguments of a launch have in common: the device and stream, the memory that it reads and writes, and the
/// first error.
#[derive(Default)]
pub struct Arguments {
    /// Where host data goes: the device that was chosen, or that of an argument.
    gpu: Option<Gpu>,
    /// The device of the kernel's module, for host data.
    own: Option<Gpu>,
    uses: SmallVec<[Use; 16]>,
    /// Device arrays in place of host data.
    held: Vec<Box<dyn Held>>,
    error: Option<Error>,
}

/// Memory behind an argument.
struct Use {
    memory: NonNull<Memory>,
    access: Access,
}

impl Arguments {
    /// No arguments yet.
    #[inline]
    pub fn new() -> Self {
        Self::default()
    }

    /// No arguments yet, of a launch with this shape and device.
    #[inline]
    pub fn of(config: &LaunchConfig) -> Self {
        Self {
            gpu: config.gpu.clone(),
            ..Self::default()
        }
    }

    /// The same, of a kernel that lives on one device.
    pub(crate) fn or_on(mut self, gpu: &Gpu) -> Self {
        self.own = Some(gpu.clone());
        self
    }

    /// Takes the device of an argument that lies on one, if none was chosen.
    #[inline]
    pub fn prefers(&mut self, argument: &impl OnDevice) {
        if self.gpu.is_none() {
            self.gpu = argument.device().cloned();
        }
    }

    /// The device for host data: the one chosen, or that of an argument or of the kernel, or the process's first.
    pub(crate) fn gpu_of_host_data(&mut self) -> Result<Gpu> {
        let gpu = match self.gpu.as_ref().or(self.own.as_ref()) {
            Some(gpu) => gpu.clone(),
            None => default_gpu()?.clone(),
        };
        self.gpu = Some(gpu.clone());
        Ok(gpu)
    }

    /// Keeps what stands for host data until the arguments are dropped.
    ///
    /// # Safety
    ///
    /// But for [`Held::finish`], `held` does not touch what is borrowed for `'a`.
    pub(crate) unsafe fn hold<'a>(&mut self, held: Box<dyn Held + 'a>) {
        // SAFETY: only the lifetime changes, and what it bounds is touched in `finish` alone, whose caller promises that the
        // borrow is not over.
        let held = unsafe { std::mem::transmute::<Box<dyn Held + 'a>, Box<dyn Held>>(held) };
        self.held.push(held);
    }

    /// Waits and copies back to host data what the launch wrote for it; after an error nothing more.
    ///
    /// # Safety
    ///
    /// The host data that the arguments were made of is still borrowed.
    #[inline]
    pub(crate) unsafe fn finish(&mut self) -> Result<()> {
        for held in &mut self.held {
            // SAFETY: as the caller promises.
            unsafe { held.finish() }?;
        }
        Ok(())
    }

    /// Notes that the launch uses this memory, which stays borrowed until it is queued.
    #[inline]
    pub(crate) fn uses(&mut self, memory: &Memory, access: Access) {
        let memory = NonNull::from(memory);
        self.uses.push(Use { memory, access });
    }

    /// Notes that an argument cannot be passed; the launch gives the first such error.
    #[cold]
    pub(crate) fn fails(&mut self, error: Error) {
        self.error.get_or_insert(error);
    }

    /// The device and stream that was chosen, or that of the first argument; `None` where neither is.
    ///
    /// # Safety
    ///
    /// The arrays and views that the arguments were made of are still borrowed for `'a`.
    #[inline]
    pub(crate) unsafe fn device<'a>(&mut self, chosen: Option<&'a Gpu>) -> Result<Option<&'a Gpu>> {
        if let Some(error) = self.error.take() {
            return Err(error);
        }
        Ok(match chosen {
            Some(chosen) => Some(chosen),
            // SAFETY: as the caller promises.
            None => (self.uses.first()).map(|used| unsafe { used.memory.as_ref() }.gpu()),
        })
    }

    /// Checks that the launch's device can use the memory, and makes `gpu`'s stream wait for what the launch must come after
    /// on other streams. What is returned is to be held until [`end`](Self::end).
    ///
    /// # Safety
    ///
    /// The arrays and views that the arguments were made of are still borrowed.
    #[inline]
    pub(crate) unsafe fn begin(&self, gpu: &Gpu) -> Result<Option<Turn>> {
        // SAFETY: as the caller promises.
        let memory = |used: &Use| unsafe { &*used.memory.as_ptr() };
        if self.uses.iter().all(|used| memory(used).is_simple_on(gpu)) {
            return Ok(None);
        }
        let is_kept = self.uses.iter().any(|used| memory(used).is_kept());
        let turn = is_kept.then(Turn::borrowed);
        for used in &self.uses {
            let memory = memory(used);
            check_reach(gpu, memory)?;
            memory.begin_on(gpu, used.access)?;
        }
        Ok(turn)
    }

    /// Checks that the launch's device can use the memory, and gives it for use without a borrow.
    ///
    /// # Safety
    ///
    /// As for [`begin`](Self::begin).
    pub(crate) unsafe fn keep(&self, gpu: &Gpu) -> Result<Vec<bound::Use>> {
        if !self.held.is_empty() {
            return Err(Error::HostDataInPlan);
        }
        let kept = self.uses.iter().map(|used| {
            // SAFETY: as the caller promises.
            let memory = unsafe { used.memory.as_ref() };
            check_reach(gpu, memory)?;
            Ok(bound::Use {
                memory: memory.keep(),
                access: used.access,
            })
        });
        kept.collect()
    }

    /// Bytes of the memory behind the arguments, that of each array once.
    ///
    /// # Safety
    ///
    /// As for [`begin`](Self::begin).
    pub(crate) unsafe fn bytes(&self) -> u64 {
        let mut memories: Vec<_> = self.uses.iter().map(|used| used.memory).collect();
        memories.sort();
        memories.dedup();
        // SAFETY: as the caller promises.
        let bytes = |memory: &NonNull<Memory>| unsafe { memory.as_ref() }.bytes() as u64;
        memories.iter().map(bytes).sum()
    }

    /// Notes that the launch was queued on `gpu`'s stream.
    ///
    /// # Safety
    ///
    /// As for [`begin`](Self::begin).
    #[inline]
    pub(crate) unsafe fn end(&self, gpu: &Gpu) {
        let ticket = ticket(gpu.stream().queue());
        for used in &self.uses {
            // SAFETY: as the caller promises.
            unsafe { used.memory.as_ref() }.end_on(gpu, used.access, &ticket);
        }
    }
}

/// Checks that launches of a device can use the memory.
#[inline]
fn check_reach(gpu: &Gpu, memory: &Memory) -> Result<()> {
    let owner = memory.gpu();
    if owner.stream().is(gpu.stream()) || gpu.backend().may_use_memory_of(owner.backend()) {
        return Ok(());
    }
    Err(different_devices(gpu, owner))
}

#[cold]
pub(crate) fn different_devices(first: &Gpu, second: &Gpu) -> Error {
    Error::DifferentDevices {
        first: first.label(),
        second: second.label(),
    }
}

/// A host value that may be passed for the kernel parameter `P`.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be passed for the kernel parameter `{P}`",
    label = "not an argument for `{P}`",
    note = "for `&[T]` pass `&DeviceArray<T>`; for `DisjointSlice<T>` and for atomics such as `&[AtomicU32]` pass \
            `&mut DeviceArray<T>`; for a parameter of several dimensions, such as `ArrayView2<T>` or \
            `DisjointSlice<T, ThreadIndex2d>`, the array must have as many: `&DeviceArray<T, Ix2>` (see \
            `DeviceArray::into_shape`)",
    note = "host data must be on the device first: `let x = gpu.to_device(&x)?;`; or let the launch copy it: `In(&x)`, \
            `InOut(&mut x)`, `Out(&mut x)`"
)]
pub trait KernelArg<P: KernelParam>: OnDevice {
    /// The argument as it crosses the launch.
    fn raw(self, arguments: &mut Arguments) -> P::Raw;
}

/// What an argument of a launch says of where it lies.
pub trait OnDevice {
    /// Whether it is host data, whose device others say.
    const IS_HOST_DATA: bool = false;

    /// The device, if it is on one.
    fn device(&self) -> Option<&Gpu>;
}

/// Whether an argument is host data. Where none is, a launch need not ask for their device.
#[inline]
pub const fn is_host_data<A: OnDevice>(_argument: &A) -> bool {
    A::IS_HOST_DATA
}

macro_rules! on_device {
    ($($argument:ty),*) => {$(
        impl<T: DeviceCopy, D: Dimension> OnDevice for $argument {
            #[inline]
            fn device(&self) -> Option<&Gpu> {
                Some(self.gpu())
            }
        }
    )*};
}

on_device!(&DeviceArray<T, D>, &mut DeviceArray<T, D>, DeviceView<'_, T, D>, DeviceViewMut<'_, T, D>);
