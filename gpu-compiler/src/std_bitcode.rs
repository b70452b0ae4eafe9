//! The bitcode of core, alloc and compiler_builtins that ships inside the toolchain.
//!
//! libstd is read too, for the instances of core's and alloc's generic functions that it has: rustc does not make those
//! of `#[inline(never)]` functions a second time. Of its own functions only those are device code that ask nothing of the
//! operating system.

use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};

use crate::archive::Archive;
use crate::error::Error;
use crate::names;

/// The libraries that device code may need.
const LIBRARIES: [&str; 3] = ["libcore-", "liballoc-", "libcompiler_builtins-"];
/// The library of which only instances of other crates' functions are device code.
const STD: &str = "libstd-";
/// What of libstd's own needs no operating system: locks, `Once` and the cells on it, but for their waiting
/// ([`futex`](crate::futex)), and paths.
const OWN: [&str; 5] = [
    "std::panicking::panic_count::GLOBAL_PANIC_COUNT",
    "std::path::",
    "std::sync::lazy_lock::",
    "std::sync::poison::",
    "std::sys::sync::",
];

/// The toolchain's libraries, opened.
pub struct StdBitcode {
    archives: Vec<Archive>,
    members: HashMap<String, Member>,
}

/// One object of one archive.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Member {
    archive: usize,
    offset: u64,
}

impl StdBitcode {
    /// Opens the libraries in `folder`, a toolchain's `lib/rustlib/<host>/lib`.
    pub fn open(folder: &Path) -> Result<Self, Error> {
        let mut std = StdBitcode {
            archives: Vec::new(),
            members: HashMap::new(),
        };
        for library in LIBRARIES {
            std.add(find(folder, library)?)?;
        }
        std.add(find(folder, STD)?)?;
        Ok(std)
    }

    fn add(&mut self, path: PathBuf) -> Result<(), Error> {
        let archive = Archive::open(path)?;
        let number = self.archives.len();
        for (name, offset) in archive.symbols()? {
            let member = Member {
                archive: number,
                offset,
            };
            self.members.entry(name).or_insert(member);
        }
        self.archives.push(archive);
        Ok(())
    }

    /// The object that defines `symbol`.
    pub fn defines(&self, symbol: &str) -> Option<Member> {
        let member = *self.members.get(symbol)?;
        let in_std = member.archive == LIBRARIES.len();
        (!in_std || is_device_code(&names::path(symbol))).then_some(member)
    }

    /// An object's bitcode; `None` where it has none (assembly).
    pub fn bitcode(&self, member: Member) -> Result<Option<&[u8]>, Error> {
        self.archives[member.archive].bitcode(member.offset)
    }
}

/// Whether a function of libstd is an instance of core's or alloc's, or one of [`OWN`].
fn is_device_code(path: &str) -> bool {
    let path = path.trim_start_matches('<').trim_start_matches('&');
    matches!(names::crate_of(path), "core" | "alloc") || OWN.iter().any(|own| path.starts_with(own))
}

fn find(folder: &Path, prefix: &str) -> Result<PathBuf, Error> {
    let entries = fs::read_dir(folder).map_err(|cause| Error::File {
        path: folder.into(),
        cause,
    })?;
    entries
        .filter_map(|entry| Some(entry.ok()?.path()))
        .find(|path| {
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            name.starts_with(prefix) && name.ends_with(".rlib")
        })
        .ok_or_else(|| Error::Archive {
            path: folder.into(),
            cause: format!("no {prefix}*.rlib there"),
        })
}
