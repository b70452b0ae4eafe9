//! Events: points of a stream that others wait for, and between which time is measured.
//!
//! In: a stream. Out: an event, which happens when all that was queued on the stream before it is done. An event belongs
//! to one point for good: to record again is to make another.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use crate::error::{Error, Result};
use crate::graph::capture;
use crate::moment::Moment;
use crate::stream::{Backend, Queue, Stream};

/// A point of a stream, from [`Stream::record`](crate::Stream::record). Clones are the same one.
/// It can be awaited: `event.await?` in asynchronous code, with any executor. CUDA C: `cudaEvent_t`; Numba: `cuda.event()`.
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
#[derive(Clone)]
pub struct Event {
    moment: Arc<Moment>,
    queue: Arc<Queue>,
    /// What of the queue it comes after.
    ticket: u64,
}

impl Event {
    pub(crate) fn record(stream: &Stream) -> Result<Self> {
        let queue = stream.queue();
        let ticket = queue.progress.issued();
        Ok(Self {
            moment: Arc::new(match capture::is_ordinary() {
                true => Moment::record(&queue.backend)?,
                false => Moment::Captured(capture::mark(stream)?),
            }),
            queue: queue.clone(),
            ticket,
        })
    }

    /// Makes what is queued on `stream` from now on wait for this.
    pub(crate) fn hold(&self, stream: &Stream) -> Result<()> {
        if !capture::is_ordinary() {
            let mark = match &*self.moment {
                Moment::Captured(mark) => Some(mark),
                Moment::Cuda(_) | Moment::Simulator(_) => None,
            };
            return capture::wait(stream, mark);
        }
        let queue = stream.queue();
        match (&*self.moment, &queue.backend) {
            (Moment::Cuda(event), Backend::Cuda(stream)) => stream.wait_for_event(event)?,
            (moment, _) => moment.synchronize()?,
        }
        queue.progress.is_behind(&self.queue.progress, self.ticket);
        Ok(())
    }

    /// When it happens.
    pub(crate) fn moment(&self) -> &Moment {
        &self.moment
    }

    /// Waits until it has happened. It does not report a panic of a kernel: a wait for the stream does.
    /// CUDA C: `cudaEventSynchronize`.
    ///
    /// # Errors
    ///
    /// If the device failed.
    pub fn synchronize(&self) -> Result<()> {
        capture::refuse("a wait for an event", "wait after the graph was launched")?;
        self.wait_on_host()
    }

    /// Waits, also inside a capture, where a buffer depends on it.
    pub(crate) fn wait_on_host(&self) -> Result<()> {
        self.moment.synchronize()?;
        self.queue.progress.is_done(self.ticket);
        Ok(())
    }

    /// Whether it has happened. It does not wait. CUDA C: `cudaEventQuery`.
    ///
    /// # Errors
    ///
    /// If the device failed.
    pub fn is_done(&self) -> Result<bool> {
        self.moment.is_done()
    }

    /// Waits for this event, and gives the time from `start` to it, to about half a microsecond; zero if `start` happened
    /// later. On the simulator it is the time of the host between the two calls of `record`.
    /// CUDA C: `cudaEventElapsedTime`.
    ///
    /// # Errors
    ///
    /// If the events are of different devices, or the device failed.
    pub fn elapsed_since(&self, start: &Event) -> Result<Duration> {
        self.moment
            .since(&start.moment)?
            .ok_or_else(|| Error::DifferentDevices {
                first: start.queue.backend.label(),
                second: self.queue.backend.label(),
            })
    }
}

impl fmt::Debug for Event {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Event(on {})", self.queue.backend.label())
    }
}
