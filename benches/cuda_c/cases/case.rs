//! What a case is: data on a device, a launch in Rust, the same launch in CUDA C, and a check of what came out.

use std::error::Error;

use oxwarp::{DeviceArray, DeviceCopy, Gpu};

/// What can go wrong: a launch, or the check of its results.
pub type Outcome<T> = Result<T, Box<dyn Error>>;

/// One case, before there is data.
pub struct Entry {
    pub name: &'static str,
    /// The kernels that one run launches, in Rust and in C; the first is the one that takes the time.
    pub kernels: &'static [&'static str],
    /// Bits of the indices that both sides compute with.
    pub index_bits: u32,
    pub source: Source,
    pub build: fn(&Gpu, Size) -> Outcome<Case>,
}

/// The CUDA C side of a file.
#[derive(Clone, Copy)]
pub struct Source {
    pub name: &'static str,
    pub text: &'static str,
    /// Whether it is compiled with `-use_fast_math`: where the Rust side calls the functions of `oxwarp::fast`.
    pub fast_math: bool,
}

impl Source {
    /// Compiles it with NVRTC's defaults, for a real architecture such as `sm_90`.
    pub fn compile(&self, architecture: &str) -> Outcome<cuda_loader::Compiled> {
        let architecture = format!("--gpu-architecture={architecture}");
        let options = [architecture.as_str(), "--use_fast_math"];
        let options = &options[..if self.fast_math { 2 } else { 1 }];
        let source = cuda_loader::Source {
            name: self.name,
            text: self.text,
            options,
            ..cuda_loader::Source::default()
        };
        Ok(cuda_loader::nvrtc()?.compile(&source)?)
    }
}

/// How much data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Size {
    /// More than the L2 cache holds, and a launch takes long enough to be measured.
    Full,
    /// So little that the simulator runs it in a moment; no multiple of a block, where the kernel allows that.
    Small,
}

impl Size {
    pub fn pick<T>(self, full: T, small: T) -> T {
        match self {
            Size::Full => full,
            Size::Small => small,
        }
    }
}

/// What one run does, for the rate.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Work {
    /// Bytes that must be read and written at least.
    Bytes(f64),
    /// Operations on `f32`; a fused multiply-add counts as two.
    Flops(f64),
    /// Operations of the matrix units; a multiplication and addition count as two.
    MatrixFlops(f64),
    /// Results of another kind, which have no ceiling: interactions, random numbers.
    Results(f64),
}

/// A launch of a CUDA C kernel.
pub struct Twin {
    pub kernel: &'static str,
    pub grid: [u32; 3],
    pub block: [u32; 3],
    /// The parameters in their order; each lies in the low bytes of its words.
    pub arguments: Vec<Vec<u64>>,
}

impl Twin {
    pub fn new(
        kernel: &'static str,
        grid: impl Extent,
        block: impl Extent,
        arguments: Vec<Vec<u64>>,
    ) -> Self {
        let (grid, block) = (grid.extent(), block.extent());
        Twin {
            kernel,
            grid,
            block,
            arguments,
        }
    }
}

/// One, two or three numbers.
pub trait Extent {
    fn extent(self) -> [u32; 3];
}

impl Extent for usize {
    fn extent(self) -> [u32; 3] {
        [self as u32, 1, 1]
    }
}

impl Extent for (usize, usize) {
    fn extent(self) -> [u32; 3] {
        [self.0 as u32, self.1 as u32, 1]
    }
}

impl Extent for (usize, usize, usize) {
    fn extent(self) -> [u32; 3] {
        [self.0 as u32, self.1 as u32, self.2 as u32]
    }
}

/// A parameter of a CUDA C kernel.
pub trait Argument {
    /// Its bytes, filled up to whole words.
    fn words(&self) -> Vec<u64>;
}

impl<T: DeviceCopy, D: ndarray::Dimension> Argument for DeviceArray<T, D> {
    fn words(&self) -> Vec<u64> {
        vec![self.device_ptr()]
    }
}

impl Argument for f32 {
    fn words(&self) -> Vec<u64> {
        vec![self.to_bits().into()]
    }
}

impl Argument for u32 {
    fn words(&self) -> Vec<u64> {
        vec![(*self).into()]
    }
}

impl Argument for usize {
    fn words(&self) -> Vec<u64> {
        vec![*self as u64]
    }
}

impl<const N: usize> Argument for [u32; N] {
    fn words(&self) -> Vec<u64> {
        let pair = |pair: &[u32]| {
            u64::from(pair[0]) | pair.get(1).map_or(0, |&high| u64::from(high) << 32)
        };
        self.chunks(2).map(pair).collect()
    }
}

/// The words of a CUDA C kernel's parameters: an array stands for its pointer.
macro_rules! arguments {
    ($($argument:expr),* $(,)?) => {
        vec![$($crate::cases::case::Argument::words(&$argument)),*]
    };
}
pub(crate) use arguments;

