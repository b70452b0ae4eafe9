//! Several devices at once: the same work on parts of the data.
//!
//! In: host data. Out: one array a device, each with a part of it or with all of it, and the way back. What is queued on one
//! device runs beside what is queued on the others, so a loop over the parts that launches on each keeps all of them busy.
//! Exchange between the devices is in [`collective`](crate::collective).

use std::fmt;
use std::ops::Index;
use std::sync::Mutex;
use std::thread;

use ndarray::{Array, Axis, Dimension, RemoveAxis};

use crate::DeviceCopy;
use crate::array::DeviceArray;
use crate::cuda::{self, NcclCommunicators};
use crate::error::{Error, Result};
use crate::gpu::Gpu;
use crate::host::{HostData, in_standard_order};

/// The devices that share the work of a program.
///
/// ```
/// use host_runtime::{Devices, Reduction};
///
/// let devices = Devices::simulated(2);
/// let x: Vec<f32> = (0..1000).map(|i| i as f32).collect();
/// let parts = devices.scatter(&x)?; // 500 elements on each
/// // for part in &mut parts { double.for_each(part.len()).launch(part)?; }
/// assert_eq!(devices.gather(&parts)?.to_vec(), x);
///
/// let mut sums = vec![devices[0].full(1, 10.0f32)?, devices[1].full(1, 20.0)?];
/// devices.all_reduce(Reduction::Sum, &mut sums)?;
/// assert_eq!(sums[0].to_vec()?, [30.0]);
/// # Ok::<(), host_runtime::Error>(())
/// ```
pub struct Devices {
    gpus: Vec<Gpu>,
    pub(crate) communicators: Mutex<Option<NcclCommunicators>>,
}

impl Devices {
    /// All CUDA devices of the machine (see `CUDA_VISIBLE_DEVICES`), or one simulator where there is none or
    /// `OXWARP_DEVICE` is `cpu`. Numba: `cuda.gpus`.
    ///
    /// # Errors
    ///
    /// If `OXWARP_DEVICE` names no device, or a device fails.
    pub fn all() -> Result<Self> {
        let first = Gpu::new()?;
        if first.is_simulator() {
            return Ok(Self::of(vec![first]));
        }
        let count = cuda::count().unwrap_or_default();
        let gpus = (0..count).map(Gpu::cuda).collect::<Result<_>>()?;
        Ok(Self::of(gpus))
    }

    /// So many simulators, to try a program for several devices without them.
    pub fn simulated(count: usize) -> Self {
        Self::of((0..count).map(|_| Gpu::cpu()).collect())
    }

    /// The devices of these handles, in this order.
    pub fn of(gpus: Vec<Gpu>) -> Self {
        Self {
            gpus,
            communicators: Mutex::new(None),
        }
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.gpus.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.gpus.is_empty()
    }

