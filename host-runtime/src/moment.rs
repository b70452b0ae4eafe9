//! A moment of a stream: when all that was queued before was done.

use std::time::{Duration, Instant};

use crate::cuda::CudaEvent;
use crate::error::Result;
use crate::stream::Backend;

/// A moment. The simulator's work is done when it is queued, so there it is one of the host.
pub(crate) enum Moment {
    Cuda(CudaEvent),
    Simulator(Instant),
}

impl Moment {
    /// The end of what is queued so far.
    pub fn record(backend: &Backend) -> Result<Self> {
        Ok(match backend {
            Backend::Cuda(stream) => Self::Cuda(CudaEvent::record(stream)?),
            Backend::Simulator(_) => Self::Simulator(Instant::now()),
        })
    }

    /// Waits until it has come.
    pub fn synchronize(&self) -> Result<()> {
        match self {
            Self::Cuda(event) => event.synchronize(),
            Self::Simulator(_) => Ok(()),
        }
    }

    /// Whether it has come.
    pub fn is_done(&self) -> Result<bool> {
        match self {
            Self::Cuda(event) => event.is_done(),
            Self::Simulator(_) => Ok(true),
        }
    }

    /// Waits for both, and gives the time between them; zero if `start` came later, `None` for moments of different
    /// devices.
    pub fn since(&self, start: &Self) -> Result<Option<Duration>> {
        match (self, start) {
            (Self::Cuda(end), Self::Cuda(start)) if end.ordinal() == start.ordinal() => {
                end.elapsed_since(start).map(Some)
            }
            (Self::Simulator(end), Self::Simulator(start)) => Ok(Some(end.duration_since(*start))),
            _ => Ok(None),
        }
    }
}
