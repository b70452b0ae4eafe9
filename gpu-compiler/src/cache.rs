//! What was compiled, for the next build: results by the content that they were made from.
//!
//! An entry is a file that holds the content and the result. It is used only where the whole content is equal, so a
//! different kernel, helper, constant, setting, target or compiler can never meet it; the name, a hash of the content,
//! only finds it. An entry is written under another name and moved into place, so builds at the same time, and one that is
//! killed, do no harm. What cannot be read or written, or is not as it was written, counts as absent.

use std::fs;
use std::path::{Path, PathBuf};
use std::process;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, SystemTime};

use crate::report;
use crate::request::Request;

/// The most bytes of all entries; the ones that were not used for longest go.
const MOST_BYTES: u64 = 256 << 20;
/// An entry that is used is marked so if the last mark is older.
const MARK_EVERY: Duration = Duration::from_secs(60 * 60);
const MAGIC: &[u8] = b"oxwarp cache 1\n";

/// A result that can be kept.
pub trait Entry: Sized {
    /// `None` if it is not to be kept.
    fn to_bytes(&self) -> Option<Vec<u8>>;
    /// `None` if the bytes are not of one.
    fn from_bytes(bytes: &[u8]) -> Option<Self>;
}

/// A folder of results; without a folder, nothing is kept.
pub struct Cache {
    folder: Option<PathBuf>,
    /// Everything but the code itself that results depend on.
    settings: Vec<u8>,
    reused: AtomicUsize,
    compiled: AtomicUsize,
}

impl Cache {
    /// The cache that a request names.
    pub fn open(request: &Request) -> Self {
        let folder = request.cache.clone();
        Cache {
            folder: folder.filter(|folder| fs::create_dir_all(folder).is_ok()),
            settings: settings(request),
            reused: AtomicUsize::new(0),
            compiled: AtomicUsize::new(0),
        }
    }

    /// How many results came from the cache, and how many did not.
    pub fn counts(&self) -> report::Cache {
        report::Cache {
            reused: self.reused.load(Ordering::Relaxed),
            compiled: self.compiled.load(Ordering::Relaxed),
        }
    }

    /// The result for this content, from the cache or from `make`.
    pub fn result<Result: Entry, Error>(
        &self,
        content: &[&[u8]],
        make: impl FnOnce() -> std::result::Result<Result, Error>,
    ) -> std::result::Result<Result, Error> {
        let content = pack(&[&[&self.settings[..]], content].concat());
        let name = format!("{:016x}", hash(&content));
        let path = self.folder.as_ref().map(|folder| folder.join(name));
        let kept = path.as_deref().and_then(|path| read(path, &content));
        if let Some(result) = kept.and_then(|kept| Result::from_bytes(&kept)) {
            self.reused.fetch_add(1, Ordering::Relaxed);
            return Ok(result);
        }
        let result = make()?;
        self.compiled.fetch_add(1, Ordering::Relaxed);
        if let Some((path, bytes)) = path.zip(result.to_bytes()) {
            write(&path, &content, &bytes);
        }
        Ok(result)
    }

    /// Removes what was not used for longest, if there is too much.
    pub fn clean(&self) {
        if let Some(folder) = self.folder.as_ref().filter(|_| self.counts().compiled > 0) {
            clean(folder, MOST_BYTES);
        }
    }
}

/// This compiler, LLVM, and the choices of the request. A program that is built anew has another time.
fn settings(request: &Request) -> Vec<u8> {
    let program = std::env::current_exe().unwrap_or_default();
    let Request {
        llvm,
        targets,
        fma,
        steps,
        ..
    } = request;
    let text = format!(
        "{}\n{}\n{}\n{targets:?}\n{fma}\n{steps:?}\n",
        env!("CARGO_PKG_VERSION"),
        identity(&program),
        identity(llvm),
    );
    text.into_bytes()
}

/// A file's path, size and time.
fn identity(path: &Path) -> String {
    let metadata = fs::metadata(path).ok();
    let size = metadata.as_ref().map(fs::Metadata::len);
    let modified = metadata.and_then(|metadata| metadata.modified().ok());
    format!("{}\n{size:?}\n{modified:?}", path.display())
}

fn read(path: &Path, content: &[u8]) -> Option<Vec<u8>> {
    let entry = fs::read(path).ok()?;
    let [of, result, check] = unpack(entry.strip_prefix(MAGIC)?)?.try_into().ok()?;
    let intact = of == content && check == hash(result).to_le_bytes();
    let result = intact.then(|| result.to_vec())?;
    mark_as_used(path);
    Some(result)
}

