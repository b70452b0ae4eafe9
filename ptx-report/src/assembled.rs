//! What `ptxas` makes of PTX: registers, stack, spills, shared and constant memory of each kernel.
//!
//! In: PTX and an architecture; or the log that the driver's own copy of `ptxas` wrote. Out: an [`Assembled`] a kernel.

use std::collections::BTreeMap;
use std::fmt;
use std::process::Command;
use std::sync::Arc;

use crate::table::bytes;
use crate::tools::{Scratch, ToolError, find, said};

/// What the assembler made of a kernel.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Assembled {
    /// Registers of a thread, of 32 bits.
    pub registers: u32,
    /// Bytes of a thread's stack: spills, and arrays that are not in registers.
    pub stack_bytes: u32,
    /// Bytes that are stored because registers were too few, summed over the instructions that do.
    pub spill_store_bytes: u32,
    /// Bytes that are loaded again.
    pub spill_load_bytes: u32,
    /// Bytes of static shared memory of a block.
    pub shared_bytes: u32,
    /// The machine code, where it was assembled here.
    pub cubin: Arc<[u8]>,
}

impl Assembled {
    /// Whether registers were too few, so that values are kept in memory.
    pub fn spills(&self) -> bool {
        self.spill_store_bytes + self.spill_load_bytes > 0
    }
}

impl fmt::Display for Assembled {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            registers,
            stack_bytes,
            spill_store_bytes,
            spill_load_bytes,
            shared_bytes,
            ..
        } = self;
        write!(f, "{registers} registers, ")?;
        if self.spills() {
            write!(
                f,
                "SPILLS: {} stored, {} loaded",
                bytes((*spill_store_bytes).into()),
                bytes((*spill_load_bytes).into())
            )?;
        } else {
            f.write_str("no spills")?;
        }
        write!(
            f,
            ", stack {}, static shared {}",
            bytes((*stack_bytes).into()),
            bytes((*shared_bytes).into())
        )
    }
}

/// All kernels of a PTX text, by their symbols, for `sm_90` if `architecture` is 90.
///
/// # Errors
///
/// If `ptxas` is nowhere (the error says where it was looked for), or refuses the PTX.
pub fn assemble(ptx: &str, architecture: u32) -> Result<BTreeMap<String, Assembled>, ToolError> {
    let scratch = Scratch::new()?;
    let (input, output) = (scratch.file("kernel.ptx"), scratch.file("kernel.cubin"));
    std::fs::write(&input, ptx)?;
    let mut command = Command::new(find("ptxas")?);
    command
        .args(["-v", "-lineinfo"])
        .arg(format!("-arch=sm_{architecture}"))
        .arg("-o")
        .arg(&output)
        .arg(&input);
    let log = said(&mut command)?;
    let cubin: Arc<[u8]> = std::fs::read(&output)?.into();
    let mut kernels = parse_log(&log);
    for kernel in kernels.values_mut() {
        kernel.cubin = Arc::clone(&cubin);
    }
    Ok(kernels)
}

/// The kernels that a log of `ptxas -v` speaks of, by their symbols.
pub fn parse_log(log: &str) -> BTreeMap<String, Assembled> {
    let mut kernels: BTreeMap<String, Assembled> = BTreeMap::new();
    let mut current: Option<String> = None;
    let mut properties_of = String::new();
    for line in log.lines() {
        if let Some(name) = line.split("Compiling entry function '").nth(1) {
            let name = name.split('\'').next().unwrap_or_default();
            kernels.entry(name.into()).or_default();
            current = Some(name.into());
        }
        if let Some(name) = line.split("Function properties for ").nth(1) {
            properties_of = name.trim().trim_matches('\'').into();
        }
        let Some(kernel) = current.as_ref().and_then(|name| kernels.get_mut(name)) else {
            continue;
        };
        if let Some(stack) = before(line, " bytes stack frame") {
            // The functions that a kernel calls have lines of their own.
            if current.as_ref() == Some(&properties_of) {
                kernel.stack_bytes = stack;
            }
            kernel.spill_store_bytes += before(line, " bytes spill stores").unwrap_or(0);
            kernel.spill_load_bytes += before(line, " bytes spill loads").unwrap_or(0);
        }
        if let Some(registers) = before(line, " registers") {
            kernel.registers = registers;
            kernel.shared_bytes = before(line, " bytes smem").unwrap_or(0);
            // Newer versions write it here.
            kernel.stack_bytes = kernel
                .stack_bytes
                .max(before(line, " bytes cumulative stack size").unwrap_or(0));
        }
    }
    kernels
}

/// The number that stands before some words.
fn before(line: &str, words: &str) -> Option<u32> {
    line[..line.find(words)?]
        .split([' ', ','])
        .next_back()?
        .parse()
        .ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_log_of_ptxas_is_read() {
        let log = "ptxas info    : 0 bytes gmem
ptxas info    : Compiling entry function 'a_1' for 'sm_90'
ptxas info    : Function properties for a_1
    16 bytes stack frame, 20 bytes spill stores, 24 bytes spill loads
ptxas info    : Used 32 registers, used 1 barriers, 16 bytes cumulative stack size, 1024 bytes smem, 556 bytes cmem[0]
ptxas info    : Compile time = 28.651 ms
ptxas info    : Compiling entry function 'b_2' for 'sm_90'
ptxas info    : Function properties for b_2
    0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
ptxas info    : Used 8 registers, used 0 barriers
";
        let kernels = parse_log(log);
        assert_eq!(kernels.len(), 2);
        let a = &kernels["a_1"];
        let of_a = (
            a.registers,
            a.stack_bytes,
            a.spill_store_bytes,
            a.spill_load_bytes,
            a.shared_bytes,
        );
        assert_eq!(of_a, (32, 16, 20, 24, 1024));
        assert!(
            a.spills()
                && a.to_string()
                    .contains("SPILLS: 20 bytes stored, 24 bytes loaded"),
            "{a}"
        );
        assert_eq!(
            kernels["b_2"],
            Assembled {
                registers: 8,
                ..Assembled::default()
            }
        );
    }
}
