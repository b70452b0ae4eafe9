//! The device that a program works with: one CUDA device, or the CPU simulator in its place.
//!
//! A [`Gpu`] is a handle with a queue of its own. Copies and launches enter the queue in program order and run in that
//! order; reads wait for what was queued before. Everything else of the crate goes through the two back ends here.

use std::ffi::c_void;
use std::fmt;
use std::sync::{Arc, Once};

use crate::cuda::{self, CudaDevice};
use crate::error::{Error, Result};
use crate::limits::Limits;
use crate::setting::Setting;
use crate::simulator::Simulator;

/// A device to copy to and launch on: a CUDA device, or the CPU simulator.
///
/// Clones are the same device and queue. Two calls of [`Gpu::new`] make two queues, even on one CUDA device, with their
/// own arrays and their own errors; arrays of both cannot be arguments of one launch.
///
/// Launches, and the copies behind `zeros` and `fill`, are asynchronous on a CUDA device: the call returns when the
/// work is queued. [`to_host`](crate::DeviceArray::to_host), [`copy_from`](crate::DeviceArray::copy_from),
/// [`to_device`](Gpu::to_device) and [`synchronize`](Gpu::synchronize) wait, and return the error of a kernel that
/// panicked meanwhile. Dropping an array never waits: its memory is freed in queue order.
///
/// ```
/// use host_runtime::Gpu;
///
/// let gpu = Gpu::cpu();
/// let x = gpu.to_device(&[1.0f32, 2.0, 3.0])?;
/// assert_eq!(x.to_vec()?, [1.0, 2.0, 3.0]);
/// # Ok::<(), host_runtime::Error>(())
/// ```
#[derive(Clone)]
pub struct Gpu {
    backend: Arc<Backend>,
}

/// The two things that a [`Gpu`] can be.
pub(crate) enum Backend {
    Cuda(CudaDevice),
    Simulator(Simulator),
}

impl Gpu {
    /// The device that the environment variable `OXWARP_DEVICE` names (`cpu`, `cuda` or `cuda:N`); without it the
    /// first CUDA device, else the CPU simulator, and a line on standard error says so, once per process.
    ///
    /// # Errors
    ///
    /// If `OXWARP_DEVICE` names no device, or one that is not there; if a CUDA device is there but fails.
    pub fn new() -> Result<Self> {
        let value = std::env::var_os("OXWARP_DEVICE");
        let value = value.as_ref().map(|value| value.to_string_lossy());
        Self::from_setting(Setting::parse(value.as_deref())?)
    }

    fn from_setting(setting: Setting) -> Result<Self> {
        match setting {
            Setting::Cpu => Ok(Self::cpu()),
            Setting::Cuda(ordinal) => Self::cuda(ordinal).map_err(|error| match error {
                Error::NoDevice { ordinal, there, .. } => Error::NoDevice {
                    ordinal,
                    from_setting: true,
                    there,
                },
                other => other,
            }),
            Setting::Automatic => match cuda::count() {
                Ok(1..) => Self::cuda(0),
                Ok(0) => Ok(Self::simulator_instead("there is no CUDA device")),
                Err(reason) => Ok(Self::simulator_instead(&reason)),
            },
        }
    }

    fn simulator_instead(reason: &str) -> Self {
        static SAID: Once = Once::new();
        SAID.call_once(|| {
            eprintln!(
                "oxwarp: running on the CPU simulator, because {reason} (set OXWARP_DEVICE=cpu to choose it without \
                 this message)"
            );
        });
        Self::cpu()
    }

    /// The CPU simulator. It is always there.
    pub fn cpu() -> Self {
        Self {
            backend: Arc::new(Backend::Simulator(Simulator::new())),
        }
    }

    /// The CUDA device with this number, in the driver's order (see `CUDA_VISIBLE_DEVICES`), from 0.
    ///
    /// Its primary context is used, which other CUDA libraries of the process share; it stays until the process ends.
    ///
    /// # Errors
    ///
    /// If there is no driver or no such device, or it fails.
    ///
    /// ```
    /// use host_runtime::{Error, Gpu};
    ///
    /// match Gpu::cuda(99) {
    ///     Err(Error::NoDevice { ordinal, there, .. }) => println!("no cuda:{ordinal}: {there}"),
    ///     _ => unreachable!(),
    /// }
    /// ```
    pub fn cuda(ordinal: u32) -> Result<Self> {
        Ok(Self {
            backend: Arc::new(Backend::Cuda(CudaDevice::open(ordinal)?)),
        })
    }

    /// The device's name, such as `NVIDIA H200` or `CPU simulator (2 cores)`.
    pub fn name(&self) -> &str {
        match self.backend() {
            Backend::Cuda(device) => device.name(),
            Backend::Simulator(simulator) => simulator.name(),
        }
    }

