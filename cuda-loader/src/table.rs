//! A library of CUDA that is opened when it is first asked for: its functions as a table, and the first place that has it.
//!
//! In: the functions' names and types, and the places in order. Out: methods that return the library's code as an error, and
//! the opened library, or what each place lacked.

use std::path::{Path, PathBuf};

/// The first place at which `open` succeeds; else each place with its reason.
pub(crate) fn open_first<T>(
    places: Vec<PathBuf>,
    open: impl Fn(&Path) -> Result<T, String>,
) -> Result<T, Vec<String>> {
    let mut looked_for = Vec::new();
    for place in places {
        match open(&place) {
            Ok(library) => return Ok(library),
            Err(reason) => looked_for.push(format!("{} ({reason})", place.display())),
        }
    }
    Err(looked_for)
}

/// The struct `Functions` of a library, and a method a function of the type `$library`, which has `functions` and
/// `failure(call, code)`. `$text` is the function that says what a code means.
macro_rules! functions {
    (
        $visibility:vis $library:ident, $error:ident, $text:literal;
        $($name:ident: $symbol:literal ($($parameter:ident: $type:ty),*);)*
    ) => {
        struct Functions {
            $($name: unsafe extern "C" fn($($type),*) -> u32,)*
            error_string: unsafe extern "C" fn(u32) -> *const std::ffi::c_char,
        }

        impl Functions {
            /// The functions, or what the library lacks.
            fn of(library: &libloading::Library) -> Result<Self, String> {
                let lacks = |symbol: &str| format!("it has no {symbol}");
                Ok(Self {
                    $($name: crate::symbol(library, $symbol).ok_or_else(|| lacks($symbol))?,)*
                    error_string: crate::symbol(library, $text).ok_or_else(|| lacks($text))?,
                })
            }

            /// The library's sentence on a code; empty if it has none.
            fn text_of(&self, code: u32) -> String {
                // SAFETY: any code may be asked for; the text is a terminated constant, or null.
                unsafe {
                    let text = (self.error_string)(code);
                    if text.is_null() {
                        return String::new();
                    }
                    std::ffi::CStr::from_ptr(text).to_string_lossy().into_owned()
                }
            }
        }

        impl $library {
            $(
                #[doc = concat!("`", $symbol, "`.")]
                ///
                /// # Errors
                ///
                /// If the library returns another code than 0.
                ///
                /// # Safety
                ///
                /// What the library's documentation demands of the arguments.
                #[allow(clippy::too_many_arguments)]
                $visibility unsafe fn $name(&self, $($parameter: $type),*) -> Result<(), $error> {
                    // SAFETY: as the caller promises; the type is the function's.
                    match unsafe { (self.functions.$name)($($parameter),*) } {
                        0 => Ok(()),
                        code => Err(self.failure($symbol, code)),
                    }
                }
            )*
        }
    };
}

pub(crate) use functions;
