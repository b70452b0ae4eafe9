//! Runs one case on both sides: checks the results, looks at the resources, and takes the times in turn.

use oxwarp::Gpu;

use crate::cases::{Case, Entry, Outcome, Size, Work};
use crate::ceiling::Ceilings;
use crate::code::{self, Code};
use crate::driver::{Driver, Function, Resources, Twins};

/// How thoroughly the times are taken.
#[derive(Clone, Copy, Debug)]
pub struct Effort {
    /// Pairs of measurements, of which the median counts.
    pub pairs: usize,
    /// Seconds that a measurement shall take at least; short runs are repeated in it.
    pub seconds: f64,
}

impl Effort {
    pub const FULL: Effort = Effort {
        pairs: 11,
        seconds: 2e-3,
    };
    pub const QUICK: Effort = Effort {
        pairs: 3,
        seconds: 5e-4,
    };
}

/// What came out of one case.
pub struct Row {
    pub entry: &'static Entry,
    pub work: Work,
    /// Seconds of one run.
    pub rust: f64,
    pub c: f64,
    /// The median of time(Rust) / time(C) in the pairs.
    pub ratio: f64,
    /// The share of the ceiling that the Rust side reaches.
    pub share: Option<f64>,
    pub rust_resources: Resources,
    pub c_resources: Resources,
    pub code: Code,
}

/// Measures cases on one device.
pub struct Bench<'a> {
    pub gpu: &'a Gpu,
    pub driver: &'a Driver,
    pub twins: Twins<'a>,
    /// The Rust kernels, loaded once more to look at them.
    pub rust: crate::driver::Module,
    pub ceilings: Ceilings,
    pub effort: Effort,
}

impl Bench<'_> {
    /// Runs one case.
    pub fn run(&mut self, entry: &'static Entry) -> Outcome<Row> {
        let mut case = (entry.build)(self.gpu, Size::Full)?;
        let functions: Vec<Function> = case
            .twin
            .iter()
            .map(|twin| self.twins.function(entry.source, twin.kernel))
            .collect::<Outcome<_>>()?;
        case.reset()?;
        case.launch()?;
        case.check().map_err(|error| format!("Rust: {error}"))?;
        case.reset()?;
        self.launch_twin(&case, &functions)?;
        self.gpu.synchronize()?;
        case.check().map_err(|error| format!("CUDA C: {error}"))?;

        let (rust, c, ratio) = self.times(&mut case, &functions)?;
        let kernel = entry.kernels[0];
        let symbol = code::symbol(kernel).ok_or("the kernel was not compiled")?;
        let of_c = self.twins.function(entry.source, kernel)?;
        let rate = amount(case.work) / rust;
        Ok(Row {
            entry,
            work: case.work,
            rust,
            c,
            ratio,
            share: self.ceilings.of(case.work).map(|ceiling| rate / ceiling),
            rust_resources: self
                .driver
                .resources(self.driver.function(&self.rust, symbol)?)?,
            c_resources: self.driver.resources(of_c)?,
            code: Code::of(code::text(kernel).ok_or("the kernel has no PTX")?),
        })
    }

    /// Medians of the seconds of a run and of the ratio, in turn: Rust, C, Rust, C...
    fn times(&self, case: &mut Case, functions: &[Function]) -> Outcome<(f64, f64, f64)> {
        case.launch()?;
        let once = self.driver.time(|| case.launch())?;
        let repeats = (self.effort.seconds / once).ceil().clamp(1.0, 100.0) as usize;
        let mut pairs = Vec::new();
        for _ in 0..self.effort.pairs {
            let rust = self
                .driver
                .time(|| (0..repeats).try_for_each(|_| case.launch()))?;
            let c = self
                .driver
                .time(|| (0..repeats).try_for_each(|_| self.launch_twin(case, functions)))?;
            pairs.push((rust / repeats as f64, c / repeats as f64));
        }
        self.gpu.synchronize()?;
        Ok((
            median(pairs.iter().map(|pair| pair.0)),
            median(pairs.iter().map(|pair| pair.1)),
            median(pairs.iter().map(|pair| pair.0 / pair.1)),
        ))
    }

    fn launch_twin(&self, case: &Case, functions: &[Function]) -> Outcome<()> {
        let launches = functions.iter().zip(&case.twin);
        launches
            .into_iter()
            .try_for_each(|(&function, twin)| self.driver.launch(function, twin))
    }
}

/// How much work that is, in its own unit.
pub fn amount(work: Work) -> f64 {
    match work {
        Work::Bytes(amount) | Work::Flops(amount) | Work::Results(amount) => amount,
    }
}

fn median(values: impl Iterator<Item = f64>) -> f64 {
    let mut values: Vec<f64> = values.collect();
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}
