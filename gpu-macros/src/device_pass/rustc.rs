//! The command line of the rustc that runs now, and the same for a device pass.

use std::env;
use std::path::{Path, PathBuf};
use std::process::{self, Command, Stdio};

use super::{Error, INSIDE};

/// Flags that say where output and diagnostics go: the device pass has its own.
const OUTPUT_FLAGS: [&str; 6] = [
    "--emit",
    "--out-dir",
    "-o",
    "--error-format",
    "--json",
    "--diagnostic-width",
];
/// Code generation options that the device pass sets itself, or that mean the host's processor and linker.
const HOST_CODEGEN: [&str; 15] = [
    "codegen-units",
    "debuginfo",
    "embed-bitcode",
    "incremental",
    "link-arg",
    "link-args",
    "linker",
    "linker-plugin-lto",
    "lto",
    "opt-level",
    "panic",
    "save-temps",
    "split-debuginfo",
    "strip",
    "target-cpu",
];

/// Code generation options that belong to one crate.
const OF_ONE_CRATE: [&str; 6] = [
    "debuginfo",
    "extra-filename",
    "incremental",
    "metadata",
    "save-temps",
    "split-debuginfo",
];
/// Flags that hold for any source that is compiled against the same libraries.
const OF_ANY_SOURCE: [&str; 6] = ["--edition", "--extern", "--sysroot", "--target", "-L", "-Z"];

/// One rustc command line.
#[derive(Debug)]
pub struct Invocation {
    /// The program that runs.
    pub program: PathBuf,
    arguments: Vec<Argument>,
}

/// A flag with its value, or something that stands alone.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Argument {
    Codegen { name: String, value: Option<String> },
    Flag { name: String, value: String },
    Alone(String),
}

