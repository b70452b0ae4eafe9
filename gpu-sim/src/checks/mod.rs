//! What the simulator checks beyond running a kernel: races, reads of what nothing wrote, orders that matter.
//!
//! In: the notes with which `gpu_std` says what a thread is about to access ([`notes`]). Out: the first
//! [`CheckFault`](crate::CheckFault), which ends the launch before the access happens.
//!
//! - [`order`]: which accesses of a block happen before which;
//! - [`shadow`]: the last accesses of each element of shared memory;
//! - [`grid`]: those of the device's memory;
//! - [`notes`]: the `gpu.note.*` symbols;
//! - [`schedule`]: random orders of threads and blocks.
//!
//! No false alarm is worth more than no miss: where the order of two accesses is not known, they count as ordered.

pub(crate) mod fault;
pub(crate) mod grid;
pub(crate) mod notes;
pub(crate) mod order;
pub(crate) mod schedule;
pub(crate) mod shadow;

/// Which checks a launch runs with.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Checks {
    /// Data races.
    pub race: bool,
    /// Whether the kernel may order accesses by atomics that the simulator does not see. Then two blocks have no races.
    pub unseen_atomics: bool,
    /// Reads of memory that nothing wrote.
    pub init: bool,
    /// Runs threads and blocks in an order that this seed decides, where there is one.
    pub order: Option<u64>,
}

impl Checks {
    /// Whether accesses have to be noted.
    pub(crate) fn look_at_accesses(self) -> bool {
        self.race || self.init || self.order.is_some()
    }
}
