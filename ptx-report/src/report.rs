//! One kernel's report: what its PTX does and what `ptxas` makes of it, in one value that prints as a table.

use std::fmt;

use crate::assembled::{Assembled, assemble};
use crate::code::Code;
use crate::module::Module;
use crate::multiprocessor::Multiprocessor;
use crate::occupancy::Occupancy;
use crate::tools::{ToolError, sass};

/// Threads of a block whose occupancy is printed, if the kernel allows so many.
const USUAL_BLOCK: u32 = 256;

/// What a kernel's machine code will do, as far as that is known without a GPU.
///
/// It prints as a table. What `nvcc -Xptxas -v`, `cuobjdump` and Numba's `inspect_asm` tell, in one.
#[derive(Clone, Debug)]
pub struct KernelReport {
    symbol: String,
    source: Option<(String, u32)>,
    target: u32,
    architecture: u32,
    ptx: String,
    code: Code,
    assembled: Result<Assembled, ToolError>,
}

impl KernelReport {
    /// The report of a kernel of a module, for the GPU of a compute capability (90 for 9.0), or without one for the GPU
    /// that the PTX is for. `None` if the module does not have the kernel. That there is no `ptxas` is part of the report.
    ///
    /// ```
    /// use ptx_report::{KernelReport, Module};
    ///
    /// let ptx = ".version 7.0\n.target sm_80\n.address_size 64\n.visible .entry add()\n{\n\tret;\n}\n";
    /// let report = KernelReport::of(&Module::parse(ptx), "add", Some(90)).unwrap();
    /// assert!(report.to_string().starts_with("kernel `add`, PTX for sm_80"));
    /// match report.assembled() {
    ///     Ok(assembled) => println!("{} registers", assembled.registers),
    ///     Err(error) => println!("{error}"), // where ptxas was looked for
    /// }
    /// ```
    pub fn of(module: &Module, symbol: &str, compute_capability: Option<u32>) -> Option<Self> {
        let ptx = module.kernel(symbol)?.to_owned();
        let target = module.target().unwrap_or_default();
        let architecture = compute_capability.unwrap_or(target);
        let assembled = assemble(&module.alone(symbol), architecture);
        Some(Self {
            symbol: symbol.to_owned(),
            source: None,
            target,
            architecture,
            ptx,
            code: Code::of(module, symbol)?,
            assembled: assembled.map(|mut kernels| kernels.remove(symbol).unwrap_or_default()),
        })
    }

    /// The same report, which says where the kernel is in the source.
    pub fn with_source(mut self, file: &str, line: u32) -> Self {
        self.source = Some((file.to_owned(), line));
        self
    }

    /// The kernel's name.
    pub fn name(&self) -> &str {
        kernel_name(&self.symbol)
    }

    /// Its name in the PTX: that of this instance alone.
    pub fn symbol(&self) -> &str {
        &self.symbol
    }

    /// What the PTX was compiled for: 75 for `sm_75`.
    pub fn target(&self) -> u32 {
        self.target
    }

    /// The GPU whose machine code this speaks of: 90 for `sm_90`.
    pub fn architecture(&self) -> u32 {
        self.architecture
    }

    /// The kernel's PTX. Numba: `inspect_asm`.
    pub fn ptx(&self) -> &str {
        &self.ptx
    }

    /// Loads, stores, `fma`s, calls, barriers, and the checks that are left, with their lines in the source.
    pub fn code(&self) -> &Code {
        &self.code
    }

    /// Registers, stack and spills of the machine code. CuPy: `num_regs`, `local_size_bytes`; here without a GPU.
    ///
    /// # Errors
    ///
    /// If there is no `ptxas`, which is in CUDA toolkits and in the Python package nvidia-cuda-nvcc, or it failed.
    pub fn assembled(&self) -> Result<&Assembled, ToolError> {
        self.assembled.as_ref().map_err(Clone::clone)
    }

    /// The machine code as text, with the lines of the source that it comes from. Numba: `inspect_sass`.
    ///
    /// # Errors
    ///
    /// If there is no `ptxas` or no `nvdisasm`, or one failed.
    pub fn sass(&self) -> Result<String, ToolError> {
        sass(&self.assembled()?.cubin, &self.symbol)
    }

    /// How many blocks of so many threads, with so many bytes of dynamic shared memory each, run on a multiprocessor at
    /// once: by arithmetic. `None` for a GPU whose numbers are not known here.
    ///
    /// # Errors
    ///
    /// If there is no `ptxas`: nothing else knows the registers.
    pub fn occupancy(&self, block: u32, shared_bytes: u32) -> Result<Option<Occupancy>, ToolError> {
        let assembled = self.assembled()?;
        let shared_bytes = assembled.shared_bytes + shared_bytes;
        let multiprocessor = Multiprocessor::of(self.architecture);
        Ok(multiprocessor.map(|multiprocessor| {
            Occupancy::of(&multiprocessor, block, assembled.registers, shared_bytes)
        }))
    }

    /// The most threads of a block that the kernel is compiled for, if its PTX says so: `.maxntid 256`,
    /// `.reqntid 16, 16, 1`.
    fn bound(&self) -> Option<u32> {
        let head = self.ptx.split('{').next()?;
        let directives = [".reqntid", ".maxntid"];
        let (_, extents) = directives
            .iter()
            .find_map(|directive| head.split_once(directive))?;
        let extents = extents.lines().next()?.split(',');
        extents
            .map(|extent| extent.trim().parse::<u32>().ok())
            .product()
    }
}

/// The kernel's name in its symbol, which has the 32 digits of the instance after it.
pub fn kernel_name(symbol: &str) -> &str {
    let instance = symbol.rsplit_once('_').filter(|(_, id)| id.len() == 32);
    instance.map_or(symbol, |(name, _)| name)
}

impl fmt::Display for KernelReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "kernel `{}`", self.name())?;
        if let Some((file, line)) = &self.source {
            write!(f, " at {file}:{line}")?;
        }
        writeln!(f, ", PTX for sm_{}", self.target)?;
        self.code.fmt(f)?;
        let head = format!("ptxas sm_{}", self.architecture);
        match &self.assembled {
            Ok(assembled) => writeln!(f, "  {head:<16}{assembled}")?,
            Err(error) => {
                writeln!(
                    f,
                    "  {head:<16}registers, spills and occupancy are unknown: {error}"
                )?;
            }
        }
        let block = self
            .bound()
            .map_or(USUAL_BLOCK, |bound| bound.min(USUAL_BLOCK));
        if let Ok(Some(occupancy)) = self.occupancy(block, 0) {
            writeln!(f, "  {:<16}{occupancy}", "occupancy")?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_symbol_has_the_name_of_its_kernel() {
        assert_eq!(
            kernel_name("row_sums_0123456789abcdef0123456789abcdef"),
            "row_sums"
        );
        assert_eq!(kernel_name("row_sums"), "row_sums");
    }

    #[test]
    fn the_bound_of_a_kernel_is_read() {
        let bound = |directive: &str| {
            let ptx = format!(".target sm_80\n.visible .entry a()\n{directive}\n{{\n\tret;\n}}\n");
            KernelReport::of(&Module::parse(&ptx), "a", None)
                .unwrap()
                .bound()
        };
        assert_eq!(bound(".maxntid 96"), Some(96));
        assert_eq!(bound(".reqntid 16, 8, 1"), Some(128));
        assert_eq!(bound(""), None);
    }
}
