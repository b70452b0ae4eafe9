//! What the compiler is asked for: one command line, written by `gpu-macros` and read by [`command`](crate::command).

use std::ffi::OsString;
use std::path::PathBuf;

use crate::step::Steps;
use crate::{Error, Target};

/// One run of the compiler.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Request {
    /// The LLVM library of the rustc that wrote `bitcode`.
    pub llvm: PathBuf,
    /// The folder with that rustc's `libcore-*.rlib`.
    pub rust_libraries: PathBuf,
    /// The libraries of direct dependencies: `*.rlib`, or `*.rmeta` beside which there will be one.
    pub dependencies: Vec<PathBuf>,
    /// Folders with the libraries of all dependencies.
    pub dependency_folders: Vec<PathBuf>,
    /// The crate's bitcode.
    pub bitcode: PathBuf,
    /// An existing folder for the PTX and the report.
    pub output: PathBuf,
    /// What to make PTX for, at least one.
    pub targets: Vec<Target>,
    /// CUDA's libdevice, for the mathematical functions; without it the `libm` crate's are used.
    pub libdevice: Option<PathBuf>,
    /// Whether multiplications and additions may be contracted to `fma`.
    pub fma: bool,
    /// The optimisations that are taken.
    pub steps: Steps,
    /// A folder for what was compiled, from which a later run takes what did not change.
    pub cache: Option<PathBuf>,
}

impl Request {
    /// The command line that [`Request::from_arguments`] reads.
    pub fn to_arguments(&self) -> Vec<OsString> {
        let mut arguments: Vec<OsString> = Vec::new();
        let mut put = |name: &str, value: OsString| {
            arguments.push(name.into());
            arguments.push(value);
        };
        put("--llvm", self.llvm.clone().into());
        put("--rust-libraries", self.rust_libraries.clone().into());
        for dependency in &self.dependencies {
            put("--dependency", dependency.clone().into());
        }
        for folder in &self.dependency_folders {
            put("--dependency-folder", folder.clone().into());
        }
        put("--bitcode", self.bitcode.clone().into());
        put("--output", self.output.clone().into());
        for target in &self.targets {
            put("--target", target.to_string().into());
        }
        if let Some(libdevice) = &self.libdevice {
            put("--libdevice", libdevice.clone().into());
        }
        if !self.fma {
            put("--fma", "off".into());
        }
        for step in self.steps.skipped() {
            put("--skip", step.into());
        }
        if let Some(cache) = &self.cache {
            put("--cache", cache.clone().into());
        }
        arguments
    }

    /// Reads a command line, without the program's name.
    ///
    /// # Errors
    ///
    /// If an argument is unknown or missing.
    pub fn from_arguments(arguments: impl IntoIterator<Item = OsString>) -> Result<Self, Error> {
        let mut request = Request {
            llvm: PathBuf::new(),
            rust_libraries: PathBuf::new(),
            dependencies: Vec::new(),
            dependency_folders: Vec::new(),
            bitcode: PathBuf::new(),
            output: PathBuf::new(),
            targets: Vec::new(),
            libdevice: None,
            fma: true,
            steps: Steps::default(),
            cache: None,
        };
        let mut skipped = Vec::new();
        let mut arguments = arguments.into_iter();
        while let Some(name) = arguments.next() {
            let name = name.to_string_lossy().into_owned();
            let value = arguments
                .next()
                .ok_or_else(|| Error::Usage(format!("`{name}` wants a value")))?;
            match name.as_str() {
                "--llvm" => request.llvm = value.into(),
                "--rust-libraries" => request.rust_libraries = value.into(),
                "--dependency" => request.dependencies.push(value.into()),
                "--dependency-folder" => request.dependency_folders.push(value.into()),
                "--bitcode" => request.bitcode = value.into(),
                "--output" => request.output = value.into(),
                "--libdevice" => request.libdevice = Some(value.into()),
                "--fma" => request.fma = value != "off",
                "--cache" => request.cache = Some(value.into()),
                "--skip" => skipped.push(value.to_string_lossy().into_owned()),
                "--target" => request.targets.push(target(&value.to_string_lossy())?),
                _ => return Err(Error::Usage(format!("unknown argument `{name}`"))),
            }
        }
        if request.targets.is_empty() {
            request.targets.push(Target::DEFAULT);
        }
        request.steps = Steps::without(skipped.iter().map(String::as_str))
            .map_err(|error| Error::Usage(error.to_string()))?;
        Ok(request)
    }
}

fn target(text: &str) -> Result<Target, Error> {
    text.parse()
        .map_err(|error: crate::UnknownTarget| Error::Usage(error.to_string()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_survives_its_command_line() {
        let request = Request {
            llvm: "a b".into(),
            rust_libraries: "c".into(),
            dependencies: vec!["c1".into(), "c2".into()],
            dependency_folders: vec!["c3".into()],
            bitcode: "d".into(),
            output: "e".into(),
            targets: vec![Target(75), Target(90)],
            libdevice: Some("f".into()),
            fma: false,
            steps: Steps::without(["strides", "short_copies"]).unwrap(),
            cache: Some("g".into()),
        };
        assert_eq!(
            Request::from_arguments(request.to_arguments()).unwrap(),
            request
        );
    }

    #[test]
    fn wrong_arguments_are_named() {
        for (arguments, named) in [
            (vec!["--speed", "9"], "--speed"),
            (vec!["--llvm"], "--llvm"),
            (vec!["--target", "sm_1"], "sm_1"),
            (vec!["--skip", "everything"], "everything"),
        ] {
            let error =
                Request::from_arguments(arguments.into_iter().map(OsString::from)).unwrap_err();
            assert!(error.to_string().contains(named), "{error}");
        }
    }
}
