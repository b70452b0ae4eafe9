//! The command's arguments: which of its subcommands is asked for, what is for it, and what is for `cargo build`.

use std::path::PathBuf;

/// What `--help` writes.
pub const USAGE: &str = "\
Usage: cargo oxwarp new FOLDER [--oxwarp PATH]
       cargo oxwarp init [--oxwarp PATH]
       cargo oxwarp explain [KERNEL...] [OPTIONS] [CARGO'S OPTIONS]

new makes a project with a kernel, its launch and its test, which `cargo run` and `cargo test` run with and without a GPU.

init adds oxwarp to the project of the folder that it is called in.

  --oxwarp PATH       the folder of oxwarp; the default is the one from which this command was installed

explain says what kernels do, without a GPU: loads and stores, checks that are left in loops with their lines in the
source, registers, spills and occupancy. Without names it speaks of all kernels of the program.

  --target sm_90      for this GPU; the default is the newest that there is PTX for
  --ptx               the kernel's PTX too
  --sass              its machine code too, by nvdisasm
  --skip NAME,NAME    as it is without these optimisations (docs/optimisations.md), or without all
  --program FILE      looks into this program and builds nothing

All other options are for `cargo build`: --release, --bin NAME, --example NAME, -p PACKAGE...
";

/// Cargo's options that have a value of their own.
const WITH_VALUE: [&str; 17] = [
    "--bin",
    "--example",
    "--test",
    "--bench",
    "-p",
    "--package",
    "-F",
    "--features",
    "--profile",
    "--target-dir",
    "--config",
    "--manifest-path",
    "-j",
    "--jobs",
    "--color",
    "-Z",
    "--exclude",
];

/// What is written of a kernel beside its report.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Show {
    /// Nothing.
    Report,
    /// PTX.
    Ptx,
    /// Machine code.
    Sass,
}

/// What the command is to do.
#[derive(Debug)]
pub enum Command {
    /// Write how it is used.
    Help,
    /// `new`, with the folder, or `init`.
    Project(Project),
    /// `explain`.
    Explain(Explain),
}

impl Command {
    /// Reads the arguments of the program.
    pub fn parse(arguments: impl Iterator<Item = String>) -> Result<Self, String> {
        // Cargo gives a subcommand its own name first.
        let mut arguments = arguments.skip_while(|argument| argument == "oxwarp");
        let name = arguments.next();
        let rest: Vec<String> = arguments.collect();
        if rest
            .iter()
            .any(|argument| argument == "--help" || argument == "-h")
        {
            return Ok(Command::Help);
        }
        match name.as_deref() {
            None | Some("help" | "--help" | "-h") => Ok(Command::Help),
            Some("new") => Project::parse(rest, true).map(Command::Project),
            Some("init") => Project::parse(rest, false).map(Command::Project),
            Some("explain") => Explain::parse(rest).map(Command::Explain),
            Some(other) => Err(format!(
                "`{other}` is not a command: there are `new`, `init` and `explain`"
            )),
        }
    }
}

/// Which project is to be set up.
#[derive(Debug, PartialEq, Eq)]
pub struct Project {
    /// The folder of a new one; `None` for the one that is there.
    pub new: Option<PathBuf>,
    /// The folder of oxwarp, if it was given.
    pub oxwarp: Option<PathBuf>,
}

impl Project {
    fn parse(arguments: Vec<String>, new: bool) -> Result<Self, String> {
        let mut parsed = Project {
            new: None,
            oxwarp: None,
        };
        let mut arguments = arguments.into_iter();
        while let Some(argument) = arguments.next() {
            match argument.as_str() {
                "--oxwarp" => parsed.oxwarp = Some(value(&argument, &mut arguments)?.into()),
                folder if new && parsed.new.is_none() && !folder.starts_with('-') => {
                    parsed.new = Some(folder.into());
                }
                other => return Err(format!("`{other}` is one argument too many")),
            }
        }
        if new && parsed.new.is_none() {
            return Err("`new` needs the folder of the project: `cargo oxwarp new waves`".into());
        }
        Ok(parsed)
    }
}

