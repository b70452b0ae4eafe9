//! The `gpu.note.*` symbols: `gpu_std` says what the running thread is about to access.

use std::panic::Location;
use std::sync::atomic::{AtomicUsize, Ordering};

use gpu_std::Dim3;

use super::fault::{Check, CheckFault, MemoryAccess};
use super::schedule::Turns;
use super::shadow::{Access, Kind, Mistake};
use crate::Fault;
use crate::context::{self, Context};
use crate::job::position;
use crate::shared::Place;
use crate::wait::Operation;

#[unsafe(export_name = "gpu.note.shared.read")]
extern "C" fn shared_read(address: *const u8, bytes: usize, place: &'static Location<'static>) {
    if let Some(context) = noting() {
        shared(context, address, bytes, Kind::Read, place);
    }
}

#[unsafe(export_name = "gpu.note.shared.write")]
extern "C" fn shared_write(
    address: *const u8,
    bytes: usize,
    value: *const u8,
    place: &'static Location<'static>,
) {
    if let Some(context) = noting() {
        // SAFETY: both are so many bytes of one type, in memory of this block and of the caller.
        let is_there = unsafe { same_bytes(address, value, bytes) };
        let kind = if is_there { Kind::Rewrite } else { Kind::Write };
        shared(context, address, bytes, kind, place);
    }
}

/// Whether an element has a value already.
///
/// # Safety
///
/// Both addresses are those of so many bytes.
unsafe fn same_bytes(one: *const u8, two: *const u8, bytes: usize) -> bool {
    // A type may have bytes that are no part of its value: then the answer may be no, where it could be yes.
    // SAFETY: the caller's promise.
    (0..bytes).all(|byte| unsafe { one.add(byte).read_volatile() == two.add(byte).read_volatile() })
}

#[unsafe(export_name = "gpu.note.global.read")]
extern "C" fn global_read(address: *const u8, bytes: usize, place: &'static Location<'static>) {
    if let Some(context) = noting() {
        global(context, address, bytes, Kind::Read, place);
    }
}

#[unsafe(export_name = "gpu.note.global.write")]
extern "C" fn global_write(address: *const u8, bytes: usize, place: &'static Location<'static>) {
    if let Some(context) = noting() {
        global(context, address, bytes, Kind::Write, place);
    }
}

#[unsafe(export_name = "gpu.note.atomic")]
extern "C" fn atomic(
    address: *const u8,
    bytes: usize,
    operation: u32,
    place: &'static Location<'static>,
) {
    let Some(context) = context::current() else {
        return;
    };
    context.spin.set_place(place);
    if !context.noting {
        return;
    }
    let kind = match operation {
        0 => Kind::AtomicLoad,
        1 => Kind::AtomicStore,
        _ => Kind::AtomicUpdate,
    };
    shared(context, address, bytes, kind, place);
    let (reads, writes) = (kind != Kind::AtomicStore, kind != Kind::AtomicLoad);
    let thread = context.thread_number();
    let mut order = context.order.borrow_mut();
    order.touch_atomic(address.addr(), thread, reads, writes);
    drop(order);
    note_atomic(context);
}

/// The running thread uses an atomic or a fence.
pub(crate) fn note_atomic(context: &Context<'_>) {
    if let Some(accesses) = context.job.accesses() {
        accesses.uses_atomic(context.block.get().linear_in(context.grid_dim));
    }
}

/// Ends the running thread's turn, where orders are random and chance has it so.
fn take_turns(context: &Context<'_>) {
    if context.turns.as_deref().is_some_and(Turns::ends_here) {
        let next_operation = context.place.get();
        context.wait(Operation::Turn);
        context.place.set(next_operation);
    }
}

/// Notes an access of the device's memory.
fn global(
    context: &Context<'_>,
    address: *const u8,
    bytes: usize,
    kind: Kind,
    place: &'static Location<'static>,
) {
    take_turns(context);
    let Some(accesses) = context.job.accesses() else {
        return;
    };
    let order = context.order.borrow();
    let access = Access::now(&order, context.thread_number(), kind, place);
    let block = context.block.get().linear_in(context.grid_dim);
    let access_of_block = (access, block, context.grid_epoch.get());
    let noted = accesses.note((address.addr(), bytes), access_of_block, &order);
    drop(order);
    if let Err(earlier) = noted {
        let last = described(context, &access, is_doing(kind));
        let block = position(earlier.block, context.grid_dim);
        let first = described_in(
            context,
            &earlier.access,
            block,
            has_done(earlier.access.kind),
        );
        context.fail(Fault::Check(Box::new(CheckFault {
            check: Check::Race,
            message: format!(
                "data race on an element (of {bytes} bytes) of the device's memory: nothing orders these accesses of two threads"
            ),
            accesses: first.into_iter().chain(last).collect(),
        })))
    }
}

