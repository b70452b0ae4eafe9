//! Kernels in safe, bounds-checked Rust against the same kernels in CUDA C, on one GPU, in one process, one after the other.
//!
//! ```sh
//! cargo bench --bench cuda_c                     # all cases
//! cargo bench --bench cuda_c -- dot matmul       # those whose names have one of the words
//! cargo bench --bench cuda_c -- --quick          # fewer rounds
//! cargo bench --bench cuda_c -- --out folder     # also writes cuda_c.json, cuda_c.md and cuda_c.svg there
//! ```
//!
//! The CUDA C side (`cases/*.cu`, in this program as text) is compiled at run time by NVRTC for the device's own `sm`.
//! Each run checks the results of both sides against a reference on the CPU; then events time them in turn on one
//! stream (Rust, Rust without checks, C, Rust...), and the medians of 11 rounds count. Arrays are larger than the L2 cache where a case reads
//! global memory once.
//!
//! Without a GPU, to look at the code:
//!
//! ```sh
//! cargo bench --bench cuda_c -- --ptx matmul_tiled        # the PTX of the Rust kernel and of its twin
//! cargo bench --bench cuda_c -- --dump folder dot         # writes rust.ptx, KERNEL.rust.ptx, FILE.c.ptx, FILE.c.cubin
//! cargo bench --bench cuda_c -- --code                    # instructions, registers, spills, checks left in loops
//! cargo bench --bench cuda_c -- --compare                 # instructions, registers and spills of both sides
//! ```
//!
//! `--code` is what `code.md` holds and `tests/cuda_c_code.rs` compares.

mod assembled;
// What only the tests use is not used here.
#[allow(dead_code)]
mod cases;
mod ceiling;
mod chart;
mod code;
mod driver;
mod measure;
mod report;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use oxwarp::Gpu;
use ptx_report::Module;

use cases::{ALL, Entry, Outcome};
use ceiling::Ceilings;
use driver::{Driver, Twins};
use measure::{Bench, Effort};
use report::Report;

/// What the command line asks for.
#[derive(Default)]
struct Options {
    quick: bool,
    ptx: bool,
    code: bool,
    compare: bool,
    dump: Option<PathBuf>,
    out: Option<PathBuf>,
    words: Vec<String>,
}

impl Options {
    fn parse(arguments: impl Iterator<Item = String>) -> Outcome<Self> {
        let mut options = Options::default();
        let mut arguments = arguments;
        while let Some(argument) = arguments.next() {
            let mut folder = || arguments.next().ok_or(format!("{argument} needs a folder"));
            match argument.as_str() {
                // Cargo says this to every benchmark.
                "--bench" => {}
                "--quick" => options.quick = true,
                "--ptx" => options.ptx = true,
                "--code" => options.code = true,
                "--compare" => options.compare = true,
                "--dump" => options.dump = Some(folder()?.into()),
                "--out" => options.out = Some(folder()?.into()),
                word if word.starts_with('-') => {
                    return Err(format!("unknown option {word}").into());
                }
                word => options.words.push(word.to_owned()),
            }
        }
        Ok(options)
    }

    /// The cases whose names have one of the words; without words all.
    fn entries(&self) -> Outcome<Vec<&'static Entry>> {
        let wanted = |entry: &&Entry| {
            self.words.is_empty()
                || self
                    .words
                    .iter()
                    .any(|word| entry.name.contains(word.as_str()))
        };
        let entries: Vec<&Entry> = ALL.iter().filter(wanted).collect();
        if entries.is_empty() {
            let names: Vec<&str> = ALL.iter().map(|entry| entry.name).collect();
            return Err(format!("no case has that name; there are {}", names.join(", ")).into());
        }
        Ok(entries)
    }
}

fn main() -> ExitCode {
    match Options::parse(std::env::args().skip(1)).and_then(|options| run(&options)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("cuda_c: {error}");
            ExitCode::FAILURE
        }
    }
}

