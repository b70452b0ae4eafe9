//! From a source to its entry in this process.
//!
//! A library is kept under a hash of everything that decides it, with that in full beside it. It is made in a folder of this
//! process's own and moved when it is whole, so that several processes can make the same.

use std::collections::BTreeMap;
use std::env::consts::{DLL_PREFIX, DLL_SUFFIX};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::UNIX_EPOCH;
use std::{fs, process};

use libloading::Library;

use super::declaration::{Compilation, RustKernel};
use super::error::RustSourceError;
use super::library::RunTimeEntry;
use super::source::RustSource;
use crate::registry;

/// The symbol of `run_time_entry!`.
const ENTRY: &str = "oxwarp_run_time_entry";
/// The most libraries of a folder, of a few megabytes each.
const KEPT: usize = 64;
/// What decides the library, in its folder.
const KEY: &str = "key";

/// The kernel of a source, compiled and loaded if it is not yet.
pub(super) fn entry<K: RustKernel>(
    source: &RustSource,
    compute_capability: Option<(u32, u32)>,
) -> Result<&'static RunTimeEntry, RustSourceError> {
    let build = Build::new::<K>(source, compute_capability);
    let place = place_of(&build.key);
    let mut place = place.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(entry) = *place {
        return Ok(entry);
    }
    let entry = build.load(&build.library()?)?;
    *place = Some(entry);
    Ok(entry)
}

/// Where the entry of a key is kept once it is there. It is locked while the library is made, so that another thread waits
/// for the same one, and makes others meanwhile.
fn place_of(key: &str) -> Place {
    static PLACES: Mutex<BTreeMap<String, Place>> = Mutex::new(BTreeMap::new());
    let mut places = PLACES.lock().unwrap_or_else(PoisonError::into_inner);
    places.entry(key.to_owned()).or_default().clone()
}

type Place = Arc<Mutex<Option<&'static RunTimeEntry>>>;

/// One compilation.
struct Build<'a> {
    source: &'a RustSource,
    compilation: &'static Compilation,
    tail: &'static str,
    /// The target of the device code, if it is not that of the package.
    target: Option<String>,
    /// Everything that decides the library.
    key: String,
    /// The hash of it.
    number: u64,
}

impl<'a> Build<'a> {
    fn new<K: RustKernel>(source: &'a RustSource, compute_capability: Option<(u32, u32)>) -> Self {
        let target = target(K::COMPILATION.targets, compute_capability);
        let key = format!(
            "{source:?}\n{}\n{target:?}\n{:?}\n",
            K::TAIL,
            K::COMPILATION
        );
        let mut hasher = DefaultHasher::new();
        key.hash(&mut hasher);
        Self {
            source,
            compilation: K::COMPILATION,
            tail: K::TAIL,
            target,
            key,
            number: hasher.finish(),
        }
    }

    /// The library's file, which is made if it is not there.
    fn library(&self) -> Result<PathBuf, RustSourceError> {
        if let Some(reason) = self.compilation.skipped {
            return Err(RustSourceError::Unknown {
                source_name: self.source.name.clone(),
                reason,
            });
        }
        let folder = Path::new(self.compilation.folder).join(format!("{:016x}", self.number));
        let library = folder.join(format!("{DLL_PREFIX}{}{DLL_SUFFIX}", self.crate_name()));
        let is_there = || fs::read_to_string(folder.join(KEY)).is_ok_and(|key| key == self.key);
        if is_there() {
            return Ok(library);
        }
        self.check_libraries()?;
        let own = folder.with_extension(process::id().to_string());
        let made = self.make(&own).and_then(|()| {
            // What is there is of another key with the same hash, or was not made to the end.
            let _ = fs::remove_dir_all(&folder);
            match fs::rename(&own, &folder) {
                // Another process was faster.
                Err(_) if is_there() => Ok(()),
                moved => moved.map_err(|error| self.file_error(&folder, error)),
            }
        });
        let _ = fs::remove_dir_all(&own);
        forget_old(Path::new(self.compilation.folder));
        made.map(|()| library)
    }

    /// Checks that the libraries are those that this program is made of: only then are the types the same.
    fn check_libraries(&self) -> Result<(), RustSourceError> {
        let changed = self
            .compilation
            .libraries
            .iter()
            .find(|(path, bytes, time)| {
                let same = || {
                    let metadata = fs::metadata(path).ok()?;
                    let changed = metadata.modified().ok()?.duration_since(UNIX_EPOCH).ok()?;
                    Some(metadata.len() == *bytes && changed.as_nanos() as u64 == *time)
                };
                same() != Some(true)
            });
        match changed {
            None => Ok(()),
            Some((path, ..)) => Err(RustSourceError::Rebuilt {
                source_name: self.source.name.clone(),
                library: path.into(),
            }),
        }
    }

