//! Handlers of the system's signals, of which a process has one for each.
//!
//! In: a signal and its new handler. Out: the handler that was there before, which gets the signals that are not for the new one.

use std::mem::MaybeUninit;
use std::ptr;

use libc::{c_int, c_void, siginfo_t};

/// A handler that is told who sent the signal, and what the thread was doing.
pub(crate) type Function = unsafe extern "C" fn(c_int, *mut siginfo_t, *mut c_void);

/// The signal by which threads are looked at: one that does nothing where there is no handler for it.
pub(crate) const TICK: c_int = libc::SIGURG;

/// A stack on which this OS thread runs handlers, where std gave it none: in a library it does not.
pub(crate) struct AlternateStack {
    _memory: Box<[u8]>,
}

impl AlternateStack {
    const BYTES: usize = 64 << 10;

    /// A stack, unless the OS thread has one.
    pub(crate) fn if_missing() -> Option<Self> {
        let mut present = MaybeUninit::<libc::stack_t>::zeroed();
        // SAFETY: it only asks for this OS thread's alternate stack, and zeros are such a structure.
        let present = unsafe {
            libc::sigaltstack(ptr::null(), present.as_mut_ptr());
            present.assume_init()
        };
        if present.ss_flags & libc::SS_DISABLE == 0 {
            return None;
        }
        let mut memory = vec![0; Self::BYTES].into_boxed_slice();
        Self::set(memory.as_mut_ptr(), 0);
        Some(Self { _memory: memory })
    }

    fn set(memory: *mut u8, flags: c_int) {
        let stack = libc::stack_t {
            ss_sp: memory.cast(),
            ss_flags: flags,
            ss_size: Self::BYTES,
        };
        // SAFETY: the memory is the caller's, which takes the stack away before the memory.
        unsafe { libc::sigaltstack(&stack, ptr::null_mut()) };
    }
}

impl Drop for AlternateStack {
    fn drop(&mut self) {
        Self::set(ptr::null_mut(), libc::SS_DISABLE);
    }
}

/// A handler that was replaced.
pub(crate) struct Handler(libc::sigaction);

impl Handler {
    /// Installs a handler, which runs on the thread's alternate stack where it has one, and returns the one that was there.
    ///
    /// # Safety
    ///
    /// The function may run between any two instructions of the threads that get the signal.
    pub(crate) unsafe fn replace(signal: c_int, function: Function, flags: c_int) -> Self {
        let mut previous = MaybeUninit::<libc::sigaction>::zeroed();
        // SAFETY: the function has the signature that `SA_SIGINFO` asks for, and both structures are valid.
        unsafe {
            let mut action: libc::sigaction = MaybeUninit::zeroed().assume_init();
            action.sa_sigaction = function as *const () as usize;
            action.sa_flags = libc::SA_SIGINFO | libc::SA_ONSTACK | flags;
            // An alternate stack has room for one handler only.
            libc::sigaddset(&mut action.sa_mask, TICK);
            libc::sigaction(signal, &action, previous.as_mut_ptr());
            Self(previous.assume_init())
        }
    }

    /// Calls the handler; false if there is none.
    ///
    /// # Safety
    ///
    /// The arguments are those of a signal handler.
    pub(crate) unsafe fn call(
        &self,
        signal: c_int,
        info: *mut siginfo_t,
        machine: *mut c_void,
    ) -> bool {
        match self.0.sa_sigaction {
            libc::SIG_DFL | libc::SIG_IGN => return false,
            handler if self.0.sa_flags & libc::SA_SIGINFO != 0 => {
                // SAFETY: with this flag it is a function of these parameters.
                unsafe { std::mem::transmute::<usize, Function>(handler)(signal, info, machine) };
            }
            handler => {
                // SAFETY: without the flag it is a function of this parameter.
                unsafe {
                    std::mem::transmute::<usize, unsafe extern "C" fn(c_int)>(handler)(signal);
                }
            }
        }
        true
    }

    /// Makes it the signal's handler again.
    pub(crate) fn restore(&self, signal: c_int) {
        // SAFETY: the structure is one that the system gave.
        unsafe { libc::sigaction(signal, &self.0, ptr::null_mut()) };
    }
}
