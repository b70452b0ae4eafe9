//! Runs a function on the host and in a kernel, over the same random inputs, and compares.

use std::fmt::Debug;

use oxwarp::DeviceCopy;
use oxwarp::prelude::*;

use crate::arbitrary::Arbitrary;
use crate::common::Random;

/// Tests, each named after the function that it runs on both sides.
macro_rules! agree {
    ($($name:ident $(within $ulp:literal ulp)?),* $(,)?) => {
        mod on_both {
            $(#[test]
            fn $name() {
                $crate::check::check(super::$name, 0 $(+ $ulp)?);
            })*
        }
    };
}

/// Of how many inputs each function is.
const COUNT: usize = 600;

/// Products and sums are not contracted to `fma`: the host's are not either.
#[kernel(fma = false)]
fn each<I: DeviceCopy, O: DeviceCopy, F: Fn(I) -> O + Copy>(
    f: F,
    inputs: &[I],
    mut outputs: DisjointSlice<O>,
) {
    let i = thread::index_1d();
    if let Some(output) = outputs.get_mut(i) {
        *output = f(inputs[*i]);
    }
}

/// Runs `f` on both sides; results may be `ulp` apart.
pub fn check<I, O, F>(f: F, ulp: u64)
where
    I: Arbitrary + DeviceCopy + Debug + 'static,
    O: Outcome + DeviceCopy + Debug + 'static,
    F: Fn(I) -> O + Copy + 'static,
{
    let gpu = Gpu::new().unwrap();
    let mut random = Random::new(1);
    let inputs: Vec<I> = (0..COUNT).map(|_| I::arbitrary(&mut random)).collect();
    let expected: Vec<O> = inputs.iter().map(|&input| f(input)).collect();
    assert!(
        expected.iter().any(|x| x.distance(&expected[0]) > 0),
        "all results are {:?}, which shows nothing",
        expected[0]
    );
    let mut outputs = gpu.full(COUNT, expected[0]).unwrap();
    let device_inputs = gpu.to_device(&inputs).unwrap();
    each.for_each(COUNT)
        .launch(f, &device_inputs, &mut outputs)
        .unwrap();
    let outputs = outputs.to_vec().unwrap();
    for ((input, expected), output) in inputs.iter().zip(&expected).zip(&outputs) {
        let distance = expected.distance(output);
        assert!(
            distance <= ulp,
            "of {input:?}: {expected:?} on the host, {output:?} in the kernel, {distance} ULP apart"
        );
    }
}

/// A result that is compared.
pub trait Outcome: Copy {
    /// How far apart floats are at most, in ULP; of everything else, 0 or the most there is.
    fn distance(&self, other: &Self) -> u64;
}

macro_rules! exact {
    ($($ty:ty)*) => {$(
        impl Outcome for $ty {
            fn distance(&self, other: &Self) -> u64 {
                if self == other { 0 } else { u64::MAX }
            }
        }
    )*};
}

exact!(u8 u16 u32 u64 u128 usize i8 i16 i32 i64 i128 isize bool char);

macro_rules! floats {
    ($($float:ident $bits:ident)*) => {$(
        /// All NaN are one: which bits they have is not Rust's to say.
        impl Outcome for $float {
            fn distance(&self, other: &Self) -> u64 {
                if self.is_nan() || other.is_nan() {
                    return if self.is_nan() && other.is_nan() { 0 } else { u64::MAX };
                }
                // The bits in the order of the numbers; the two zeros are one apart.
                let ordered = |x: $float| {
                    let magnitude = i128::from(x.to_bits() & ($bits::MAX >> 1));
                    if x.is_sign_negative() { -1 - magnitude } else { magnitude }
                };
                (ordered(*self) - ordered(*other)).unsigned_abs() as u64
            }
        }
    )*};
}

floats!(f32 u32 f64 u64);

impl<T: Outcome> Outcome for Option<T> {
    fn distance(&self, other: &Self) -> u64 {
        match (self, other) {
            (Some(x), Some(y)) => x.distance(y),
            (None, None) => 0,
            _ => u64::MAX,
        }
    }
}

impl<T: Outcome, E: Outcome> Outcome for Result<T, E> {
    fn distance(&self, other: &Self) -> u64 {
        match (self, other) {
            (Ok(x), Ok(y)) => x.distance(y),
            (Err(x), Err(y)) => x.distance(y),
            _ => u64::MAX,
        }
    }
}

impl<T: Outcome, const N: usize> Outcome for [T; N] {
    fn distance(&self, other: &Self) -> u64 {
        let distances = self.iter().zip(other).map(|(x, y)| x.distance(y));
        distances.max().unwrap_or(0)
    }
}

macro_rules! tuples {
    ($(($($name:ident $index:tt)*))*) => {$(
        impl<$($name: Outcome),*> Outcome for ($($name,)*) {
            fn distance(&self, other: &Self) -> u64 {
                [$(self.$index.distance(&other.$index)),*].into_iter().max().unwrap_or(0)
            }
        }
    )*};
}

tuples!((A 0 B 1) (A 0 B 1 C 2) (A 0 B 1 C 2 D 3) (A 0 B 1 C 2 D 3 E 4) (A 0 B 1 C 2 D 3 E 4 F 5));

/// One number of the values and their order.
pub fn digest<T: Into<u64>>(values: impl IntoIterator<Item = T>) -> u64 {
    values
        .into_iter()
        .fold(0xcbf2_9ce4_8422_2325, |sum, value| {
            (sum ^ value.into()).wrapping_mul(0x100_0000_01b3)
        })
}

/// One number of a text, which not every program has.
#[allow(dead_code)]
pub fn digest_text(text: &str) -> u64 {
    digest(text.bytes())
}