/// Which kernels are to be explained, and how.
#[derive(Debug)]
pub struct Explain {
    /// The names of kernels; all if there is none.
    pub kernels: Vec<String>,
    /// 90 for `sm_90`.
    pub target: Option<u32>,
    /// What is written.
    pub show: Show,
    /// The optimisations that the program is built without.
    pub skip: Option<String>,
    /// The program to look into, if nothing is to be built.
    pub program: Option<PathBuf>,
    /// What `cargo build` gets.
    pub cargo: Vec<String>,
}

impl Explain {
    fn parse(arguments: Vec<String>) -> Result<Self, String> {
        let mut parsed = Explain {
            kernels: Vec::new(),
            target: None,
            show: Show::Report,
            skip: None,
            program: None,
            cargo: Vec::new(),
        };
        let mut arguments = arguments.into_iter();
        while let Some(argument) = arguments.next() {
            match argument.as_str() {
                "--ptx" => parsed.show = Show::Ptx,
                "--sass" => parsed.show = Show::Sass,
                "--target" => parsed.target = Some(target(&value(&argument, &mut arguments)?)?),
                "--skip" => parsed.skip = Some(value(&argument, &mut arguments)?),
                "--program" => parsed.program = Some(value(&argument, &mut arguments)?.into()),
                option if WITH_VALUE.contains(&option) => {
                    let value = value(option, &mut arguments)?;
                    parsed.cargo.extend([argument, value]);
                }
                option if option.starts_with('-') => parsed.cargo.push(argument),
                _ => parsed.kernels.push(argument),
            }
        }
        if parsed.skip.is_some() && parsed.program.is_some() {
            return Err("`--skip` is for what is built, and `--program` builds nothing".into());
        }
        Ok(parsed)
    }

    /// Whether a kernel's report is wanted.
    pub fn wants(&self, kernel: &str) -> bool {
        self.kernels.is_empty() || self.kernels.iter().any(|name| name == kernel)
    }
}

fn value(option: &str, rest: &mut impl Iterator<Item = String>) -> Result<String, String> {
    rest.next().ok_or(format!("`{option}` needs a value"))
}

fn target(given: &str) -> Result<u32, String> {
    let digits = given.strip_prefix("sm_").unwrap_or(given);
    digits
        .parse()
        .map_err(|_| format!("`--target {given}`: give a GPU as `sm_90`"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(line: &str) -> Result<Command, String> {
        Command::parse(line.split_whitespace().map(str::to_owned))
    }

    fn explain(line: &str) -> Explain {
        match parse(line).unwrap() {
            Command::Explain(explain) => explain,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn what_is_not_the_commands_is_cargos() {
        let parsed = explain(
            "oxwarp explain add --release --example dot scale --target sm_90 --sass --skip strides",
        );
        assert_eq!(parsed.kernels, ["add", "scale"]);
        assert_eq!(parsed.cargo, ["--release", "--example", "dot"]);
        assert_eq!((parsed.target, parsed.show), (Some(90), Show::Sass));
        assert_eq!(parsed.skip.as_deref(), Some("strides"));
        assert!(parsed.wants("add") && !parsed.wants("dot"));
        assert!(explain("explain").wants("dot"));
    }

    #[test]
    fn a_project_is_new_or_there() {
        let project = |line| match parse(line).unwrap() {
            Command::Project(project) => (project.new, project.oxwarp),
            other => panic!("{other:?}"),
        };
        assert_eq!(project("oxwarp new waves"), (Some("waves".into()), None));
        assert_eq!(project("init --oxwarp ../ox"), (None, Some("../ox".into())));
    }

    #[test]
    fn what_is_wrong_is_said() {
        for help in ["", "explain --help", "new -h", "help"] {
            assert!(matches!(parse(help), Ok(Command::Help)), "{help}");
        }
        for (line, said) in [
            ("inspect", "`inspect`"),
            ("explain --target", "`--target` needs a value"),
            ("explain --target hopper", "`--target hopper`"),
            ("explain --skip strides --program a", "`--program`"),
            ("new", "`new` needs the folder"),
            ("init waves", "`waves`"),
        ] {
            let error = parse(line).unwrap_err();
            assert!(error.contains(said), "{error}");
        }
    }
}
