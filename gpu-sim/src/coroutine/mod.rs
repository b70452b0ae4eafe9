//! A function that can be suspended anywhere, and goes on there: it has a stack of its own.
//!
//! A thread at a barrier takes two switches of stacks, and a block of 256 threads so 512 at each. On x86-64 a switch is a jump:
//! the processor predicts where a function returns to by the calls that came before, and the thread that ran last called from
//! the same place. Other processors have the switches of `corosensei`, which are a call and a return.

#[cfg(not(all(unix, target_arch = "x86_64")))]
mod portable;
#[cfg(all(unix, target_arch = "x86_64"))]
mod x86_64;

#[cfg(not(all(unix, target_arch = "x86_64")))]
pub(crate) use portable::{Coroutine, Yielder};
#[cfg(all(unix, target_arch = "x86_64"))]
pub(crate) use x86_64::{Coroutine, Yielder};
