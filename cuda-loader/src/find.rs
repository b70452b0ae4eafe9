//! Where a library of CUDA and the toolkit's headers may lie.
//!
//! In: the environment's variables. Out: files and names in the order in which they are tried: what the user named, then a
//! toolkit, then NVIDIA's Python packages, of which each has its own folder beside the others.

use std::env;
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};

/// A library that is looked for.
pub(crate) struct Wanted {
    /// The variable that names its file and goes before all other places.
    pub variable: &'static str,
    /// What its file's name begins with, up to the version: `libnvrtc.so.`.
    pub stem: &'static str,
    /// What the dynamic linker is asked for, newest first.
    pub names: &'static [&'static str],
}

impl Wanted {
    /// Files, and names for the dynamic linker, in the order in which they are tried.
    pub fn candidates(&self) -> Vec<PathBuf> {
        if let Some(file) = variable(self.variable) {
            return vec![file.into()];
        }
        let path = variable("PATH").unwrap_or_default();
        let prefixes = ["VIRTUAL_ENV", "CONDA_PREFIX"]
            .into_iter()
            .filter_map(variable)
            .map(PathBuf::from)
            .chain(variable("HOME").map(|home| Path::new(&home).join(".local")))
            .chain(env::split_paths(&path).filter_map(of_python));
        let in_folder = |root: PathBuf| [root.join("lib64"), root.join("lib")];
        let mut found = Vec::new();
        for folder in toolkits().flat_map(in_folder) {
            found.extend(self.files_in(&folder));
        }
        found.extend(self.names.iter().map(PathBuf::from));
        for folder in usual()
            .flat_map(in_folder)
            .chain(prefixes.flat_map(|prefix| python_packages(&prefix)))
        {
            found.extend(self.files_in(&folder));
        }
        found
    }

    /// Its files in a folder, the newest major version first.
    fn files_in(&self, folder: &Path) -> Vec<PathBuf> {
        let major = |path: &PathBuf| -> Option<u32> {
            let name = path.file_name()?.to_str()?.strip_prefix(self.stem)?;
            name.parse().ok()
        };
        let mut found: Vec<_> = entries(folder)
            .into_iter()
            .filter_map(|path| Some((major(&path)?, path)))
            .collect();
        found.sort_by_key(|(major, _)| std::cmp::Reverse(*major));
        found.into_iter().map(|(_, path)| path).collect()
    }
}

/// The folders of the toolkit's headers, for a library at `place`: the first that is there of those beside the library and
/// of the toolkits, and the one of its C++ library, where that is apart.
pub(crate) fn headers(place: &Path) -> Vec<PathBuf> {
    let beside = place.parent().and_then(Path::parent);
    // CUDA 12's Python packages have a folder each.
    let package = beside
        .and_then(Path::parent)
        .map(|packages| packages.join("cuda_runtime"));
    let roots = beside
        .map(Path::to_owned)
        .into_iter()
        .chain(package)
        .chain(toolkits())
        .chain(usual());
    let folder = roots
        .map(|root| root.join("include"))
        .find(|folder| folder.join("cuda_fp16.h").is_file());
    let Some(folder) = folder else {
        return Vec::new();
    };
    let cccl = folder.join("cccl");
    let cccl = cccl.is_dir().then_some(cccl);
    [folder].into_iter().chain(cccl).collect()
}

/// Toolkits that the environment names.
fn toolkits() -> impl Iterator<Item = PathBuf> {
    ["CUDA_HOME", "CUDA_PATH"]
        .into_iter()
        .filter_map(variable)
        .map(PathBuf::from)
}

/// Where a toolkit usually is.
fn usual() -> impl Iterator<Item = PathBuf> {
    ["/usr/local/cuda", "/opt/cuda"]
        .into_iter()
        .map(PathBuf::from)
}

/// The variable's value, if it has one.
fn variable(name: &str) -> Option<OsString> {
    env::var_os(name).filter(|value| !value.is_empty())
}

/// The environment of a folder of programs that has a Python.
fn of_python(programs: PathBuf) -> Option<PathBuf> {
    let there = programs.join("python3").is_file();
    there
        .then(|| programs.parent().map(Path::to_owned))
        .flatten()
}

/// The library folders of NVIDIA's packages in the Python environment `prefix`.
fn python_packages(prefix: &Path) -> Vec<PathBuf> {
    let mut folders = Vec::new();
    for python in entries(&prefix.join("lib")) {
        for packages in ["site-packages", "dist-packages"] {
            let packages = entries(&python.join(packages).join("nvidia"));
            folders.extend(packages.into_iter().map(|package| package.join("lib")));
        }
    }
    folders
}

/// What is in a folder.
pub(crate) fn entries(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    entries.map(|entry| entry.path()).collect()
}
