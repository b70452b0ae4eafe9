//! Streams: queues of copies and launches on a device.
//!
//! A [`Gpu`] is a device with one stream. A program that wants copies and kernels to run at the same time makes more with
//! [`Gpu::new_stream`]. What is queued on one stream runs in order; what is queued on different streams may overlap,
//! unless both use one array and one of them writes it: then the runtime makes the later one wait for the earlier
//! ([`ordering`](crate::ordering)). An [`Event`] orders streams where no array does, and measures time.
//!
//! Each stream has its own kernel state on the device (where a panic is recorded, what was printed, the barrier of a grid),
//! so an error comes out of the stream whose kernel failed.

use std::ffi::c_void;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use crate::cuda::CudaStream;
use crate::error::Result;
use crate::event::Event;
use crate::gpu::Gpu;
use crate::graph::capture;
use crate::limits::Limits;
use crate::ordering::Progress;
use crate::profile::{Operation, Profiling, WorkKind};
use crate::progress::Listening;
use crate::simulator::SimulatorStream;

/// A queue of copies and launches on a device. CUDA C: `cudaStream_t`; Numba: `cuda.stream()`; CuPy: `cuda.Stream`.
///
/// Clones are the same stream. Launches go to it with `.on(&stream)`; [`gpu`](Self::gpu) is the device whose copies and
/// allocations go to it.
///
/// ```
/// use host_runtime::Gpu;
///
/// let gpu = Gpu::cpu();
/// let copies = gpu.new_stream()?;
/// let x = copies.gpu().to_device(&[1.0f32, 2.0])?; // queued on `copies`
/// let start = gpu.stream().record()?;
/// let end = gpu.stream().record()?;
/// end.synchronize()?;
/// println!("{:?}", end.elapsed_since(&start)?);
/// # Ok::<(), host_runtime::Error>(())
/// ```
#[derive(Clone)]
pub struct Stream {
    queue: Arc<Queue>,
}

/// A stream's queue, and how far it is.
pub(crate) struct Queue {
    pub backend: Backend,
    pub progress: Progress,
}

/// The two things that a stream can be.
pub(crate) enum Backend {
    Cuda(CudaStream),
    Simulator(SimulatorStream),
}

impl Stream {
    pub(crate) fn new(backend: Backend) -> Self {
        let progress = Progress::new();
        Self {
            queue: Arc::new(Queue { backend, progress }),
        }
    }

    /// The device, with this stream as its own: copies, allocations and launches that go through it are queued here.
    /// PyCUDA: `stream=`; CuPy: `with stream:`.
    ///
    /// ```
    /// # let gpu = host_runtime::Gpu::cpu();
    /// let stream = gpu.new_stream()?;
    /// let x = stream.gpu().zeros::<f32>(100)?;
    /// assert_eq!(x.len(), 100);
    /// # Ok::<(), host_runtime::Error>(())
    /// ```
    pub fn gpu(&self) -> Gpu {
        Gpu::of_stream(self.clone())
    }

    /// Waits until all that was queued here before is done. CUDA C: `cudaStreamSynchronize`.
    ///
    /// # Errors
    ///
    /// If a kernel of this stream panicked since the last wait, or the device failed.
    pub fn synchronize(&self) -> Result<()> {
        capture::refuse("a wait for the device", "wait after the graph was launched")?;
        self.queue.synchronize()
    }

    /// Waits as [`synchronize`](Self::synchronize) does, for so long at most. CuPy and Numba have no such wait.
    ///
    /// A kernel that does not end cannot be stopped. After a time-out all calls on all handles of the device return this
    /// error, and the process can go on without the device, or end. The simulator's work is done when it is queued; a kernel
    /// that can never go on is an error there by itself.
    ///
    /// # Errors
    ///
    /// If it takes longer ([`Error::TimedOut`](crate::Error::TimedOut)), a kernel of this stream panicked since the last wait,
    /// or the device failed.
    ///
    /// ```
    /// # let gpu = host_runtime::Gpu::cpu();
    /// gpu.stream().synchronize_within(std::time::Duration::from_secs(60))?;
    /// # Ok::<(), host_runtime::Error>(())
    /// ```
    pub fn synchronize_within(&self, limit: Duration) -> Result<()> {
        capture::refuse("a wait for the device", "wait after the graph was launched")?;
        if let Backend::Cuda(stream) = self.backend() {
            stream.wait_at_most(limit)?;
        }
        self.synchronize()
    }

    /// After a wait for an event: the error of a kernel that panicked, without a wait for what was queued later.
    pub(crate) fn tell_panic(&self) -> Result<()> {
        if self.is_done()? {
            return self.synchronize();
        }
        self.backend().check()
    }

