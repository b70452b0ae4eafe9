//! What the compiler answers: the kernels that the PTX holds, and errors about the user's code.
//!
//! It crosses from the compiler's process to the macro as a text of lines, `word` and tab-separated fields.

use std::fmt::Write;

/// One kernel instance in the PTX.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Kernel {
    /// The bits of the instance's `TypeId`.
    pub id: u128,
    /// The name of its `.entry`.
    pub symbol: String,
    /// The most dimensions a launch may have.
    pub dimensions: u32,
    /// Whether all blocks of a launch must run at once.
    pub cooperative: bool,
    /// Bytes of static shared memory.
    pub shared_bytes: u32,
    /// Whether it can call itself or through a pointer, so that its stack has no known depth.
    pub deep_stack: bool,
    /// Whether it can print.
    pub prints: bool,
    /// Whether it can allocate from the heap.
    pub allocates: bool,
}

/// A place in the user's source.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// The file as rustc names it.
    pub file: String,
    /// From 1.
    pub line: u32,
    /// From 1.
    pub column: u32,
}

/// Code in a kernel that no device can run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diagnostic {
    /// The kernel's name.
    pub kernel: String,
    /// The crate and module of the kernel.
    pub module: String,
    /// The file in which the kernel's name stands.
    pub file: String,
    /// The line of its name.
    pub line: u32,
    /// What is wrong.
    pub message: String,
    /// What to do instead.
    pub help: String,
    /// Where: the innermost call first, then who called that, up to the kernel.
    pub places: Vec<Place>,
}

/// The whole answer.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Report {
    /// The kernels in the PTX.
    pub kernels: Vec<Kernel>,
    /// Errors. If there are any, there is no PTX.
    pub diagnostics: Vec<Diagnostic>,
    /// The kernels whose code was compiled before, and those that were compiled.
    pub cache: Cache,
}

/// What the cache was good for. What kernels share counts as one more.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Cache {
    /// Found there.
    pub reused: usize,
    /// Not found there.
    pub compiled: usize,
}

impl Report {
    /// The name of the report's file in the output folder.
    pub const FILE: &str = "report";

    /// Adds the kernels of one more target's PTX, in the same order: a launch fits all of them.
    pub fn add(&mut self, kernels: Vec<Kernel>) {
        if self.kernels.is_empty() {
            self.kernels = kernels;
            return;
        }
        for (known, other) in self.kernels.iter_mut().zip(kernels) {
            known.shared_bytes = known.shared_bytes.max(other.shared_bytes);
            known.deep_stack |= other.deep_stack;
        }
    }

    /// The text that [`Report::parse`] reads.
    pub fn to_text(&self) -> String {
        let mut text = String::new();
        for kernel in &self.kernels {
            let Kernel {
                id,
                symbol,
                dimensions,
                cooperative,
                shared_bytes,
                deep_stack,
                prints,
                allocates,
            } = kernel;
            let _ = writeln!(
                text,
                "kernel\t{id:x}\t{symbol}\t{dimensions}\t{cooperative}\t{shared_bytes}\t{deep_stack}\t{prints}\t{allocates}"
            );
        }
        for diagnostic in &self.diagnostics {
            let Diagnostic {
                kernel,
                module,
                file,
                line,
                message,
                help,
                places,
            } = diagnostic;
            let _ = writeln!(
                text,
                "error\t{kernel}\t{module}\t{file}\t{line}\t{}\t{}",
                one_line(message),
                one_line(help)
            );
            for Place { file, line, column } in places {
                let _ = writeln!(text, "at\t{file}\t{line}\t{column}");
            }
        }
        let Cache { reused, compiled } = self.cache;
        let _ = writeln!(text, "cache\t{reused}\t{compiled}");
        text
    }

    /// Reads a report; `None` if it is not one.
    pub fn parse(text: &str) -> Option<Self> {
        let mut report = Report::default();
        for line in text.lines() {
            match *line.split('\t').collect::<Vec<_>>() {
                [
                    "kernel",
                    id,
                    symbol,
                    dimensions,
                    cooperative,
                    shared_bytes,
                    deep_stack,
                    prints,
                    allocates,
                ] => report.kernels.push(Kernel {
                    id: u128::from_str_radix(id, 16).ok()?,
                    symbol: symbol.into(),
                    dimensions: dimensions.parse().ok()?,
                    cooperative: cooperative.parse().ok()?,
                    shared_bytes: shared_bytes.parse().ok()?,
                    deep_stack: deep_stack.parse().ok()?,
                    prints: prints.parse().ok()?,
                    allocates: allocates.parse().ok()?,
                }),
                ["error", kernel, module, file, line, message, help] => {
                    report.diagnostics.push(Diagnostic {
                        kernel: kernel.into(),
                        module: module.into(),
                        file: file.into(),
                        line: line.parse().ok()?,
                        message: message.into(),
                        help: help.into(),
                        places: Vec::new(),
                    })
                }
                ["at", file, line, column] => report.diagnostics.last_mut()?.places.push(Place {
                    file: file.into(),
                    line: line.parse().ok()?,
                    column: column.parse().ok()?,
                }),
                ["cache", reused, compiled] => {
                    report.cache = Cache {
                        reused: reused.parse().ok()?,
                        compiled: compiled.parse().ok()?,
                    }
                }
                _ => return None,
            }
        }
        Some(report)
    }
}

fn one_line(text: &str) -> String {
    text.replace(['\t', '\n'], " ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_report_survives_its_text() {
        let place = Place {
            file: "src/a b.rs".into(),
            line: 3,
            column: 9,
        };
        let report = Report {
            kernels: vec![Kernel {
                id: u128::MAX - 5,
                symbol: "k_1".into(),
                dimensions: 2,
                cooperative: true,
                shared_bytes: 1024,
                deep_stack: true,
                prints: true,
                allocates: true,
            }],
            diagnostics: vec![Diagnostic {
                kernel: "k".into(),
                module: "a::b".into(),
                file: "src/a b.rs".into(),
                line: 2,
                message: "no".into(),
                help: "yes".into(),
                places: vec![place.clone(), place],
            }],
            cache: Cache {
                reused: 5,
                compiled: 7,
            },
        };
        assert_eq!(Report::parse(&report.to_text()), Some(report));
        assert_eq!(Report::parse("nonsense"), None);
    }
}
