//! Host time of a launch: oxwarp against the same launch through `cust` alone, with 0, 3 and 16 arrays.
//!
//! Both launch the same function of the same PTX with the same parameter struct on an idle stream of the same context.
//! The time is that of the calls alone: a batch is queued, the clock stops, and only then the stream is waited for.
//! Best of several batches.

use std::ffi::c_void;
use std::time::{Duration, Instant};

use cust::context::{Context, CurrentContext};
use cust::device::Device;
use cust::function::{BlockSize, GridSize};
use cust::module::Module;
use cust::stream::{Stream, StreamFlags};
use oxwarp::__private::{DeviceCode, inventory};
use oxwarp::prelude::*;

#[kernel]
fn empty() {}

#[kernel]
fn add(a: &[f32], b: &[f32], mut c: DisjointSlice<f32>) {
    let i = thread::index_1d();
    if let Some(c) = c.get_mut(i) {
        *c = a[*i] + b[*i];
    }
}

macro_rules! kernel_of_16 {
    ($($input:ident)*) => {
        #[kernel]
        fn add16($($input: &[f32],)* mut out: DisjointSlice<f32>) {
            let i = thread::index_1d();
            if let Some(out) = out.get_mut(i) {
                *out = 0.0 $(+ $input[*i])*;
            }
        }
    };
}

kernel_of_16!(a b c d e f g h i1 j k l m n o);

const LEN: usize = 1024;
const BATCHES: usize = 20;
const LAUNCHES: u32 = 1000;

fn main() -> oxwarp::Result<()> {
    let gpu = match Gpu::cuda(0) {
        Ok(gpu) => gpu,
        Err(error) => {
            println!("launch: no CUDA device, nothing measured: {error}");
            return Ok(());
        }
    };
    println!(
        "launch cost on {}, us of host time, best of {BATCHES} batches of {LAUNCHES}",
        gpu.name()
    );
    println!(
        "{:<12} {:>8} {:>8} {:>8}",
        "arguments", "oxwarp", "cust", "more"
    );
    let x = gpu.full(LEN, 1.0f32)?;
    let mut y = gpu.zeros::<f32>(LEN)?;
    let plain = Plain::new();

    let ours = time(|| empty.grid(4).block(256).launch(), &gpu)?;
    report("0", ours, plain.time("empty_", &[]));

    let ours = time(|| launch!(add[4, 256](&x, &x, &mut y)), &gpu)?;
    // Views without elements: the kernel returns at once, which costs the host the same.
    report("3 arrays", ours, plain.time("add_", &[0; 6]));
    // The block is the driver's choice, which is asked for once.
    let ours = time(
        || add.for_each(LEN).auto_block().launch(&x, &x, &mut y),
        &gpu,
    )?;
    report("auto block", ours, plain.time("add_", &[0; 6]));

    let ours = time(
        || launch!(add16[4, 256](&x, &x, &x, &x, &x, &x, &x, &x, &x, &x, &x, &x, &x, &x, &x, &mut y)),
        &gpu,
    )?;
    report("16 arrays", ours, plain.time("add16_", &[0; 32]));
    assert_eq!(y.to_vec()?, vec![15.0; LEN]);
    Ok(())
}

fn report(arguments: &str, ours: f64, plain: f64) {
    println!(
        "{arguments:<12} {ours:>8.3} {plain:>8.3} {:>8.3}",
        ours - plain
    );
}

/// Microseconds of one launch.
fn time(launch: impl FnMut() -> oxwarp::Result<()>, gpu: &Gpu) -> oxwarp::Result<f64> {
    let mut launch = launch;
    launch()?;
    let mut best = Duration::MAX;
    for _ in 0..BATCHES {
        gpu.synchronize()?;
        let start = Instant::now();
        for _ in 0..LAUNCHES {
            launch()?;
        }
        best = best.min(start.elapsed());
    }
    gpu.synchronize()?;
    Ok(best.as_secs_f64() * 1e6 / f64::from(LAUNCHES))
}

/// The same module through `cust` alone.
struct Plain {
    module: Module,
    stream: Stream,
    _context: Context,
}

impl Plain {
    fn new() -> Self {
        let context =
            Context::new(Device::get_device(0).expect("there is a device")).expect("a context");
        CurrentContext::set_current(&context).expect("a live context");
        let code = inventory::iter::<DeviceCode>()
            .find(|code| !code.kernels.is_empty() && code.crate_name == "launch");
        let image = code
            .and_then(|code| code.images.first())
            .expect("this crate has device code");
        let module = Module::from_ptx_cstr(image.ptx, &[]).expect("PTX that loads");
        let stream = Stream::new(StreamFlags::NON_BLOCKING, None).expect("a stream");
        Plain {
            module,
            stream,
            _context: context,
        }
    }

    fn time(&self, kernel: &str, parameters: &[u64]) -> f64 {
        let codes = inventory::iter::<DeviceCode>();
        let mut symbols = codes
            .flat_map(|code| code.kernels)
            .map(|kernel| kernel.symbol.to_string_lossy());
        let symbol = symbols
            .find(|symbol| symbol.starts_with(kernel))
            .expect("the kernel was compiled");
        let function = self
            .module
            .get_function(&symbol)
            .expect("the kernel is in the module");
        let arguments = [parameters.as_ptr().cast_mut().cast::<c_void>()];
        let arguments = if parameters.is_empty() {
            &[][..]
        } else {
            &arguments[..]
        };
        let launch = || {
            // SAFETY: the function takes one parameter struct of that size, or none.
            unsafe {
                self.stream
                    .launch(&function, GridSize::x(4), BlockSize::x(256), 0, arguments)
            }
            .expect("a launch");
        };
        launch();
        let mut best = Duration::MAX;
        for _ in 0..BATCHES {
            self.stream.synchronize().expect("a queue that ends");
            let start = Instant::now();
            (0..LAUNCHES).for_each(|_| launch());
            best = best.min(start.elapsed());
        }
        self.stream.synchronize().expect("a queue that ends");
        best.as_secs_f64() * 1e6 / f64::from(LAUNCHES)
    }
}
