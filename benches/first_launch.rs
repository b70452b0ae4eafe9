//! The first launch of a program, from `main` to the result: oxwarp against the same calls of the driver alone.
//!
//! Each is timed in processes of its own, which this program starts: one time after the other, so that both meet the same
//! machine. Both open the first device, load the same PTX, copy two arrays there, add them and copy the sum back. Best and
//! median of several processes; once with the driver's cache of compiled code, and once without.

use std::ffi::{c_int, c_void};
use std::process::Command;
use std::ptr::null_mut;
use std::time::Instant;

use cuda_loader::DriverError;
use oxwarp::__private::{DeviceCode, inventory};
use oxwarp::prelude::*;

#[kernel]
fn add(a: &[f32], b: &[f32], mut c: DisjointSlice<f32>) {
    let i = thread::index_1d();
    if let Some(c) = c.get_mut(i) {
        *c = a[*i] + b[*i];
    }
}

const LEN: usize = 1 << 16;
const PROCESSES: usize = 9;

fn main() {
    let start = Instant::now();
    let mode = std::env::args().nth(1).unwrap_or_default();
    let sum = match mode.as_str() {
        "oxwarp" => with_oxwarp().map_err(|error| error.to_string()),
        "driver" => with_driver().map_err(|error| error.to_string()),
        _ => return compare(),
    };
    let time = start.elapsed();
    assert_eq!(sum, Ok(vec![3.0; LEN]));
    println!("{}", time.as_nanos());
    // The end of the process is not part of it.
    std::process::exit(0);
}

fn with_oxwarp() -> oxwarp::Result<Vec<f32>> {
    let gpu = Gpu::cuda(0)?;
    let a = gpu.to_device(&vec![1.0f32; LEN])?;
    let b = gpu.to_device(&vec![2.0f32; LEN])?;
    let mut c = gpu.zeros::<f32>(LEN)?;
    add.for_each(LEN).launch(&a, &b, &mut c)?;
    c.to_vec()
}

/// What a program in C does.
fn with_driver() -> Result<Vec<f32>, DriverError> {
    #[repr(C)]
    struct Parameters([u64; 6]);
    let code = inventory::iter::<DeviceCode>()
        .find(|code| code.crate_name == "first_launch")
        .expect("this crate has device code");
    let (image, kernel) = (&code.images[0], &code.kernels[0]);
    let driver = cuda_loader::driver().expect("a driver");
    let (mut device, mut context): (c_int, *mut c_void) = (0, null_mut());
    let (mut module, mut function): (*mut c_void, *mut c_void) = (null_mut(), null_mut());
    let mut addresses = [0u64; 3];
    let (a, b) = (vec![1.0f32; LEN], vec![2.0f32; LEN]);
    let mut sum = vec![0.0f32; LEN];
    let bytes = LEN * 4;
    // SAFETY: the calls are those of the driver's documentation; each pointer is valid for what it is to take or to give, and
    // the kernel has three views as parameters.
    unsafe {
        driver.cuInit(0)?;
        driver.cuDeviceGet((&raw mut device).cast(), 0)?;
        driver.cuDevicePrimaryCtxRetain((&raw mut context).cast(), device)?;
        driver.cuCtxSetCurrent(context)?;
        driver.cuModuleLoadData(
            (&raw mut module).cast(),
            image.ptx.as_ptr().cast_mut().cast(),
        )?;
        let symbol = kernel.symbol.as_ptr().cast_mut().cast();
        driver.cuModuleGetFunction((&raw mut function).cast(), module, symbol)?;
        for address in &mut addresses {
            driver.cuMemAlloc_v2((&raw mut *address).cast(), bytes)?;
        }
        driver.cuMemcpyHtoD_v2(addresses[0], a.as_ptr().cast_mut().cast(), bytes)?;
        driver.cuMemcpyHtoD_v2(addresses[1], b.as_ptr().cast_mut().cast(), bytes)?;
        let [a, b, c] = addresses;
        let len = LEN as u64;
        let mut parameters = Parameters([a, len, b, len, c, len]);
        let mut pointer: *mut c_void = (&raw mut parameters).cast();
        driver.cuLaunchKernel(
            function,
            (LEN / 256) as u32,
            1,
            1,
            256,
            1,
            1,
            0,
            null_mut(),
            (&raw mut pointer).cast(),
            null_mut(),
        )?;
        driver.cuMemcpyDtoH_v2(sum.as_mut_ptr().cast(), addresses[2], bytes)?;
    }
    Ok(sum)
}

fn compare() {
    if let Err(error) = Gpu::cuda(0) {
        println!("first_launch: no CUDA device, nothing measured: {error}");
        return;
    }
    println!("first launch, ms from `main` to the result, of {PROCESSES} processes each");
    println!(
        "{:<16} {:>8} {:>8} {:>8} {:>8} {:>8}",
        "", "oxwarp", "median", "driver", "median", "ratio"
    );
    for (name, cache) in [("cached code", "0"), ("compiled code", "1")] {
        let mut times = [Vec::new(), Vec::new()];
        for _ in 0..PROCESSES {
            for (mode, times) in ["oxwarp", "driver"].into_iter().zip(&mut times) {
                times.push(milliseconds(mode, cache));
            }
        }
        times
            .iter_mut()
            .for_each(|times| times.sort_by(f64::total_cmp));
        let [ours, drivers] = times;
        let middle = PROCESSES / 2;
        println!(
            "{name:<16} {:>8.1} {:>8.1} {:>8.1} {:>8.1} {:>8.2}",
            ours[0],
            ours[middle],
            drivers[0],
            drivers[middle],
            ours[middle] / drivers[middle]
        );
    }
}

/// What one process says.
fn milliseconds(mode: &str, cache_disable: &str) -> f64 {
    let program = std::env::current_exe().expect("the program's own path");
    let output = Command::new(program)
        .arg(mode)
        .env("CUDA_CACHE_DISABLE", cache_disable)
        .output()
        .expect("a process");
    let text = String::from_utf8_lossy(&output.stdout);
    let nanoseconds: f64 = (text.trim().parse())
        .unwrap_or_else(|_| panic!("{text}{}", String::from_utf8_lossy(&output.stderr)));
    nanoseconds / 1e6
}
