//! Runs a launch of the simulator again in other orders of its threads and blocks, and compares what it leaves in memory: in
//! the arrays that are its arguments, or for a kernel that takes raw pointers in all of the device.

use std::ops::Range;

use gpu_sim::{Check, CheckFault, DeviceMemory, Difference, Fault, Launch};
use gpu_std::kernel::{KernelRecord, TAKES_POINTERS};

use crate::simulator::run_as;

/// How many other orders are tried.
const ORDERS: u64 = 4;

/// Runs the launch in the usual order and in others. Memory has the results of the usual order afterwards.
///
/// # Errors
///
/// The fault of the usual order; or one that says that another order has another fault or other results.
///
/// # Safety
///
/// As for [`gpu_sim::run`] with the parameters of the record's kernel, and no other launch runs meanwhile.
pub(crate) unsafe fn run(
    launch: &Launch,
    record: &KernelRecord,
    memory: &DeviceMemory,
    seed: u64,
) -> Result<(), Fault> {
    let arguments = record.views.iter().map(|&offset| {
        // SAFETY: a view begins with its pointer.
        unsafe { launch.params.add(offset).cast::<*const u8>().read() }.addr()
    });
    let arguments: Vec<usize> = arguments.collect();
    let takes_pointers = record.flags & TAKES_POINTERS != 0;
    let is_used = |array: Range<usize>| {
        takes_pointers || arguments.iter().any(|argument| array.contains(argument))
    };
    // SAFETY: the launch borrows its arguments, those that it may write to exclusively; an unsafe one has its caller's promise
    // for other arrays.
    unsafe {
        let before = memory.snapshot(is_used);
        run_as(record, launch)?;
        let expected = memory.snapshot(is_used);
        let mut result = Ok(());
        for seed in (0..ORDERS).map(|number| seed.wrapping_add(number)) {
            memory.restore(&before);
            let mut launch = *launch;
            launch.checks.order = Some(seed);
            let ran = run_as(record, &launch).map_err(|fault| with_seed(fault, seed));
            result = ran.and_then(|()| match memory.difference(&expected) {
                None => Ok(()),
                Some(difference) => Err(depends_on_order(difference, seed)),
            });
            if result.is_err() {
                break;
            }
        }
        memory.restore(&expected);
        result
    }
}

/// A fault of one order, which others may not have.
fn with_seed(fault: Fault, seed: u64) -> Fault {
    match fault {
        Fault::Check(mut found) => {
            found.message += &format!(" (in the random order of `schedule:{seed}`)");
            Fault::Check(found)
        }
        other => other,
    }
}

fn depends_on_order(difference: Difference, seed: u64) -> Fault {
    let Difference { bytes, offset } = difference;
    Fault::Check(Box::new(CheckFault {
        check: Check::Schedule,
        message: format!(
            "the results depend on the order in which threads and blocks run: with the random order of `schedule:{seed}`, an \
             array of {bytes} bytes differs from byte {offset} on from what the order of their indices leaves in it"
        ),
        accesses: Vec::new(),
    }))
}
