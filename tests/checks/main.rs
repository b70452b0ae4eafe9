//! What the simulator's checks find: kernels with a mistake that a GPU may hide, each beside the kernel as it should be.
//!
//! The cases are in files by what is wrong with them. On a GPU some of them run by their names, for the tools of
//! `compute-sanitizer`: `OXWARP_CHECK_CASE=name,name checks --exact one_case`; `scripts/gpu.sh run checks` does that for all.
#![allow(missing_docs)]

mod atomics;
mod attribute;
mod barriers;
mod memory;
mod shared;
mod warps;

use oxwarp::prelude::*;
use oxwarp::{Checks, Error};

/// A kernel and what the simulator says of it.
struct Case {
    name: &'static str,
    /// What must be in the message; nothing for a kernel that is right.
    finds: &'static [&'static str],
    run: fn(&Gpu) -> oxwarp::Result<()>,
    on_gpu: OnGpu,
    /// Whether it takes another order of the threads to find it.
    needs_other_orders: bool,
}

/// What a kernel does on a GPU.
#[derive(Clone, Copy, Debug)]
enum OnGpu {
    Ends,
    /// Its threads wait for others, which a tool may keep from coming.
    Spins,
    /// It is not to be run.
    Endless,
}

/// A kernel that is right.
const fn right(name: &'static str, run: fn(&Gpu) -> oxwarp::Result<()>) -> Case {
    Case {
        name,
        finds: &[],
        run,
        on_gpu: OnGpu::Ends,
        needs_other_orders: false,
    }
}

/// A kernel that is wrong.
const fn wrong(
    name: &'static str,
    run: fn(&Gpu) -> oxwarp::Result<()>,
    finds: &'static [&'static str],
) -> Case {
    Case {
        name,
        finds,
        run,
        on_gpu: OnGpu::Ends,
        needs_other_orders: false,
    }
}

/// A kernel that is wrong in some orders of its threads.
const fn wrong_in_other_orders(
    name: &'static str,
    run: fn(&Gpu) -> oxwarp::Result<()>,
    finds: &'static [&'static str],
) -> Case {
    Case {
        needs_other_orders: true,
        ..wrong(name, run, finds)
    }
}

/// A kernel that is wrong, and never ends on a GPU.
const fn endless(
    name: &'static str,
    run: fn(&Gpu) -> oxwarp::Result<()>,
    finds: &'static [&'static str],
) -> Case {
    Case {
        on_gpu: OnGpu::Endless,
        ..wrong(name, run, finds)
    }
}

/// The kernel's threads wait for others in loops.
const fn spins(case: Case) -> Case {
    Case {
        on_gpu: OnGpu::Spins,
        ..case
    }
}

fn cases() -> impl Iterator<Item = &'static Case> {
    [
        shared::CASES,
        barriers::CASES,
        warps::CASES,
        atomics::CASES,
        memory::CASES,
    ]
    .into_iter()
    .flatten()
}

/// What a case ends with.
fn result(case: &Case, checks: Checks) -> Result<(), Error> {
    let gpu = Gpu::cpu_with(checks);
    (case.run)(&gpu)?;
    gpu.synchronize()
}

/// The checks that find a case's mistake.
fn checks_for(case: &Case) -> Checks {
    match case.needs_other_orders {
        true => Checks::all(),
        false => Checks::on(),
    }
}

/// Whether the case's mistake is found.
fn is_found(case: &Case, error: &Error) -> bool {
    let message = error.to_string();
    case.finds.iter().all(|part| message.contains(part))
}

#[test]
fn every_mistake_is_found_and_no_right_kernel() {
    let mut failures = Vec::new();
    for case in cases() {
        match result(case, checks_for(case)) {
            Ok(()) if case.finds.is_empty() => {}
            Err(error) if !case.finds.is_empty() && is_found(case, &error) => {}
            other => failures.push(format!("{}: {other:?}", case.name)),
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

#[test]
fn a_right_kernel_is_right_in_every_order() {
    for seed in [0, 100] {
        for case in cases().filter(|case| case.finds.is_empty()) {
            result(case, Checks::on().schedule(seed))
                .unwrap_or_else(|error| panic!("{}: {error}", case.name));
        }
    }
}

/// The cases that the variable names, on the device that `OXWARP_DEVICE` names; without it nothing. `list` lists all: name,
/// what it does on a GPU, and what finds it on the simulator.
#[test]
fn one_case() {
    let Ok(names) = std::env::var("OXWARP_CHECK_CASE") else {
        return;
    };
    if names == "list" {
        for case in cases() {
            println!("\ncase {} {:?} {}", case.name, case.on_gpu, finder(case));
        }
        return;
    }
    let gpu = Gpu::new().unwrap();
    for name in names.split(',') {
        let case = cases().find(|case| case.name == name).expect("a case");
        let launched = (case.run)(&gpu).and_then(|()| gpu.synchronize());
        println!("{name}: {launched:?}");
    }
}

/// What finds a case's mistake on the simulator.
fn finder(case: &Case) -> String {
    match result(case, checks_for(case)) {
        Ok(()) => "nothing".into(),
        Err(Error::Check { fault, .. }) => match case.needs_other_orders {
            true => format!("{}(schedule)", fault.check).replace("schedule(schedule)", "schedule"),
            false => fault.check.to_string(),
        },
        Err(_) => "always".into(),
    }
}
