//! The command's arguments: what is for it, and what is for `cargo build`.

use std::path::PathBuf;

/// What `--help` writes.
pub const USAGE: &str = "\
Usage: cargo oxwarp explain [KERNEL...] [OPTIONS] [CARGO'S OPTIONS]

Says what kernels do, without a GPU: loads and stores, checks that are left in loops with their lines in the source,
registers, spills and occupancy. Without names it speaks of all kernels of the program.

Options:
  --target sm_90      for this GPU; the default is the newest that there is PTX for
  --ptx               the kernel's PTX too
  --sass              its machine code too, by nvdisasm
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
pub struct Arguments {
    /// The names of kernels; all if there is none.
    pub kernels: Vec<String>,
    /// 90 for `sm_90`.
    pub target: Option<u32>,
    /// What is written.
    pub show: Show,
    /// The program to look into, if nothing is to be built.
    pub program: Option<PathBuf>,
    /// What `cargo build` gets.
    pub cargo: Vec<String>,
}

impl Arguments {
    /// Reads them; `None` if help is wanted.
    pub fn parse(arguments: impl Iterator<Item = String>) -> Result<Option<Self>, String> {
        // Cargo gives a subcommand its own name first.
        let mut arguments = arguments.skip_while(|argument| argument == "oxwarp");
        match arguments.next().as_deref() {
            Some("explain") => {}
            None | Some("help" | "--help" | "-h") => return Ok(None),
            Some(other) => return Err(format!("`{other}` is not a command: there is `explain`")),
        }
        let mut parsed = Arguments {
            kernels: Vec::new(),
            target: None,
            show: Show::Report,
            program: None,
            cargo: Vec::new(),
        };
        while let Some(argument) = arguments.next() {
            let mut value = || {
                arguments
                    .next()
                    .ok_or(format!("`{argument}` needs a value"))
            };
            match argument.as_str() {
                "--help" | "-h" => return Ok(None),
                "--ptx" => parsed.show = Show::Ptx,
                "--sass" => parsed.show = Show::Sass,
                "--target" => parsed.target = Some(target(&value()?)?),
                "--program" => parsed.program = Some(value()?.into()),
                option if WITH_VALUE.contains(&option) => {
                    let value = value()?;
                    parsed.cargo.extend([argument, value]);
                }
                option if option.starts_with('-') => parsed.cargo.push(argument),
                _ => parsed.kernels.push(argument),
            }
        }
        Ok(Some(parsed))
    }

    /// Whether a kernel's report is wanted.
    pub fn wants(&self, kernel: &str) -> bool {
        self.kernels.is_empty() || self.kernels.iter().any(|name| name == kernel)
    }
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

    fn parse(line: &str) -> Result<Option<Arguments>, String> {
        Arguments::parse(line.split_whitespace().map(str::to_owned))
    }

    #[test]
    fn what_is_not_the_commands_is_cargos() {
        let parsed =
            parse("oxwarp explain add --release --example dot scale --target sm_90 --sass")
                .unwrap()
                .unwrap();
        assert_eq!(parsed.kernels, ["add", "scale"]);
        assert_eq!(parsed.cargo, ["--release", "--example", "dot"]);
        assert_eq!((parsed.target, parsed.show), (Some(90), Show::Sass));
        assert!(parsed.wants("add") && !parsed.wants("dot"));
        assert!(parse("explain").unwrap().unwrap().wants("dot"));
    }

    #[test]
    fn what_is_wrong_is_said() {
        assert!(parse("").unwrap().is_none() && parse("explain --help").unwrap().is_none());
        assert!(parse("inspect").unwrap_err().contains("`inspect`"));
        assert!(
            parse("explain --target")
                .unwrap_err()
                .contains("needs a value")
        );
        assert!(
            parse("explain --target hopper")
                .unwrap_err()
                .contains("`--target hopper`")
        );
    }
}
