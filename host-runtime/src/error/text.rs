//! Parts of the errors' sentences that take more than a format string.

use crate::memory_kind::MemoryKind;

/// `(x, y, z)`.
pub(super) struct Triple<'a>(pub(super) &'a [i128; 3]);

impl std::fmt::Display for Triple<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let [x, y, z] = self.0;
        write!(f, "({x}, {y}, {z})")
    }
}

/// The number along a dimension.
pub(super) fn of(given: &[i128; 3], dimension: char) -> i128 {
    let [x, y, z] = *given;
    match dimension {
        'x' => x,
        'y' => y,
        _ => z,
    }
}

/// Which kernel may be the one that does not end.
pub(super) fn hanging(kernel: Option<&'static str>) -> String {
    match kernel {
        Some(kernel) => {
            format!("kernel `{kernel}`, or one that was queued before it, may never end")
        }
        None => "a kernel may never end".to_owned(),
    }
}

/// A sentence on the crates with device code.
pub(super) fn compiled_crates(crates: &[&str]) -> String {
    if crates.is_empty() {
        "No crate of this program has device code".to_owned()
    } else {
        format!("The crates with device code are: {}", crates.join(", "))
    }
}

/// `sm_75, sm_90`.
pub(super) fn targets(available: &[u32]) -> String {
    let names: Vec<_> = available
        .iter()
        .map(|target| format!("sm_{target}"))
        .collect();
    if names.is_empty() {
        "no target".to_owned()
    } else {
        names.join(", ")
    }
}

/// The log on lines of its own, if there is one.
pub(super) fn log_text(log: &str) -> String {
    if log.is_empty() {
        String::new()
    } else {
        format!("\n{log}")
    }
}

/// `MemoryKind::Mapped or MemoryKind::Managed`.
pub(super) fn kinds(kinds: &[MemoryKind]) -> String {
    let names: Vec<_> = kinds
        .iter()
        .map(|kind| format!("MemoryKind::{kind:?}"))
        .collect();
    names.join(" or ")
}
