//! A Rust library (`*.rlib`): which of its objects defines a symbol, and an object's bitcode.
//!
//! Objects hold bitcode in the section `.llvmbc` where they were compiled with `-C embed-bitcode`, as the toolchain's own
//! are; with `lto` in the profile they are bitcode and nothing else. The archive's table of symbols says which object
//! defines one, so that only those that are needed are read.

use std::fs::File;
use std::path::PathBuf;

use object::read::ReadCache;
use object::read::archive::{ArchiveFile, ArchiveOffset};
use object::{Object, ObjectSection};

use crate::error::Error;

/// The first bytes of bitcode.
const BITCODE: &[u8] = b"BC\xc0\xde";

/// An opened library.
pub struct Archive {
    path: PathBuf,
    /// Reads what is asked for: the table of symbols, and few objects.
    file: ReadCache<File>,
}

impl Archive {
    /// Opens the file.
    pub fn open(path: PathBuf) -> Result<Self, Error> {
        match File::open(&path) {
            Ok(file) => Ok(Archive {
                path,
                file: ReadCache::new(file),
            }),
            Err(cause) => Err(Error::File { path, cause }),
        }
    }

    /// Each symbol that it defines, with the place of the object.
    pub fn symbols(&self) -> Result<Vec<(String, u64)>, Error> {
        let file = self.parsed()?;
        let symbols = file.symbols().map_err(|cause| self.wrong(cause))?;
        let named = symbols.into_iter().flatten().map(|symbol| {
            let symbol = symbol.map_err(|cause| self.wrong(cause))?;
            let name = String::from_utf8_lossy(symbol.name()).into_owned();
            Ok((name, symbol.offset().0))
        });
        named.collect()
    }

    /// The bitcode of the object at `offset`; `None` where it has none.
    pub fn bitcode(&self, offset: u64) -> Result<Option<&[u8]>, Error> {
        let file = self.parsed()?;
        let member = file.member(ArchiveOffset(offset));
        let object = member
            .and_then(|member| member.data(&self.file))
            .map_err(|cause| self.wrong(cause))?;
        if object.starts_with(BITCODE) {
            return Ok(Some(object));
        }
        let object = object::File::parse(object).map_err(|cause| self.wrong(cause))?;
        object
            .section_by_name(".llvmbc")
            .map(|section| section.data().map_err(|cause| self.wrong(cause)))
            .transpose()
    }

    fn parsed(&self) -> Result<ArchiveFile<'_, &ReadCache<File>>, Error> {
        ArchiveFile::parse(&self.file).map_err(|cause| self.wrong(cause))
    }

    fn wrong(&self, cause: object::Error) -> Error {
        Error::Archive {
            path: self.path.clone(),
            cause: cause.to_string(),
        }
    }
}
