//! Values taken to pieces: the numbers at their leaves, in the order of the source.

use std::num::{NonZeroI64, NonZeroU8, NonZeroU16, NonZeroU32};

use crate::common::Random;

/// The most leaves of a value, with the three that the kernel adds.
pub const MOST: usize = 64;

/// The leaves of one value.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Leaves {
    count: usize,
    values: [u64; MOST],
}

// SAFETY: it is plain data.
unsafe impl oxwarp::DeviceCopy for Leaves {}

impl Default for Leaves {
    fn default() -> Self {
        Leaves {
            count: 0,
            values: [0; MOST],
        }
    }
}

impl Leaves {
    /// Those of `value`.
    pub fn of(value: &impl Value) -> Self {
        let mut leaves = Leaves::default();
        value.leaves(&mut leaves);
        leaves
    }

    /// Adds one.
    pub fn put(&mut self, leaf: u64) {
        self.values[self.count] = leaf;
        self.count += 1;
    }
}

/// A type with random values that can be taken to pieces.
pub trait Value: Copy {
    fn random(random: &mut Random) -> Self;
    fn leaves(&self, leaves: &mut Leaves);
}

macro_rules! numbers {
    ($($ty:ty)*) => {$(
        impl Value for $ty {
            fn random(random: &mut Random) -> Self {
                random.bits() as $ty
            }
            fn leaves(&self, leaves: &mut Leaves) {
                leaves.put(*self as u64);
            }
        }
    )*};
}

numbers!(u8 u16 u32 u64 usize i8 i16 i32 i64);

macro_rules! wide {
    ($($ty:ty)*) => {$(
        impl Value for $ty {
            fn random(random: &mut Random) -> Self {
                <$ty>::from(random.bits()) << 64 | <$ty>::from(random.bits())
            }
            fn leaves(&self, leaves: &mut Leaves) {
                leaves.put(*self as u64);
                leaves.put((*self >> 64) as u64);
            }
        }
    )*};
}

wide!(u128 i128);

macro_rules! floats {
    ($($ty:ty)*) => {$(
        impl Value for $ty {
            fn random(random: &mut Random) -> Self {
                random.between(-1e6, 1e6) as $ty
            }
            fn leaves(&self, leaves: &mut Leaves) {
                leaves.put(self.to_bits().into());
            }
        }
    )*};
}

floats!(f32 f64);

macro_rules! nonzero {
    ($($ty:ident)*) => {$(
        impl Value for $ty {
            fn random(random: &mut Random) -> Self {
                $ty::new(random.bits() as _).unwrap_or($ty::MAX)
            }
            fn leaves(&self, leaves: &mut Leaves) {
                leaves.put(self.get() as u64);
            }
        }
    )*};
}

nonzero!(NonZeroU8 NonZeroU16 NonZeroU32 NonZeroI64);

impl Value for bool {
    fn random(random: &mut Random) -> Self {
        random.bits() >> 63 == 1
    }
    fn leaves(&self, leaves: &mut Leaves) {
        leaves.put(u64::from(*self) + 2);
    }
}

impl Value for char {
    fn random(random: &mut Random) -> Self {
        char::from_u32((random.bits() >> 43) as u32).unwrap_or('é')
    }
    fn leaves(&self, leaves: &mut Leaves) {
        leaves.put(u64::from(*self));
    }
}

impl Value for () {
    fn random(_: &mut Random) -> Self {}
    fn leaves(&self, _: &mut Leaves) {}
}

impl<T: Value, const N: usize> Value for [T; N] {
    fn random(random: &mut Random) -> Self {
        std::array::from_fn(|_| T::random(random))
    }
    fn leaves(&self, leaves: &mut Leaves) {
        for value in self {
            value.leaves(leaves);
        }
    }
}

impl<T: Value> Value for Option<T> {
    fn random(random: &mut Random) -> Self {
        bool::random(random).then(|| T::random(random))
    }
    fn leaves(&self, leaves: &mut Leaves) {
        match self {
            Some(value) => value.leaves(leaves),
            None => leaves.put(0xdead),
        }
    }
}

impl<T: Value, E: Value> Value for Result<T, E> {
    fn random(random: &mut Random) -> Self {
        if bool::random(random) {
            Ok(T::random(random))
        } else {
            Err(E::random(random))
        }
    }
    fn leaves(&self, leaves: &mut Leaves) {
        leaves.put(u64::from(self.is_ok()) + 7);
        match self {
            Ok(value) => value.leaves(leaves),
            Err(error) => error.leaves(leaves),
        }
    }
}

macro_rules! tuples {
    ($(($($name:ident $index:tt)*))*) => {$(
        impl<$($name: Value),*> Value for ($($name,)*) {
            fn random(random: &mut Random) -> Self {
                ($($name::random(random),)*)
            }
            fn leaves(&self, leaves: &mut Leaves) {
                $(self.$index.leaves(leaves);)*
            }
        }
    )*};
}

tuples!((A 0 B 1) (A 0 B 1 C 2) (A 0 B 1 C 2 D 3));
