//! Coroutines of the crate `corosensei`.

use std::convert::Infallible;
use std::mem::ManuallyDrop;

use corosensei::CoroutineResult;

use crate::lane::Event;
use crate::stack::Stack;

/// A coroutine's own handle to suspend itself.
pub(crate) type Yielder = corosensei::Yielder<(), Event>;

/// A suspended function. It stays on the OS thread that made it.
pub(crate) struct Coroutine(ManuallyDrop<corosensei::Coroutine<(), Event, Infallible, Stack>>);

impl Coroutine {
    pub(crate) fn new(stack: Stack, main: fn(&Yielder) -> Infallible) -> Self {
        let main = move |yielder: &Yielder, ()| main(yielder);
        Self(ManuallyDrop::new(corosensei::Coroutine::with_stack(
            stack, main,
        )))
    }

    /// Lets the function go on until it suspends itself.
    #[inline]
    pub(crate) fn resume(&mut self) -> Event {
        match self.0.resume(()) {
            CoroutineResult::Yield(event) => event,
            CoroutineResult::Return(never) => match never {},
        }
    }

    /// Forgets the function, without unwinding.
    ///
    /// # Safety
    ///
    /// What is on the stack must not have to be dropped.
    pub(crate) unsafe fn into_stack(mut self) -> Stack {
        // SAFETY: the caller's promise; the coroutine is not used after this.
        unsafe {
            self.0.force_reset();
            ManuallyDrop::take(&mut self.0).into_stack()
        }
    }
}
