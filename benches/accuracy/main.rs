//! How far the mathematical functions are from the right results, at most: every `f32` there is, and many an `f64`.
//!
//! `accuracy [FUNCTION...]` measures on the device that `OXWARP_DEVICE` names and prints that device's name, then a line for
//! each function: its name, then the error and where, for `f32` and for `f64`, with tabs between them. The simulator measures a sample. Which
//! library the functions come from was chosen when this program was compiled (`OXWARP_LIBDEVICE`).
//!
//! `accuracy table LIBDEVICE LIBM` makes Markdown of two such outputs: `docs/accuracy.md`.

use std::collections::BTreeMap;
use std::io::Write;
use std::process::ExitCode;
use std::time::Instant;
use std::{env, fs};

use oxwarp::prelude::*;

mod functions;
mod measure;
mod reference;
mod samples;

use functions::{Effort, Function};
use measure::Worst;

/// All singles; a sample for the simulator, in steps of a prime.
const ON_GPU: Effort = Effort {
    stride: 1,
    pairs: 1 << 30,
    doubles: 20_000,
};
const SIMULATED: Effort = Effort {
    stride: 1_048_573,
    pairs: 4096,
    doubles: 100,
};

/// What stands above the table, without the device's name and the table's head.
const PREFACE: &str = "\
# Accuracy of the mathematical functions

How far results on a GPU are from the correctly rounded ones, at most, in units in the last place, beside NVIDIA's own figures,
which are those of the CUDA C++ Programming Guide, \"Mathematical Functions\" (found by tests, as these here, and no promise).

- `f32`: every one of the 2^32 arguments, or 2^30 random pairs of arguments for functions of two, against the same library's
  function of `f64`, rounded.
- `f64`: some 20,000 arguments of all sizes, against more than 100 correct bits (`benches/accuracy/reference.rs`).
- *libdevice* and *libm*: where the functions come from. CUDA's libdevice is used where it is found when a kernel is compiled, else
  the `libm` crate. What std computes in Rust (`of std`) and what `oxwarp::math` computes on top is the same code for
  both: `rsqrt`, `rcbrt`, `rhypot`, `sin_pi`, `cos_pi`, `erfcx`, `erf_inv`, `erfc_inv`, `norm_cdf`, `norm_cdf_inv`, `bessel_i0`,
  `bessel_i1`.
- *worst*: the argument of libm's figure.
- `?`: not measured.
- A distance of NaN: one of the two results is a number and the other is none.

Kernels are compiled as by default: products and sums are contracted to `fma`, as nvcc does it, and there is no `fast_math`, whose
functions are less accurate (`oxwarp::fast` gives the errors of each). Subnormal numbers count as others.

What is far off, and why:

- `j0`, `j1`, `y0`, `y1` of libm: next to their zeros, where the results are almost 0, the error is small beside the function's
  largest values, not beside the result. From 8 on there are no distances: NVIDIA gives an absolute error there.
- `asinh` and `acosh` of std (`x.asinh()`) are formulas that overflow for the greatest `x`, and `acosh` and `atanh` of std are not
  accurate near 1. `oxwarp::math` has functions that are accurate everywhere.
- `ln_gamma` is measured outside of an interval with zeros, as in NVIDIA's table.

`scripts/gpu.sh run accuracy` (`cargo bench --bench accuracy`) measures and prints this page. \
";

/// The table's head.
const HEAD: &str = "\
| function | `f32`: libdevice | libm | NVIDIA | `f64`: libdevice | libm | NVIDIA | worst `f32`, libm | worst `f64`, libm |
| --- | --- | --- | --- | --- | --- | --- | --- | --- |
";

/// The name of the line that says where the others were measured.
const DEVICE: &str = "device";

fn main() -> ExitCode {
    let arguments: Vec<String> = env::args()
        .skip(1)
        .filter(|argument| argument != "--bench")
        .collect();
    match &arguments[..] {
        names if names.first().is_none_or(|first| first != "table") => match measure(names) {
            Ok(()) => ExitCode::SUCCESS,
            Err(error) => {
                eprintln!("{error}");
                ExitCode::FAILURE
            }
        },
        [command, libdevice, libm] if command == "table" => {
            print!("{}", table(&read(libdevice), &read(libm)));
            ExitCode::SUCCESS
        }
        _ => {
            eprintln!("usage: accuracy [FUNCTION...] | accuracy table LIBDEVICE LIBM");
            ExitCode::FAILURE
        }
    }
}

/// Measures the functions of these names, or all of them.
fn measure(names: &[String]) -> oxwarp::Result<()> {
    let (gpu, started) = (Gpu::new()?, Instant::now());
    let effort = if gpu.is_simulator() {
        SIMULATED
    } else {
        ON_GPU
    };
    println!("{DEVICE}\t{}", gpu.name());
    let chosen =
        |function: &Function| names.is_empty() || names.iter().any(|name| name == function.name);
    for Function { name, measure, .. } in functions::all().into_iter().filter(chosen) {
        let [single, double] = measure(&gpu, effort)?;
        println!("{name}\t{}\t{}", text(single), text(double));
        let _ = std::io::stdout().flush();
    }
    eprintln!("{}: {:.1} s", gpu.name(), started.elapsed().as_secs_f64());
    Ok(())
}

fn text(worst: Worst) -> String {
    let [x, y] = worst.at;
    let distance = match worst.distance {
        u64::MAX => "NaN".into(),
        distance if distance == u32::MAX.into() => "NaN".into(),
        distance => distance.to_string(),
    };
    if worst.distance == 0 {
        return "0\t".into();
    }
    if y == 0.0 {
        format!("{distance}\t{x:e}")
    } else {
        format!("{distance}\t{x:e}, {y:e}")
    }
}

/// The lines of an output, by function.
fn read(file: &str) -> BTreeMap<String, Vec<String>> {
    let text = fs::read_to_string(file).unwrap_or_else(|error| panic!("{file}: {error}"));
    let lines = text
        .lines()
        .map(|line| line.split('\t').map(String::from).collect::<Vec<_>>());
    lines.map(|mut fields| (fields.remove(0), fields)).collect()
}

fn table(
    libdevice: &BTreeMap<String, Vec<String>>,
    libm: &BTreeMap<String, Vec<String>>,
) -> String {
    let device = libm.get(DEVICE).and_then(|fields| fields.first());
    let device = device.map_or("no device", String::as_str);
    let mut text = format!("{PREFACE}Measured on: {device}.\n\n{HEAD}");
    for Function {
        name,
        nvidia,
        limits,
        ..
    } in functions::all()
    {
        let field = |of: &BTreeMap<String, Vec<String>>, index: usize| {
            of.get(name)
                .and_then(|fields| fields.get(index))
                .cloned()
                .unwrap_or_else(|| "?".into())
        };
        let limits = if limits.is_empty() {
            String::new()
        } else {
            format!(", {limits}")
        };
        text.push_str(&format!(
            "| `{name}`{limits} | {} | {} | {} | {} | {} | {} | {} | {} |\n",
            field(libdevice, 0),
            field(libm, 0),
            nvidia[0],
            field(libdevice, 2),
            field(libm, 2),
            nvidia[1],
            field(libm, 1),
            field(libm, 3),
        ));
    }
    text
}
