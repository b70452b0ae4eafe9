//! The exported `cu*` functions, by which `cust` reaches the driver.
//!
//! Each hands its arguments on unchanged and returns the driver's code, made safe for `cust` to read as an enum.

use std::cell::Cell;
use std::ffi::{c_int, c_uchar, c_uint, c_ushort};

use crate::{DriverError, Pointer, STUB_LIBRARY, UNKNOWN, calls, driver};

thread_local! {
    static LAST_ERROR: Cell<Option<DriverError>> = const { Cell::new(None) };
}

/// The last failure of a forwarded call on this thread, with the driver's own code; `cust` has fewer.
pub fn last_error() -> Option<DriverError> {
    LAST_ERROR.get()
}

/// Whether `cust`'s bindings have the code as a variant of their result enum.
pub fn known_to_cust(code: u32) -> bool {
    matches!(
        code,
        0..=8
            | 34
            | 100..=102
            | 200..=202
            | 205..=224
            | 300..=304
            | 400..=401
            | 500
            | 600
            | 700..=705
            | 708..=720
            | 800..=809
            | 900..=911
            | 999
    )
}

/// Remembers a failure and gives the code that `cust` may read.
#[cold]
fn failed(error: DriverError) -> u32 {
    LAST_ERROR.set(Some(error));
    if known_to_cust(error.code) {
        error.code
    } else {
        UNKNOWN
    }
}

macro_rules! forwarders {
    (
        exported { $(fn $name:ident($($parameter:ident: $type:ty),*);)* }
        extra { $($extra:tt)* }
    ) => {$(
        /// # Safety
        ///
        /// What the driver's documentation demands of the arguments.
        #[allow(non_snake_case, clippy::too_many_arguments)]
        #[unsafe(no_mangle)]
        unsafe extern "C" fn $name($($parameter: $type),*) -> u32 {
            let result = match driver() {
                // SAFETY: the caller's arguments are valid for this function.
                Ok(driver) => unsafe { driver.$name($($parameter),*) },
                Err(_) => Err(DriverError { call: stringify!($name), code: STUB_LIBRARY }),
            };
            match result {
                Ok(()) => 0,
                Err(error) => failed(error),
            }
        }
    )*};
}

calls::driver_calls!(forwarders);

#[cfg(test)]
mod tests {
    use super::*;

    /// Calls every forwarder that may be called with null pointers, as long as there is no driver to follow them.
    macro_rules! call_all {
        (
            exported { $(fn $name:ident($($parameter:ident: $type:ty),*);)* }
            extra { $($extra:tt)* }
        ) => {$({
            // SAFETY: without a driver the arguments are not looked at.
            let code = unsafe { $name($(zero::<$type>(stringify!($parameter))),*) };
            assert_eq!(code, STUB_LIBRARY);
            assert_eq!(last_error(), Some(DriverError { call: stringify!($name), code }));
        })*};
    }

    fn zero<T>(_parameter: &str) -> T {
        // SAFETY: all parameter types are integers and raw pointers.
        unsafe { std::mem::zeroed() }
    }

    #[test]
    fn without_a_driver_every_call_returns_an_error() {
        if driver().is_err() {
            calls::driver_calls!(call_all);
            let error = last_error().unwrap();
            assert!(
                error.to_string().contains("CUDA_ERROR_STUB_LIBRARY 34"),
                "{error}"
            );
        }
    }

    #[test]
    fn a_code_that_cust_lacks_becomes_unknown() {
        // CUDA_ERROR_ILLEGAL_INSTRUCTION is in the list, CUDA_ERROR_CONTAINED (CUDA 12.8) is not.
        for (code, given) in [(715, 715), (721, UNKNOWN), (9, UNKNOWN), (222, 222)] {
            assert_eq!(failed(DriverError { call: "cuX", code }), given);
            assert_eq!(last_error().unwrap().code, code);
        }
    }
}
