//! Runs one case on both sides: checks the results, looks at the resources, and takes the times in turn.

use oxwarp::Gpu;
use ptx_report::Code;

use crate::cases::{Case, Checks, Entry, Outcome, Size, Work};
use crate::ceiling::Ceilings;
use crate::code;
use crate::driver::{Driver, Function, Resources, Twins};

/// How thoroughly the times are taken.
#[derive(Clone, Copy, Debug)]
pub struct Effort {
    /// Rounds of measurements, of which the median counts.
    pub rounds: usize,
    /// Seconds that a measurement shall take at least; short runs are repeated in it.
    pub seconds: f64,
}

impl Effort {
    pub const FULL: Effort = Effort {
        rounds: 11,
        seconds: 2e-3,
    };
    pub const QUICK: Effort = Effort {
        rounds: 3,
        seconds: 5e-4,
    };
}

/// The seconds of one run on each side, measured one after the other.
struct Round {
    rust: f64,
    unchecked: f64,
    c: f64,
}

/// What came out of one case.
pub struct Row {
    pub entry: &'static Entry,
    pub work: Work,
    /// Seconds of one run.
    pub rust: f64,
    pub c: f64,
    /// Without the checks.
    pub unchecked: f64,
    /// The median of time(Rust) / time(C) in the rounds.
    pub ratio: f64,
    /// The same without the checks.
    pub unchecked_ratio: f64,
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
        for checks in [Checks::On, Checks::Off] {
            case.reset()?;
            case.launch(checks)?;
            case.check()
                .map_err(|error| format!("Rust, checks {checks:?}: {error}"))?;
        }
        case.reset()?;
        self.launch_twin(&case, &functions)?;
        self.gpu.synchronize()?;
        case.check().map_err(|error| format!("CUDA C: {error}"))?;

        let rounds = self.times(&mut case, &functions)?;
        let of = |value: fn(&Round) -> f64| median(rounds.iter().map(value));
        let rust = of(|round| round.rust);
        let kernel = entry.kernels[0];
        let symbol = code::symbol(kernel).ok_or("the kernel was not compiled")?;
        let of_c = self.twins.function(entry.source, kernel)?;
        let rate = amount(case.work) / rust;
        Ok(Row {
            entry,
            work: case.work,
            rust,
            c: of(|round| round.c),
            unchecked: of(|round| round.unchecked),
            ratio: of(|round| round.rust / round.c),
            unchecked_ratio: of(|round| round.unchecked / round.c),
            share: self.ceilings.of(case.work).map(|ceiling| rate / ceiling),
            rust_resources: self
                .driver
                .resources(self.driver.function(&self.rust, symbol)?)?,
            c_resources: self.driver.resources(of_c)?,
            code: code::of(kernel).ok_or("the kernel has no PTX")?,
        })
    }

    /// In turn: Rust, Rust without checks, C, Rust...
    fn times(&self, case: &mut Case, functions: &[Function]) -> Outcome<Vec<Round>> {
        case.launch(Checks::On)?;
        let once = self.driver.time(|| case.launch(Checks::On))?;
        let repeats = (self.effort.seconds / once).ceil().clamp(1.0, 100.0) as usize;
        let mut rounds = Vec::new();
        for _ in 0..self.effort.rounds {
            let mut rust = |checks| {
                self.driver
                    .time(|| (0..repeats).try_for_each(|_| case.launch(checks)))
            };
            let (checked, unchecked) = (rust(Checks::On)?, rust(Checks::Off)?);
            let c = self
                .driver
                .time(|| (0..repeats).try_for_each(|_| self.launch_twin(case, functions)))?;
            let of_one = |seconds: f64| seconds / repeats as f64;
            rounds.push(Round {
                rust: of_one(checked),
                unchecked: of_one(unchecked),
                c: of_one(c),
            });
        }
        self.gpu.synchronize()?;
        Ok(rounds)
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
        Work::Bytes(amount)
        | Work::Flops(amount)
        | Work::MatrixFlops(amount)
        | Work::Results(amount) => amount,
    }
}

fn median(values: impl Iterator<Item = f64>) -> f64 {
    let mut values: Vec<f64> = values.collect();
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}
