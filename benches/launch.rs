//! Host time of a launch: oxwarp against the same launch through `cust` alone, with 0, 3 and 16 arrays; and of its repetition
//! by a plan and by a graph.
//!
//! All launch the same function of the same PTX with the same parameter struct on an idle stream of the same context.
//! The time is that of the calls alone: a batch is queued, the clock stops, and only then the stream is waited for.
//! Best of several batches. `graph` is a graph with this one launch; `of 20` is what a launch costs in a graph of 20, which
//! the driver queues with one call.

use std::ffi::c_void;
use std::time::{Duration, Instant};

use cust::context::{Context, CurrentContext};
use cust::device::Device;
use cust::function::{BlockSize, GridSize};
use cust::module::Module;
use cust::stream::{Stream, StreamFlags};
use oxwarp::__private::{DeviceCode, inventory};
use oxwarp::Plan;
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
        "{:<12} {:>8} {:>8} {:>8} {:>8} {:>8} {:>8}",
        "arguments", "cust", "launch", "more", "plan", "graph", "of 20"
    );
    let x = gpu.full(LEN, 1.0f32)?;
    let mut y = gpu.zeros::<f32>(LEN)?;
    let plain = Plain::new();

    let launch = || empty.grid(4).block(256).on(&gpu).launch();
    let plan = empty.grid(4).block(256).on(&gpu).plan()?;
    report("0", plain.time("empty_", &[]), launch, &plan)?;

    let plan = add.grid(4).block(256).plan(&x, &x, &mut y)?;
    let launch = || launch!(add[4, 256](&x, &x, &mut y));
    // Views without elements: the kernel returns at once, which costs the host the same.
    report("3 arrays", plain.time("add_", &[0; 6]), launch, &plan)?;

    let plan = add16.grid(4).block(256).plan(
        &x, &x, &x, &x, &x, &x, &x, &x, &x, &x, &x, &x, &x, &x, &x, &mut y,
    )?;
    let launch = || launch!(add16[4, 256](&x, &x, &x, &x, &x, &x, &x, &x, &x, &x, &x, &x, &x, &x, &x, &mut y));
    report("16 arrays", plain.time("add16_", &[0; 32]), launch, &plan)?;
    assert_eq!(y.to_vec()?, vec![15.0; LEN]);
    Ok(())
}

/// One line: the times of a launch through `cust`, and of ours and its repetition.
fn report(
    arguments: &str,
    plain: f64,
    launch: impl FnMut() -> oxwarp::Result<()>,
    plan: &Plan,
) -> oxwarp::Result<()> {
    let stream = plan.stream();
    let gpu = &stream.gpu();
    let ours = time(launch, gpu)?;
    let planned = time(|| plan.launch(), gpu)?;
    let one = stream.capture(|_| plan.launch())?;
    let twenty = stream.capture(|_| (0..20).try_for_each(|_| plan.launch()))?;
    println!(
        "{arguments:<12} {plain:>8.3} {ours:>8.3} {:>8.3} {planned:>8.3} {:>8.3} {:>8.3}",
        ours - plain,
        time(|| one.launch(), gpu)?,
        time(|| twenty.launch(), gpu)? / 20.0,
    );
    Ok(())
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