/// Which entries are old is told from their time.
fn mark_as_used(path: &Path) {
    let Ok(file) = fs::File::open(path) else {
        return;
    };
    let modified = file.metadata().and_then(|metadata| metadata.modified());
    if modified.is_ok_and(|modified| modified.elapsed().is_ok_and(|age| age > MARK_EVERY)) {
        // Without the mark it goes sooner.
        let _ = file.set_modified(SystemTime::now());
    }
}

fn write(path: &Path, content: &[u8], result: &[u8]) {
    static NUMBER: AtomicUsize = AtomicUsize::new(0);
    let number = NUMBER.fetch_add(1, Ordering::Relaxed);
    let temporary = path.with_extension(format!("{}-{number}", process::id()));
    let entry = [
        MAGIC,
        &pack(&[content, result, &hash(result).to_le_bytes()]),
    ]
    .concat();
    // An entry that cannot be written is one compilation more.
    if fs::write(&temporary, entry).is_err() || fs::rename(&temporary, path).is_err() {
        let _ = fs::remove_file(&temporary);
    }
}

/// Removes the oldest files of the folder until there are at most so many bytes.
fn clean(folder: &Path, most: u64) {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let mut files: Vec<(SystemTime, u64, PathBuf)> = entries
        .filter_map(|entry| {
            let metadata = entry.metadata().ok()?;
            Some((metadata.modified().ok()?, metadata.len(), entry.path()))
        })
        .collect();
    files.sort();
    let mut bytes: u64 = files.iter().map(|(_, bytes, _)| bytes).sum();
    for (_, size, path) in files {
        if bytes <= most {
            break;
        }
        if fs::remove_file(path).is_ok() {
            bytes -= size;
        }
    }
}

/// Of eight bytes at a time, as this program is mostly compiled without optimisations. Equality is not told from it.
fn hash(bytes: &[u8]) -> u64 {
    let mix =
        |hash: u64, word: u64| (hash.rotate_left(5) ^ word).wrapping_mul(0x517c_c1b7_2722_0a95);
    let (words, rest) = bytes.as_chunks();
    let words = words.iter().map(|&word| u64::from_le_bytes(word));
    let hash = words.fold(bytes.len() as u64, mix);
    rest.iter().map(|&byte| u64::from(byte)).fold(hash, mix)
}

/// Byte strings as one; [`unpack`] gives them back.
pub fn pack(parts: &[&[u8]]) -> Vec<u8> {
    let mut packed = Vec::new();
    for part in parts {
        packed.extend_from_slice(&(part.len() as u64).to_le_bytes());
        packed.extend_from_slice(part);
    }
    packed
}

