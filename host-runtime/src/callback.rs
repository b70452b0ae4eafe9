//! Calls back when work of a stream is done.
//!
//! In: a stream or an event, and a closure. Out: a call of it, on a thread of this crate: the driver calls back on a thread
//! of its own, where a program must neither use the device nor take long, so that thread only passes the closure on.
//! Wakers of futures have one thread and the program's closures another: a closure may wait for a future.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::OnceLock;
use std::sync::mpsc::{Sender, channel};
use std::thread::Builder;

use crate::error::{Error, Result};
use crate::graph::capture;
use crate::moment::Moment;
use crate::stream::Stream;

/// Something to call.
pub(crate) type Callback = Box<dyn FnOnce() + Send>;

/// Which thread calls.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Caller {
    /// Of closures that take no time.
    Wakers,
    /// Of the program's closures.
    Closures,
}

impl Caller {
    /// The way to the thread, which is started by the first call and stays.
    fn queue(self) -> Result<&'static Sender<Callback>> {
        static WAKERS: OnceLock<Sender<Callback>> = OnceLock::new();
        static CLOSURES: OnceLock<Sender<Callback>> = OnceLock::new();
        let queue = match self {
            Self::Wakers => &WAKERS,
            Self::Closures => &CLOSURES,
        };
        if let Some(queue) = queue.get() {
            return Ok(queue);
        }
        let (sender, receiver) = channel::<Callback>();
        let call_all = move || {
            for callback in receiver {
                // The message of a panic is printed; the next callback has its turn.
                let _ = catch_unwind(AssertUnwindSafe(callback));
            }
        };
        Builder::new()
            .name(format!("oxwarp {self:?}"))
            .spawn(call_all)
            .map_err(|reason| Error::NoThread { reason })?;
        // Of two threads that were started at once, the second ends with its way to it.
        Ok(queue.get_or_init(|| sender))
    }
}

/// Calls `callback` once `moment` has come.
pub(crate) fn when(moment: &Moment, caller: Caller, callback: Callback) -> Result<()> {
    let queue = caller.queue()?;
    // The thread never ends, so that every callback arrives.
    let pass_on = move || drop(queue.send(callback));
    match moment {
        Moment::Cuda(event) => event.when_done(Box::new(pass_on)),
        Moment::Simulator(_) => {
            pass_on();
            Ok(())
        }
        Moment::Captured(_) => moment.synchronize(),
    }
}

impl Stream {
    /// Calls `function` once all that was queued here before is done, also where a kernel of it panicked. The call comes
    /// from a thread that all such functions of the process share, one after the other; it may use devices and streams,
    /// and what is queued later does not wait for it. A panic in it ends it alone. CUDA C: `cudaLaunchHostFunc`, whose
    /// functions must not use the device; CuPy: `Stream.launch_host_func`.
    ///
    /// # Errors
    ///
    /// If the device failed, or inside a capture: see [`GraphBuilder::add_host`](crate::GraphBuilder::add_host).
    ///
    /// ```
    /// use std::sync::mpsc::channel;
    ///
    /// let gpu = host_runtime::Gpu::cpu();
    /// let (done, wait) = channel();
    /// gpu.stream().on_done(move || done.send("done").unwrap())?;
    /// assert_eq!(wait.recv(), Ok("done"));
    /// # Ok::<(), host_runtime::Error>(())
    /// ```
    pub fn on_done(&self, function: impl FnOnce() + Send + 'static) -> Result<()> {
        capture::refuse(
            "a callback",
            "add a host function with `GraphBuilder::add_host`",
        )?;
        let moment = Moment::record(self.backend())?;
        when(&moment, Caller::Closures, Box::new(function))
    }
}