/// Which of the two kernels in Rust.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Checks {
    On,
    /// `#[kernel(unsafe(unchecked))]`; the simulator checks all the same.
    Off,
}

/// A kernel, and the same without checks under the name that stands before it. That one is an `unsafe fn`: it is sound in
/// the launches of the case, in which the checked kernel does not panic, and not in all.
macro_rules! with_unchecked {
    (
        $unchecked:ident:
        $(#[doc = $doc:literal])*
        #[kernel $(($($option:tt)*))?]
        fn $name:ident $($rest:tt)*
    ) => {
        $(#[doc = $doc])*
        #[kernel $(($($option)*))?]
        fn $name $($rest)*

        $(#[doc = $doc])*
        // SAFETY: the kernel is an `unsafe fn`, whose callers promise that no check of it would fail.
        #[kernel(unsafe(unchecked) $(, $($option)*)?)]
        unsafe fn $unchecked $($rest)*
    };
}
pub(crate) use with_unchecked;

/// Launches the kernel with checks or the one without.
macro_rules! launch_either {
    ($checks:expr, $name:ident / $unchecked:ident [$($shape:tt)*] ($($argument:tt)*)) => {
        match $checks {
            $crate::cases::Checks::On => launch!($name[$($shape)*]($($argument)*)),
            // SAFETY: with these arguments no check of the kernel fails, as its launch with checks shows.
            $crate::cases::Checks::Off => unsafe { launch!($unchecked[$($shape)*]($($argument)*)) },
        }
    };
}
pub(crate) use launch_either;

/// A case with its data.
pub struct Case {
    pub work: Work,
    /// The launches of one run in CUDA C, on the same arrays.
    pub twin: Vec<Twin>,
    sides: Box<dyn Sides>,
}

trait Sides {
    fn reset(&mut self) -> Outcome<()>;
    fn launch(&mut self, checks: Checks) -> Outcome<()>;
    fn check(&self) -> Outcome<()>;
}

/// What the kernels write, and what to do with it.
struct Parts<S, R, L, C> {
    outputs: S,
    reset: R,
    launch: L,
    check: C,
}

impl<S, R, L, C> Sides for Parts<S, R, L, C>
where
    R: Fn(&mut S) -> oxwarp::Result<()>,
    L: Fn(Checks, &mut S) -> oxwarp::Result<()>,
    C: Fn(&S) -> Outcome<()>,
{
    fn reset(&mut self) -> Outcome<()> {
        Ok((self.reset)(&mut self.outputs)?)
    }

    fn launch(&mut self, checks: Checks) -> Outcome<()> {
        Ok((self.launch)(checks, &mut self.outputs)?)
    }

    fn check(&self) -> Outcome<()> {
        (self.check)(&self.outputs)
    }
}

impl Case {
    /// A case of what the kernels write, how that is put back to what it was before the first launch, the Rust launches of
    /// one run, and the comparison with the reference.
    pub fn new<S: 'static>(
        work: Work,
        twin: Vec<Twin>,
        outputs: S,
        reset: impl Fn(&mut S) -> oxwarp::Result<()> + 'static,
        launch: impl Fn(Checks, &mut S) -> oxwarp::Result<()> + 'static,
        check: impl Fn(&S) -> Outcome<()> + 'static,
    ) -> Self {
        let sides = Box::new(Parts {
            outputs,
            reset,
            launch,
            check,
        });
        Case { work, twin, sides }
    }

    /// Puts the outputs back to what they were before the first launch.
    pub fn reset(&mut self) -> Outcome<()> {
        self.sides.reset()
    }

    /// Queues the launches of one run in Rust.
    pub fn launch(&mut self, checks: Checks) -> Outcome<()> {
        self.sides.launch(checks)
    }

    /// Compares the outputs of one run since the last reset, by either side, with the reference.
    pub fn check(&self) -> Outcome<()> {
        self.sides.check()
    }
}

/// Compares `got` at `places` with `wanted`, whose error may be `tolerance`, relative where `wanted` is above 1.
pub fn close<T: Copy + Into<f64>>(
    got: &[T],
    places: impl IntoIterator<Item = usize>,
    tolerance: f64,
    wanted: impl Fn(usize) -> f64,
) -> Outcome<()> {
    for place in places {
        let (got, wanted): (f64, f64) = (got[place].into(), wanted(place));
        // Also false for NaN.
        let is_close = (got - wanted).abs() <= tolerance * wanted.abs().max(1.0);
        if !is_close {
            return Err(format!("element {place} is {got}, not {wanted}").into());
        }
    }
    Ok(())
}

/// All places of `len`, or so many random ones where there are more.
pub fn places(len: usize, most: usize) -> Vec<usize> {
    if len <= most {
        return (0..len).collect();
    }
    let mut random = super::random::Random::new(len as u64);
    (0..most).map(|_| random.below(len)).collect()
}