fn run(options: &Options) -> Outcome<()> {
    let entries = options.entries()?;
    if options.code {
        print!("{}", assembled::table(&entries)?);
        return Ok(());
    }
    if options.compare {
        print!("{}", assembled::comparison(&entries)?);
        return Ok(());
    }
    if let Some(folder) = &options.dump {
        return dump(&entries, folder);
    }
    if options.ptx {
        return print_ptx(&entries);
    }
    let gpu = match Gpu::cuda(0) {
        Ok(gpu) => gpu,
        Err(error) => {
            println!("cuda_c: no CUDA device, nothing measured: {error}");
            return Ok(());
        }
    };
    let report = measure(
        &gpu,
        &entries,
        if options.quick {
            Effort::QUICK
        } else {
            Effort::FULL
        },
    )?;
    println!("\n{}", report.summary());
    if let Some(folder) = &options.out {
        fs::create_dir_all(folder)?;
        fs::write(folder.join("cuda_c.md"), report.markdown())?;
        fs::write(
            folder.join("cuda_c.json"),
            serde_json::to_string_pretty(&report.json())? + "\n",
        )?;
        fs::write(folder.join("cuda_c.svg"), chart::svg(&report))?;
    }
    Ok(())
}

fn measure(gpu: &Gpu, entries: &[&'static Entry], effort: Effort) -> Outcome<Report> {
    let capability = gpu.compute_capability().ok_or("not a CUDA device")?;
    let driver = Driver::of(gpu)?;
    let mut twins = Twins::new(&driver, capability);
    let ptx = code::image(capability.0 * 10 + capability.1).ok_or("no PTX for this device")?;
    let rust = driver.load(ptx.to_bytes_with_nul())?;
    let ceilings = Ceilings::measure(gpu, &driver, &mut twins)?;
    let mut report = Report {
        device: gpu.name().to_owned(),
        target: code::target(capability.0 * 10 + capability.1),
        nvrtc: cuda_loader::nvrtc()?.version()?,
        ceilings,
        rows: Vec::new(),
    };
    println!("{}\n\n{}", report.caption(), report::head().trim_end());
    let mut bench = Bench {
        gpu,
        driver: &driver,
        twins,
        rust,
        ceilings,
        effort,
    };
    let mut failed = Vec::new();
    for entry in entries {
        match bench.run(entry) {
            Ok(row) => {
                print!("{}", report::line(&row));
                report.rows.push(row);
            }
            Err(error) => {
                println!("| {} | {error}", entry.name);
                failed.push(entry.name);
            }
        }
    }
    if failed.is_empty() {
        Ok(report)
    } else {
        Err(format!("failed: {}", failed.join(", ")).into())
    }
}

fn print_ptx(entries: &[&Entry]) -> Outcome<()> {
    for entry in entries {
        for kernel in entry.kernels {
            println!(
                "// {kernel} in Rust\n{}\n",
                code::text(kernel).ok_or("no PTX")?
            );
            match entry.source.compile("sm_90") {
                Ok(compiled) => println!(
                    "// {kernel} in CUDA C\n{}\n",
                    Module::parse(&compiled.ptx)
                        .kernel(kernel)
                        .unwrap_or_default()
                ),
                Err(error) => println!("// {kernel} in CUDA C: {error}\n"),
            }
        }
    }
    Ok(())
}

fn dump(entries: &[&Entry], folder: &Path) -> Outcome<()> {
    fs::create_dir_all(folder)?;
    let ptx = code::image(90).ok_or("no PTX for sm_90")?;
    fs::write(folder.join("rust.ptx"), ptx.to_bytes())?;
    for entry in entries {
        let name = entry.source.name.trim_end_matches(".cu");
        let compiled = entry.source.compile("sm_90")?;
        fs::write(folder.join(format!("{name}.c.ptx")), compiled.ptx)?;
        fs::write(folder.join(format!("{name}.c.cubin")), compiled.cubin)?;
        for kernel in entry.kernels {
            fs::write(
                folder.join(format!("{kernel}.rust.ptx")),
                code::text(kernel).ok_or("no PTX")?,
            )?;
        }
    }
    Ok(())
}
