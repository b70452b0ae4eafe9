//! CUDA's own tools, where they are found: `ptxas` and `nvdisasm`.
//!
//! They are part of a toolkit, and of NVIDIA's Python packages, whose folders are looked through as
//! well. Nothing here is needed to compile, launch or profile a kernel.

use std::env;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::{fs, io};

/// Why a tool said nothing.
#[derive(Clone, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ToolError {
    /// It is nowhere.
    #[error(
        "no `{tool}`: it is in CUDA toolkits and in the Python package {}; looked in PATH, the folder `bin` of CUDA_HOME and \
         CUDA_PATH, and {}",
        package(.tool),
        .looked_in.iter().map(|folder| folder.display().to_string()).collect::<Vec<_>>().join(", ")
    )]
    NotFound {
        /// The tool.
        tool: &'static str,
        /// The folders besides those that the variables name.
        looked_in: Vec<PathBuf>,
    },

    /// It failed.
    #[error("{tool} failed: {log}")]
    Failed {
        /// The tool's file.
        tool: String,
        /// What it said.
        log: String,
    },

    /// It could not be run, or its files could not be written or read.
    #[error("a CUDA tool could not be run: {0}")]
    Io(Arc<io::Error>),
}

impl From<io::Error> for ToolError {
    fn from(error: io::Error) -> Self {
        Self::Io(Arc::new(error))
    }
}

/// The Python package that has a tool.
fn package(tool: &str) -> &'static str {
    if tool == "ptxas" {
        "nvidia-cuda-nvcc"
    } else {
        "nvidia-cuda-nvdisasm"
    }
}

/// A tool's file. The project's own comes first: another version gives other registers.
pub(crate) fn find(tool: &'static str) -> Result<PathBuf, ToolError> {
    let named = ["CUDA_HOME", "CUDA_PATH"]
        .into_iter()
        .filter_map(env::var_os);
    let path = env::var_os("PATH").unwrap_or_default();
    let (own, usual) = (own_folders(), usual_folders());
    let mut folders = own
        .iter()
        .cloned()
        .chain(named.map(|home| PathBuf::from(home).join("bin")))
        .chain(env::split_paths(&path))
        .chain(usual.iter().cloned());
    match folders.find(|folder| folder.join(tool).is_file()) {
        Some(folder) => Ok(folder.join(tool)),
        None => Err(ToolError::NotFound {
            tool,
            looked_in: [own, usual].concat(),
        }),
    }
}

/// `tools` of the current folder, and of the package that Cargo runs and the folders above it.
fn own_folders() -> Vec<PathBuf> {
    let package = env::var_os("CARGO_MANIFEST_DIR").map(PathBuf::from);
    let above = package
        .iter()
        .flat_map(|package| package.ancestors().take(3));
    let folders = [PathBuf::new()]
        .into_iter()
        .chain(above.map(Path::to_owned));
    folders.map(|folder| folder.join("tools")).collect()
}

/// The folders of toolkits and of Python packages that no variable names.
fn usual_folders() -> Vec<PathBuf> {
    let mut folders: Vec<PathBuf> = ["/usr/local/cuda/bin", "/opt/cuda/bin"]
        .map(PathBuf::from)
        .into();
    for library in python_libraries() {
        let packages = library.join("nvidia");
        folders.extend(["cu13/bin", "cuda_nvcc/bin"].map(|folder| packages.join(folder)));
    }
    folders
}

/// `site-packages` of the active virtual environment and of the user.
fn python_libraries() -> Vec<PathBuf> {
    let local = |home: OsString| Path::new(&home).join(".local");
    let roots = [
        env::var_os("VIRTUAL_ENV").map(PathBuf::from),
        env::var_os("HOME").map(local),
    ];
    let mut libraries = Vec::new();
    for root in roots.into_iter().flatten() {
        let entries = fs::read_dir(root.join("lib"))
            .into_iter()
            .flatten()
            .flatten();
        let versions =
            entries.filter(|entry| entry.file_name().to_string_lossy().starts_with("python"));
        libraries.extend(versions.map(|version| version.path().join("site-packages")));
    }
    libraries
}

/// Runs a command; what it wrote.
pub(crate) fn said(command: &mut Command) -> Result<String, ToolError> {
    let output = command.output()?;
    let said = String::from_utf8_lossy(&output.stdout) + String::from_utf8_lossy(&output.stderr);
    if output.status.success() {
        return Ok(said.into_owned());
    }
    Err(ToolError::Failed {
        tool: command.get_program().to_string_lossy().into_owned(),
        log: said.trim_end().to_owned(),
    })
}

/// A folder for a tool's files, which is removed when this is dropped.
pub(crate) struct Scratch(PathBuf);

impl Scratch {
    pub fn new() -> io::Result<Self> {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let number = COUNT.fetch_add(1, Ordering::Relaxed);
        let folder = env::temp_dir().join(format!("oxwarp-report-{}-{number}", std::process::id()));
        fs::create_dir_all(&folder)?;
        Ok(Self(folder))
    }

    pub fn file(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        // What is left in the temporary folder is the system's to remove.
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// The machine code of one kernel as text (SASS), from a cubin that has it; with lines of the source if the cubin has them.
///
/// # Errors
///
/// If `nvdisasm` is nowhere (the error says where it was looked for), or refuses the cubin.
pub fn sass(cubin: &[u8], symbol: &str) -> Result<String, ToolError> {
    let scratch = Scratch::new()?;
    let file = scratch.file("kernel.cubin");
    fs::write(&file, cubin)?;
    let all = said(
        Command::new(find("nvdisasm")?)
            .args(["-c", "-g"])
            .arg(&file),
    )?;
    let begin = format!("\n.text.{symbol}:\n");
    let of_kernel = all.split_once(&begin).map(|(_, rest)| rest);
    // The next section begins with a line of this.
    let of_kernel = of_kernel.map(|rest| rest.split("\n//----").next().unwrap_or(rest));
    Ok(of_kernel.unwrap_or(&all).trim_end().to_owned() + "\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_nowhere_is_named_with_where_it_was_looked_for() {
        let error = find("nvdisasm-of-nobody").unwrap_err().to_string();
        for part in [
            "no `nvdisasm-of-nobody`",
            "the Python package nvidia-cuda-nvdisasm",
            "PATH",
            "CUDA_HOME",
            "/usr/local/cuda/bin",
            "tools",
        ] {
            assert!(error.contains(part), "{part} not in {error}");
        }
    }
}