/// How many launches look at accesses: while none does, a note is a comparison with zero.
static NOTING: AtomicUsize = AtomicUsize::new(0);

/// A launch whose accesses are looked at.
pub(crate) struct Noting(());

impl Noting {
    pub(crate) fn begin() -> Self {
        NOTING.fetch_add(1, Ordering::Relaxed);
        Self(())
    }
}

impl Drop for Noting {
    fn drop(&mut self) {
        NOTING.fetch_sub(1, Ordering::Relaxed);
    }
}

/// The running thread's context, if its accesses are looked at.
#[inline]
fn noting() -> Option<&'static Context<'static>> {
    if NOTING.load(Ordering::Relaxed) == 0 {
        return None;
    }
    context::current().filter(|context| context.noting)
}

/// Notes an access of shared memory; one of other memory is none of its business.
pub(crate) fn shared(
    context: &Context<'_>,
    address: *const u8,
    bytes: usize,
    kind: Kind,
    place: &'static Location<'static>,
) {
    take_turns(context);
    let mut memory = context.shared.borrow_mut();
    let Some((array, shadow)) = memory.shadow_at(address, bytes) else {
        return;
    };
    let order = context.order.borrow();
    let thread = context.thread_number();
    let access = Access::now(&order, thread, kind, place);
    let range = (array.offset, bytes, array.len);
    let noted = shadow.note(range, &access, &order, context.job.launch().checks);
    if let Err(mistake) = noted {
        drop((memory, order));
        let fault = fault(context, &array, bytes, &access, mistake);
        match mistake {
            Mistake::Unwritten => context.reads_unwritten(fault),
            Mistake::Race(_) => context.fail(fault),
        }
    }
}

/// An asynchronous copy of the running thread has arrived.
pub(crate) fn arrived(
    context: &Context<'_>,
    address: *const u8,
    bytes: usize,
    place: &'static Location<'static>,
) {
    let mut memory = context.shared.borrow_mut();
    if let Some((array, shadow)) = memory.shadow_at(address, bytes) {
        let order = context.order.borrow();
        let access = Access::now(&order, context.thread_number(), Kind::Write, place);
        shadow.arrive(array.offset, bytes, &access);
    }
}

#[cold]
fn fault(
    context: &Context<'_>,
    array: &Place,
    bytes: usize,
    access: &Access,
    mistake: Mistake,
) -> Fault {
    let element = array.offset / bytes;
    let element = format!(
        "element {element} (of {bytes} bytes) of {}",
        array.description()
    );
    let last = described(context, access, is_doing(access.kind));
    let fault = match mistake {
        Mistake::Unwritten => CheckFault {
            check: Check::Init,
            message: format!("{element} is read, but nothing in this block has written it"),
            accesses: last.into_iter().collect(),
        },
        Mistake::Race(earlier) => CheckFault {
            check: Check::Race,
            message: format!("data race on {element}: {}", why(&earlier)),
            accesses: described(context, &earlier, has_done(earlier.kind))
                .into_iter()
                .chain(last)
                .collect(),
        },
    };
    Fault::Check(Box::new(fault))
}

fn why(earlier: &Access) -> &'static str {
    match earlier.kind {
        Kind::Copy => "an asynchronous copy is on its way, and its thread has not waited for it",
        _ => "no barrier stands between these accesses of two threads",
    }
}

fn is_doing(kind: Kind) -> &'static str {
    match kind {
        Kind::Read => "reads it",
        Kind::Write | Kind::Rewrite => "writes it",
        Kind::AtomicLoad => "reads it atomically",
        Kind::AtomicStore => "writes it atomically",
        Kind::AtomicUpdate => "updates it atomically",
        Kind::Copy => "starts to copy to it",
    }
}

fn has_done(kind: Kind) -> &'static str {
    match kind {
        Kind::Read => "has read it",
        Kind::Write | Kind::Rewrite => "has written it",
        Kind::AtomicLoad => "has read it atomically",
        Kind::AtomicStore => "has written it atomically",
        Kind::AtomicUpdate => "has updated it atomically",
        Kind::Copy => "has started to copy to it",
    }
}

fn described(context: &Context<'_>, access: &Access, what: &str) -> Option<MemoryAccess> {
    described_in(context, access, context.block.get(), what)
}

fn described_in(
    context: &Context<'_>,
    access: &Access,
    block: Dim3,
    what: &str,
) -> Option<MemoryAccess> {
    let thread = position(access.thread.into(), context.block_dim);
    Some(MemoryAccess::new(what, access.place?, block, thread))
}