    /// Whether it is the CPU simulator.
    pub fn is_simulator(&self) -> bool {
        matches!(self.backend(), Backend::Simulator(_))
    }

    /// The compute capability, as `(9, 0)`; `None` for the simulator.
    pub fn compute_capability(&self) -> Option<(u32, u32)> {
        match self.backend() {
            Backend::Cuda(device) => Some(device.compute_capability()),
            Backend::Simulator(_) => None,
        }
    }

    /// The `CUstream` that copies and launches of this device go to, for the driver's own functions; `None` for the
    /// simulator. It lives as long as the last clone of this device and its arrays. CuPy: `Stream.ptr`.
    ///
    /// ```
    /// assert_eq!(host_runtime::Gpu::cpu().cuda_stream(), None);
    /// ```
    pub fn cuda_stream(&self) -> Option<*mut c_void> {
        match self.backend() {
            Backend::Cuda(device) => Some(device.stream_handle()),
            Backend::Simulator(_) => None,
        }
    }

    /// Waits until all that was queued before is done. CUDA C: `cudaStreamSynchronize`.
    ///
    /// # Errors
    ///
    /// If a kernel panicked since the last wait, or the device failed.
    pub fn synchronize(&self) -> Result<()> {
        self.backend().synchronize()
    }

    /// Sets how many bytes there are for what kernels print between two waits: 4 MiB, if this is not called. A message
    /// takes its text and 32 bytes or a little more. What does not fit is lost, and a line on standard error says how
    /// many messages that were. The simulator prints at once, and has no limit. CUDA C: `cudaLimitPrintfFifoSize`.
    ///
    /// # Errors
    ///
    /// If a kernel failed before, or the memory cannot be allocated. The memory is the host's, pinned.
    ///
    /// ```
    /// let gpu = host_runtime::Gpu::cpu();
    /// gpu.set_print_capacity(64 << 20)?;
    /// # Ok::<(), host_runtime::Error>(())
    /// ```
    pub fn set_print_capacity(&self, bytes: usize) -> Result<()> {
        match self.backend() {
            Backend::Cuda(device) => device.set_print_capacity(bytes),
            Backend::Simulator(_) => Ok(()),
        }
    }

    /// Sets how many bytes the kernels of this device have for `Vec`, `Box`, `String` and the like, all threads together:
    /// 256 MiB or a 32nd of the device's memory, if this is not called. Where it is full, the thread that asks for more
    /// panics. What a thread owned that panicked is not freed.
    ///
    /// It is one heap for all handles of a CUDA device. It must be set before the first launch of a kernel that allocates.
    /// The simulator has the host's heap, and no limit. CUDA C: `cudaLimitMallocHeapSize`.
    ///
    /// # Errors
    ///
    /// If a kernel that allocates was loaded before, or panicked since the last wait, or the device fails.
    ///
    /// ```
    /// let gpu = host_runtime::Gpu::cpu();
    /// gpu.set_heap_size(1 << 30)?;
    /// # Ok::<(), host_runtime::Error>(())
    /// ```
    pub fn set_heap_size(&self, bytes: usize) -> Result<()> {
        match self.backend() {
            Backend::Cuda(device) => device.set_heap_size(bytes),
            Backend::Simulator(simulator) => simulator.take_fault(),
        }
    }

    /// Sets how many bytes of stack a thread has. If this is not called, they are CUDA's own 1 KiB, and 16 KiB once a
    /// kernel is loaded that calls itself, calls through a pointer, or formats text. A thread that needs more ends in a
    /// fault of the device.
    ///
    /// It is one size for all handles of a CUDA device, whose memory holds the stacks of all threads that can run at once.
    /// Waits for what was queued. The simulator's stacks have 256 KiB. CUDA C: `cudaLimitStackSize`.
    ///
    /// # Errors
    ///
    /// If the device refuses the size, a kernel panicked since the last wait, or the device fails.
    ///
    /// ```
    /// let gpu = host_runtime::Gpu::cpu();
    /// gpu.set_stack_size(64 << 10)?;
    /// # Ok::<(), host_runtime::Error>(())
    /// ```
    pub fn set_stack_size(&self, bytes: usize) -> Result<()> {
        match self.backend() {
            Backend::Cuda(device) => device.set_stack_size(bytes),
            Backend::Simulator(simulator) => simulator.take_fault(),
        }
    }

    pub(crate) fn backend(&self) -> &Backend {
        &self.backend
    }

    /// Whether both are one device and queue.
    pub(crate) fn is(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.backend, &other.backend)
    }

    /// How messages call it: the name, and the device number where there is one.
    pub(crate) fn label(&self) -> String {
        match self.backend() {
            Backend::Cuda(device) => device.label(),
            Backend::Simulator(simulator) => simulator.name().to_owned(),
        }
    }
}