impl Invocation {
    /// The running process, if it is a rustc that makes code; else why there is no device pass.
    pub fn of_this_process() -> Result<Self, &'static str> {
        let program = env::current_exe().map_err(|_| "the running compiler has no path")?;
        if program.file_stem().is_none_or(|stem| stem != "rustc") {
            return Err(
                "it was not rustc that expanded the kernel, but a documentation, lint or editor tool",
            );
        }
        let invocation = Self::parse(program, expand_files(env::args().skip(1)));
        if !invocation.makes_code() {
            return Err("the crate was only checked (`cargo check`), not built");
        }
        if invocation.arguments.contains(&Argument::Alone("-".into())) {
            return Err("the source came from standard input, which cannot be read a second time");
        }
        Ok(invocation)
    }

    fn parse(program: PathBuf, arguments: impl Iterator<Item = String>) -> Self {
        let mut parsed = Vec::new();
        let mut arguments = arguments;
        while let Some(argument) = arguments.next() {
            parsed.push(parse_one(argument, &mut arguments));
        }
        Invocation {
            program,
            arguments: parsed,
        }
    }

    fn makes_code(&self) -> bool {
        let emitted: Vec<&str> = self
            .flags("--emit")
            .flat_map(|kinds| kinds.split(','))
            .collect();
        emitted.is_empty()
            || emitted
                .iter()
                .any(|kind| kind.starts_with("link") || kind.starts_with("obj"))
    }

    fn flags<'a>(&'a self, wanted: &'a str) -> impl Iterator<Item = &'a str> {
        self.arguments
            .iter()
            .filter_map(move |argument| match argument {
                Argument::Flag { name, value } if name == wanted => Some(value.as_str()),
                _ => None,
            })
    }

    fn codegen<'a>(&'a self, wanted: &'a str) -> impl Iterator<Item = &'a str> {
        self.arguments
            .iter()
            .filter_map(move |argument| match argument {
                Argument::Codegen { name, value } if name == wanted => {
                    Some(value.as_deref().unwrap_or("yes"))
                }
                _ => None,
            })
    }

    /// The triple that the crate is compiled for, if it was named.
    pub fn target(&self) -> Option<&str> {
        self.flags("--target").last()
    }

    /// The sysroot, if it was named.
    pub fn sysroot(&self) -> Option<&str> {
        self.flags("--sysroot").last()
    }

    /// The folder of the crate's output.
    pub fn output_folder(&self) -> PathBuf {
        let folder = self.flags("--out-dir").last();
        folder.map_or_else(env::temp_dir, PathBuf::from)
    }

    /// The files of the libraries that the crate names.
    pub fn libraries(&self) -> Vec<PathBuf> {
        let named = self
            .flags("--extern")
            .filter_map(|value| value.split_once('='));
        named.map(|(_, path)| PathBuf::from(path)).collect()
    }

    /// What decides how another source is compiled against the same libraries. A library crate is compiled with the
    /// metadata of others only, beside which their code is later.
    pub fn arguments_for_another_source(&self) -> Vec<String> {
        let kept = self.arguments.iter().filter(|argument| match argument {
            Argument::Codegen { name, .. } => !OF_ONE_CRATE.contains(&name.as_str()),
            Argument::Flag { name, .. } => OF_ANY_SOURCE.contains(&name.as_str()),
            Argument::Alone(_) => false,
        });
        let words = kept.flat_map(Argument::to_words);
        let whole = |word: String| match word.strip_suffix(".rmeta") {
            Some(path) if word.starts_with("--extern") => format!("{path}.rlib"),
            _ => word,
        };
        words.map(whole).collect()
    }

    /// The folders in which rustc looks for crates.
    pub fn library_folders(&self) -> Vec<PathBuf> {
        let folders = self
            .flags("-L")
            .filter_map(|value| match value.split_once('=') {
                None => Some(value),
                Some(("dependency" | "crate" | "all", folder)) => Some(folder),
                Some(_) => None,
            });
        folders.map(PathBuf::from).collect()
    }

    /// A folder of this process's own, beside the crate's other output.
    pub fn scratch(&self) -> PathBuf {
        let out = self.output_folder();
        let name = self.flags("--crate-name").last().unwrap_or("crate");
        out.join(format!("oxwarp-{name}-{}", process::id()))
    }

    /// The arguments of the device pass.
    ///
    /// Optimised MIR, but no LLVM pass. The profile's checks stay as they are: `opt-level` decides them where the
    /// profile does not name them. Backtrace-less panics, and no jump threading: it may copy a barrier into two
    /// branches, since MIR has no `convergent`. LLVM inlines, not MIR, so that the functions that the device compiler looks
    /// for are there.
    fn device_arguments(&self, bitcode: &Path) -> Vec<String> {
        let kept = self.arguments.iter().filter(|argument| match argument {
            Argument::Codegen { name, .. } => !HOST_CODEGEN.contains(&name.as_str()),
            Argument::Flag { name, .. } => !OUTPUT_FLAGS.contains(&name.as_str()),
            Argument::Alone(_) => true,
        });
        let mut arguments: Vec<String> = kept.flat_map(Argument::to_words).collect();
        // Checks of overflow follow these.
        let unoptimised = |level| level == "0";
        if self.codegen("opt-level").last().is_none_or(unoptimised)
            && self.codegen("debug-assertions").next().is_none()
        {
            arguments.push("-Cdebug-assertions=yes".into());
        }
        if self.arguments.contains(&Argument::Alone("--test".into())) {
            arguments.push("-Zpanic_abort_tests".into());
        }
        let own = "-Copt-level=3 -Cno-prepopulate-passes -Ccodegen-units=1 -Cpanic=abort \
                   -Cdebuginfo=line-directives-only -Zmir-enable-passes=-JumpThreading,-CheckAlignment,-CheckNull -Zinline-mir=no \
                   -Zub-checks=no --cap-lints=allow";
        arguments.extend(own.split_whitespace().map(String::from));
        arguments.push(format!("--emit=llvm-bc={}", bitcode.display()));
        arguments
    }

    /// Compiles the crate to bitcode.
    pub fn write_bitcode(&self, rustc: &Path, bitcode: &Path) -> Result<(), Error> {
        let output = Command::new(rustc)
            .args(self.device_arguments(bitcode))
            .env(INSIDE, "1")
            // The `-Z` options above exist on stable only with this.
            .env("RUSTC_BOOTSTRAP", "1")
            .stdin(Stdio::null())
            .output()
            .map_err(|cause| Error::Run {
                program: rustc.into(),
                cause,
            })?;
        if output.status.success() {
            Ok(())
        } else {
            Err(Error::Rustc(
                String::from_utf8_lossy(&output.stderr).into_owned(),
            ))
        }
    }
}

fn parse_one(argument: String, rest: &mut impl Iterator<Item = String>) -> Argument {
    let codegen = |text: &str| match text.split_once('=') {
        Some((name, value)) => Argument::Codegen {
            name: normal(name),
            value: Some(value.into()),
        },
        None => Argument::Codegen {
            name: normal(text),
            value: None,
        },
    };
    if argument == "-C" || argument == "--codegen" {
        codegen(&rest.next().unwrap_or_default())
    } else if let Some(text) = argument
        .strip_prefix("-C")
        .or(argument.strip_prefix("--codegen="))
    {
        codegen(text)
    } else if let Some((name, value)) = argument
        .split_once('=')
        .filter(|(name, _)| name.starts_with("--"))
    {
        Argument::Flag {
            name: name.into(),
            value: value.into(),
        }
    } else if argument.starts_with('-') && takes_value(&argument) {
        Argument::Flag {
            value: rest.next().unwrap_or_default(),
            name: argument,
        }
    } else {
        Argument::Alone(argument)
    }
}

fn normal(name: &str) -> String {
    name.replace('_', "-")
}

/// The flags of rustc whose value is a word of its own.
fn takes_value(flag: &str) -> bool {
    const WITH_VALUE: [&str; 26] = [
        "--allow",
        "--cap-lints",
        "--cfg",
        "--check-cfg",
        "--color",
        "--crate-name",
        "--crate-type",
        "--deny",
        "--diagnostic-width",
        "--edition",
        "--emit",
        "--error-format",
        "--extern",
        "--forbid",
        "--force-warn",
        "--json",
        "--out-dir",
        "--print",
        "--remap-path-prefix",
        "--sysroot",
        "--target",
        "--warn",
        "-L",
        "-l",
        "-o",
        "-Z",
    ];
    WITH_VALUE.contains(&flag) || ["-A", "-D", "-F", "-W"].contains(&flag)
}

