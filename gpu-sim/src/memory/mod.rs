//! Device memory of the simulator: what is allocated, and what it holds.
//!
//! In: sizes, from the host runtime. Out: host memory. With checks it lies between pages that nothing may access
//! ([`guarded`]), and an access of those that a kernel must not make ends the launch ([`trap`]), whatever pointer it went
//! through. Who runs a kernel again in another order takes a [`Snapshot`] before, restores it, and compares.

#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
mod guarded;
#[cfg(not(all(target_os = "linux", target_arch = "x86_64")))]
#[path = "unguarded.rs"]
mod guarded;
#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
mod trap;

use std::alloc::{Layout, alloc_zeroed, dealloc};
use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::{Mutex, MutexGuard, PoisonError};

pub use guarded::Trap;

/// The memory of one simulated device.
#[derive(Debug, Default)]
pub struct DeviceMemory {
    bounds: bool,
    init: bool,
    /// By their addresses.
    live: Mutex<BTreeMap<usize, Allocation>>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Allocation {
    bytes: usize,
    is_guarded: bool,
}

/// What the allocations of a device held at some time.
#[derive(Debug)]
pub struct Snapshot {
    contents: Vec<Contents>,
}

/// What an allocation held.
#[derive(Debug, PartialEq, Eq)]
struct Contents {
    address: usize,
    allocation: Allocation,
    /// Zeros where nothing had been written.
    bytes: Vec<u8>,
    /// The parts in which something had.
    written: Vec<Range<usize>>,
}

/// An allocation that holds something else than in a [`Snapshot`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Difference {
    /// Bytes of the allocation.
    pub bytes: usize,
    /// The first byte that differs.
    pub offset: usize,
}

impl DeviceMemory {
    /// Memory of which accesses out of `bounds` and after the end of an allocation are found, and reads of what nothing
    /// has written (`init`). From the first one on a kernel's thread whose stack is full ends its launch, and not the process.
    pub fn new(bounds: bool, init: bool) -> Self {
        guarded::watch_accesses();
        Self {
            bounds,
            init,
            live: Mutex::default(),
        }
    }

    /// Memory of zeros, or null if there is none. Zeros cost nothing where the system gives memory fresh, and make what a
    /// wrong kernel reads the same on every run. Only what is to be guarded is checked.
    ///
    /// # Safety
    ///
    /// The layout has more than zero bytes.
    pub unsafe fn allocate(&self, layout: Layout, guard: bool) -> *mut u8 {
        let guarded = match guard && (self.bounds || self.init) {
            true => guarded::allocate(layout, self.init),
            false => None,
        };
        // SAFETY: the caller's promise.
        let first = guarded.unwrap_or_else(|| unsafe { alloc_zeroed(layout) });
        if !first.is_null() {
            let allocation = Allocation {
                bytes: layout.size(),
                is_guarded: guarded.is_some(),
            };
            self.lock().insert(first.expose_provenance(), allocation);
        }
        first
    }

    /// Frees memory.
    ///
    /// # Safety
    ///
    /// `first` is from [`allocate`](Self::allocate) of the same layout, and nothing uses it later.
    pub unsafe fn free(&self, first: *mut u8, layout: Layout) {
        let allocation = self.lock().remove(&first.addr());
        if allocation.is_some_and(|allocation| allocation.is_guarded) {
            guarded::free(first.addr());
        } else {
            // SAFETY: the caller's promise.
            unsafe { dealloc(first, layout) };
        }
    }

    /// A copy of the allocations for which `wanted` says so, of their addresses as a range.
    ///
    /// # Safety
    ///
    /// Nothing writes to them meanwhile.
    pub unsafe fn snapshot(&self, wanted: impl Fn(Range<usize>) -> bool) -> Snapshot {
        let live = self.lock();
        let wanted = |(address, allocation): &(&usize, &Allocation)| {
            wanted(**address..**address + allocation.bytes)
        };
        let contents = live.iter().filter(wanted).map(|(&address, &allocation)| {
            // SAFETY: the allocation is live, and nothing writes to it.
            unsafe { contents(address, allocation) }
        });
        Snapshot {
            contents: contents.collect(),
        }
    }

