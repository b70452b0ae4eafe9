//! Runs generated programs on the host and on a device, and prints a line for each whose results differ.
#![allow(warnings, arithmetic_overflow, unconditional_panic, overflowing_literals)]

mod hash;
mod programs;

use std::cell::RefCell;
use std::panic::{catch_unwind, set_hook};

use oxwarp::prelude::*;
use oxwarp::{Error, Result};

/// One program: its number, itself, and a launch of it for each of the inputs.
pub struct Program {
    pub number: u64,
    pub native: fn([u64; 4]) -> u64,
    pub launch: fn(&DeviceArray<[u64; 4]>, &mut DeviceArray<u64>) -> Result<()>,
}

/// What a panic says, and where.
#[derive(Clone, Debug, PartialEq)]
struct Panic {
    message: String,
    line: u32,
    column: u32,
}

thread_local! {
    static LAST: RefCell<Option<Panic>> = const { RefCell::new(None) };
}

fn main() {
    set_hook(Box::new(|info| {
        let payload = info.payload();
        let text = payload.downcast_ref::<&str>().map(|text| text.to_string());
        let message = text.or_else(|| payload.downcast_ref::<String>().cloned()).unwrap_or_default();
        let (line, column) = info.location().map_or((0, 0), |place| (place.line(), place.column()));
        LAST.set(Some(Panic { message, line, column }));
    }));
    if std::env::args().any(|argument| argument == "--ptx") {
        return print_ptx();
    }
    let gpu = Gpu::new().expect("there is a device");
    let (mut differences, mut panics) = (0, 0);
    for program in programs::ALL {
        match check(&gpu, program) {
            Ok((difference, panicked)) => {
                panics += panicked as usize;
                if let Some(difference) = difference {
                    differences += 1;
                    println!("difference {} {difference}", program.number);
                }
            }
            Err(error) => {
                differences += 1;
                println!("difference {} {}", program.number, error.to_string().replace('\n', " "));
            }
        }
    }
    println!(
        "done {} programs, {differences} differences, {panics} with a panic, on {}",
        programs::ALL.len(),
        gpu.name()
    );
}

fn print_ptx() {
    use oxwarp::__private::{DeviceCode, inventory};
    for code in inventory::iter::<DeviceCode> {
        if code.kernels.len() == programs::ALL.len() {
            print!("{}", code.images[0].ptx.to_str().expect("PTX is text"));
        }
    }
}

fn inputs(number: u64) -> Vec<[u64; 4]> {
    // What a reduction adds to the number of a program does not count.
    let mut state = (number % 1_000_000_000).wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    let mut bits = || {
        state ^= state >> 12;
        state ^= state << 25;
        state ^= state >> 27;
        state.wrapping_mul(0x2545_f491_4f6c_dd1d)
    };
    let edges = [0, 1, 2, 7, 255, 1 << 31, (1 << 32) - 1, 1 << 63, u64::MAX];
    (0..64)
        .map(|_| [0; 4].map(|_| if bits() % 3 == 0 { edges[bits() as usize % edges.len()] } else { bits() >> (bits() % 64) }))
        .collect()
}

/// What differs, if something does, and whether an input panics.
fn check(gpu: &Gpu, program: &Program) -> Result<(Option<String>, bool)> {
    let (mut good, mut expected, mut bad) = (Vec::new(), Vec::new(), Vec::new());
    for input in inputs(program.number) {
        match catch_unwind(|| (program.native)(input)) {
            Ok(result) => {
                good.push(input);
                expected.push(result);
            }
            Err(_) => bad.push((input, LAST.take())),
        }
    }
    let run = |inputs: &Vec<[u64; 4]>| -> Result<Vec<u64>> {
        let mut out = gpu.zeros::<u64>(inputs.len())?;
        (program.launch)(&gpu.to_device(inputs)?, &mut out)?;
        out.to_vec()
    };
    let got = run(&good)?;
    for ((input, expected), got) in good.iter().zip(&expected).zip(&got) {
        if expected != got {
            return Ok((Some(format!("{input:x?} gives {got:x}, not {expected:x}")), !bad.is_empty()));
        }
    }
    let Some((input, expected)) = bad.first().cloned() else {
        return Ok((None, false));
    };
    let difference = match run(&vec![input]) {
        Err(Error::KernelPanic(panic)) => {
            let got = Panic { message: panic.message.clone(), line: panic.line, column: panic.column };
            (Some(&got) != expected.as_ref()).then(|| format!("{input:x?} panics with {got:?}, not {expected:?}"))
        }
        Err(error) => return Err(error),
        Ok(got) => Some(format!("{input:x?} gives {got:x?}, and does not panic with {expected:?}")),
    };
    Ok((difference, true))
}
