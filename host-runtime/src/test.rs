//! Runs a test of `#[oxwarp::test]`: on the simulator with its checks, then on the GPU where there is one.

use std::fmt::Debug;

use crate::checks::Checks;
use crate::cuda;
use crate::gpu::Gpu;

/// What a test may return.
pub trait TestResult {
    /// Panics if it is a failure.
    fn unwrap(self);
}

impl TestResult for () {
    fn unwrap(self) {}
}

impl<T, E: Debug> TestResult for std::result::Result<T, E> {
    #[track_caller]
    fn unwrap(self) {
        if let Err(error) = self {
            panic!("{error:?}");
        }
    }
}

/// Runs the test on each kind of device: on the simulator with the checks of `OXWARP_CHECK`, or else those that are
/// [on](Checks::on) in a debug build; then on the CUDA device of `OXWARP_DEVICE`, or else the first, unless there is none or that
/// says `cpu`.
///
/// # Panics
///
/// If the test fails, or its kernels did.
#[track_caller]
pub fn run_test<R: TestResult>(test: impl Fn(&Gpu) -> R) {
    let checks = match Checks::from_environment() {
        Ok(checks) if Checks::are_chosen() => checks,
        Ok(_) => Checks::on(),
        Err(error) => panic!("{error}"),
    };
    run_on(&Gpu::cpu_with(checks), &test);
    let device = std::env::var("OXWARP_DEVICE").unwrap_or_default();
    if device != "cpu" && (!device.is_empty() || matches!(cuda::count(), Ok(1..))) {
        let gpu = Gpu::new().unwrap_or_else(|error| panic!("{error}"));
        run_on(&gpu, &test);
    }
}

#[track_caller]
fn run_on<R: TestResult>(gpu: &Gpu, test: impl Fn(&Gpu) -> R) {
    let on = On(gpu);
    test(gpu).unwrap();
    gpu.synchronize().unwrap_or_else(|error| panic!("{error}"));
    drop(on);
}

/// Says on which device a test panics.
struct On<'a>(&'a Gpu);

impl Drop for On<'_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            eprintln!("note: this was on {}", self.0.name());
        }
    }
}
