//! Kernels in safe Rust against the same kernels in CUDA C (`cuda_c.cu`), on one GPU, in one process.
//!
//! The CUDA C side is a cubin that nvcc made; give its path as the argument:
//! `nvcc -O3 -arch=native -cubin -o cuda_c.cubin benches/cuda_c/cuda_c.cu`. Both sides get the same grid, block, stream
//! and random data, and their results are compared. Times are by events, Rust and C in turn, the median of the pairs.

mod kernels;
mod side;

use cust::context::{Context, CurrentContext};
use cust::device::Device;
use cust::memory::DeviceBuffer;
use cust::module::Module;
use oxwarp::__private::{DeviceCode, inventory};

use side::{Case, Sides};

/// A float of the splitmix64 sequence, in 0..1.
fn random(state: &mut u64) -> f32 {
    *state = state.wrapping_add(0x9E37_79B9_7F4A_7C15);
    let mut z = *state;
    z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    ((z ^ (z >> 31)) >> 40) as f32 / (1u64 << 24) as f32
}

fn randoms(len: usize, seed: u64) -> DeviceBuffer<f32> {
    let mut state = seed;
    let values: Vec<f32> = (0..len).map(|_| random(&mut state)).collect();
    DeviceBuffer::from_slice(&values).expect("device memory")
}

fn main() {
    let Some(cubin) = std::env::args()
        .skip(1)
        .find(|argument| !argument.starts_with("--"))
    else {
        println!("cuda_c: no cubin of benches/cuda_c/cuda_c.cu was given, nothing measured");
        return;
    };
    // The runtime opens the driver, and says what is missing where there is none.
    let gpu = oxwarp::Gpu::cuda(0).expect("a CUDA device");
    let context = Context::new(Device::get_device(0).expect("the device")).expect("its context");
    CurrentContext::set_current(&context).expect("a live context");
    let code = inventory::iter::<DeviceCode>().find(|code| code.crate_name == "cuda_c");
    let code = code.expect("this program has device code");
    let rust = Module::from_ptx_cstr(code.images[0].ptx, &[]).expect("PTX that loads");
    let c = Module::from_cubin(std::fs::read(cubin).expect("the cubin"), &[])
        .expect("a cubin for this GPU");
    let sides = Sides::new(rust, c, code);
    println!(
        "{} (sm_{} PTX); times in ms, median of {} pairs",
        gpu.name(),
        code.images[0].target,
        side::PAIRS
    );
    println!(
        "{:<14} {:>9} {:>9} {:>7}  registers Rust/C, difference",
        "kernel", "Rust", "CUDA C", "ratio"
    );
    run(&sides);
}

fn run(sides: &Sides) {
    let len = 1usize << 26;
    let (x, y) = (randoms(len, 1), randoms(len, 2));
    let (px, py) = (address(&x), address(&y));
    let grid = (len as u64).div_ceil(256) as u32;
    let words = [
        u64::from(1.0001f32.to_bits()),
        px,
        len as u64,
        py,
        len as u64,
    ];
    sides.run(&Case {
        name: "saxpy",
        grid: (grid, 1),
        block: (256, 1),
        words: &words,
        output: None,
    });

    let partial = DeviceBuffer::from_slice(&vec![f32::NAN; grid as usize]).expect("device memory");
    let words = [
        px,
        len as u64,
        py,
        len as u64,
        address(&partial),
        u64::from(grid),
    ];
    sides.run(&Case {
        name: "dot",
        grid: (grid, 1),
        block: (256, 1),
        words: &words,
        output: Some(&partial),
    });

    let n = 4096usize;
    let (a, b) = (randoms(n * n, 3), randoms(n * n, 4));
    let c = DeviceBuffer::from_slice(&vec![f32::NAN; n * n]).expect("device memory");
    let (n, square) = (n as u64, (n * n) as u64);
    let words = [
        address(&a),
        square,
        address(&b),
        square,
        n,
        address(&c),
        n,
        n,
    ];
    let tiles = (n / 32) as u32;
    for name in ["matmul_naive", "matmul_tiled"] {
        sides.run(&Case {
            name,
            grid: (tiles, tiles),
            block: (32, 32),
            words: &words,
            output: Some(&c),
        });
    }

    let bodies = 65536u64;
    let (p, f) = (randoms(4 * 65536, 5), randoms(4 * 65536, 6));
    let words = [address(&p), bodies, address(&f), bodies];
    sides.run(&Case {
        name: "nbody",
        grid: (256, 1),
        block: (256, 1),
        words: &words,
        output: Some(&f),
    });

    let side = 8192u64;
    let counts = randoms(8192 * 8192, 7);
    let words = [side, side, 256, address(&counts), side, side];
    sides.run(&Case {
        name: "mandelbrot",
        grid: (256, 1024),
        block: (32, 8),
        words: &words,
        output: Some(&counts),
    });
}

fn address(buffer: &DeviceBuffer<f32>) -> u64 {
    buffer.as_device_ptr().as_raw()
}
