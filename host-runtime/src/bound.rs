//! A kernel with its arguments, not launched yet: what a plan, a graph's node or a change of either is made of.
//!
//! In: what a kernel's `bind` collected from the user's arrays and values. Out: the packed parameters, and the memory
//! behind them, kept alive without a borrow.

use std::alloc::Layout;
use std::fmt;
use std::marker::PhantomData;
use std::ptr::NonNull;

use gpu_std::kernel::{KernelInstance, KernelRecord};

use crate::argument::Arguments;
use crate::config::LaunchConfig;
use crate::error::{Error, Result};
use crate::gpu::Gpu;
use crate::launch::{default_gpu, extents};
use crate::limits::Extents;
use crate::memory::Memory;
use crate::ordering::Access;

/// A launch with its arguments that has not happened: `add.grid(4).block(256).bind(&a, &b, &mut c)`. It borrows the
/// arrays until it becomes a [`Plan`](crate::Plan), or [changes](crate::Plan::set) one, or becomes a node of a graph
/// ([`GraphBuilder`](crate::GraphBuilder)).
///
/// Where it changes a plan or a node it may name no shape: `add().bind(&a, &b, &mut c)` keeps the one that is there.
#[must_use = "it does nothing by itself: make a plan or a graph's node of it"]
pub struct BoundLaunch<'a> {
    pub(crate) record: &'static KernelRecord,
    pub(crate) config: LaunchConfig,
    arguments: Arguments,
    params: Params,
    _arrays: PhantomData<&'a ()>,
}

/// Memory that a plan or a node uses.
#[derive(Clone)]
pub(crate) struct Use {
    pub memory: Memory,
    pub access: Access,
}

/// What a launch is made of, once its arguments are known to be of one device.
pub(crate) struct Parts {
    pub record: &'static KernelRecord,
    pub config: LaunchConfig,
    /// The device and stream that the launch would go to.
    pub gpu: Gpu,
    pub uses: Vec<Use>,
    pub params: Params,
}

impl<'a> BoundLaunch<'a> {
    /// # Safety
    ///
    /// `params` points to the parameter struct of `K`. The views in it are from
    /// [`KernelArg::raw`](crate::argument::KernelArg::raw) with `arguments`, of arrays that are borrowed for `'a`.
    pub(crate) unsafe fn new<K: KernelInstance>(
        config: LaunchConfig,
        arguments: Arguments,
        params: *const u8,
    ) -> Self {
        Self {
            record: K::RECORD,
            config,
            arguments,
            // SAFETY: the struct is as large as the record says.
            params: unsafe { Params::copy(K::RECORD, params) },
            _arrays: PhantomData,
        }
    }

    /// The parts, if the arguments can be passed.
    pub(crate) fn into_parts(mut self) -> Result<Parts> {
        // SAFETY: the arrays are borrowed as long as `self`.
        let gpu = match unsafe { self.arguments.device(self.config.gpu.as_ref()) }? {
            Some(gpu) => gpu.clone(),
            None => default_gpu()?.clone(),
        };
        Ok(Parts {
            record: self.record,
            config: self.config,
            // SAFETY: the arrays are borrowed as long as `self`.
            uses: unsafe { self.arguments.keep(&gpu) }?,
            gpu,
            params: self.params,
        })
    }
}

impl fmt::Debug for BoundLaunch<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "BoundLaunch(of `{}`)", self.record.name)
    }
}

impl Parts {
    /// Refuses the arguments of another kernel than `record`'s.
    pub fn check_kernel(&self, record: &'static KernelRecord) -> Result<()> {
        if self.record.id == record.id {
            return Ok(());
        }
        Err(Error::OtherKernel {
            wanted: record.name,
            given: self.record.name,
        })
    }

    /// The shape that was named, or `before` where none was; `None` where there is nothing to launch.
    pub fn extents_or(&self, before: Option<Extents>) -> Result<Option<Extents>> {
        match self.config.names_no_shape() {
            true => Ok(before),
            false => extents(self.record, &self.config, self.gpu.backend()),
        }
    }
}

/// One use for each allocation: a write if any is.
pub(crate) fn merged<'a>(uses: impl IntoIterator<Item = &'a Use>) -> Vec<Use> {
    let mut merged: Vec<Use> = Vec::new();
    for used in uses {
        match merged.iter_mut().find(|have| have.memory.is(&used.memory)) {
            Some(have) if used.access == Access::Write => have.access = Access::Write,
            Some(_) => {}
            None => merged.push(used.clone()),
        }
    }
    merged
}

/// Bytes of merged uses.
pub(crate) fn bytes_of(uses: &[Use]) -> u64 {
    uses.iter().map(|used| used.memory.bytes() as u64).sum()
}

/// A copy of a kernel's parameter struct.
pub(crate) struct Params {
    struct_: NonNull<u8>,
    layout: Layout,
}

// SAFETY: it is the only owner of its bytes, which are plain values and addresses of device memory.
unsafe impl Send for Params {}

// SAFETY: shared, the bytes are only read.
unsafe impl Sync for Params {}

impl Params {
    /// # Safety
    ///
    /// `params` points to a parameter struct of the record's kernel.
    pub unsafe fn copy(record: &KernelRecord, params: *const u8) -> Self {
        // SAFETY: size and alignment are those of a Rust type.
        let layout =
            unsafe { Layout::from_size_align_unchecked(record.params_size, record.params_align) };
        // SAFETY: as the caller promises.
        unsafe { Self::of(layout, params) }
    }

    /// # Safety
    ///
    /// `params` points to as many readable bytes as the layout has.
    unsafe fn of(layout: Layout, params: *const u8) -> Self {
        let struct_ = match layout.size() {
            0 => {
                let aligned = std::ptr::without_provenance_mut(layout.align());
                // SAFETY: an alignment is not zero.
                unsafe { NonNull::new_unchecked(aligned) }
            }
            _ => {
                // SAFETY: the layout has bytes.
                let new = NonNull::new(unsafe { std::alloc::alloc(layout) });
                new.unwrap_or_else(|| std::alloc::handle_alloc_error(layout))
            }
        };
        // SAFETY: both have so many bytes, and the new ones are nobody else's.
        unsafe {
            struct_
                .copy_from_nonoverlapping(NonNull::new_unchecked(params.cast_mut()), layout.size())
        };
        Self { struct_, layout }
    }

    #[inline]
    pub fn as_ptr(&self) -> *const u8 {
        self.struct_.as_ptr()
    }
}

impl Clone for Params {
    fn clone(&self) -> Self {
        // SAFETY: the struct has the layout's bytes.
        unsafe { Self::of(self.layout, self.as_ptr()) }
    }
}

impl Drop for Params {
    fn drop(&mut self) {
        if self.layout.size() > 0 {
            // SAFETY: the bytes were allocated with this layout.
            unsafe { std::alloc::dealloc(self.struct_.as_ptr(), self.layout) };
        }
    }
}
