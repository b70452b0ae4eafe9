//! Random inputs of any type. Numbers are often those at which code goes wrong: zeros, limits, powers of two, NaN.

use crate::common::Random;

/// A type of which there are random values.
pub trait Arbitrary: Copy {
    fn arbitrary(random: &mut Random) -> Self;
}

macro_rules! integers {
    ($($ty:ident)*) => {$(
        impl Arbitrary for $ty {
            fn arbitrary(random: &mut Random) -> Self {
                let bits = u128::from(random.bits()) << 64 | u128::from(random.bits());
                let small = (bits >> 100) as $ty & 15;
                match random.bits() >> 61 {
                    0 => small,
                    1 => $ty::MAX - small,
                    2 => $ty::MIN.wrapping_add(small),
                    3 => (1 as $ty) << (bits >> 100) % u128::from($ty::BITS),
                    4 => bits as $ty & 127,
                    _ => bits as $ty,
                }
            }
        }
    )*};
}

integers!(u8 u16 u32 u64 u128 usize i8 i16 i32 i64 i128 isize);

macro_rules! floats {
    ($($float:ident $bits:ident)*) => {$(
        impl Arbitrary for $float {
            fn arbitrary(random: &mut Random) -> Self {
                const SPECIAL: [$float; 16] = [
                    0.0, -0.0, 1.0, -1.0, 0.5, 2.5, -3.5, 255.5, -129.0, 1e10,
                    $float::INFINITY, $float::NEG_INFINITY, $float::NAN, $float::MAX, $float::MIN_POSITIVE,
                    $float::MIN_POSITIVE / 8.0,
                ];
                match random.bits() >> 62 {
                    0 => SPECIAL[(random.bits() >> 60) as usize],
                    1 => $float::from_bits(random.bits() as $bits),
                    2 => random.between(-1000.0, 1000.0).round() as $float / 8.0,
                    _ => random.between(-100.0, 100.0) as $float,
                }
            }
        }
    )*};
}

floats!(f32 u32 f64 u64);

impl Arbitrary for bool {
    fn arbitrary(random: &mut Random) -> Self {
        random.bits() >> 63 == 1
    }
}

impl Arbitrary for char {
    fn arbitrary(random: &mut Random) -> Self {
        const SPECIAL: [char; 8] = ['\0', ' ', '\n', '~', 'ß', 'İ', '\u{d7ff}', char::MAX];
        match random.bits() >> 62 {
            0 => SPECIAL[(random.bits() >> 61) as usize],
            1 => char::from_u32((random.bits() >> 43) as u32).unwrap_or('é'),
            _ => (b' ' + (random.bits() >> 32) as u8 % 95).into(),
        }
    }
}

impl<T: Arbitrary> Arbitrary for Option<T> {
    fn arbitrary(random: &mut Random) -> Self {
        let some = random.bits() >> 62 != 0;
        some.then(|| T::arbitrary(random))
    }
}

impl<T: Arbitrary, const N: usize> Arbitrary for [T; N] {
    fn arbitrary(random: &mut Random) -> Self {
        std::array::from_fn(|_| T::arbitrary(random))
    }
}

macro_rules! tuples {
    ($(($($name:ident)*))*) => {$(
        impl<$($name: Arbitrary),*> Arbitrary for ($($name,)*) {
            fn arbitrary(random: &mut Random) -> Self {
                ($($name::arbitrary(random),)*)
            }
        }
    )*};
}

tuples!((A B) (A B C) (A B C D));
