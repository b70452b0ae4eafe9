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
    let plan = || empty.grid(4).block(256).on(&gpu).plan();
    report("0", plain.launch("empty_", vec![]), launch, plan)?;

    let launch = || launch!(add[4, 256](&x, &x, &mut y));
    // Views without elements: the kernel returns at once, which costs the host the same.
    let bare = plain.launch("add_", vec![0; 6]);
    let mut sums = gpu.zeros::<f32>(LEN)?;
    let plan = || add.grid(4).block(256).plan(&x, &x, &mut sums);
    report("3 arrays", bare, launch, plan)?;

    // The block is the driver's choice, which is asked for once.
    let launch = || add.for_each(LEN).auto_block().launch(&x, &x, &mut y);
    let plan = || add.for_each(LEN).auto_block().plan(&x, &x, &mut sums);
    report("auto block", plain.launch("add_", vec![0; 6]), launch, plan)?;

    let xs = (0..15).map(|_| gpu.full(LEN, 1.0f32));
    let xs = xs.collect::<oxwarp::Result<Vec<_>>>()?;
    let [a, b, c, d, e, f, g, h, i, j, k, l, m, n, o] = &xs[..] else {
        unreachable!("there are 15")
    };
    let launch = || launch!(add16[4, 256](a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, &mut y));
    let plan = || {
        let launch = add16.grid(4).block(256);
        launch.plan(a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, &mut sums)
    };
    report(
        "16 arrays",
        plain.launch("add16_", vec![0; 32]),
        launch,
        plan,
    )?;
    assert_eq!(y.to_vec()?, vec![15.0; LEN]);
    Ok(())
}

/// One line: the times of a launch through `cust`, and of ours and its repetition.
fn report(
    arguments: &str,
    bare: impl FnMut() -> oxwarp::Result<()>,
    launch: impl FnMut() -> oxwarp::Result<()>,
    plan: impl FnOnce() -> oxwarp::Result<Plan>,
) -> oxwarp::Result<()> {
    let (mut bare, mut launch) = (bare, launch);
    // Before there is a plan, which the arrays of launches would know of.
    let [bare, ours] = times([&mut bare, &mut launch])?;
    let plan = plan()?;
    let stream = plan.stream();
    let one = stream.capture(|_| plan.launch())?;
    let twenty = stream.capture(|_| (0..20).try_for_each(|_| plan.launch()))?;
    let [planned, one, twenty] = times([&mut || plan.launch(), &mut || one.launch(), &mut || {
        twenty.launch()
    }])?;
    println!(
        "{arguments:<12} {bare:>8.3} {ours:>8.3} {:>8.3} {planned:>8.3} {one:>8.3} {:>8.3}",
        ours - bare,
        twenty / 20.0,
    );
    Ok(())
}

/// Microseconds of one call of each, whose batches take turns.
fn times<const N: usize>(
    mut calls: [&mut dyn FnMut() -> oxwarp::Result<()>; N],
) -> oxwarp::Result<[f64; N]> {
    let mut best = [Duration::MAX; N];
    for _ in 0..BATCHES {
        for (call, best) in calls.iter_mut().zip(&mut best) {
            CurrentContext::synchronize().expect("queues that end");
            let start = Instant::now();
            for _ in 0..LAUNCHES {
                call()?;
            }
            *best = (*best).min(start.elapsed());
        }
    }
    CurrentContext::synchronize().expect("queues that end");
    Ok(best.map(|time| time.as_secs_f64() * 1e6 / f64::from(LAUNCHES)))
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

    /// A launch of the kernel whose symbol begins so.
    fn launch(&self, kernel: &str, parameters: Vec<u64>) -> impl FnMut() -> oxwarp::Result<()> {
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
        move || {
            let arguments = [parameters.as_ptr().cast_mut().cast::<c_void>()];
            let arguments = if parameters.is_empty() {
                &[][..]
            } else {
                &arguments[..]
            };
            // SAFETY: the function takes one parameter struct of that size, or none.
            unsafe {
                self.stream
                    .launch(&function, GridSize::x(4), BlockSize::x(256), 0, arguments)
            }?;
            Ok(())
        }
    }
}
