//! `async`/`await` on the completion of work.
//!
//! In: an event, or a stream. Out: a future that any executor can poll. It is woken when the moment has come; nothing polls
//! the device meanwhile.

use std::fmt;
use std::future::{Future, IntoFuture};
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll, Waker};

use crate::callback::{Caller, when};
use crate::error::{Error, Result};
use crate::event::Event;
use crate::stream::Stream;

/// Completes when an event has happened, or all that was queued on a stream is done: what `event.await` and
/// [`stream.done().await`](Stream::done) wait for. It works with every executor, and on the simulator.
#[must_use = "a future does nothing unless it is awaited or polled"]
pub struct Done {
    /// The event, or why there is none.
    event: std::result::Result<Event, Option<Error>>,
    /// The stream whose panics are told.
    stream: Option<Stream>,
    /// Once the driver was asked to wake.
    signal: Option<Arc<Mutex<Signal>>>,
}

#[derive(Default)]
struct Signal {
    has_come: bool,
    waker: Option<Waker>,
}

impl Signal {
    fn come(signal: &Mutex<Self>) {
        let waker = {
            let mut signal = signal.lock().unwrap_or_else(PoisonError::into_inner);
            signal.has_come = true;
            signal.waker.take()
        };
        if let Some(waker) = waker {
            waker.wake();
        }
    }
}

impl Done {
    fn poll_event(&mut self, event: &Event, context: &mut Context<'_>) -> Poll<Result<()>> {
        if self.signal.is_none() {
            if event.is_done()? {
                return Poll::Ready(self.end(event));
            }
            let signal = Arc::new(Mutex::new(Signal::default()));
            let coming = signal.clone();
            let come = Box::new(move || Signal::come(&coming));
            when(event.moment(), Caller::Wakers, come)?;
            self.signal = Some(signal);
        }
        if let Some(signal) = &self.signal {
            let mut signal = signal.lock().unwrap_or_else(PoisonError::into_inner);
            if !signal.has_come {
                signal.waker = Some(context.waker().clone());
                return Poll::Pending;
            }
        }
        Poll::Ready(self.end(event))
    }

    /// What a wait would tell.
    fn end(&self, event: &Event) -> Result<()> {
        event.synchronize()?;
        match &self.stream {
            Some(stream) => stream.tell_panic(),
            None => Ok(()),
        }
    }
}

impl Future for Done {
    type Output = Result<()>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Result<()>> {
        match &mut self.event {
            Ok(event) => {
                let event = event.clone();
                self.poll_event(&event, context)
            }
            Err(error) => Poll::Ready(error.take().map_or(Ok(()), Err)),
        }
    }
}

impl Stream {
    /// A future of the moment when all that was queued here before is done. Like [`synchronize`](Self::synchronize) it gives
    /// the error of a kernel that panicked, and it prints what kernels printed if nothing was queued meanwhile.
    ///
    /// ```
    /// # use std::future::Future;
    /// # use std::task::{Context, Poll, Waker};
    /// # fn block_on<F: Future>(future: F) -> F::Output {
    /// #     let mut future = std::pin::pin!(future);
    /// #     loop {
    /// #         if let Poll::Ready(value) = future.as_mut().poll(&mut Context::from_waker(Waker::noop())) {
    /// #             return value;
    /// #         }
    /// #     }
    /// # }
    /// # let gpu = host_runtime::Gpu::cpu();
    /// block_on(async {
    ///     let x = gpu.zeros::<f32>(1000)?;
    ///     let filled = gpu.stream().record()?;
    ///     filled.await?;
    ///     gpu.stream().done().await?;
    ///     x.to_vec() // does not wait any more
    /// })?;
    /// # Ok::<(), host_runtime::Error>(())
    /// ```
    pub fn done(&self) -> Done {
        Done {
            event: self.record().map_err(Some),
            stream: Some(self.clone()),
            signal: None,
        }
    }
}

impl IntoFuture for Event {
    type Output = Result<()>;
    type IntoFuture = Done;

    fn into_future(self) -> Done {
        Done {
            event: Ok(self),
            stream: None,
            signal: None,
        }
    }
}

impl IntoFuture for &Event {
    type Output = Result<()>;
    type IntoFuture = Done;

    fn into_future(self) -> Done {
        self.clone().into_future()
    }
}

impl fmt::Debug for Done {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Done({:?})", self.event)
    }
}
