//! A number of all values of a program.

pub struct Hash(u64);

impl Hash {
    #[inline]
    pub fn new() -> Self {
        Self(0x1234_5678_9abc_def1)
    }

    #[inline]
    pub fn add(&mut self, bits: u64) {
        self.0 = (self.0.rotate_left(5) ^ bits).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    }

    #[inline]
    pub fn finish(&self) -> u64 {
        self.0
    }
}

pub trait AddTo {
    fn add_to(&self, hash: &mut Hash);
}

macro_rules! integers {
    ($($type:ty)*) => {$(
        impl AddTo for $type {
            #[inline]
            fn add_to(&self, hash: &mut Hash) {
                hash.add(*self as u64);
                hash.add((*self as u128 >> 64) as u64);
            }
        }
    )*};
}

integers!(u8 u16 u32 u64 u128 usize i8 i16 i32 i64 i128 isize);

impl AddTo for bool {
    #[inline]
    fn add_to(&self, hash: &mut Hash) {
        hash.add(*self as u64);
    }
}

/// All NaNs are one: Rust leaves their bits open.
macro_rules! floats {
    ($($type:ty)*) => {$(
        impl AddTo for $type {
            #[inline]
            fn add_to(&self, hash: &mut Hash) {
                hash.add(if self.is_nan() { 99 } else { self.to_bits() as u64 });
            }
        }
    )*};
}

floats!(f32 f64);

impl<T: AddTo, const N: usize> AddTo for [T; N] {
    #[inline]
    fn add_to(&self, hash: &mut Hash) {
        for value in self {
            value.add_to(hash);
        }
    }
}

impl<T: AddTo> AddTo for Option<T> {
    #[inline]
    fn add_to(&self, hash: &mut Hash) {
        match self {
            Some(value) => value.add_to(hash),
            None => hash.add(77),
        }
    }
}
