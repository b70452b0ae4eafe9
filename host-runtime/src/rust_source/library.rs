//! The entry of a compiled source, which this program calls, and which the source's own copy of this crate fills.
//!
//! A shared library has its own copies of all statics: of the device code that it registers, and of the simulator, whose
//! threads its kernels ask where they are. So the entry has the functions that look there.

use std::any::TypeId;

use gpu_sim::{Fault, Launch, Trap};
use gpu_std::kernel::KernelRecord;

use crate::config::SoleInstance;
use crate::constant::ConstantRecord;
use crate::registry::{self, Found};

/// What a compiled source has.
pub struct RunTimeEntry {
    /// The kernel.
    pub(crate) record: fn() -> &'static KernelRecord,
    /// Its parameters.
    pub(crate) signature: TypeId,
    /// Its device code.
    pub(crate) find: fn(&KernelRecord) -> Option<Found>,
    /// The simulator.
    pub(crate) run: unsafe fn(&Launch) -> Result<(), Fault>,
    /// How the simulator ends a thread that accesses memory that it must not.
    pub(crate) trap: &'static Trap,
    /// Calls with each static in constant memory.
    pub(crate) constants: fn(&mut dyn FnMut(&'static ConstantRecord)),
}

impl RunTimeEntry {
    /// The entry of a kernel with the parameters of the function pointer `S`.
    pub const fn of<K: SoleInstance, S: 'static>() -> Self {
        Self {
            record: K::record,
            signature: TypeId::of::<S>(),
            find: registry::find,
            run: gpu_sim::run,
            trap: Trap::OWN,
            constants: |call| inventory::iter::<ConstantRecord>.into_iter().for_each(call),
        }
    }
}

/// The function by which a program finds a compiled source's entry.
#[doc(hidden)]
#[macro_export]
macro_rules! run_time_entry {
    ($kernel:ident, $signature:ty) => {
        #[unsafe(no_mangle)]
        extern "C" fn oxwarp_run_time_entry() -> *const $crate::__private::RunTimeEntry {
            static ENTRY: $crate::__private::RunTimeEntry =
                $crate::__private::RunTimeEntry::of::<$kernel, $signature>();
            &raw const ENTRY
        }
    };
}
