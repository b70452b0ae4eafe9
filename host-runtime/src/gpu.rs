//! The device that a program works with: one CUDA device, or the CPU simulator in its place.
//!
//! A [`Gpu`] is a device with a stream of its own. Copies and launches enter the stream in program order and run in that
//! order; reads wait for what was queued before. More streams of a device come from [`Gpu::new_stream`].

use std::ffi::c_void;
use std::fmt;
use std::ops::RangeInclusive;
use std::sync::Once;
use std::time::Duration;

use crate::checks::Checks;
use crate::cuda::{self, CudaStream};
use crate::error::{Error, Result};
use crate::memory_kind::MemoryKind;
use crate::setting::Setting;
use crate::simulator::SimulatorStream;
use crate::stream::{Backend, Stream};

/// A device to copy to and launch on: a CUDA device, or the CPU simulator.
///
/// Clones are the same device and stream. Two calls of [`Gpu::new`] make two streams with their own settings and values of
/// constants. On one CUDA device the arrays of both can be arguments of one launch; two simulators are two devices.
///
/// Launches, fills and copies are asynchronous on a CUDA device: the call returns when the work is queued and host data has
/// been taken over. [`to_host`](crate::DeviceArray::to_host) and whatever else gives data to the host waits, as
/// [`synchronize`](Gpu::synchronize) does, and returns the error of a kernel that panicked meanwhile; a launch or copy after
/// a panic that is known returns it too. A large copy from pageable memory waits for the queue as well
/// ([`to_device`](Gpu::to_device)). Dropping an array does not wait: its memory is freed in queue order.
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
    stream: Stream,
    /// Of what the memory of new arrays is.
    pub(crate) memory: MemoryKind,
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
            Setting::Cpu => Checks::from_environment().map(Self::cpu_with),
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

    /// The CPU simulator. It is always there, with the checks that `OXWARP_CHECK` names (see [`Checks`]). A value that is
    /// no list of checks is an error of the first launch or copy.
    pub fn cpu() -> Self {
        Self::of_stream(Stream::new(Backend::Simulator(
            SimulatorStream::open_as_asked(),
        )))
    }

    /// The CPU simulator, with these checks.
    ///
    /// ```
    /// use host_runtime::{Checks, Gpu};
    ///
    /// let gpu = Gpu::cpu_with(Checks::all());
    /// assert!(gpu.is_simulator());
    /// ```
    pub fn cpu_with(checks: Checks) -> Self {
        Self::of_stream(Stream::new(Backend::Simulator(SimulatorStream::open(
            checks,
        ))))
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
        let stream = CudaStream::open(ordinal)?;
        Ok(Self::of_stream(Stream::new(Backend::Cuda(stream))))
    }

    /// The device's name, such as `NVIDIA H200` or `CPU simulator (2 cores)`.
    pub fn name(&self) -> &str {
        match self.backend() {
            Backend::Cuda(stream) => stream.name(),
            Backend::Simulator(stream) => stream.device.name(),
        }
    }

    /// Whether it is the CPU simulator.
    pub fn is_simulator(&self) -> bool {
        matches!(self.backend(), Backend::Simulator(_))
    }

    /// The compute capability, as `(9, 0)`; `None` for the simulator.
    pub fn compute_capability(&self) -> Option<(u32, u32)> {
        match self.backend() {
            Backend::Cuda(stream) => Some(stream.compute_capability()),
            Backend::Simulator(_) => None,
        }
    }

    /// The stream that copies and launches of this handle go to.
    ///
    /// ```
    /// let gpu = host_runtime::Gpu::cpu();
    /// assert!(gpu.stream().is_done()?);
    /// # Ok::<(), host_runtime::Error>(())
    /// ```
    pub fn stream(&self) -> &Stream {
        &self.stream
    }

    /// Another stream of this device, which shares the settings and the values of constants of this handle.
    /// CUDA C: `cudaStreamCreate`; Numba: `cuda.stream()`; CuPy: `cuda.Stream()`.
    ///
    /// On the simulator a stream runs what is queued before the call returns, like every other.
    ///
    /// # Errors
    ///
    /// If the device fails.
    ///
    /// ```
    /// # let gpu = host_runtime::Gpu::cpu();
    /// let copies = gpu.new_stream()?;
    /// let x = copies.gpu().to_device(&vec![1.0f32; 1000])?;
    /// // A launch with `x` on `gpu`'s stream waits for the copy by itself.
    /// # Ok::<(), host_runtime::Error>(())
    /// ```
    pub fn new_stream(&self) -> Result<Stream> {
        self.new_stream_with_priority(0)
    }

    /// A stream whose work goes before that of streams with greater numbers, where both wait for the device.
    /// CUDA C: `cudaStreamCreateWithPriority`.
    ///
    /// # Errors
    ///
    /// If the number is not one of [`stream_priorities`](Self::stream_priorities), or the device fails.
    ///
    /// ```
    /// # let gpu = host_runtime::Gpu::cpu();
    /// let urgent = gpu.new_stream_with_priority(*gpu.stream_priorities()?.start())?;
    /// assert_eq!(urgent.priority(), *gpu.stream_priorities()?.start());
    /// assert!(gpu.new_stream_with_priority(-1000).is_err());
    /// # Ok::<(), host_runtime::Error>(())
    /// ```
    pub fn new_stream_with_priority(&self, priority: i32) -> Result<Stream> {
        let allowed = self.stream_priorities()?;
        if !allowed.contains(&priority) {
            return Err(Error::StreamPriority {
                device: self.label(),
                given: priority,
                allowed,
            });
        }
        Ok(Stream::new(match self.backend() {
            Backend::Cuda(stream) => Backend::Cuda(stream.another(priority)?),
            Backend::Simulator(stream) => Backend::Simulator(stream.another(priority)),
        }))
    }

    /// The priorities that a stream can have, the most urgent first: `-5..=0` on today's devices. The simulator takes the
    /// same, and does not need them. CUDA C: `cudaDeviceGetStreamPriorityRange`.
    ///
    /// # Errors
    ///
    /// If the device fails.
    pub fn stream_priorities(&self) -> Result<RangeInclusive<i32>> {
        match self.backend() {
            Backend::Cuda(stream) => stream.priorities(),
            Backend::Simulator(_) => Ok(SimulatorStream::PRIORITIES),
        }
    }

    /// The `CUstream` of [`stream`](Self::stream), for the driver's own functions; `None` for the simulator.
    ///
    /// ```
    /// assert_eq!(host_runtime::Gpu::cpu().cuda_stream(), None);
    /// ```
    pub fn cuda_stream(&self) -> Option<*mut c_void> {
        self.stream.cuda_stream()
    }

    /// The `CUcontext` of the device, its primary one, for the driver's own functions; `None` for the simulator. It lives as
    /// long as the process. Libraries such as cuBLAS use it too.
    ///
    /// ```
    /// assert_eq!(host_runtime::Gpu::cpu().cuda_context(), None);
    /// ```
    pub fn cuda_context(&self) -> Option<*mut c_void> {
        match self.backend() {
            Backend::Cuda(stream) => Some(stream.context_handle()),
            Backend::Simulator(_) => None,
        }
    }

    /// Waits until all that was queued before is done. CUDA C: `cudaStreamSynchronize`.
    ///
    /// # Errors
    ///
    /// If a kernel of this stream panicked since the last wait, or the device failed.
    pub fn synchronize(&self) -> Result<()> {
        self.stream.synchronize()
    }

    /// Sets how long a wait of this handle and its streams lasts at most: for ever, if this is not called. See
    /// [`Stream::synchronize_within`](crate::Stream::synchronize_within) for what a time-out means. With a limit the host
    /// looks at the device every few microseconds, and after a while every few milliseconds, in place of a wait by the driver.
    ///
    /// ```
    /// use std::time::Duration;
    ///
    /// let gpu = host_runtime::Gpu::cpu();
    /// gpu.set_timeout(Some(Duration::from_secs(60)));
    /// gpu.set_timeout(None);
    /// ```
    pub fn set_timeout(&self, limit: Option<Duration>) {
        if let Backend::Cuda(stream) = self.backend() {
            stream.set_time_out(limit);
        }
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
            Backend::Cuda(stream) => stream.set_print_capacity(bytes),
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
            Backend::Cuda(stream) => stream.set_heap_size(bytes),
            Backend::Simulator(stream) => stream.take_fault(),
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
            Backend::Cuda(stream) => stream.set_stack_size(bytes),
            Backend::Simulator(stream) => stream.take_fault(),
        }
    }

    /// The device through a stream.
    pub(crate) fn of_stream(stream: Stream) -> Self {
        Self {
            stream,
            memory: MemoryKind::default(),
        }
    }

    #[inline]
    pub(crate) fn backend(&self) -> &Backend {
        self.stream.backend()
    }

    /// How messages call it: the name, and the device number where there is one.
    pub(crate) fn label(&self) -> String {
        self.backend().label()
    }
}

impl AsRef<Stream> for Gpu {
    fn as_ref(&self) -> &Stream {
        &self.stream
    }
}

impl fmt::Debug for Gpu {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Gpu({})", self.label())
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
