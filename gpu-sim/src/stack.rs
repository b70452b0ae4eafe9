//! The stacks of lanes: mapped, committed page by page as they are used, with a guard page below.

use corosensei::stack::{DefaultStack, StackPointer};
use std::sync::atomic::{AtomicUsize, Ordering};

/// Bytes of a stack. CUDA's own default is 1 KiB a thread; debug builds and formatting need far more.
pub(crate) const STACK_SIZE: usize = 256 << 10;

/// Tops of different stacks lie in different cache lines of a page: the threads of a block use the same few lines at
/// the top of each stack, which would otherwise compete for one set of the first-level cache.
const COLOURS: usize = 32;
const COLOUR_BYTES: usize = 64;

static STACKS_MADE: AtomicUsize = AtomicUsize::new(0);

/// The stack of one lane.
pub(crate) struct Stack {
    mapped: DefaultStack,
    unused_at_top: usize,
}

impl Stack {
    /// # Panics
    ///
    /// If the system has no memory for it.
    pub(crate) fn new() -> Self {
        let colour = STACKS_MADE.fetch_add(1, Ordering::Relaxed) % COLOURS;
        Self {
            mapped: DefaultStack::new(STACK_SIZE).unwrap_or_else(|error| {
                panic!("cannot map a {STACK_SIZE}-byte stack for a simulated thread: {error}")
            }),
            unused_at_top: colour * COLOUR_BYTES,
        }
    }
}

// SAFETY: the memory is that of a stack with a guard page, less a few cache lines at its top.
unsafe impl corosensei::stack::Stack for Stack {
    #[inline]
    fn base(&self) -> StackPointer {
        let base = self.mapped.base().get() - self.unused_at_top;
        StackPointer::new(base).expect("a stack is larger than what is left out of it")
    }

    #[inline]
    fn limit(&self) -> StackPointer {
        self.mapped.limit()
    }

    #[cfg(windows)]
    fn teb_fields(&self) -> corosensei::stack::StackTebFields {
        self.mapped.teb_fields()
    }

    #[cfg(windows)]
    fn update_teb_fields(&mut self, stack_limit: usize, guaranteed_stack_bytes: usize) {
        self.mapped
            .update_teb_fields(stack_limit, guaranteed_stack_bytes);
    }
}
