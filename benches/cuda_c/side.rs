//! Runs one case on both sides and prints what came out.

use std::ffi::c_void;

use cust::event::{Event, EventFlags};
use cust::function::{BlockSize, Function, FunctionAttribute, GridSize};
use cust::memory::{CopyDestination, DeviceBuffer};
use cust::module::Module;
use cust::stream::{Stream, StreamFlags};
use oxwarp::__private::DeviceCode;

/// Pairs of measurements.
pub const PAIRS: usize = 11;
/// Launches in one measurement.
const LAUNCHES: u32 = 5;

/// A kernel with its launch.
pub struct Case<'a> {
    pub name: &'a str,
    pub grid: (u32, u32),
    pub block: (u32, u32),
    /// The parameters, a word each: Rust takes them as one struct, CUDA C one by one.
    pub words: &'a [u64],
    /// What the kernel writes, compared between the sides. `None` where a run changes its own input.
    pub output: Option<&'a DeviceBuffer<f32>>,
}

/// Both modules and the stream.
pub struct Sides {
    rust: Module,
    c: Module,
    code: &'static DeviceCode,
    stream: Stream,
}

impl Sides {
    pub fn new(rust: Module, c: Module, code: &'static DeviceCode) -> Self {
        let stream = Stream::new(StreamFlags::NON_BLOCKING, None).expect("a stream");
        Sides {
            rust,
            c,
            code,
            stream,
        }
    }

    /// Measures and prints one case.
    pub fn run(&self, case: &Case) {
        let prefix = format!("{}_", case.name);
        let kernels = self
            .code
            .kernels
            .iter()
            .map(|kernel| kernel.symbol.to_string_lossy());
        let symbol = kernels
            .into_iter()
            .find(|symbol| symbol.starts_with(&prefix) && symbol.len() == prefix.len() + 32);
        let rust = self
            .rust
            .get_function(symbol.expect("the kernel was compiled"))
            .expect("the kernel");
        let c = self.c.get_function(case.name).expect("the twin");
        let whole = [case.words.as_ptr().cast_mut().cast::<c_void>()];
        let single: Vec<*mut c_void> = case
            .words
            .iter()
            .map(|word| (&raw const *word).cast_mut().cast())
            .collect();

        let by_rust = self.output_of(case, &rust, &whole);
        let by_c = self.output_of(case, &c, &single);
        let difference = by_rust
            .iter()
            .zip(&by_c)
            .map(|(a, b)| f64::from((a - b).abs()))
            .fold(0.0, f64::max);
        assert!(
            by_rust.iter().all(|value| !value.is_nan()),
            "{}: not all was written",
            case.name
        );

        let mut pairs: Vec<(f64, f64)> = (0..PAIRS)
            .map(|_| (self.time(case, &rust, &whole), self.time(case, &c, &single)))
            .collect();
        let (rust_ms, c_ms) = (
            median(pairs.iter().map(|pair| pair.0)),
            median(pairs.iter().map(|pair| pair.1)),
        );
        let ratio = median(pairs.drain(..).map(|(rust, c)| rust / c));
        let registers = |function: &Function| {
            function
                .get_attribute(FunctionAttribute::NumRegisters)
                .unwrap_or(-1)
        };
        println!(
            "{:<14} {rust_ms:>9.4} {c_ms:>9.4} {ratio:>7.3}  {}/{}, {difference:.2e}",
            case.name,
            registers(&rust),
            registers(&c)
        );
    }

    fn output_of(&self, case: &Case, function: &Function, arguments: &[*mut c_void]) -> Vec<f32> {
        self.launch(case, function, arguments);
        self.stream.synchronize().expect("a launch that ends");
        let Some(output) = case.output else {
            return Vec::new();
        };
        let mut host = vec![0.0f32; output.len()];
        output.copy_to(&mut host[..]).expect("a copy");
        host
    }

    /// Milliseconds of one launch.
    fn time(&self, case: &Case, function: &Function, arguments: &[*mut c_void]) -> f64 {
        let [start, end] = [0; 2].map(|_| Event::new(EventFlags::DEFAULT).expect("an event"));
        start.record(&self.stream).expect("a record");
        (0..LAUNCHES).for_each(|_| self.launch(case, function, arguments));
        end.record(&self.stream).expect("a record");
        end.synchronize().expect("launches that end");
        f64::from(end.elapsed_time_f32(&start).expect("a time")) / f64::from(LAUNCHES)
    }

    fn launch(&self, case: &Case, function: &Function, arguments: &[*mut c_void]) {
        let (grid, block) = (
            GridSize::xy(case.grid.0, case.grid.1),
            BlockSize::xy(case.block.0, case.block.1),
        );
        // SAFETY: the words are the kernel's parameters in their order, and the buffers behind them live in `main`.
        unsafe { self.stream.launch(function, grid, block, 0, arguments) }.expect("a launch");
    }
}

fn median(values: impl Iterator<Item = f64>) -> f64 {
    let mut values: Vec<f64> = values.collect();
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}
