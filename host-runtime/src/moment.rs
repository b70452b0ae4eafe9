//! A moment of a stream: when all that was queued before was done.

use std::time::{Duration, Instant};

use crate::cuda::CudaEvent;
use crate::error::{Error, Result};
use crate::graph::capture::Mark;
use crate::stream::Backend;

/// A moment. The simulator's work is done when it is queued, so there it is one of the host.
pub(crate) enum Moment {
    Cuda(CudaEvent),
    Simulator(Instant),
    /// A place in what becomes a graph. Outside of its capture it is nothing.
    Captured(Mark),
}

/// What is said of a place in a graph, outside of its capture.
fn captured() -> Error {
    Error::InCapture {
        what: "the time of an event",
        instead: "an event of a capture only orders the streams inside it; record one before and one after the launch of \
                  the graph",
    }
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
            Self::Captured(_) => Err(captured()),
        }
    }

    /// Whether it has come.
    pub fn is_done(&self) -> Result<bool> {
        match self {
            Self::Cuda(event) => event.is_done(),
            Self::Simulator(_) => Ok(true),
            Self::Captured(_) => Err(captured()),
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
            (Self::Captured(_), _) | (_, Self::Captured(_)) => Err(captured()),
            _ => Ok(None),
        }
    }
}
