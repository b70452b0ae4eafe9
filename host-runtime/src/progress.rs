//! Progress of what can take long: large copies, and the driver's compilation of device code.
//!
//! In: a listener, set once for a handle. Out: calls of it, from the thread that copies or launches.

use std::fmt;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, PoisonError, RwLock};

use crate::error::Result;
use crate::gpu::Gpu;

/// Bytes that are copied between two calls of the listener.
const STEP: usize = 64 << 20;

/// How far a long call is, for the listener of [`Gpu::on_progress`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ProgressUpdate {
    /// A copy from or to the host of more than 64 MiB.
    Transfer {
        /// Bytes that are copied.
        done: usize,
        /// Bytes in all.
        total: usize,
    },
    /// The driver compiles a kernel, and those that share a variable with it. It does so on the first launch on a stream, if
    /// it does not find them in its cache.
    Compilation {
        /// The crate.
        crate_name: &'static str,
        /// The kernel that is launched.
        kernel: &'static str,
        /// Whether it has ended.
        done: bool,
    },
}

impl fmt::Display for ProgressUpdate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Transfer { done, total } => {
                let percent = *done as f64 / *total as f64 * 100.0;
                write!(f, "copied {done} of {total} bytes ({percent:.0} %)")
            }
            Self::Compilation {
                crate_name,
                kernel,
                done,
            } => {
                let state = if *done { "compiled" } else { "compiling" };
                write!(f, "{state} the kernel `{kernel}` of crate `{crate_name}`")
            }
        }
    }
}

type Listener = Arc<dyn Fn(ProgressUpdate) + Send + Sync>;

/// The listener of a handle, if it has one.
#[derive(Default)]
pub(crate) struct Listening {
    active: AtomicBool,
    listener: RwLock<Option<Listener>>,
}

impl Listening {
    /// Tells the listener, if there is one.
    pub fn tell(&self, update: ProgressUpdate) {
        if !self.active.load(Ordering::Acquire) {
            return;
        }
        let listener = self.listener.read().unwrap_or_else(PoisonError::into_inner);
        let listener = listener.clone();
        if let Some(listener) = listener {
            listener(update);
        }
    }

    /// Copies `total` bytes with `copy`, which is given an offset and a number of bytes and returns when they are copied:
    /// at once, or in steps, if there is a listener.
    pub fn copy(&self, total: usize, copy: impl Fn(usize, usize) -> Result<()>) -> Result<()> {
        if total <= STEP || !self.active.load(Ordering::Acquire) {
            return copy(0, total);
        }
        for done in (0..total).step_by(STEP) {
            self.tell(ProgressUpdate::Transfer { done, total });
            copy(done, STEP.min(total - done))?;
        }
        self.tell(ProgressUpdate::Transfer { done: total, total });
        Ok(())
    }
}

impl Gpu {
    /// Calls `listener` during large copies and compilations of this handle and its streams, from the thread that waits
    /// for them. A later call replaces the listener.
    ///
    /// ```
    /// let gpu = host_runtime::Gpu::cpu();
    /// gpu.on_progress(|update| eprint!("\r{update}"));
    /// let x = gpu.to_device(&vec![0u8; 100 << 20])?;
    /// # Ok::<(), host_runtime::Error>(())
    /// ```
    pub fn on_progress(&self, listener: impl Fn(ProgressUpdate) + Send + Sync + 'static) {
        let listening = self.backend().listening();
        let mut place = (listening.listener.write()).unwrap_or_else(PoisonError::into_inner);
        *place = Some(Arc::new(listener));
        listening.active.store(true, Ordering::Release);
    }
}
