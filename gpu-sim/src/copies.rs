//! Asynchronous copies to shared memory: what a thread has started and not yet waited for.
//!
//! In: copies and the groups that close them. Out: the bytes in shared memory, at the wait and not before, so that a
//! kernel that does not wait reads what was there. The source is read when the copy starts: it may not live until the wait.

use std::collections::{BTreeMap, VecDeque};
use std::panic::Location;

use crate::checks::notes;
use crate::checks::shadow::Kind;
use crate::context;
use crate::symbols::kernel;

/// The most bytes of a copy.
const MOST: usize = 16;

/// The copies of a block's threads, by their numbers.
#[derive(Default)]
pub(crate) struct Copies {
    threads: BTreeMap<u64, Queue>,
}

#[derive(Default)]
struct Queue {
    open: Vec<Copy>,
    groups: VecDeque<Vec<Copy>>,
}

struct Copy {
    to: *mut u8,
    bytes: [u8; MOST],
    len: usize,
    /// Where it was started.
    place: Option<&'static Location<'static>>,
}

impl Copies {
    /// No thread of the new block has started any.
    #[inline]
    pub(crate) fn start_block(&mut self) {
        if !self.threads.is_empty() {
            self.threads.clear();
        }
    }

    fn of(&mut self, thread: u64) -> &mut Queue {
        self.threads.entry(thread).or_default()
    }
}

impl Queue {
    fn commit(&mut self) {
        self.groups.push_back(std::mem::take(&mut self.open));
    }

    /// Finishes the oldest groups, until no more than so many are left.
    fn finish_until(&mut self, left: usize) {
        while self.groups.len() > left {
            for copy in self.groups.pop_front().into_iter().flatten() {
                // SAFETY: whoever started the copy promised room for it in the block's memory, which lives as long as
                // the block's threads.
                unsafe {
                    copy.to
                        .copy_from_nonoverlapping(copy.bytes.as_ptr(), copy.len)
                };
                arrived(&copy);
            }
        }
    }
}

/// The running thread's copies.
fn queue<R>(caller: &str, change: impl FnOnce(&mut Queue) -> R) -> R {
    let context = kernel(caller);
    let thread = context.thread.get().linear_in(context.block_dim);
    change(context.copies.borrow_mut().of(thread))
}

/// # Safety
///
/// `to` is the address of `len` bytes, at most 16, of the block's memory, `from` that of `present` bytes.
unsafe fn start(to: *mut u8, from: *const u8, len: usize, present: usize) {
    let mut bytes = [0; MOST];
    // SAFETY: the caller's promise.
    unsafe { from.copy_to_nonoverlapping(bytes.as_mut_ptr(), present) };
    let context = kernel("async_copy::AsyncCopy");
    let place = context.place.take();
    if context.noting
        && let Some(place) = place
    {
        notes::shared(context, to, len, Kind::Copy, place);
    }
    queue("async_copy::AsyncCopy", |queue| {
        queue.open.push(Copy {
            to,
            bytes,
            len,
            place,
        });
    });
}

fn arrived(copy: &Copy) {
    if let Some(context) = context::current()
        && context.noting
        && let Some(place) = copy.place
    {
        notes::arrived(context, copy.to, copy.len, place);
    }
}

macro_rules! copies {
    ($($len:literal: $whole:ident = $symbol:literal, $with_zeros:ident = $zero_symbol:literal;)*) => {$(
        /// # Safety
        ///
        /// As for [`start`].
        #[unsafe(export_name = $symbol)]
        unsafe extern "C" fn $whole(to: *mut u8, from: *const u8) {
            // SAFETY: the caller's promise.
            unsafe { start(to, from, $len, $len) }
        }

        /// # Safety
        ///
        /// As for [`start`]; `present` is at most the length.
        #[unsafe(export_name = $zero_symbol)]
        unsafe extern "C" fn $with_zeros(to: *mut u8, from: *const u8, present: u32) {
            // SAFETY: the caller's promise.
            unsafe { start(to, from, $len, present as usize) }
        }
    )*};
}

copies! {
    4: copy_4 = "gpu.cp.async.4", copy_4_zero = "gpu.cp.async.4.zero";
    8: copy_8 = "gpu.cp.async.8", copy_8_zero = "gpu.cp.async.8.zero";
    16: copy_16 = "gpu.cp.async.16", copy_16_zero = "gpu.cp.async.16.zero";
}

#[unsafe(export_name = "gpu.llvm.nvvm.cp.async.commit.group")]
extern "C" fn commit_group() {
    queue("async_copy::commit_group", Queue::commit);
}

#[unsafe(export_name = "gpu.llvm.nvvm.cp.async.wait.group")]
extern "C" fn wait_group(groups: u32) {
    queue("async_copy::wait_group", |queue| {
        queue.finish_until(groups as usize);
    });
}

#[unsafe(export_name = "gpu.llvm.nvvm.cp.async.wait.all")]
extern "C" fn wait_all() {
    queue("async_copy::wait_all", |queue| {
        queue.commit();
        queue.finish_until(0);
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn groups_arrive_in_their_order() {
        let mut target = [0_u8; 4];
        let to = target.as_mut_ptr();
        let mut queue = Queue::default();
        for group in 0..3 {
            for byte in 0..2 {
                queue.open.push(Copy {
                    to: to.wrapping_add(group + byte),
                    bytes: [10 * group as u8 + byte as u8 + 1; MOST],
                    len: 1,
                    place: None,
                });
            }
            queue.commit();
        }
        let mut after = |left| {
            queue.finish_until(left);
            // SAFETY: the array has four bytes.
            unsafe { to.cast::<[u8; 4]>().read() }
        };
        assert_eq!(after(3), [0, 0, 0, 0]);
        assert_eq!(after(2), [1, 2, 0, 0]);
        assert_eq!(after(0), [1, 11, 21, 22]);
    }
}
