//! The bitcode of core, alloc and compiler_builtins that ships inside the toolchain.
//!
//! libstd is read too, for the instances of core's and alloc's generic functions that it has: rustc does not make those
//! of `#[inline(never)]` functions a second time.
//!
//! Each object of `libcore-*.rlib` and its like holds its bitcode in the section `.llvmbc` (for `-C lto`). The archive's
//! symbol table says which object defines a symbol, so only those that are needed are read.

use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};

use object::read::archive::{ArchiveFile, ArchiveOffset};
use object::{Object, ObjectSection};

use crate::error::Error;
use crate::names;

/// The libraries that device code may need.
const LIBRARIES: [&str; 3] = ["libcore-", "liballoc-", "libcompiler_builtins-"];
/// The library of which only instances of other crates' functions are device code.
const STD: &str = "libstd-";

/// The toolchain's libraries, opened.
pub struct StdBitcode {
    archives: Vec<Archive>,
    members: HashMap<String, Member>,
}

struct Archive {
    path: PathBuf,
    bytes: Vec<u8>,
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
        let bytes = fs::read(&path).map_err(|cause| Error::File {
            path: path.clone(),
            cause,
        })?;
        let archive = self.archives.len();
        let wrong = |cause: object::Error| Error::Archive {
            path: path.clone(),
            cause: cause.to_string(),
        };
        let file = ArchiveFile::parse(&*bytes).map_err(wrong)?;
        for symbol in file.symbols().map_err(wrong)?.into_iter().flatten() {
            let symbol = symbol.map_err(wrong)?;
            let member = Member {
                archive,
                offset: symbol.offset().0,
            };
            let name = String::from_utf8_lossy(symbol.name());
            self.members.entry(name.into_owned()).or_insert(member);
        }
        self.archives.push(Archive { path, bytes });
        Ok(())
    }

    /// The object that defines `symbol`.
    pub fn defines(&self, symbol: &str) -> Option<Member> {
        let member = *self.members.get(symbol)?;
        let in_std = member.archive == LIBRARIES.len();
        let is_instance = || matches!(names::crate_of(&names::path(symbol)), "core" | "alloc");
        (!in_std || is_instance()).then_some(member)
    }

    /// An object's bitcode; `None` where it has none (assembly).
    pub fn bitcode(&self, member: Member) -> Result<Option<&[u8]>, Error> {
        let Archive { path, bytes } = &self.archives[member.archive];
        let wrong = |cause: object::Error| Error::Archive {
            path: path.clone(),
            cause: cause.to_string(),
        };
        let file = ArchiveFile::parse(&**bytes).map_err(wrong)?;
        let entry = file.member(ArchiveOffset(member.offset)).map_err(wrong)?;
        let object = entry.data(&**bytes).map_err(wrong)?;
        let object = object::File::parse(object).map_err(wrong)?;
        object
            .section_by_name(".llvmbc")
            .map(|section| section.data().map_err(wrong))
            .transpose()
    }
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
