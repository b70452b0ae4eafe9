//! A kernel explained without a GPU: what its PTX does, and what `ptxas` makes of it.
//!
//! In: a kernel instance and the device code in this program. Out: a [`KernelReport`], which prints as a table. With
//! `OXWARP_EXPLAIN` set a program writes the reports of its kernels to standard error by itself.

use std::fmt;

use gpu_std::kernel::{KernelInstance, KernelRecord};
use ptx_report::{Assembled, Code, Module, Multiprocessor, Occupancy, ToolError, assemble};

use crate::config::FOR_EACH_BLOCK;
use crate::error::{Error, Result};
use crate::registry::{self, CompiledKernel, DeviceCode, Image};

/// The variable that names the kernels whose reports are written, `all` for all of them.
const EXPLAIN: &str = "OXWARP_EXPLAIN";
/// The variable that says for which GPU.
const EXPLAIN_TARGET: &str = "OXWARP_EXPLAIN_TARGET";

/// What a kernel's machine code will do, as far as that is known without a GPU: [`explain`](crate::Kernel::explain).
///
/// It prints as a table. Godbolt's, `nvcc -Xptxas -v` and Numba's `inspect_asm` in one.
#[derive(Debug)]
pub struct KernelReport {
    name: &'static str,
    source: Option<(&'static str, u32)>,
    symbol: &'static str,
    target: u32,
    architecture: u32,
    block: u32,
    ptx: &'static str,
    code: Code,
    assembled: std::result::Result<Assembled, ToolError>,
}

impl KernelReport {
    /// The kernel's name.
    pub fn name(&self) -> &'static str {
        self.name
    }

    /// Its name in the PTX: that of this instance alone.
    pub fn symbol(&self) -> &'static str {
        self.symbol
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
    pub fn ptx(&self) -> &'static str {
        self.ptx
    }

    /// Loads, stores, `fma`s, calls, barriers, and the checks that are left, with their lines in the source.
    pub fn code(&self) -> &Code {
        &self.code
    }

    /// Registers, stack and spills of the machine code. CuPy: `num_regs`, `local_size_bytes`; here without a GPU.
    ///
    /// # Errors
    ///
    /// [`Error::Tool`] if there is no `ptxas`, which is in CUDA toolkits and in the Python package nvidia-cuda-nvcc.
    pub fn assembled(&self) -> Result<&Assembled> {
        self.assembled
            .as_ref()
            .map_err(|error| error.clone().into())
    }

    /// The machine code as text. Numba: `inspect_sass`.
    ///
    /// # Errors
    ///
    /// [`Error::Tool`] if there is no `ptxas` or no `nvdisasm`.
    pub fn sass(&self) -> Result<String> {
        let cubin = &self.assembled()?.cubin;
        Ok(ptx_report::sass(cubin, self.symbol)?)
    }

    /// How many blocks of so many threads, with so many bytes of dynamic shared memory each, run on a multiprocessor at
    /// once: by arithmetic. `None` for a GPU whose numbers are not known here.
    ///
    /// # Errors
    ///
    /// [`Error::Tool`] if there is no `ptxas`: nothing else knows the registers.
    pub fn occupancy(&self, block: u32, shared_bytes: u32) -> Result<Option<Occupancy>> {
        let Assembled {
            registers,
            shared_bytes: of_arrays,
            ..
        } = *self.assembled()?;
        let multiprocessor = Multiprocessor::of(self.architecture);
        Ok(multiprocessor.map(|multiprocessor| {
            Occupancy::of(&multiprocessor, block, registers, of_arrays + shared_bytes)
        }))
    }
}

impl fmt::Display for KernelReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "kernel `{}`", self.name)?;
        if let Some((file, line)) = self.source {
            write!(f, " at {file}:{line}")?;
        }
        writeln!(f, ", PTX for sm_{}", self.target)?;
        self.code.fmt(f)?;
        let head = format!("ptxas sm_{}", self.architecture);
        match &self.assembled {
            Ok(assembled) => writeln!(f, "  {head:<16}{assembled}")?,
            Err(error) => writeln!(
                f,
                "  {head:<16}registers, spills and occupancy are unknown: {error}"
            )?,
        }
        if let Ok(Some(occupancy)) = self.occupancy(self.block, 0) {
            writeln!(f, "  {:<16}{occupancy}", "occupancy")?;
        }
        Ok(())
    }
}

/// The report of `K`: for the GPU of this compute capability, or for the newest that there is PTX for.
pub fn explain<K: KernelInstance>(architecture: Option<u32>) -> Result<KernelReport> {
    explain_record(K::RECORD, architecture)
}