impl fmt::Debug for Gpu {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Gpu({})", self.label())
    }
}

/// What both back ends do with untyped memory. An address is one that [`allocate`](Self::allocate) gave for at least so
/// many bytes, or lies inside such an allocation.
impl Backend {
    /// Memory of so many bytes, not zero, aligned to at least 256.
    pub fn allocate(&self, bytes: usize) -> Result<u64> {
        match self {
            Self::Cuda(device) => device.allocate(bytes),
            Self::Simulator(simulator) => simulator.allocate(bytes),
        }
    }

    /// Frees memory, in queue order.
    ///
    /// # Safety
    ///
    /// `address` is from `allocate` of the same number of bytes, and nothing queued later uses it.
    pub unsafe fn free(&self, address: u64, bytes: usize) {
        match self {
            Self::Cuda(device) => device.free(address),
            // SAFETY: as the caller promises.
            Self::Simulator(simulator) => unsafe { simulator.free(address, bytes) },
        }
    }

    /// Fills with zero bytes.
    ///
    /// # Safety
    ///
    /// The memory is the caller's to write.
    pub unsafe fn zero(&self, address: u64, bytes: usize) -> Result<()> {
        match self {
            // SAFETY: as the caller promises.
            Self::Cuda(device) => unsafe { device.zero(address, bytes) },
            Self::Simulator(_) => {
                // SAFETY: an address of the simulator is a host address, and the caller may write there.
                unsafe { (address as *mut u8).write_bytes(0, bytes) };
                Ok(())
            }
        }
    }

    /// Copies to the device and waits.
    ///
    /// # Safety
    ///
    /// `source` is readable and `address` the caller's to write, for so many bytes.
    pub unsafe fn upload(&self, address: u64, source: *const u8, bytes: usize) -> Result<()> {
        match self {
            // SAFETY: as the caller promises.
            Self::Cuda(device) => unsafe { device.upload(address, source, bytes) },
            Self::Simulator(simulator) => {
                // SAFETY: as the caller promises; host memory given to the caller and device memory never overlap.
                unsafe { (address as *mut u8).copy_from_nonoverlapping(source, bytes) };
                simulator.take_fault()
            }
        }
    }

    /// Waits and copies to the host.
    ///
    /// # Safety
    ///
    /// `address` is readable and `destination` the caller's to write, for so many bytes.
    pub unsafe fn download(&self, destination: *mut u8, address: u64, bytes: usize) -> Result<()> {
        match self {
            // SAFETY: as the caller promises.
            Self::Cuda(device) => unsafe { device.download(destination, address, bytes) },
            Self::Simulator(simulator) => {
                // SAFETY: as the caller promises; host memory given to the caller and device memory never overlap.
                unsafe { destination.copy_from_nonoverlapping(address as *const u8, bytes) };
                simulator.take_fault()
            }
        }
    }

    /// Copies inside the device, between memory that does not overlap.
    ///
    /// # Safety
    ///
    /// `source` is readable and `address` the caller's to write, for so many bytes.
    pub unsafe fn copy(&self, address: u64, source: u64, bytes: usize) -> Result<()> {
        match self {
            // SAFETY: as the caller promises.
            Self::Cuda(device) => unsafe { device.copy(address, source, bytes) },
            Self::Simulator(_) => {
                // SAFETY: as the caller promises.
                unsafe {
                    (address as *mut u8).copy_from_nonoverlapping(source as *const u8, bytes)
                };
                Ok(())
            }
        }
    }

    pub fn synchronize(&self) -> Result<()> {
        match self {
            Self::Cuda(device) => device.synchronize(),
            Self::Simulator(simulator) => simulator.take_fault(),
        }
    }

    pub fn limits(&self) -> &Limits {
        match self {
            Self::Cuda(device) => device.limits(),
            Self::Simulator(_) => &Limits::SIMULATOR,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_device_that_is_not_there_is_named() {
        let error = Gpu::from_setting(Setting::Cuda(4711))
            .unwrap_err()
            .to_string();
        assert!(error.contains("cuda:4711 (from OXWARP_DEVICE)"), "{error}");
        assert!(error.contains("OXWARP_DEVICE=cpu"), "{error}");
    }

    #[test]
    fn the_automatic_choice_always_gives_a_device() {
        let gpu = Gpu::from_setting(Setting::Automatic).unwrap();
        assert_eq!(gpu.is_simulator(), !matches!(cuda::count(), Ok(1..)));
        assert!(Gpu::from_setting(Setting::Cpu).unwrap().is_simulator());
    }
}
