//! Panics of simulated threads: kept as the launch's fault rather than printed.
//!
//! Only the panic hook sees where a panic comes from, so a hook is installed once, around the one that was there. It
//! passes on the panics of all other code. A program that replaces the hook later still gets the fault, without the
//! location.

use std::any::Any;
use std::panic::{self, PanicHookInfo};
use std::sync::Once;

use crate::context::{self, Context};
use crate::{Fault, KernelPanic};

const NO_MESSAGE: &str = "the panic's payload is not a string";

/// Makes the panics of simulated threads silent.
pub(crate) fn install_hook() {
    static INSTALLED: Once = Once::new();
    // A panicking thread, which launches from a destructor, may not change the hook: the next launch does.
    if INSTALLED.is_completed() || std::thread::panicking() {
        return;
    }
    INSTALLED.call_once(|| {
        let previous = panic::take_hook();
        panic::set_hook(Box::new(move |info| match context::current() {
            // The second panic of a thread is on the way to an abort, and should say so.
            Some(_) if cfg!(panic = "abort") => {
                previous(info);
                explain_abort();
            }
            Some(context) if !context.panicked.get() => record(context, info),
            _ => previous(info),
        }));
    });
}

/// The panic cannot become an error of the launch: that takes unwinding.
fn explain_abort() {
    eprintln!(
        "oxwarp: the CPU simulator makes a panic in a kernel an error value, as a GPU does, but not in a program that is built \
         with `panic = \"abort\"`: the process ends here. Take that line out of the profile in Cargo.toml to run kernels on the \
         simulator"
    );
}

fn record(context: &Context<'_>, info: &PanicHookInfo<'_>) {
    let (file, line, column) = info
        .location()
        .map_or(("", 0, 0), |at| (at.file(), at.line(), at.column()));
    stop(
        context,
        KernelPanic {
            message: info.payload_as_str().unwrap_or(NO_MESSAGE).to_owned(),
            file: file.to_owned(),
            line,
            column,
            block: context.block.get(),
            thread: context.thread.get(),
        },
    );
}

/// The running thread has unwound with `payload`. It was the last that its worker ran for this launch.
#[cold]
pub(crate) fn caught(payload: Box<dyn Any + Send>) {
    let Some(context) = context::current() else {
        return;
    };
    if context.panicked.get() {
        return;
    }
    // Another hook than ours ran.
    stop(
        context,
        KernelPanic {
            message: message(&*payload).to_owned(),
            file: "<unknown>".to_owned(),
            line: 0,
            column: 0,
            block: context.block.get(),
            thread: context.thread.get(),
        },
    );
}

fn stop(context: &Context<'_>, panic: KernelPanic) {
    context.stop(Fault::Panic(panic));
    context.panicked.set(true);
}

fn message(payload: &(dyn Any + Send)) -> &str {
    let text = payload.downcast_ref::<&str>().copied();
    text.or_else(|| payload.downcast_ref::<String>().map(String::as_str))
        .unwrap_or(NO_MESSAGE)
}