    /// The devices in order.
    pub fn iter(&self) -> std::slice::Iter<'_, Gpu> {
        self.gpus.iter()
    }

    /// Calls `work` once for each device, with its number, each on a host thread of its own, and gives the results in
    /// order. For work that waits for its device; launches alone need no threads.
    ///
    /// # Errors
    ///
    /// The error of the first device that has one. A panic of `work` goes on in the caller.
    ///
    /// ```
    /// let devices = host_runtime::Devices::simulated(3);
    /// let lens = devices.each(|number, gpu| Ok(gpu.zeros::<u8>(number)?.to_vec()?.len()))?;
    /// assert_eq!(lens, [0, 1, 2]);
    /// # Ok::<(), host_runtime::Error>(())
    /// ```
    pub fn each<R: Send>(&self, work: impl Fn(usize, &Gpu) -> Result<R> + Sync) -> Result<Vec<R>> {
        thread::scope(|scope| {
            let threads: Vec<_> = (self.gpus.iter().enumerate())
                .map(|(number, gpu)| {
                    let work = &work;
                    scope.spawn(move || work(number, gpu))
                })
                .collect();
            threads
                .into_iter()
                .map(|thread| {
                    let joined = thread.join();
                    joined.unwrap_or_else(|panic| std::panic::resume_unwind(panic))
                })
                .collect()
        })
    }

    /// Splits host data along its first axis: one array a device, whose lengths differ by at most one. Copies run beside
    /// each other.
    ///
    /// # Errors
    ///
    /// If there are no devices, memory runs out, or a device fails.
    ///
    /// ```
    /// let devices = host_runtime::Devices::simulated(2);
    /// let parts = devices.scatter(&ndarray::Array2::<f64>::eye(5))?;
    /// assert_eq!((parts[0].dim(), parts[1].dim()), ((3, 5), (2, 5)));
    /// # Ok::<(), host_runtime::Error>(())
    /// ```
    pub fn scatter<H>(&self, source: &H) -> Result<Vec<DeviceArray<H::Element, H::Dim>>>
    where
        H: HostData + ?Sized,
        H::Element: Sync + Send,
        H::Dim: Sync + Send,
    {
        let (extents, elements) = (source.extents(), in_standard_order(source));
        let rows = match extents.slice() {
            [rows, ..] if !self.is_empty() => *rows,
            _ => return Err(Error::NothingToSplit),
        };
        let row = elements.len().checked_div(rows).unwrap_or_default();
        self.each(|number, gpu| {
            let [first, end] = [number, number + 1].map(|number| self.first_row(rows, number));
            let part = gpu.to_device(&elements[first * row..end * row])?;
            let mut extents = extents.clone();
            extents.slice_mut()[0] = end - first;
            part.into_shape(extents)
        })
    }

    /// The first row of a device's part: the first parts have one more where it does not come out even.
    fn first_row(&self, rows: usize, number: usize) -> usize {
        let (each, more) = (rows / self.len(), rows % self.len());
        number * each + number.min(more)
    }

    /// A copy of the host data on each device. Copies run beside each other.
    ///
    /// # Errors
    ///
    /// If memory runs out or a device fails.
    pub fn replicate<H>(&self, source: &H) -> Result<Vec<DeviceArray<H::Element, H::Dim>>>
    where
        H: HostData + Sync + ?Sized,
        H::Element: Send,
        H::Dim: Send,
    {
        self.each(|_, gpu| gpu.to_device(source))
    }

    /// Waits, and joins the parts of [`scatter`](Self::scatter) along the first axis.
    ///
    /// # Errors
    ///
    /// If a kernel panicked on one of the devices, the other extents of the parts differ, or there are no parts.
    pub fn gather<T, D>(&self, parts: &[DeviceArray<T, D>]) -> Result<Array<T, D>>
    where
        T: DeviceCopy + Send + Sync,
        D: Dimension + RemoveAxis + Send + Sync,
    {
        let parts = thread::scope(|scope| {
            let threads: Vec<_> = parts
                .iter()
                .map(|part| scope.spawn(|| part.to_host()))
                .collect();
            let joined = threads.into_iter().map(|thread| {
                let joined = thread.join();
                joined.unwrap_or_else(|panic| std::panic::resume_unwind(panic))
            });
            joined.collect::<Result<Vec<_>>>()
        })?;
        let views: Vec<_> = parts.iter().map(|part| part.view()).collect();
        ndarray::concatenate(Axis(0), &views).map_err(|_| Error::PartsDiffer {
            shapes: parts.iter().map(|part| part.shape().to_vec()).collect(),
        })
    }

    /// Waits for all devices.
    ///
    /// # Errors
    ///
    /// The first error of a device, in order. The others are waited for all the same.
    pub fn synchronize(&self) -> Result<()> {
        let waited: Vec<_> = self.gpus.iter().map(Gpu::synchronize).collect();
        waited.into_iter().collect()
    }
}

impl Index<usize> for Devices {
    type Output = Gpu;

    /// # Panics
    ///
    /// If there are not so many devices.
    fn index(&self, number: usize) -> &Gpu {
        &self.gpus[number]
    }
}

impl<'a> IntoIterator for &'a Devices {
    type Item = &'a Gpu;
    type IntoIter = std::slice::Iter<'a, Gpu>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

impl fmt::Debug for Devices {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(&self.gpus).finish()
    }
}
