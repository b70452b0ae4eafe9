//! `cargo oxwarp explain [KERNEL...]`: builds a program and says what its kernels do.
//!
//! In: names of kernels, and what `cargo build` is to build. Out: a report of each, as `explain()` gives in a program. The
//! program's PTX is found in its file, where it stands as text.

use ptx_report::{KernelReport, Module, kernel_name};

use crate::arguments::{Explain, Show};
use crate::{Outcome, build, embedded};

/// Writes the reports that are wanted; an error if there is none.
pub fn explain(wanted: &Explain) -> Outcome<()> {
    let programs = match &wanted.program {
        Some(program) => vec![program.clone()],
        None => build::programs(&wanted.cargo, wanted.skip.as_deref())?,
    };
    let mut there = Vec::new();
    let mut written = 0;
    for program in &programs {
        let bytes =
            std::fs::read(program).map_err(|error| format!("{}: {error}", program.display()))?;
        let texts = embedded::ptx(&bytes);
        let modules: Vec<Module> = texts.iter().map(|text| Module::parse(text)).collect();
        for (module, symbol) in embedded::kernels(&modules, wanted.target) {
            there.push(kernel_name(symbol).to_owned());
            if wanted.wants(kernel_name(symbol))
                && let Some(report) = KernelReport::of(module, symbol, wanted.target)
            {
                write(&report, wanted.show)?;
                written += 1;
            }
        }
    }
    there.sort_unstable();
    there.dedup();
    match written {
        0 => Err(nothing(&programs, &there).into()),
        _ => Ok(()),
    }
}

fn write(report: &KernelReport, show: Show) -> Outcome<()> {
    println!("{report}");
    match show {
        Show::Report => {}
        Show::Ptx => println!("{}\n", report.ptx()),
        Show::Sass => println!("{}", report.sass()?),
    }
    Ok(())
}

fn nothing(programs: &[std::path::PathBuf], there: &[String]) -> String {
    if programs.is_empty() {
        return "nothing was built that runs: name a program with --bin, --example, --test or --bench".into();
    }
    let programs: Vec<String> = programs
        .iter()
        .map(|program| program.display().to_string())
        .collect();
    let programs = programs.join(", ");
    match there {
        [] => format!("no kernel for such a GPU in {programs}"),
        _ => format!(
            "no kernel of that name in {programs}: there are {}",
            there.join(", ")
        ),
    }
}
