//! Exchange between the devices of a program: each gives its array, each gets the result.
//!
//! In: one array a device. Out: the same arrays with the sum of all, with the first one's elements, or with all parts in
//! order. On CUDA devices NCCL does it, in stream order: the call returns when the work is queued. It is opened when it is
//! first needed. On simulators the host does it.

use std::sync::PoisonError;

use gpu_std::half::{Bf16, F16};
use ndarray::Dimension;

use crate::DeviceCopy;
use crate::array::DeviceArray;
use crate::cuda::NcclCommunicators;
use crate::devices::Devices;
use crate::error::{Error, Result};
use crate::gpu::Gpu;
use crate::graph::capture;
use crate::memory::Memory;
use crate::ordering::{Access, Turn, ticket};
use crate::stream::Backend;

/// How elements are combined. NCCL: `ncclRedOp_t`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reduction {
    /// The sum; of integers it wraps around.
    Sum,
    /// The product; of integers it wraps around.
    Product,
    /// The least.
    Min,
    /// The greatest.
    Max,
}

/// NCCL's number of a type (`ncclDataType_t`).
#[doc(hidden)]
#[derive(Clone, Copy, Debug)]
pub struct NcclType(pub u32);

/// An element that devices exchange.
#[diagnostic::on_unimplemented(
    message = "devices cannot exchange elements of type `{Self}`",
    label = "exchange takes 8-, 32- and 64-bit integers, `F16`, `Bf16`, `f32` and `f64`"
)]
pub trait CollectiveElement: DeviceCopy + sealed::Sealed {
    #[doc(hidden)]
    const NCCL: NcclType;

    #[doc(hidden)]
    fn combine(self, other: Self, reduction: Reduction) -> Self;
}

mod sealed {
    pub trait Sealed {}
}

macro_rules! elements {
    ($($type:ty: $nccl:literal, |$a:ident, $b:ident| $sum:expr, $product:expr;)*) => {$(
        impl sealed::Sealed for $type {}

        impl CollectiveElement for $type {
            const NCCL: NcclType = NcclType($nccl);

            fn combine(self, other: Self, reduction: Reduction) -> Self {
                let ($a, $b) = (self, other);
                match reduction {
                    Reduction::Sum => $sum,
                    Reduction::Product => $product,
                    Reduction::Min => if $b < $a { $b } else { $a },
                    Reduction::Max => if $b > $a { $b } else { $a },
                }
            }
        }
    )*};
}

elements! {
    i8: 0, |a, b| a.wrapping_add(b), a.wrapping_mul(b);
    u8: 1, |a, b| a.wrapping_add(b), a.wrapping_mul(b);
    i32: 2, |a, b| a.wrapping_add(b), a.wrapping_mul(b);
    u32: 3, |a, b| a.wrapping_add(b), a.wrapping_mul(b);
    i64: 4, |a, b| a.wrapping_add(b), a.wrapping_mul(b);
    u64: 5, |a, b| a.wrapping_add(b), a.wrapping_mul(b);
    F16: 6, |a, b| a + b, a * b;
    f32: 7, |a, b| a + b, a * b;
    f64: 8, |a, b| a + b, a * b;
    Bf16: 9, |a, b| a + b, a * b;
}

/// What NCCL is asked for, on all devices at once.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Exchange {
    AllReduce(Reduction),
    /// From the device with this number.
    Broadcast(usize),
    AllGather,
}

/// One device's side of an exchange.
pub(crate) struct Side<'a> {
    pub source: &'a Memory,
    pub destination: &'a Memory,
}

impl Devices {
    /// Replaces the elements of all arrays, one a device, by the combination of all of them.
    /// NCCL: `ncclAllReduce`.
    ///
    /// # Errors
    ///
    /// If there is not one array for each device in order, the lengths differ, NCCL is not found (the error says where it
    /// was looked for), or a device fails.
    ///
    /// ```
    /// use host_runtime::{Devices, Reduction};
    ///
    /// let devices = Devices::simulated(2);
    /// let mut x = vec![devices[0].to_device(&[1, 9])?, devices[1].to_device(&[4, 3])?];
    /// devices.all_reduce(Reduction::Max, &mut x)?;
    /// assert_eq!(x[1].to_vec()?, [4, 9]);
    /// # Ok::<(), host_runtime::Error>(())
    /// ```
    pub fn all_reduce<T: CollectiveElement, D: Dimension>(
        &self,
        reduction: Reduction,
        arrays: &mut [DeviceArray<T, D>],
    ) -> Result<()> {
        self.exchange_in_place(Exchange::AllReduce(reduction), arrays)
    }

