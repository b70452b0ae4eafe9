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

/// The crates that a symbol names: that of its path, those of its type arguments and traits, and the one that made the
/// instance, which only the v0 mangling says.
pub fn crates(symbol: &str) -> Vec<String> {
    let path = path(symbol);
    let is_word = |letter: char| letter.is_alphanumeric() || letter == '_';
    let mut crates: Vec<String> = path
        .match_indices("::")
        .map(|(at, _)| &path[..at])
        .filter_map(|before| {
            let (rest, name) = before.split_at(
                before
                    .rfind(|letter| !is_word(letter))
                    .map_or(0, |at| at + 1),
            );
            (!name.is_empty() && !rest.ends_with(':')).then(|| name.to_owned())
        })
        .collect();
    crates.extend(instantiating_crate(symbol).map(String::from));
    crates.sort_unstable();
    crates.dedup();
    crates
}

/// The crate root at the end of a v0 symbol: `C`, `s` and a number in base 62 up to `_`, the name's length, the name.
fn instantiating_crate(symbol: &str) -> Option<&str> {
    let root = &symbol[symbol.strip_prefix("_R")?.rfind("Cs")? + 4..];
    let (hash, rest) = root.split_once('_')?;
    let name = rest.trim_start_matches(|letter: char| letter.is_ascii_digit());
    let length: usize = rest[..rest.len() - name.len()].parse().ok()?;
    let name = name.strip_prefix('_').unwrap_or(name);
    (hash.bytes().all(|byte| byte.is_ascii_alphanumeric()) && name.len() == length).then_some(name)
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

    #[test]
    fn the_crates_of_a_symbol_are_named() {
        let grown =
            "_RNvMs_NtCslNYArtu3iFV_5alloc7raw_vecINtB4_6RawVecjE8grow_oneCs5kwtTTW4L5D_7ndarray";
        assert_eq!(crates(grown), ["alloc", "ndarray"]);
        assert_eq!(
            crates("_ZN4libm4math3sin3sin17h6ca40439a122bed5E"),
            ["libm"]
        );
        let method = "_ZN79_$LT$rand_xoshiro..splitmix64..SplitMix64$u20$as$u20$rand_core..SeedableRng$GT$9from_seed17h6ca40439a122bed5E";
        assert_eq!(crates(method), ["rand_core", "rand_xoshiro"]);
        assert!(crates("puts").is_empty());
    }
}