/// [`explain`] without the type.
pub fn explain_record(
    record: &'static KernelRecord,
    architecture: Option<u32>,
) -> Result<KernelReport> {
    let Some(found) = registry::find(record) else {
        return Err(registry::missing(record));
    };
    let image = image(found.code, architecture)?;
    let mut report = report(
        &Module::parse(text(image)),
        image,
        found.kernel,
        architecture,
    );
    report.name = record.name;
    report.source = Some((record.file, record.line));
    Ok(report)
}

fn image(code: &'static DeviceCode, architecture: Option<u32>) -> Result<&'static Image> {
    let wanted = architecture.unwrap_or(u32::MAX);
    registry::best_image(code.images, wanted).ok_or_else(|| Error::NoImage {
        crate_name: code.crate_name,
        device: format!("sm_{wanted}"),
        compute_capability: (wanted / 10, wanted % 10),
        available: code.images.iter().map(|image| image.target).collect(),
    })
}

pub(crate) fn text(image: &'static Image) -> &'static str {
    // The compiler writes ASCII; of another text nothing is known.
    image.ptx.to_str().unwrap_or_default()
}

fn report(
    module: &Module<'static>,
    image: &'static Image,
    kernel: &'static CompiledKernel,
    architecture: Option<u32>,
) -> KernelReport {
    let symbol = kernel.symbol.to_str().unwrap_or_default();
    let architecture = architecture.unwrap_or(image.target);
    let ptx = module.kernel(symbol).unwrap_or_default();
    let usual = FOR_EACH_BLOCK as u32;
    let assembled = assemble(&module.alone(symbol), architecture)
        .map(|mut all| all.remove(symbol).unwrap_or_default());
    KernelReport {
        name: name_of(symbol),
        source: None,
        symbol,
        target: image.target,
        architecture,
        block: bound(ptx).map_or(usual, |bound| usual.min(bound)),
        ptx,
        code: Code::of(module, symbol).unwrap_or_default(),
        assembled,
    }
}

/// The most threads of a block that a kernel is compiled for, if its PTX says so: `.maxntid 256`, `.reqntid 16, 16, 1`.
fn bound(ptx: &str) -> Option<u32> {
    let head = ptx.split('{').next()?;
    let directives = [".reqntid", ".maxntid"];
    let (_, extents) = directives
        .iter()
        .find_map(|directive| head.split_once(directive))?;
    let extents = extents
        .lines()
        .next()?
        .split(',')
        .map(|extent| extent.trim().parse::<u32>());
    extents.map(|extent| extent.ok()).product()
}

/// A symbol is the kernel's name and the 32 digits of its instance.
fn name_of(symbol: &'static str) -> &'static str {
    symbol.rsplit_once('_').map_or(symbol, |(name, _)| name)
}

/// Writes the reports that `OXWARP_EXPLAIN` asks for; called once, when a program first asks for a kernel.
pub(crate) fn write_what_is_asked_for(codes: impl IntoIterator<Item = &'static DeviceCode>) {
    let Ok(names) = std::env::var(EXPLAIN) else {
        return;
    };
    let architecture = std::env::var(EXPLAIN_TARGET).ok();
    let architecture =
        architecture.and_then(|target| target.trim().trim_start_matches("sm_").parse().ok());
    for report in reports(codes, &names, architecture) {
        eprintln!("{report}");
    }
}

/// The reports of the kernels with these names, which commas separate, or of `all`; a line about each that is not there.
fn reports(
    codes: impl IntoIterator<Item = &'static DeviceCode>,
    names: &str,
    architecture: Option<u32>,
) -> Vec<String> {
    let names: Vec<&str> = names
        .split(',')
        .map(str::trim)
        .filter(|name| !name.is_empty())
        .collect();
    let is_wanted = |name: &str| {
        names
            .iter()
            .any(|&wanted| wanted == "all" || wanted == name)
    };
    let (mut reports, mut there) = (Vec::new(), Vec::new());
    for code in codes {
        let image = match image(code, architecture) {
            Ok(image) => image,
            Err(_) if code.images.is_empty() => continue,
            Err(error) => {
                reports.push(format!("{EXPLAIN_TARGET}: {error}"));
                continue;
            }
        };
        let module = Module::parse(text(image));
        for kernel in code.kernels {
            let name = name_of(kernel.symbol.to_str().unwrap_or_default());
            there.push(name);
            if is_wanted(name) {
                reports.push(report(&module, image, kernel, architecture).to_string());
            }
        }
    }
    for name in names
        .iter()
        .filter(|&&name| name != "all" && !there.contains(&name))
    {
        reports.push(format!(
            "{EXPLAIN}: there is no kernel `{name}`; there are {}",
            there.join(", ")
        ));
    }
    reports
}
