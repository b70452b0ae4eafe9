//! A kernel explained without a GPU: what its PTX does, and what `ptxas` makes of it.
//!
//! In: a kernel instance and the device code in this program. Out: a [`KernelReport`], which prints as a table. With
//! `OXWARP_EXPLAIN` set a program writes the reports of its kernels to standard error by itself.

use gpu_std::kernel::{KernelInstance, KernelRecord};
use ptx_report::{KernelReport, Module, kernel_name};

use crate::error::{Error, Result};
use crate::registry::{self, DeviceCode, Found, Image};

/// The variable that names the kernels whose reports are written, `all` for all of them.
const EXPLAIN: &str = "OXWARP_EXPLAIN";
/// The variable that says for which GPU.
const EXPLAIN_TARGET: &str = "OXWARP_EXPLAIN_TARGET";

/// The report of `K`: for the GPU of this compute capability, or for the newest that there is PTX for.
pub fn explain<K: KernelInstance>(compute_capability: Option<u32>) -> Result<KernelReport> {
    explain_record(K::RECORD, compute_capability)
}

/// [`explain`] without the type.
pub(crate) fn explain_record(
    record: &'static KernelRecord,
    compute_capability: Option<u32>,
) -> Result<KernelReport> {
    let found = registry::find(record).ok_or_else(|| registry::missing(record))?;
    let Found { code, kernel } = found;
    let image = image(code, compute_capability)?;
    let symbol = kernel.symbol.to_string_lossy();
    let report = KernelReport::of(&Module::parse(text(image)), &symbol, compute_capability);
    match report {
        Some(report) => Ok(report.with_source(record.file, record.line)),
        None => Err(Error::SymbolMissing {
            kernel: record.name,
            crate_name: code.crate_name,
            symbol: symbol.into_owned(),
        }),
    }
}

fn image(code: &'static DeviceCode, compute_capability: Option<u32>) -> Result<&'static Image> {
    let wanted = compute_capability.unwrap_or(u32::MAX);
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

/// Writes the reports that `OXWARP_EXPLAIN` asks for; called once, when a program first asks for a kernel.
pub(crate) fn write_what_is_asked_for(codes: impl IntoIterator<Item = &'static DeviceCode>) {
    let Ok(names) = std::env::var(EXPLAIN) else {
        return;
    };
    let target = std::env::var(EXPLAIN_TARGET).ok();
    let target = target.and_then(|target| target.trim().trim_start_matches("sm_").parse().ok());
    for report in reports(codes, &names, target) {
        eprintln!("{report}");
    }
}

/// The reports of the kernels with these names, which commas separate, or of `all`; a line about each that is not there.
fn reports(
    codes: impl IntoIterator<Item = &'static DeviceCode>,
    names: &str,
    compute_capability: Option<u32>,
) -> Vec<String> {
    let names = names.split(',').map(str::trim);
    let names: Vec<&str> = names.filter(|name| !name.is_empty()).collect();
    let (mut reports, mut there) = (Vec::new(), Vec::new());
    for code in codes.into_iter().filter(|code| !code.images.is_empty()) {
        let image = match image(code, compute_capability) {
            Ok(image) => image,
            Err(error) => {
                reports.push(format!("{EXPLAIN_TARGET}: {error}"));
                continue;
            }
        };
        let module = Module::parse(text(image));
        for symbol in module.kernels() {
            let name = kernel_name(symbol);
            there.push(name);
            if names.contains(&name) || names.contains(&"all") {
                let report = KernelReport::of(&module, symbol, compute_capability);
                reports.extend(report.map(|report| report.to_string()));
            }
        }
    }
    there.sort_unstable();
    there.dedup();
    let missing = names
        .iter()
        .filter(|&name| *name != "all" && !there.contains(name));
    reports.extend(missing.map(|name| {
        let there = there.join(", ");
        format!("{EXPLAIN}: there is no kernel `{name}`; there are {there}")
    }));
    reports
}

#[cfg(test)]
mod tests {
    use std::mem::offset_of;

    use gpu_std::runtime::PanicRecord;

    /// `ptx-report` reads the place of a panic from what is stored there.
    #[test]
    fn the_record_of_a_panic_is_laid_out_as_reports_read_it() {
        assert_eq!(offset_of!(PanicRecord, line), 8);
        assert_eq!(offset_of!(PanicRecord, column), 12);
        assert_eq!(offset_of!(PanicRecord, file), 40);
        assert_eq!(offset_of!(PanicRecord, message), 56);
    }
}
