//! What `ptxas` makes of the Rust kernels: registers and spills, without a GPU; and the committed table of them.
//!
//! `code.md` is that table. `tests/cuda_c_code.rs` compares it, so that a change of the compiler that costs a
//! kernel instructions, registers or checks is seen in review.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::path::PathBuf;
use std::process::Command;
use std::{env, fs};

use crate::cases::{Entry, Outcome};
use crate::code::{self, Code};

/// The architecture that the table is for.
const ARCHITECTURE: u32 = 90;

/// What `ptxas -v` says of a kernel.
#[derive(Clone, Copy, Debug, Default)]
struct Assembled {
    registers: u32,
    spill_bytes: u32,
}

/// The table of some cases, in Markdown.
pub fn table(entries: &[&Entry]) -> Outcome<String> {
    let ptx = code::image(ARCHITECTURE).ok_or("there is no PTX for the architecture")?;
    let assembled = assemble(ptx.to_bytes())?;
    let mut table = format!(
        "PTX of the benchmark's kernels in Rust: instructions, checks left in loops and in the slow copies of loops; and what\n\
         `ptxas` for sm_{ARCHITECTURE} gives: registers, bytes of spills. `OXWARP_BLESS=1 cargo test --test cuda_c_code` writes this file.\n\n\
         | case | kernel | instructions | checks in loops | in slow copies | registers | spills |\n\
         | --- | --- | --- | --- | --- | --- | --- |\n"
    );
    for entry in entries {
        for kernel in entry.kernels {
            let missing = || format!("`{kernel}` has no device code");
            let symbol = code::symbol(kernel).ok_or_else(missing)?.to_str()?;
            let code = Code::of(code::text(kernel).ok_or_else(missing)?, &code::panics());
            let assembled = assembled.get(symbol).ok_or_else(missing)?;
            let _ = writeln!(
                table,
                "| {} | {kernel} | {} | {} | {} | {} | {} |",
                entry.name,
                code.instructions,
                code.checks_in_loops,
                code.checks_in_slow_copies,
                assembled.registers,
                assembled.spill_bytes
            );
        }
    }
    Ok(table)
}

/// The kernels beside their twins, as NVRTC and the same `ptxas` make them: instructions and registers.
pub fn comparison(entries: &[&Entry]) -> Outcome<String> {
    let ptx = code::image(ARCHITECTURE).ok_or("there is no PTX for the architecture")?;
    let rust = assemble(ptx.to_bytes())?;
    let mut table = "| kernel | instructions Rust | C | registers Rust | C | spills Rust | C |\n\
                     | --- | --- | --- | --- | --- | --- | --- |\n"
        .to_owned();
    for entry in entries {
        let compiled = entry.source.compile(&format!("sm_{ARCHITECTURE}"))?;
        let c = assemble(compiled.ptx.as_bytes())?;
        for kernel in entry.kernels {
            let missing = || format!("`{kernel}` was not assembled");
            let text = code::text(kernel).ok_or_else(missing)?;
            let of_rust = Code::of(text, &code::panics()).instructions;
            let of_c =
                Code::of(code::twin_text(&compiled.ptx, kernel), &BTreeSet::new()).instructions;
            let symbol = code::symbol(kernel).ok_or_else(missing)?.to_str()?;
            let (rust, c) = (
                rust.get(symbol).ok_or_else(missing)?,
                c.get(*kernel).ok_or_else(missing)?,
            );
            let _ = writeln!(
                table,
                "| {kernel} | {of_rust} | {of_c} | {} | {} | {} | {} |",
                rust.registers, c.registers, rust.spill_bytes, c.spill_bytes
            );
        }
    }
    Ok(table)
}

/// All kernels of a PTX text by their symbols.
fn assemble(ptx: &[u8]) -> Outcome<BTreeMap<String, Assembled>> {
    let ptxas = find_ptxas().ok_or("there is no ptxas: run scripts/install-ptxas.sh")?;
    let file = env::temp_dir().join(format!("oxwarp-cuda_c-{}.ptx", std::process::id()));
    fs::write(&file, ptx)?;
    let output = Command::new(ptxas)
        .args(["-v", "-o", "/dev/null", "-arch"])
        .arg(format!("sm_{ARCHITECTURE}"))
        .arg(&file)
        .output();
    fs::remove_file(&file)?;
    let output = output?;
    let said = String::from_utf8_lossy(&output.stderr) + String::from_utf8_lossy(&output.stdout);
    if !output.status.success() {
        return Err(said.into());
    }
    Ok(parse(&said))
}

fn parse(said: &str) -> BTreeMap<String, Assembled> {
    let mut kernels: BTreeMap<String, Assembled> = BTreeMap::new();
    let mut kernel = String::new();
    for line in said.lines() {
        if let Some(name) = line.split("Compiling entry function '").nth(1) {
            kernel = name.split('\'').next().unwrap_or_default().to_owned();
        }
        let number_before = |what: &str| -> Option<u32> {
            line.split(what)
                .next()
                .filter(|before| before.len() < line.len())?
                .split_whitespace()
                .last()?
                .parse()
                .ok()
        };
        let entry = kernels.entry(kernel.clone()).or_default();
        if let Some(bytes) = number_before(" bytes spill stores") {
            entry.spill_bytes = bytes + number_before(" bytes spill loads").unwrap_or(0);
        }
        if let Some(registers) = number_before(" registers") {
            entry.registers = registers;
        }
    }
    kernels
}

fn find_ptxas() -> Option<PathBuf> {
    let toolkits = ["CUDA_HOME", "CUDA_PATH"]
        .into_iter()
        .filter_map(env::var_os);
    let path = env::var_os("PATH").unwrap_or_default();
    // The pinned one first: another version gives other registers.
    let folders = [concat!(env!("CARGO_MANIFEST_DIR"), "/../../tools").into()]
        .into_iter()
        .chain(toolkits.map(|home| PathBuf::from(home).join("bin")))
        .chain(env::split_paths(&path));
    let mut programs = folders.map(|folder: PathBuf| folder.join("ptxas"));
    programs.find(|program| program.is_file())
}