    /// Replaces the elements of all arrays, one a device, by those of the device with number `from`.
    /// NCCL: `ncclBroadcast`.
    ///
    /// # Errors
    ///
    /// As for [`all_reduce`](Self::all_reduce); if there is no device `from`.
    ///
    /// ```
    /// let devices = host_runtime::Devices::simulated(2);
    /// let mut x = vec![devices[0].zeros::<f32>(3)?, devices[1].to_device(&[1.0, 2.0, 3.0])?];
    /// devices.broadcast(1, &mut x)?;
    /// assert_eq!(x[0].to_vec()?, [1.0, 2.0, 3.0]);
    /// # Ok::<(), host_runtime::Error>(())
    /// ```
    pub fn broadcast<T: CollectiveElement, D: Dimension>(
        &self,
        from: usize,
        arrays: &mut [DeviceArray<T, D>],
    ) -> Result<()> {
        if from >= self.len() {
            return Err(Error::DeviceNumber {
                given: from,
                devices: self.len(),
            });
        }
        self.exchange_in_place(Exchange::Broadcast(from), arrays)
    }

    /// Fills each of `all` with the elements of all parts, in the order of the devices. The parts have one length, and the
    /// arrays of `all` that length for each device. NCCL: `ncclAllGather`.
    ///
    /// # Errors
    ///
    /// As for [`all_reduce`](Self::all_reduce).
    ///
    /// ```
    /// let devices = host_runtime::Devices::simulated(2);
    /// let parts = devices.scatter(&[1, 2, 3, 4])?;
    /// let mut all = devices.replicate(&[0; 4])?;
    /// devices.all_gather(&parts, &mut all)?;
    /// assert_eq!(all[1].to_vec()?, [1, 2, 3, 4]);
    /// # Ok::<(), host_runtime::Error>(())
    /// ```
    pub fn all_gather<T: CollectiveElement, D: Dimension, E: Dimension>(
        &self,
        parts: &[DeviceArray<T, D>],
        all: &mut [DeviceArray<T, E>],
    ) -> Result<()> {
        let len = self.check(parts)?;
        if self.check(all)? != len * self.len() {
            return Err(Error::LengthMismatch {
                source_len: len * self.len(),
                array_len: all[0].len(),
            });
        }
        let sides: Vec<_> = parts
            .iter()
            .zip(all)
            .map(|(part, all)| Side {
                source: part.memory(),
                destination: all.memory(),
            })
            .collect();
        self.exchange::<T>(Exchange::AllGather, &sides, len)
    }

    fn exchange_in_place<T: CollectiveElement, D: Dimension>(
        &self,
        exchange: Exchange,
        arrays: &mut [DeviceArray<T, D>],
    ) -> Result<()> {
        let len = self.check(arrays)?;
        let sides: Vec<_> = arrays
            .iter_mut()
            .map(|array| Side {
                source: array.memory(),
                destination: array.memory(),
            })
            .collect();
        self.exchange::<T>(exchange, &sides, len)
    }

    /// Checks that there is an array on each device, all of one length, and gives it.
    fn check<T: DeviceCopy, D: Dimension>(&self, arrays: &[DeviceArray<T, D>]) -> Result<usize> {
        if arrays.len() != self.len() {
            return Err(Error::OneArrayADevice {
                given: arrays.len(),
                devices: self.len(),
            });
        }
        for (gpu, array) in self.iter().zip(arrays) {
            if !gpu.backend().same_device(array.gpu().backend()) {
                return Err(Error::DifferentDevices {
                    first: gpu.label(),
                    second: array.gpu().label(),
                });
            }
        }
        let len = arrays.first().map_or(0, DeviceArray::len);
        match arrays.iter().find(|array| array.len() != len) {
            None => Ok(len),
            Some(other) => Err(Error::LengthMismatch {
                source_len: len,
                array_len: other.len(),
            }),
        }
    }

