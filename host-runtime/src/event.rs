//! Events: points of a stream that others wait for, and between which time is measured.
//!
//! In: a stream. Out: an event, which happens when all that was queued on the stream before it is done. An event belongs
//! to one point for good: to record again is to make another.

use std::sync::Arc;
use std::time::{Duration, Instant};

use crate::cuda::CudaEvent;
use crate::error::{Error, Result};
use crate::stream::{Backend, Queue};

/// A point of a stream, from [`Stream::record`](crate::Stream::record). CUDA C: `cudaEvent_t`; Numba: `cuda.event()`.
///
/// ```
/// use host_runtime::Gpu;
///
/// let gpu = Gpu::cpu();
/// let start = gpu.stream().record()?;
/// let x = gpu.zeros::<f32>(1 << 20)?;
/// let end = gpu.stream().record()?;
/// println!("zeros: {:?}", end.elapsed_since(&start)?);
/// # Ok::<(), host_runtime::Error>(())
/// ```
pub struct Event {
    kind: Kind,
    queue: Arc<Queue>,
    /// What of the queue it comes after.
    ticket: u64,
}

enum Kind {
    Cuda(CudaEvent),
    /// When it happened: at once.
    Simulator(Instant),
}

impl Event {
    pub(crate) fn record(queue: &Arc<Queue>) -> Result<Self> {
        let ticket = queue.progress.issued();
        let kind = match &queue.backend {
            Backend::Cuda(stream) => Kind::Cuda(CudaEvent::record(stream)?),
            Backend::Simulator(_) => Kind::Simulator(Instant::now()),
        };
        Ok(Self {
            kind,
            queue: queue.clone(),
            ticket,
        })
    }

    /// Makes what is queued on `queue` from now on wait for this.
    pub(crate) fn hold(&self, queue: &Arc<Queue>) -> Result<()> {
        match (&self.kind, &queue.backend) {
            (Kind::Cuda(event), Backend::Cuda(stream)) => stream.wait_for_event(event)?,
            (Kind::Cuda(event), Backend::Simulator(_)) => event.synchronize()?,
            (Kind::Simulator(_), _) => {}
        }
        queue.progress.is_behind(&self.queue.progress, self.ticket);
        Ok(())
    }

    /// Waits until it has happened. It does not report a panic of a kernel: a wait for the stream does.
    /// CUDA C: `cudaEventSynchronize`.
    ///
    /// # Errors
    ///
    /// If the device failed.
    pub fn synchronize(&self) -> Result<()> {
        match &self.kind {
            Kind::Cuda(event) => event.synchronize()?,
            Kind::Simulator(_) => {}
        }
        self.queue.progress.is_done(self.ticket);
        Ok(())
    }

    /// Whether it has happened. It does not wait. CUDA C: `cudaEventQuery`.
    ///
    /// # Errors
    ///
    /// If the device failed.
    pub fn is_done(&self) -> Result<bool> {
        match &self.kind {
            Kind::Cuda(event) => event.is_done(),
            Kind::Simulator(_) => Ok(true),
        }
    }

    /// Waits for this event, and gives the time from `start` to it, to about half a microsecond; zero if `start` happened
    /// later. On the simulator it is the time of the host between the two calls of `record`.
    /// CUDA C: `cudaEventElapsedTime`.
    ///
    /// # Errors
    ///
    /// If the events are of different devices, or the device failed.
    pub fn elapsed_since(&self, start: &Event) -> Result<Duration> {
        match (&self.kind, &start.kind) {
            (Kind::Cuda(end), Kind::Cuda(start)) => end.elapsed_since(start),
            (Kind::Simulator(end), Kind::Simulator(start)) => Ok(end.duration_since(*start)),
            _ => Err(Error::DifferentDevices {
                first: start.label(),
                second: self.label(),
            }),
        }
    }

    fn label(&self) -> String {
        self.queue.backend.label()
    }
}

impl std::fmt::Debug for Event {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Event(on {})", self.label())
    }
}
