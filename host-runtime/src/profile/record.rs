//! Measuring one piece of work, if a profile is being taken.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use gpu_std::Dim3;

use super::{Record, WorkKind};
use crate::error::{Error, Result};
use crate::moment::Moment;
use crate::stream::Backend;

/// What is to be measured.
pub(crate) struct Operation {
    pub name: &'static str,
    pub kind: WorkKind,
    pub bytes: u64,
    pub shape: Option<[Dim3; 2]>,
}

impl Operation {
    /// A copy or fill.
    pub fn of_bytes(name: &'static str, kind: WorkKind, bytes: usize) -> Self {
        Self {
            name,
            kind,
            bytes: bytes as u64,
            shape: None,
        }
    }
}

/// What was measured.
pub(crate) struct Measured {
    operation: Operation,
    /// The address of the stream, which tells it from others.
    stream: usize,
    start: Moment,
    end: Moment,
    host_time: Duration,
}

impl Measured {
    /// With times from `origin`, and streams by their place among `streams`; `None` if it was on another device.
    pub fn record(self, origin: &Moment, streams: &mut Vec<usize>) -> Result<Option<Record>> {
        let (Some(start), Some(time)) = (self.start.since(origin)?, self.end.since(&self.start)?)
        else {
            return Ok(None);
        };
        let Operation {
            name,
            kind,
            bytes,
            shape,
        } = self.operation;
        let known = streams.iter().position(|&stream| stream == self.stream);
        let stream = known.unwrap_or_else(|| {
            streams.push(self.stream);
            streams.len() - 1
        });
        Ok(Some(Record {
            name,
            kind,
            stream,
            start,
            time,
            host_time: self.host_time,
            bytes,
            shape,
        }))
    }
}

/// Whether a profile is being taken of the streams of a handle, and what was measured.
#[derive(Default)]
pub(crate) struct Profiling {
    active: AtomicBool,
    measured: Mutex<Vec<Measured>>,
}

/// A profile that is being taken.
pub(crate) struct Taking<'a>(&'a Profiling);

impl Profiling {
    /// Measures from now on.
    pub fn start(&self, device: &str) -> Result<Taking<'_>> {
        if self.active.swap(true, Ordering::AcqRel) {
            return Err(Error::ProfileInProfile {
                device: device.to_owned(),
            });
        }
        Ok(Taking(self))
    }

    /// Does work, and measures it if a profile is being taken.
    #[inline]
    pub fn measure<R>(
        &self,
        backend: &Backend,
        operation: impl FnOnce() -> Operation,
        work: impl FnOnce() -> Result<R>,
    ) -> Result<R> {
        match self.active.load(Ordering::Relaxed) {
            false => work(),
            true => self.measured(backend, operation(), work),
        }
    }

    #[cold]
    fn measured<R>(
        &self,
        backend: &Backend,
        operation: Operation,
        work: impl FnOnce() -> Result<R>,
    ) -> Result<R> {
        let start = Moment::record(backend)?;
        let begin = Instant::now();
        let result = work()?;
        let host_time = begin.elapsed();
        let measured = Measured {
            operation,
            stream: std::ptr::from_ref(backend).addr(),
            start,
            end: Moment::record(backend)?,
            host_time,
        };
        self.all().push(measured);
        Ok(result)
    }

    fn all(&self) -> std::sync::MutexGuard<'_, Vec<Measured>> {
        self.measured.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Taking<'_> {
    /// Measures no more, and gives what was measured.
    pub fn end(self) -> Vec<Measured> {
        std::mem::take(&mut *self.0.all())
    }
}

impl Drop for Taking<'_> {
    fn drop(&mut self) {
        self.0.all().clear();
        self.0.active.store(false, Ordering::Release);
    }
}
