//! The kernels of the benchmark against CUDA C (`cases`): the Rust side gives what the reference on the CPU
//! gives, at small sizes and on either back end, and NVRTC takes the C side, where there is an NVRTC.
#![allow(missing_docs)]

// What only the measurements use is not used here.
#[allow(dead_code)]
#[path = "../cases/mod.rs"]
mod cases;

use cases::{ALL, Checks, Size};
use oxwarp::Gpu;

#[test]
fn the_rust_side_is_right() {
    let gpu = Gpu::new().unwrap();
    let mut wrong = Vec::new();
    for entry in ALL {
        let run = || {
            let mut case = (entry.build)(&gpu, Size::Small)?;
            for checks in [Checks::On, Checks::Off] {
                case.reset()?;
                case.check()
                    .err()
                    .ok_or("the check passes before the first launch")?;
                case.launch(checks)?;
                case.check()
                    .map_err(|error| format!("checks {checks:?}: {error}"))?;
            }
            cases::Outcome::Ok(())
        };
        if let Err(error) = run() {
            wrong.push(format!("{}: {error}", entry.name));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn the_c_side_compiles_and_has_the_kernels() {
    if let Err(error) = cuda_loader::nvrtc() {
        eprintln!("skipped: {error}");
        return;
    }
    for entry in ALL {
        let source = entry.source;
        let compiled = source
            .compile("sm_90")
            .unwrap_or_else(|error| panic!("{error}"));
        assert_eq!(compiled.log, "", "{}", source.name);
        for kernel in entry.kernels {
            let has_it = compiled.ptx.contains(&format!(".entry {kernel}("));
            assert!(has_it, "{} has no `{kernel}`", source.name);
        }
    }
}
