//! Where in the user's code a thread was interrupted, from its stack.
//!
//! In: a stack that was captured where the system interrupted the thread. Out: function and source line, as far as the program's
//! debug information has them.

use std::backtrace::Backtrace;

/// Where in the user's code a thread stands, as far as it is known.
#[derive(Clone, Default)]
pub(crate) struct Frame {
    pub(crate) function: Option<String>,
    pub(crate) file: String,
    pub(crate) line: u32,
    pub(crate) column: u32,
}

/// The innermost frame that is neither Rust's library nor this project's, from the text of a stack: each function's line is
/// followed by that of its place, if that is known.
///
/// The stack is one that was captured behind a function of which the name ends in `trampoline`.
pub(crate) fn user_frame(stack: &Backtrace) -> Frame {
    // It needs a larger stack than a simulated thread has.
    let text = std::thread::scope(|scope| scope.spawn(|| stack.to_string()).join());
    let text = text.unwrap_or_default();
    let mut frame = Frame::default();
    let mut lines = text
        .lines()
        .map(str::trim)
        .skip_while(|line| !line.contains("trampoline"));
    lines.next();
    for line in lines {
        let place = line.strip_prefix("at ");
        match (place, &frame.function) {
            (Some(place), Some(_)) => {
                let mut parts = place.rsplitn(3, ':');
                frame.column = parts
                    .next()
                    .and_then(|part| part.parse().ok())
                    .unwrap_or_default();
                frame.line = parts
                    .next()
                    .and_then(|part| part.parse().ok())
                    .unwrap_or_default();
                frame.file = parts
                    .next()
                    .unwrap_or_default()
                    .trim_start_matches("./")
                    .to_owned();
                return frame;
            }
            (Some(_), None) => {}
            (None, Some(_)) => return frame,
            (None, None) => {
                let function = line.split_once(": ").map_or(line, |(_, function)| function);
                if !is_library(function) {
                    frame.function = Some(function.to_owned());
                }
            }
        }
    }
    frame
}

fn is_library(function: &str) -> bool {
    let path = function.trim_start_matches(['<', '*', '&']);
    [
        "core::",
        "alloc::",
        "std::",
        "gpu_sim::",
        "gpu_std::",
        "unknown>",
        "mut ",
        "const ",
        "__",
        "[",
    ]
    .iter()
    .any(|library| path.starts_with(library))
}