    fn exchange<T: CollectiveElement>(
        &self,
        exchange: Exchange,
        sides: &[Side<'_>],
        len: usize,
    ) -> Result<()> {
        if len * size_of::<T>() == 0 || self.is_empty() {
            return Ok(());
        }
        capture::refuse(
            "an exchange between devices",
            "make it before or after the launch of the graph",
        )?;
        let _turn = Turn::borrowed();
        for side in sides {
            side.source.begin_on(side.source.gpu(), Access::Read)?;
            let (gpu, destination) = (side.source.gpu(), side.destination);
            destination.begin_on(gpu, Access::Write)?;
        }
        let exchanged = if self.iter().all(Gpu::is_simulator) {
            // SAFETY: the memory has so many elements, as `check` has seen; nothing else uses it, because the arrays
            // are borrowed and the simulator's launches have ended.
            unsafe { on_the_host::<T>(exchange, sides, len) };
            Ok(())
        } else {
            self.with_nccl(|nccl| nccl.exchange(exchange, sides, len, T::NCCL))
        };
        // Also after an error, before which a part may have been queued.
        for side in sides {
            let gpu = side.source.gpu();
            let ticket = ticket(gpu.stream().queue());
            side.source.end_on(gpu, Access::Read, &ticket);
            side.destination.end_on(gpu, Access::Write, &ticket);
        }
        exchanged
    }

    /// Calls with NCCL's communicators, which are made on the first call.
    fn with_nccl<R>(&self, work: impl FnOnce(&NcclCommunicators) -> Result<R>) -> Result<R> {
        let communicators = self.communicators.lock();
        let mut communicators = communicators.unwrap_or_else(PoisonError::into_inner);
        let nccl = match &mut *communicators {
            Some(nccl) => nccl,
            none => none.insert(self.connect()?),
        };
        work(nccl)
    }

    fn connect(&self) -> Result<NcclCommunicators> {
        for gpu in self {
            for other in self {
                // NCCL reads and writes the arrays themselves where there is a way.
                if gpu.can_access_peer(other)? {
                    gpu.enable_peer_access(other)?;
                }
            }
        }
        let ordinals = self.iter().map(|gpu| match gpu.backend() {
            Backend::Cuda(stream) => Ok(stream.ordinal()),
            Backend::Simulator(_) => Err(Error::DifferentDevices {
                first: self[0].label(),
                second: gpu.label(),
            }),
        });
        NcclCommunicators::new(&ordinals.collect::<Result<Vec<_>>>()?)
    }
}

/// The exchange of simulators.
///
/// # Safety
///
/// Each source has `len` elements of `T`, each destination as many, or for all parts; nothing else uses them.
unsafe fn on_the_host<T: CollectiveElement>(exchange: Exchange, sides: &[Side<'_>], len: usize) {
    let pointer = |memory: &Memory| memory.address() as *mut T;
    // SAFETY: as the caller promises.
    let read = |side: &Side<'_>| unsafe {
        std::slice::from_raw_parts(pointer(side.source).cast_const(), len).to_vec()
    };
    let sources: Vec<Vec<T>> = sides.iter().map(read).collect();
    let result = match exchange {
        Exchange::AllReduce(reduction) => combined(&sources, reduction),
        Exchange::Broadcast(from) => sources[from].clone(),
        Exchange::AllGather => sources.concat(),
    };
    for side in sides {
        // SAFETY: as the caller promises.
        unsafe {
            pointer(side.destination).copy_from_nonoverlapping(result.as_ptr(), result.len())
        };
    }
}

fn combined<T: CollectiveElement>(sources: &[Vec<T>], reduction: Reduction) -> Vec<T> {
    let combine = |mut result: Vec<T>, other: &Vec<T>| {
        for (a, b) in result.iter_mut().zip(other) {
            *a = a.combine(*b, reduction);
        }
        result
    };
    let first = sources.first().cloned().unwrap_or_default();
    sources.iter().skip(1).fold(first, combine)
}
