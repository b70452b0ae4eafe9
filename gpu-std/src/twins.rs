//! Second copies of what rustc compiles once: functions of alloc that a dependency may have, for the host only.
//!
//! Of a generic function that is `#[inline(never)]`, such as the one that grows a `Vec<usize>`, rustc makes no instance where a
//! dependency has one. It does for a type of the crate's own, even if that only wraps a `usize`. So each crate with kernels
//! has pairs of functions, for a number and for its wrapper, which differ in nothing but what they call: where the first
//! calls something that the crate lacks, the device compiler takes what the second calls.

use alloc::collections::VecDeque;
use alloc::vec::Vec;
use core::marker::PhantomData;
use core::ptr;

/// The first bytes of [`Twins`], by which the device compiler finds it in the bitcode.
pub const TWINS_MAGIC: [u8; 16] = *b"oxwarp twins  01";

/// The functions for one type that the device compiler looks into.
const FUNCTIONS: usize = 3;
/// The types.
const TYPES: usize = 16;

/// The pairs of functions.
#[repr(C)]
pub struct Twins {
    magic: [u8; 16],
    functions: [[[*const (); FUNCTIONS]; 2]; TYPES],
}

// SAFETY: the table is constant.
unsafe impl Sync for Twins {}

/// A `T`, but a type of the crate that has `Local`.
#[repr(transparent)]
struct Like<T, Local>(T, PhantomData<Local>);

impl Twins {
    /// Those of the crate that has the type `Local`; none where it is compiled for the host.
    pub const fn of<Local>(for_device: bool) -> Self {
        macro_rules! pairs {
            ($($number:ty)*) => {
                [$([functions::<$number>(), functions::<Like<$number, Local>>()]),*]
            };
        }
        Self {
            magic: TWINS_MAGIC,
            functions: match for_device {
                true => {
                    pairs!(u8 u16 u32 u64 u128 usize i8 i16 i32 i64 i128 isize f32 f64 bool char)
                }
                false => [[[ptr::null(); FUNCTIONS]; 2]; TYPES],
            },
        }
    }
}

const fn functions<T>() -> [*const (); FUNCTIONS] {
    [
        push::<T> as *const (),
        push_front::<T> as *const (),
        push_back::<T> as *const (),
    ]
}

fn push<T>(values: &mut Vec<T>, value: T) {
    values.push(value);
}

fn push_front<T>(values: &mut VecDeque<T>, value: T) {
    values.push_front(value);
}

fn push_back<T>(values: &mut VecDeque<T>, value: T) {
    values.push_back(value);
}
