//! Differential fuzzing of kernels: random programs run on the host and on a device, and must give the same.
//!
//! ```sh
//! cargo run -p fuzz -- --seed 1 --count 100              # on the device of OXWARP_DEVICE
//! cargo run -p fuzz -- --seed 1 --seconds 600            # so long
//! cargo run -p fuzz -- --seed 1 --count 10000 --build carry/fuzz   # only builds, for a machine with a GPU
//! ```
//!
//! Without a GPU the device's code is assembled, if `ptxas` is found.
//!
//! A program is a function of four integers. The same source is compiled for the host and for the device, and called with
//! the same 64 inputs; where the host panics, the device must panic with the same message at the same place. Programs that
//! differ are reduced, and saved in `target/fuzz/differences`.

mod generate;
mod project;
mod random;
mod reduce;
mod tree;
mod types;

use std::error::Error;
use std::fs;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use generate::Generator;
use project::Numbered;

/// Programs of one crate.
const A_CRATE: u64 = 125;

/// What the command line asks for.
struct Options {
    seed: u64,
    count: u64,
    seconds: Option<u64>,
    build: Option<PathBuf>,
}

impl Options {
    fn read(mut arguments: impl Iterator<Item = String>) -> Result<Self, Box<dyn Error>> {
        let mut options = Self {
            seed: 1,
            count: A_CRATE,
            seconds: None,
            build: None,
        };
        while let Some(argument) = arguments.next() {
            let value = arguments
                .next()
                .ok_or_else(|| format!("{argument} wants a value"))?;
            match argument.as_str() {
                "--seed" => options.seed = value.parse()?,
                "--count" => options.count = value.parse()?,
                "--seconds" => options.seconds = Some(value.parse()?),
                "--build" => options.build = Some(value.into()),
                _ => {
                    return Err(
                        format!("{argument} is not --seed, --count, --seconds or --build").into(),
                    );
                }
            }
        }
        Ok(options)
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    let options = Options::read(std::env::args().skip(1))?;
    let begin = Instant::now();
    let limit = options.seconds.map(Duration::from_secs);
    let mut found = 0;
    let mut first = options.seed * 1_000_000;
    let end = if limit.is_some() {
        u64::MAX
    } else {
        first + options.count
    };
    while first < end && limit.is_none_or(|limit| begin.elapsed() < limit) {
        let programs: Vec<Numbered> = (first..end.min(first + A_CRATE))
            .map(|number| (number, Generator::new(number).program()))
            .collect();
        // Every other crate panics when arithmetic overflows.
        let checks = first / A_CRATE % 2 == 1;
        let executable = project::build(&format!("fuzz_{first}"), &programs, checks)?;
        match &options.build {
            Some(folder) => {
                fs::create_dir_all(folder)?;
                fs::copy(&executable, folder.join(format!("fuzz_{first}")))?;
            }
            None => found += compare(&programs, &executable, checks)?,
        }
        first += A_CRATE;
    }
    match found {
        0 => Ok(()),
        _ => Err(format!("{found} programs differ; see {}", differences().display()).into()),
    }
}

fn differences() -> PathBuf {
    project::folder().join("differences")
}

/// Runs a crate, reduces the programs that differ and saves them; how many there are.
fn compare(
    programs: &[Numbered],
    executable: &std::path::Path,
    checks: bool,
) -> Result<usize, Box<dyn Error>> {
    let (different, done) = project::run(executable)?;
    println!("{done}");
    if done.contains("simulator") {
        // The simulator runs the host's code: of the device's there is only to see whether it assembles.
        println!("{} kernels assembled", project::assemble(executable)?);
    }
    for (number, what) in &different {
        println!("program {number}: {what}");
        let Some((_, program)) = programs.iter().find(|(other, _)| other == number) else {
            continue;
        };
        let reduced = reduced((*number, program.clone()), checks)?;
        fs::create_dir_all(differences())?;
        let file = differences().join(format!("{number}.rs"));
        fs::write(&file, format!("// {what}\n{}", reduced.1))?;
        println!("reduced to {}", file.display());
    }
    Ok(different.len())
}

/// The smallest program that still differs, of those that steps lead to: each step builds all smaller programs as one
/// crate.
fn reduced(mut program: Numbered, checks: bool) -> Result<Numbered, Box<dyn Error>> {
    for _ in 0..30 {
        let mut candidates: Vec<Numbered> = reduce::smaller(&program.1)
            .into_iter()
            .filter(|smaller| smaller.to_string().len() < program.1.to_string().len())
            .enumerate()
            .map(|(step, smaller)| (program.0 + step as u64 * 1_000_000_000, smaller))
            .collect();
        candidates.truncate(A_CRATE as usize);
        if candidates.is_empty() {
            break;
        }
        let executable = project::build("fuzz_reduction", &candidates, checks)?;
        let (different, _) = project::run(&executable)?;
        let smallest = candidates
            .into_iter()
            .filter(|(number, _)| different.iter().any(|(other, _)| other == number))
            .min_by_key(|(_, program)| program.to_string().len());
        match smallest {
            Some((_, smaller)) => program.1 = smaller,
            None => break,
        }
    }
    Ok(program)
}
