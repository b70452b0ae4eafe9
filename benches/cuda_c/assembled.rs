//! What `ptxas` makes of the Rust kernels: registers and spills, without a GPU; and the committed table of them.
//!
//! `code.md` is that table. `tests/cuda_c_code.rs` compares it, so that a change of the compiler that costs a
//! kernel instructions, registers or checks is seen in review.

use std::fmt::Write;

use ptx_report::{Code, Module, Position, assemble};

use crate::cases::{Entry, Outcome};
use crate::code;

/// The architecture that the table is for.
const ARCHITECTURE: u32 = 90;

/// The table of some cases, in Markdown.
pub fn table(entries: &[&Entry]) -> Outcome<String> {
    let ptx = code::image(ARCHITECTURE).ok_or("there is no PTX for the architecture")?;
    let assembled = assemble(ptx.to_str()?, ARCHITECTURE)?;
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
            let code = code::of(kernel).ok_or_else(missing)?;
            let assembled = assembled.get(symbol).ok_or_else(missing)?;
            let _ = writeln!(
                table,
                "| {} | {kernel} | {} | {} | {} | {} | {} |",
                entry.name,
                code.instructions,
                code::checks(&code, Position::Loop),
                code::checks(&code, Position::SlowCopy),
                assembled.registers,
                assembled.spill_store_bytes + assembled.spill_load_bytes
            );
        }
    }
    Ok(table)
}

/// The kernels beside their twins, as NVRTC and the same `ptxas` make them: instructions and registers.
pub fn comparison(entries: &[&Entry]) -> Outcome<String> {
    let ptx = code::image(ARCHITECTURE).ok_or("there is no PTX for the architecture")?;
    let rust = assemble(ptx.to_str()?, ARCHITECTURE)?;
    let mut table = "| kernel | instructions Rust | C | registers Rust | C | spills Rust | C |\n\
                     | --- | --- | --- | --- | --- | --- | --- |\n"
        .to_owned();
    for entry in entries {
        let compiled = entry.source.compile(&format!("sm_{ARCHITECTURE}"))?;
        let c = assemble(&compiled.ptx, ARCHITECTURE)?;
        let twins = Module::parse(&compiled.ptx);
        for kernel in entry.kernels {
            let missing = || format!("`{kernel}` was not assembled");
            let of_rust = code::of(kernel).ok_or_else(missing)?.instructions;
            let of_c = Code::of(&twins, kernel).ok_or_else(missing)?.instructions;
            let symbol = code::symbol(kernel).ok_or_else(missing)?.to_str()?;
            let (rust, c) = (
                rust.get(symbol).ok_or_else(missing)?,
                c.get(*kernel).ok_or_else(missing)?,
            );
            let _ = writeln!(
                table,
                "| {kernel} | {of_rust} | {of_c} | {} | {} | {} | {} |",
                rust.registers,
                c.registers,
                rust.spill_store_bytes + rust.spill_load_bytes,
                c.spill_store_bytes + c.spill_load_bytes
            );
        }
    }
    Ok(table)
}
