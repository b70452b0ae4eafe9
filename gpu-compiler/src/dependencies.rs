//! The bitcode of the crates that the user's crate depends on.
//!
//! rustc gives a crate's compilation the code of other crates' generic and `#[inline]` functions, and no more. Of the
//! rest there is bitcode where the crates were compiled with `-C embed-bitcode=yes`. A
//! library is opened only when a kernel reaches a function that it may define: one whose symbol names the crate, or whose
//! instance the crate made. Of a generic `#[inline(never)]` function rustc makes no second instance, and of one of core's or
//! alloc's the older mangling does not say who made the first: then all libraries are asked.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fs;
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::thread::sleep;
use std::time::{Duration, Instant};

use crate::archive::Archive;
use crate::error::Error;
use crate::names;
use crate::request::Request;

/// How long to wait for a library that Cargo is still building. It starts a crate that is itself a library as soon as it
/// knows what its dependencies declare.
const PATIENCE: Duration = Duration::from_secs(120);

/// Stands for the name of every crate.
const ANY: &str = "*";

/// The libraries that may be needed.
pub struct Dependencies {
    /// Those of direct dependencies: `*.rlib`, or `*.rmeta` where Cargo may still be building the library beside it.
    named: Vec<PathBuf>,
    folders: Vec<PathBuf>,
    opened: RefCell<BTreeMap<String, Rc<[Library]>>>,
}

/// One library and what it defines.
struct Library {
    archive: Archive,
    objects: HashMap<String, u64>,
}

impl Dependencies {
    /// The libraries that `request` names, and the toolchain's: std has dependencies too. None is opened yet.
    pub fn new(request: &Request) -> Self {
        let mut folders = request.dependency_folders.clone();
        folders.push(request.rust_libraries.clone());
        Dependencies {
            named: request.dependencies.clone(),
            folders,
            opened: RefCell::default(),
        }
    }

    /// The bitcode of the objects that define symbols of `missing`.
    pub fn find<'a>(
        &self,
        missing: impl Iterator<Item = &'a String>,
    ) -> Result<Vec<Vec<u8>>, Error> {
        let mut objects = BTreeMap::new();
        for symbol in missing {
            for krate in owners(symbol) {
                for (number, library) in self.libraries(&krate).iter().enumerate() {
                    let Some(&offset) = library.objects.get(symbol) else {
                        continue;
                    };
                    if let Some(bitcode) = library.archive.bitcode(offset)? {
                        objects.insert((krate.clone(), number, offset), bitcode.to_vec());
                    }
                }
            }
        }
        Ok(objects.into_values().collect())
    }

    /// All libraries of a crate's name; there may be several versions. What cannot be read defines nothing.
    fn libraries(&self, krate: &str) -> Rc<[Library]> {
        let known = self.opened.borrow().get(krate).cloned();
        known.unwrap_or_else(|| {
            let paths = self.paths(krate).into_iter();
            let opened: Rc<[Library]> = paths.filter_map(|path| Library::open(path).ok()).collect();
            let mut all = self.opened.borrow_mut();
            all.insert(krate.into(), opened.clone());
            opened
        })
    }

    fn paths(&self, krate: &str) -> BTreeSet<PathBuf> {
        let named = self.named.iter().filter(|path| is_library_of(path, krate));
        let mut paths: BTreeSet<PathBuf> = named.filter_map(|path| finished(path)).collect();
        for folder in &self.folders {
            let entries = fs::read_dir(folder).into_iter().flatten().flatten();
            let files = entries.map(|entry| entry.path());
            let is_built = |path: &PathBuf| path.extension().is_some_and(|kind| kind == "rlib");
            paths.extend(files.filter(|path| is_built(path) && is_library_of(path, krate)));
        }
        paths
    }
}

impl Library {
    fn open(path: PathBuf) -> Result<Self, Error> {
        let archive = Archive::open(path)?;
        let objects = archive.symbols()?.into_iter().collect();
        Ok(Library { archive, objects })
    }
}

/// The crates that may have compiled a function; [`ANY`] if the symbol does not say. std's own functions are not for
/// devices.
fn owners(symbol: &str) -> Vec<String> {
    let mut crates = names::crates(symbol);
    let is_generic = crates
        .iter()
        .all(|krate| krate == "core" || krate == "alloc");
    crates.retain(|krate| !["core", "alloc", "std"].contains(&krate.as_str()));
    if is_generic && names::is_rust(symbol) {
        crates.push(ANY.into());
    }
    crates
}

/// Whether a file is called `libkrate.*` or `libkrate-*.*`, or any crate is meant; not a macro's library.
fn is_library_of(path: &Path, krate: &str) -> bool {
    let (stem, kind) = (
        path.file_stem().unwrap_or_default(),
        path.extension().unwrap_or_default(),
    );
    let (stem, kind) = (stem.to_string_lossy(), kind.to_string_lossy());
    let is_called = |name: &str| {
        let rest = name.strip_prefix(krate);
        krate == ANY || rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('-'))
    };
    matches!(&*kind, "rlib" | "rmeta") && stem.strip_prefix("lib").is_some_and(is_called)
}

/// The library at `path`, or beside it once it is there and no older than what `path` declares.
fn finished(path: &Path) -> Option<PathBuf> {
    let modified = |path: &Path| fs::metadata(path).and_then(|data| data.modified()).ok();
    let library = path.with_extension("rlib");
    let start = Instant::now();
    loop {
        if modified(&library).is_some_and(|time| modified(path).is_none_or(|other| time >= other)) {
            return Some(library);
        }
        if start.elapsed() > PATIENCE {
            return None;
        }
        sleep(Duration::from_millis(20));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stds_own_functions_have_no_owner() {
        assert!(owners("_ZN3std3env6var_os17h0123456789abcdefE").is_empty());
        assert!(owners("getpid").is_empty());
        assert_eq!(
            owners("_ZN4libm4math3sin3sin17h0123456789abcdefE"),
            ["libm"]
        );
        let grown = "_ZN5alloc7raw_vec19RawVec$LT$T$C$A$GT$8grow_one17h0123456789abcdefE";
        assert_eq!(owners(grown), [ANY]);
    }

    #[test]
    fn libraries_are_told_by_their_names() {
        let is_of_foo = |path: &str| is_library_of(Path::new(path), "foo");
        assert!(is_of_foo("deps/libfoo-0123abcd.rlib") && is_of_foo("libfoo.rmeta"));
        assert!(!is_of_foo("libfoo_bar-01.rlib") && !is_of_foo("libfoo-01.so"));
        assert!(is_library_of(Path::new("libany-1.rlib"), ANY));
    }
}
