//! Where kernels are kept from build to build, so that one that did not change is not compiled again.
//!
//! Cargo's output folders are `deps` and `examples` of a profile's folder, and the cache is beside them:
//! `target/release/oxwarp-cache`. `OXWARP_CACHE` names another folder, which builds can share, or is `off`. With
//! `OXWARP_VERBOSE=1` each device pass says on standard error how many kernels it compiled.

use std::env;
use std::path::{Path, PathBuf};

use gpu_compiler::report::Cache;

use super::Outcome;
use super::rustc::Invocation;

/// The folder for the crate that is compiled.
pub fn folder(invocation: &Invocation) -> Option<PathBuf> {
    let chosen = env::var_os("OXWARP_CACHE").map(PathBuf::from);
    from(chosen, &invocation.output_folder())
}

fn from(chosen: Option<PathBuf>, output: &Path) -> Option<PathBuf> {
    match chosen.filter(|chosen| !chosen.as_os_str().is_empty()) {
        Some(off) if off == Path::new("off") => None,
        Some(folder) => Some(folder),
        None => {
            let of_cargo = ["deps", "examples"]
                .map(Path::new)
                .contains(&Path::new(output.file_name()?));
            of_cargo.then(|| output.with_file_name("oxwarp-cache"))
        }
    }
}

/// Says what was compiled, if that is asked for.
pub fn tell(outcome: &Outcome) {
    if let Outcome::Compiled { report, .. } = outcome
        && !report.kernels.is_empty()
        && env::var_os("OXWARP_VERBOSE").is_some_and(|value| value == "1")
    {
        let Cache { reused, compiled } = report.cache;
        let name = env::var("CARGO_CRATE_NAME").unwrap_or_else(|_| "the crate".into());
        let kernels = report.kernels.len();
        eprintln!(
            "oxwarp: {name} has {kernels} kernels; compiled {compiled} parts, found {reused} in the cache"
        );
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_folder_is_beside_cargos_or_the_chosen_one() {
        let cargos = Path::new("target/debug/deps");
        assert_eq!(from(None, cargos), Some("target/debug/oxwarp-cache".into()));
        assert_eq!(
            from(Some("".into()), cargos),
            Some("target/debug/oxwarp-cache".into())
        );
        assert_eq!(from(Some("/c".into()), cargos), Some("/c".into()));
        assert_eq!(from(Some("off".into()), cargos), None);
        assert_eq!(from(None, Path::new("/tmp")), None);
    }
}
