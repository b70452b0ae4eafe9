//! What several tests use: random numbers from a fixed seed, and a process of their own.
#![allow(dead_code)]

use std::env;
use std::process::Command;

use oxwarp::Gpu;

/// Set in a process that [`run_again`] started.
const OWN_PROCESS: &str = "OXWARP_TEST_OWN_PROCESS";

/// Whether this is a process that [`run_again`] started.
pub fn in_own_process() -> bool {
    env::var_os(OWN_PROCESS).is_some()
}

/// Runs the running test in a process of its own; its standard output and standard error.
pub fn run_again(arguments: &[&str]) -> [String; 2] {
    let test = std::thread::current();
    let output = Command::new(env::current_exe().unwrap())
        .args(["--exact", test.name().unwrap()])
        .args(arguments)
        .env(OWN_PROCESS, "1")
        .output()
        .unwrap();
    [output.stdout, output.stderr].map(|bytes| String::from_utf8(bytes).unwrap())
}

const BEGIN: &str = "\n<begin>\n";
const END: &str = "<end>\n";

/// What `body`, in the running test, prints to standard output and standard error, in a process of its own.
pub fn printed(body: impl FnOnce(&Gpu)) -> [String; 2] {
    if in_own_process() {
        // It may say on standard error that it is the simulator.
        let gpu = Gpu::new().unwrap();
        print!("{BEGIN}");
        eprint!("{BEGIN}");
        body(&gpu);
        drop(gpu);
        print!("{END}");
        eprint!("{END}");
        std::process::exit(0);
    }
    let [stdout, stderr] = run_again(&["--nocapture"]);
    [stdout, stderr].map(|text| {
        let (_, text) = text.split_once(BEGIN).unwrap_or_else(|| panic!("{text}"));
        let (text, _) = text.split_once(END).unwrap_or_else(|| panic!("{text}"));
        text.to_owned()
    })
}

/// A generator of random numbers (xorshift64*).
pub struct Random(u64);

impl Random {
    /// The seed decides the numbers.
    pub fn new(seed: u64) -> Self {
        Random(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    /// Any 64 bits.
    pub fn bits(&mut self) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_f491_4f6c_dd1d)
    }

    /// A number of the range.
    pub fn between(&mut self, low: f64, high: f64) -> f64 {
        low + (high - low) * (self.bits() >> 11) as f64 / (1u64 << 53) as f64
    }

    /// Numbers of the range.
    pub fn floats(&mut self, count: usize, low: f32, high: f32) -> Vec<f32> {
        (0..count)
            .map(|_| self.between(low.into(), high.into()) as f32)
            .collect()
    }

    /// Numbers below `end`.
    pub fn below(&mut self, count: usize, end: u32) -> Vec<u32> {
        (0..count)
            .map(|_| (self.bits() >> 32) as u32 % end)
            .collect()
    }
}