    /// Gives the allocations of a snapshot their contents of then. What nothing had written then counts as unwritten.
    ///
    /// # Safety
    ///
    /// They are live, and nothing else accesses those meanwhile that hold something else than then.
    pub unsafe fn restore(&self, snapshot: &Snapshot) {
        for contents in &snapshot.contents {
            // SAFETY: the allocation is live, and nothing else writes to it.
            if unsafe { self::contents(contents.address, contents.allocation) } == *contents {
                continue;
            }
            if contents.allocation.is_guarded && self.init {
                guarded::close(contents.address);
            }
            let first = std::ptr::with_exposed_provenance_mut::<u8>(contents.address);
            for part in &contents.written {
                let bytes = &contents.bytes[part.clone()];
                // SAFETY: the allocation is live, of that size, and the caller's to write.
                unsafe {
                    first
                        .add(part.start)
                        .copy_from_nonoverlapping(bytes.as_ptr(), bytes.len())
                };
            }
        }
    }

    /// The first difference of the contents from those of a snapshot.
    ///
    /// # Safety
    ///
    /// As for [`snapshot`](Self::snapshot), and its allocations are live.
    pub unsafe fn difference(&self, snapshot: &Snapshot) -> Option<Difference> {
        snapshot.contents.iter().find_map(|then| {
            // SAFETY: the allocation is live, and nothing writes to it.
            let now = unsafe { contents(then.address, then.allocation) };
            let mut pairs = now.bytes.iter().zip(&then.bytes);
            Some(Difference {
                bytes: then.bytes.len(),
                offset: pairs.position(|(now, then)| now != then)?,
            })
        })
    }

    fn lock(&self) -> MutexGuard<'_, BTreeMap<usize, Allocation>> {
        self.live.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// # Safety
///
/// The allocation is live, and nothing writes to it meanwhile.
unsafe fn contents(address: usize, allocation: Allocation) -> Contents {
    let written = match allocation.is_guarded {
        true => guarded::written(address),
        false => std::iter::once(0..allocation.bytes).collect(),
    };
    let mut bytes = vec![0; allocation.bytes];
    let first = std::ptr::with_exposed_provenance::<u8>(address);
    for part in &written {
        // SAFETY: the part is inside of the allocation, and readable; all of it was zeroed when it was allocated.
        unsafe {
            first
                .add(part.start)
                .copy_to_nonoverlapping(bytes[part.clone()].as_mut_ptr(), part.len())
        };
    }
    Contents {
        address,
        allocation,
        bytes,
        written,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_snapshot_is_restored_and_compared() {
        for memory in [
            DeviceMemory::default(),
            DeviceMemory::new(true, false),
            DeviceMemory::new(true, true),
        ] {
            let layout = Layout::from_size_align(100_000, 256).unwrap();
            // SAFETY: nobody else knows the memory.
            unsafe {
                let first = memory.allocate(layout, true);
                assert_eq!(first.addr() % 256, 0);
                let zeros = memory.snapshot(|_| true);
                assert_eq!(memory.difference(&zeros), None);
                first.add(70_000).write(1);
                let difference = Difference {
                    bytes: 100_000,
                    offset: 70_000,
                };
                assert_eq!(memory.difference(&zeros), Some(difference));
                let one = memory.snapshot(|_| true);
                memory.restore(&zeros);
                assert_eq!(memory.difference(&zeros), None);
                memory.restore(&one);
                assert_eq!(memory.difference(&zeros), Some(difference));
                assert_eq!(first.add(70_000).read(), 1);
                assert!(
                    memory
                        .snapshot(|range| range.contains(&1))
                        .contents
                        .is_empty()
                );
                memory.free(first, layout);
                assert!(memory.snapshot(|_| true).contents.is_empty());
            }
        }
    }
}