impl Argument {
    fn to_words(&self) -> Vec<String> {
        match self {
            Argument::Codegen {
                name,
                value: Some(value),
            } => vec![format!("-C{name}={value}")],
            Argument::Codegen { name, value: None } => vec![format!("-C{name}")],
            Argument::Flag { name, value } if name.starts_with("--") => {
                vec![format!("{name}={value}")]
            }
            Argument::Flag { name, value } => vec![name.clone(), value.clone()],
            Argument::Alone(word) => vec![word.clone()],
        }
    }
}

/// Cargo writes long command lines to a file and passes `@file`.
fn expand_files(arguments: impl Iterator<Item = String>) -> impl Iterator<Item = String> {
    arguments.flat_map(|argument| {
        let lines = argument
            .strip_prefix('@')
            .and_then(|path| std::fs::read_to_string(path).ok());
        match lines {
            Some(text) => text.lines().map(String::from).collect(),
            None => vec![argument],
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn invocation(line: &str) -> Invocation {
        Invocation::parse("rustc".into(), line.split_whitespace().map(String::from))
    }

    #[test]
    fn keeps_what_decides_the_code_and_drops_what_decides_the_output() {
        let line = "--crate-name app --edition=2024 src/main.rs --error-format=json --json=artifacts --crate-type bin \
                    --emit=dep-info,metadata,link -C embed-bitcode=no -C debuginfo=2 --cfg feature=\"x\" -C \
                    metadata=1234 -C extra-filename=-9 --out-dir /t/deps -C incremental=/t/i -L dependency=/t/deps \
                    --extern oxwarp=/t/liboxwarp.rlib -Clinker=cc";
        let arguments = invocation(line)
            .device_arguments(Path::new("/t/crate.bc"))
            .join(" ");
        for kept in [
            "--crate-name=app",
            "--edition=2024",
            "src/main.rs",
            "--cfg=feature=\"x\"",
            "-Cmetadata=1234",
            "-L dependency=/t/deps",
            "--extern=oxwarp=/t/liboxwarp.rlib",
            "-Cdebug-assertions=yes",
            "--emit=llvm-bc=/t/crate.bc",
        ] {
            assert!(arguments.contains(kept), "{kept} is not in {arguments}");
        }
        for dropped in [
            "json",
            "dep-info",
            "--out-dir",
            "incremental",
            "linker",
            "debuginfo=2",
            "embed-bitcode",
        ] {
            assert!(!arguments.contains(dropped), "{dropped} is in {arguments}");
        }
    }

    #[test]
    fn another_source_gets_the_libraries_and_the_profile() {
        let line = "--crate-name app --edition=2024 src/main.rs --crate-type bin --emit=link --cfg feature=\"x\" -C opt-level=3 \
                    -C metadata=1234 -C extra-filename=-9 --out-dir /t/deps -C incremental=/t/i -L dependency=/t/deps \
                    --extern oxwarp=/t/liboxwarp.rmeta --extern other=/t/libother.rlib --test";
        let arguments = invocation(line).arguments_for_another_source().join(" ");
        assert_eq!(
            arguments,
            "--edition=2024 -Copt-level=3 -L dependency=/t/deps --extern=oxwarp=/t/liboxwarp.rlib \
             --extern=other=/t/libother.rlib"
        );
    }

    #[test]
    fn the_profile_decides_the_checks() {
        let release = invocation("a.rs -C opt-level=3")
            .device_arguments(Path::new("x"))
            .join(" ");
        assert!(!release.contains("overflow-checks"), "{release}");
        let checked = invocation("a.rs -C opt-level=3 -C overflow-checks=on")
            .device_arguments(Path::new("x"))
            .join(" ");
        assert!(
            checked.contains("-Coverflow-checks=on") && !checked.contains("debug-assertions"),
            "{checked}"
        );
        let unchecked = invocation("a.rs -C overflow-checks=off")
            .device_arguments(Path::new("x"))
            .join(" ");
        assert!(unchecked.contains("-Cdebug-assertions=yes"), "{unchecked}");
        // What Cargo gives where `profile.dev` has neither.
        let neither = invocation("a.rs -C debug-assertions=off")
            .device_arguments(Path::new("x"))
            .join(" ");
        assert!(!neither.contains("=yes"), "{neither}");
    }

    #[test]
    fn only_code_wants_a_device_pass() {
        assert!(invocation("a.rs --emit=dep-info,metadata,link").makes_code());
        assert!(invocation("a.rs").makes_code());
        assert!(!invocation("a.rs --emit=dep-info,metadata").makes_code());
        assert!(!invocation("a.rs --emit metadata").makes_code());
    }
}