    /// Compiles the source in a folder.
    fn make(&self, folder: &Path) -> Result<(), RustSourceError> {
        let file = folder.join(&self.source.name);
        let text = format!("{}\n{}\n", self.source.text, self.tail);
        fs::create_dir_all(folder)
            .and_then(|()| fs::write(&file, text))
            .map_err(|error| self.file_error(&file, error))?;
        let output = self.command(folder, &file).output();
        let output = output.map_err(|error| RustSourceError::NoCompiler {
            source_name: self.source.name.clone(),
            rustc: self.compilation.rustc.into(),
            error,
        })?;
        if !output.status.success() {
            return Err(RustSourceError::Compilation {
                source_name: self.source.name.clone(),
                log: String::from_utf8_lossy(&output.stderr)
                    .trim_end()
                    .to_owned(),
            });
        }
        fs::write(folder.join(KEY), &self.key)
            .map_err(|error| self.file_error(&folder.join(KEY), error))
    }

    fn crate_name(&self) -> String {
        format!("oxwarp_run_time_{:016x}", self.number)
    }

    fn command(&self, folder: &Path, file: &Path) -> Command {
        let name = self.crate_name();
        let mut command = Command::new(self.compilation.rustc);
        command
            .arg(file)
            .args([
                "--crate-type=cdylib",
                "--emit=link",
                "--color=never",
                "-Awarnings",
            ])
            .arg(format!("--crate-name={name}"))
            .arg(format!("-Cmetadata={:016x}", self.number))
            .arg(format!("--out-dir={}", folder.display()))
            .arg(format!("--remap-path-prefix={}/=", folder.display()))
            .args(self.compilation.arguments)
            // For `#[kernel]`, which finds the package's settings there.
            .env("CARGO_MANIFEST_DIR", self.compilation.package)
            .env("CARGO_CRATE_NAME", name)
            .env("OXWARP_LIBDEVICE", self.compilation.libdevice)
            .env("OXWARP_SKIP", self.compilation.skip)
            .stdin(Stdio::null());
        match self.source.unsafe_code {
            // The simulator's checks name the lines of wild accesses.
            true => command.args(["-Cdebuginfo=line-tables-only", "-Cstrip=none"]),
            false => command.arg("--forbid=unsafe_code"),
        };
        if let Some(target) = &self.target {
            command.env("OXWARP_TARGETS", target);
        }
        command
    }

    /// Loads a library for the life of the process, and makes its kernel one of this program.
    fn load(&self, path: &Path) -> Result<&'static RunTimeEntry, RustSourceError> {
        let failed = |error: libloading::Error| RustSourceError::Load {
            source_name: self.source.name.clone(),
            path: path.to_owned(),
            reason: error.to_string(),
        };
        // SAFETY: the library was made here of Rust code; what runs when it is loaded registers its device code.
        let library = unsafe { Library::new(path) }.map_err(failed)?;
        let library = Box::leak(Box::new(library));
        // SAFETY: the symbol is that function, written by `run_time_entry!` of the same version of this crate.
        let entry = unsafe {
            let entry = library
                .get::<extern "C" fn() -> *const RunTimeEntry>(ENTRY)
                .map_err(failed)?;
            &*entry()
        };
        entry.trap.add();
        registry::register(entry);
        Ok(entry)
    }

    fn file_error(&self, path: &Path, error: io::Error) -> RustSourceError {
        RustSourceError::File {
            source_name: self.source.name.clone(),
            path: path.to_owned(),
            error,
        }
    }
}

/// Removes the oldest libraries where there are more than [`KEPT`]. One that is loaded stays so.
fn forget_old(folder: &Path) {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let mut all: Vec<_> = entries
        .filter_map(|entry| Some((entry.metadata().ok()?.modified().ok()?, entry.path())))
        .collect();
    all.sort();
    for (_, old) in &all[..all.len().saturating_sub(KEPT)] {
        // What cannot be removed takes space, and nothing else.
        let _ = fs::remove_dir_all(old);
    }
}

/// The highest target that the device runs.
fn target(known: &[u32], compute_capability: Option<(u32, u32)>) -> Option<String> {
    let (major, minor) = compute_capability?;
    let device = major * 10 + minor;
    let target = known.iter().filter(|&&target| target <= device).max()?;
    Some(format!("sm_{target}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_oldest_are_forgotten() {
        let folder = std::env::temp_dir().join(format!("oxwarp-build-{}", process::id()));
        let folders: Vec<_> = (0..KEPT + 3)
            .map(|number| folder.join(number.to_string()))
            .collect();
        for (number, folder) in folders.iter().enumerate() {
            fs::create_dir_all(folder).unwrap();
            let time = UNIX_EPOCH + std::time::Duration::from_secs(1000 + number as u64);
            fs::File::open(folder).unwrap().set_modified(time).unwrap();
        }
        forget_old(&folder);
        let there = |folder: &PathBuf| folder.exists();
        assert!(!folders[..3].iter().any(there));
        assert!(folders[3..].iter().all(there));
        fs::remove_dir_all(&folder).unwrap();
    }

    #[test]
    fn the_devices_own_target_or_the_next_lower_one() {
        let known = [75, 80, 90];
        assert_eq!(target(&known, None), None);
        assert_eq!(target(&known, Some((9, 0))).unwrap(), "sm_90");
        assert_eq!(target(&known, Some((8, 9))).unwrap(), "sm_80");
        assert_eq!(target(&known, Some((7, 0))), None);
    }
}