/// The byte strings that were packed, if these bytes are whole.
pub fn unpack(mut packed: &[u8]) -> Option<Vec<&[u8]>> {
    let mut parts = Vec::new();
    while !packed.is_empty() {
        let (length, rest) = packed.split_first_chunk()?;
        let (part, rest) = rest.split_at_checked(u64::from_le_bytes(*length).try_into().ok()?)?;
        parts.push(part);
        packed = rest;
    }
    Some(parts)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Target;
    use crate::step::Steps;

    #[derive(Debug, PartialEq)]
    struct Text(String);

    impl Entry for Text {
        fn to_bytes(&self) -> Option<Vec<u8>> {
            (self.0 != "wrong").then(|| self.0.clone().into_bytes())
        }

        fn from_bytes(bytes: &[u8]) -> Option<Self> {
            Some(Text(String::from_utf8(bytes.to_vec()).ok()?))
        }
    }

    fn request(folder: &Path) -> Request {
        Request {
            llvm: "llvm".into(),
            rust_libraries: "".into(),
            dependencies: Vec::new(),
            dependency_folders: Vec::new(),
            bitcode: "".into(),
            output: "".into(),
            targets: vec![Target::DEFAULT],
            libdevice: None,
            fma: true,
            steps: Steps::default(),
            cache: Some(folder.into()),
        }
    }

    /// A folder of a test's own.
    fn folder(name: &str) -> PathBuf {
        let folder = std::env::temp_dir().join(format!("oxwarp-cache-{name}-{}", process::id()));
        let _ = fs::remove_dir_all(&folder);
        folder
    }

    /// What comes out where `made` would be made, and whether it came from the cache.
    fn get(request: &Request, content: &[&[u8]], made: &str) -> (String, bool) {
        let cache = Cache::open(request);
        let make = || Ok::<_, ()>(Text(made.into()));
        let Text(result) = cache.result(content, make).unwrap();
        cache.clean();
        (result, cache.counts().reused == 1)
    }

    fn entries(folder: &Path) -> Vec<PathBuf> {
        fs::read_dir(folder)
            .unwrap()
            .map(|entry| entry.unwrap().path())
            .collect()
    }

    #[test]
    fn equal_content_is_made_once() {
        let folder = folder("equal");
        let request = request(&folder);
        assert_eq!(get(&request, &[b"one", b"a"], "1"), ("1".into(), false));
        assert_eq!(get(&request, &[b"one", b"a"], "2"), ("1".into(), true));
        for other in [[&b"one"[..], b"b"], [b"onea", b""], [b"on", b"ea"]] {
            assert_eq!(get(&request, &other, "3"), ("3".into(), false));
        }
        assert_eq!(entries(&folder).len(), 4);
        fs::remove_dir_all(folder).unwrap();
    }

    #[test]
    fn a_setting_is_content_too() {
        let folder = folder("setting");
        let first = request(&folder);
        get(&first, &[b"one"], "1");
        let targets = vec![Target(90)];
        let others = [
            Request {
                targets,
                ..first.clone()
            },
            Request {
                fma: false,
                ..first.clone()
            },
            Request {
                steps: Steps::without(["strides"]).unwrap(),
                ..first.clone()
            },
            Request {
                llvm: std::env::current_exe().unwrap(),
                ..first.clone()
            },
        ];
        for other in others {
            assert_eq!(get(&other, &[b"one"], "2"), ("2".into(), false));
        }
        assert_eq!(get(&first, &[b"one"], "2"), ("1".into(), true));
        fs::remove_dir_all(folder).unwrap();
    }

    #[test]
    fn an_entry_of_other_bytes_is_made_anew() {
        let folder = folder("damaged");
        let request = request(&folder);
        get(&request, &[b"one"], "result");
        let path = entries(&folder).remove(0);
        let whole = fs::read(&path).unwrap();
        for length in 0..whole.len() {
            fs::write(&path, &whole[..length]).unwrap();
            assert_eq!(get(&request, &[b"one"], "result"), ("result".into(), false));
        }
        for at in 0..whole.len() {
            let mut damaged = whole.clone();
            damaged[at] ^= 1;
            fs::write(&path, damaged).unwrap();
            assert_eq!(
                get(&request, &[b"one"], "result"),
                ("result".into(), false),
                "{at}"
            );
        }
        // As if another content had the same hash.
        get(&request, &[b"two"], "other");
        let other = entries(&folder)
            .into_iter()
            .find(|other| *other != path)
            .unwrap();
        fs::rename(other, &path).unwrap();
        assert_eq!(get(&request, &[b"one"], "result"), ("result".into(), false));
        assert_eq!(get(&request, &[b"one"], "again"), ("result".into(), true));
        fs::remove_dir_all(folder).unwrap();
    }

    #[test]
    fn without_a_folder_nothing_is_kept() {
        let file = folder("file");
        fs::write(&file, "not a folder").unwrap();
        for cache in [None, Some(file.join("cache"))] {
            let request = Request {
                cache,
                ..request(&file)
            };
            assert_eq!(get(&request, &[b"one"], "1"), ("1".into(), false));
            assert_eq!(get(&request, &[b"one"], "2"), ("2".into(), false));
        }
        fs::remove_file(file).unwrap();
    }

    #[test]
    fn errors_are_not_kept() {
        let folder = folder("errors");
        let request = request(&folder);
        assert_eq!(get(&request, &[b"one"], "wrong"), ("wrong".into(), false));
        assert_eq!(get(&request, &[b"one"], "right"), ("right".into(), false));
        fs::remove_dir_all(folder).unwrap();
    }

    #[test]
    fn builds_at_the_same_time_do_no_harm() {
        let folder = folder("parallel");
        let request = request(&folder);
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    for round in 0..200u32 {
                        let content = (round % 7).to_le_bytes();
                        let made = format!("{:?}", content).repeat(1000);
                        assert_eq!(get(&request, &[&content], &made).0, made);
                    }
                });
            }
        });
        assert_eq!(entries(&folder).len(), 7);
        fs::remove_dir_all(folder).unwrap();
    }

    #[test]
    fn the_oldest_go_first() {
        let folder = folder("oldest");
        fs::create_dir_all(&folder).unwrap();
        for (name, age) in [("old", 300), ("older", 400), ("new", 100), ("newer", 50)] {
            let file = fs::File::create(folder.join(name)).unwrap();
            file.set_len(1000).unwrap();
            file.set_modified(SystemTime::now() - Duration::from_secs(age))
                .unwrap();
        }
        clean(&folder, 2500);
        let mut left = entries(&folder);
        left.sort();
        assert_eq!(left, [folder.join("new"), folder.join("newer")]);
        fs::remove_dir_all(folder).unwrap();
    }
}
