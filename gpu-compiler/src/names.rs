//! Rust's mangled symbols as the paths that people write.

/// The path a symbol stands for, without hashes and type arguments' crates: `core::panicking::panic_bounds_check`.
/// A symbol that is not Rust's is returned as it is.
pub fn path(symbol: &str) -> String {
    format!("{:#}", rustc_demangle::demangle(symbol))
}

/// Whether a symbol is one of Rust's.
pub fn is_rust(symbol: &str) -> bool {
    rustc_demangle::try_demangle(symbol).is_ok()
}

/// The crate of a path: its first segment, without `<`.
pub fn crate_of(path: &str) -> &str {
    let path = path.trim_start_matches('<').trim_start_matches('&');
    path.split("::").next().unwrap_or(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_manglings_give_the_path() {
        let v0 = "_RNvNtCsgEmfK2I1SDS_4core9panicking18panic_bounds_check";
        assert_eq!(path(v0), "core::panicking::panic_bounds_check");
        assert_eq!(crate_of(&path(v0)), "core");
        assert_eq!(path("_ZN1r2ro17h6ca40439a122bed5E"), "r::ro");
        assert!(!is_rust("puts"));
        assert_eq!(path("puts"), "puts");
    }
}
