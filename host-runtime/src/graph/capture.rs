//! Capture: what a thread queues meanwhile is recorded into a draft of a graph, in place of running.
//!
//! In: the calls of a closure: launches, copies and fills of arrays, plans, graphs, events. Out: the nodes of the graph.
//! The driver's own capture has no part in it: it would make a call of another thread fail, and an event or an allocation
//! inside poison the graph. So a capture concerns its thread alone, is the same on the simulator, and leaves nothing behind
//! when it fails.
//!
//! What was queued on one stream stays in order. Between streams, nodes are in order that share an array or an event.

use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};

use gpu_std::kernel::KernelRecord;

use super::Graph;
use super::draft::{Draft, Work};
use crate::bound::{Params, Use};
use crate::error::{Error, Result};
use crate::gpu::Gpu;
use crate::limits::Extents;
use crate::memory::Memory;
use crate::ordering::Access;
use crate::stream::Stream;

/// What a call of this thread means.
#[derive(Clone, Copy, PartialEq, Eq)]
enum State {
    /// Work for the device.
    Ordinary,
    /// A node of a graph.
    Recording,
    /// A mistake: the thread runs a graph's host function, and must not wait for the device.
    HostFunction,
}

thread_local! {
    static STATE: Cell<State> = const { Cell::new(State::Ordinary) };
    static RECORDING: RefCell<Option<Recording>> = const { RefCell::new(None) };
}

struct Recording {
    id: u64,
    draft: Draft,
    /// By stream, the nodes that the next one on it comes after.
    last: HashMap<usize, Vec<usize>>,
    /// The memory that the copy uses which is being recorded, and its stream.
    open: Option<(Stream, Vec<Use>)>,
}

/// A place in a recording, for events.
#[derive(Clone, Debug)]
pub(crate) struct Mark {
    recording: u64,
    after: Vec<usize>,
}

/// Whether calls of this thread are neither recorded nor refused.
#[inline]
pub(crate) fn is_ordinary() -> bool {
    STATE.get() == State::Ordinary
}

/// An error if this thread is capturing, or runs a host function. `what` cannot be captured; `instead` says what to do.
#[inline]
pub(crate) fn refuse(what: &'static str, instead: &'static str) -> Result<()> {
    match STATE.get() {
        State::Ordinary => Ok(()),
        State::Recording => Err(Error::InCapture { what, instead }),
        State::HostFunction => Err(Error::InHostFunction { what }),
    }
}

/// Runs a graph's host function on this thread. Its panic ends only itself: the message was printed.
pub(crate) fn run_host_function(function: &(dyn Fn() + Send + Sync)) {
    let before = STATE.replace(State::HostFunction);
    let _ = std::panic::catch_unwind(std::panic::AssertUnwindSafe(function));
    STATE.set(before);
}

/// Ends a recording, also when the closure panics.
struct Ends;

impl Drop for Ends {
    fn drop(&mut self) {
        STATE.set(State::Ordinary);
        RECORDING.take();
    }
}

/// The draft of what `work` queues.
pub(super) fn record(stream: &Stream, work: impl FnOnce(&Stream) -> Result<()>) -> Result<Draft> {
    static NEXT: AtomicU64 = AtomicU64::new(0);
    refuse(
        "another capture",
        "capture one graph after the other, or launch one inside the other's capture",
    )?;
    let ends = Ends;
    RECORDING.set(Some(Recording {
        id: NEXT.fetch_add(1, Ordering::Relaxed),
        draft: Draft::new(stream),
        last: HashMap::new(),
        open: None,
    }));
    STATE.set(State::Recording);
    work(stream)?;
    let recording = RECORDING.take();
    drop(ends);
    Ok(recording.map_or_else(|| Draft::new(stream), |recording| recording.draft))
}

/// The recording of this thread, if calls of this kind can be recorded.
fn recording<R>(what: &'static str, with: impl FnOnce(&mut Recording) -> Result<R>) -> Result<R> {
    if STATE.get() == State::HostFunction {
        return Err(Error::InHostFunction { what });
    }
    RECORDING.with_borrow_mut(|recording| match recording {
        Some(recording) => with(recording),
        None => Err(Error::InHostFunction { what }),
    })
}

/// Records a launch that would go to `gpu`'s stream.
pub(crate) fn record_launch(
    gpu: &Gpu,
    record: &'static KernelRecord,
    extents: Option<Extents>,
    params: &Params,
    uses: &[Use],
) -> Result<()> {
    recording("a launch", |recording| {
        let Some(extents) = extents else {
            return Ok(());
        };
        recording.draft.check_device(gpu)?;
        let work = recording.draft.kernel(record, extents, params.clone())?;
        recording.push(gpu.stream(), work, uses.to_vec());
        Ok(())
    })
}

/// Records the nodes of a graph that would be launched.
pub(super) fn record_graph(graph: &Graph) -> Result<()> {
    recording("the launch of a graph", |recording| {
        let stream = graph.stream();
        recording.draft.check_device(&stream.gpu())?;
        let after = recording.after(stream);
        let end = recording.draft.inline(graph.nodes(), after)?;
        recording.last.insert(key(stream), vec![end]);
        Ok(())
    })
}

/// Lets `work` record copies that use `memory`.
pub(crate) fn with_use<R>(
    memory: &Memory,
    access: Access,
    work: impl FnOnce() -> Result<R>,
) -> Result<R> {
    recording("a copy", |recording| {
        recording.draft.check_device(memory.gpu())?;
        let memory = memory.keep();
        let (_, uses) = recording
            .open
            .get_or_insert_with(|| (memory.gpu().stream().clone(), Vec::new()));
        uses.push(Use { memory, access });
        Ok(())
    })?;
    let result = work();
    recording("a copy", |recording| {
        recording.open = None;
        Ok(())
    })?;
    result
}

/// Records a copy or a fill of the memory that `with_use` named.
pub(crate) fn record_copy(work: Work) -> Result<()> {
    recording("a copy", |recording| match recording.open.clone() {
        Some((stream, uses)) => {
            recording.push(&stream, work, uses);
            Ok(())
        }
        None => Err(Error::InCapture {
            what: "a copy of memory that no array owns",
            instead: "make it before or after the capture",
        }),
    })
}

/// The place after what was recorded of a stream.
pub(crate) fn mark(stream: &Stream) -> Result<Mark> {
    recording("an event", |recording| {
        Ok(Mark {
            recording: recording.id,
            after: recording.after(stream),
        })
    })
}

/// Lets what is recorded of `stream` from now on come after a mark, or after an event from outside.
pub(crate) fn wait(stream: &Stream, mark: Option<&Mark>) -> Result<()> {
    recording("a wait", |recording| match mark {
        Some(mark) if mark.recording == recording.id => {
            let mut after = recording.after(stream);
            after.extend(&mark.after);
            recording.last.insert(key(stream), after);
            Ok(())
        }
        _ => Err(Error::InCapture {
            what: "a wait for an event from outside",
            instead: "let the stream wait for it before each launch of the graph",
        }),
    })
}

impl Recording {
    fn after(&self, stream: &Stream) -> Vec<usize> {
        self.last.get(&key(stream)).cloned().unwrap_or_default()
    }

    fn push(&mut self, stream: &Stream, work: Work, uses: Vec<Use>) {
        let after = self.after(stream);
        let node = self.draft.push(work, uses, after);
        self.last.insert(key(stream), vec![node]);
    }
}

/// What tells streams apart.
fn key(stream: &Stream) -> usize {
    std::sync::Arc::as_ptr(stream.queue()).addr()
}