    /// Whether all that was queued here is done. It does not wait, and does not report a panic.
    /// CUDA C: `cudaStreamQuery`.
    ///
    /// # Errors
    ///
    /// If the device failed.
    ///
    /// ```
    /// assert!(host_runtime::Gpu::cpu().stream().is_done()?);
    /// # Ok::<(), host_runtime::Error>(())
    /// ```
    pub fn is_done(&self) -> Result<bool> {
        match self.backend() {
            Backend::Cuda(stream) => stream.is_done(),
            Backend::Simulator(_) => Ok(true),
        }
    }

    /// An event at this point of the stream: it happens when all that was queued before is done.
    /// CUDA C: `cudaEventCreate` and `cudaEventRecord`.
    ///
    /// # Errors
    ///
    /// If the device failed.
    pub fn record(&self) -> Result<Event> {
        Event::record(self)
    }

    /// Makes what is queued here from now on wait for an event of any stream. The host does not wait.
    /// CUDA C: `cudaStreamWaitEvent`.
    ///
    /// # Errors
    ///
    /// If the device failed, or the event is of a CUDA device and this stream of the simulator, or the reverse.
    ///
    /// ```
    /// # let gpu = host_runtime::Gpu::cpu();
    /// let other = gpu.new_stream()?;
    /// let copied = other.record()?;
    /// gpu.stream().wait(&copied)?;
    /// # Ok::<(), host_runtime::Error>(())
    /// ```
    pub fn wait(&self, event: &Event) -> Result<()> {
        event.hold(self)
    }

    /// The priority, from [`Gpu::new_stream_with_priority`]; 0 otherwise. Lower numbers are more urgent.
    /// CUDA C: `cudaStreamGetPriority`.
    pub fn priority(&self) -> i32 {
        match self.backend() {
            Backend::Cuda(stream) => stream.priority(),
            Backend::Simulator(stream) => stream.priority,
        }
    }

    /// The `CUstream`, for the driver's own functions and for libraries that take one; `None` for the simulator. It lives
    /// as long as the last clone of this stream and the arrays that belong to it. CuPy: `Stream.ptr`.
    ///
    /// ```
    /// assert_eq!(host_runtime::Gpu::cpu().stream().cuda_stream(), None);
    /// ```
    pub fn cuda_stream(&self) -> Option<*mut c_void> {
        match self.backend() {
            Backend::Cuda(stream) => Some(stream.handle()),
            Backend::Simulator(_) => None,
        }
    }

    /// Whether both are one stream.
    #[inline]
    pub(crate) fn is(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.queue, &other.queue)
    }

    #[inline]
    pub(crate) fn queue(&self) -> &Arc<Queue> {
        &self.queue
    }

    pub(crate) fn backend(&self) -> &Backend {
        &self.queue.backend
    }
}

impl Queue {
    /// Waits for all that was queued before.
    pub fn synchronize(&self) -> Result<()> {
        let issued = self.progress.issued();
        self.backend.synchronize()?;
        self.progress.is_done(issued);
        Ok(())
    }
}

impl AsRef<Stream> for Stream {
    fn as_ref(&self) -> &Stream {
        self
    }
}

impl fmt::Debug for Stream {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Stream(of {})", self.backend().label())
    }
}

impl Backend {
    /// Whether a profile is being taken, and what it has so far.
    #[inline]
    pub fn profiling(&self) -> &Profiling {
        match self {
            Self::Cuda(stream) => stream.profiling(),
            Self::Simulator(stream) => stream.device.profiling(),
        }
    }

    /// Who is told of long copies and compilations.
    pub fn listening(&self) -> &Listening {
        match self {
            Self::Cuda(stream) => stream.listening(),
            Self::Simulator(stream) => stream.device.listening(),
        }
    }

    /// Does work that a profile may measure.
    pub fn measure<R>(
        &self,
        name: &'static str,
        kind: WorkKind,
        bytes: usize,
        work: impl FnOnce() -> Result<R>,
    ) -> Result<R> {
        let operation = || Operation::of_bytes(name, kind, bytes);
        self.profiling().measure(self, operation, work)
    }

    /// Makes what is queued here from now on wait for what is queued on `other` so far.
    pub fn wait_for(&self, other: &Self) -> Result<()> {
        match (self, other) {
            (Self::Cuda(stream), Self::Cuda(other)) => stream.wait_for(other),
            // The simulator's work is done when it is queued.
            (_, Self::Simulator(_)) => Ok(()),
            (Self::Simulator(_), Self::Cuda(other)) => other.synchronize(),
        }
    }

    pub fn synchronize(&self) -> Result<()> {
        match self {
            Self::Cuda(stream) => stream.synchronize(),
            Self::Simulator(stream) => stream.take_fault(),
        }
    }

    pub fn limits(&self) -> &Limits {
        match self {
            Self::Cuda(stream) => stream.limits(),
            Self::Simulator(_) => &Limits::SIMULATOR,
        }
    }

    /// How messages call the device: the name, and its number where there is one.
    pub fn label(&self) -> String {
        match self {
            Self::Cuda(stream) => stream.label(),
            Self::Simulator(stream) => stream.device.name().to_owned(),
        }
    }
}
