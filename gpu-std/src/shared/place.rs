//! The array of a place in the source, which `shared_array!` asks for.
//!
//! In: the element type, the extents, and a closure whose type stands for the place. Out: the block's array. What cannot be
//! an element is refused here, so that the error stands at the `shared_array!` and says what to do.

use bytemuck::CheckedBitPattern;

use super::{SharedArray, SharedArray2d, SharedArray3d, storage};

/// What a shared array can hold: plain data, of which a read that races with a write makes no invalid value.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be an element of a shared array",
    label = "not plain data (`bytemuck::CheckedBitPattern`)",
    note = "for a struct of your own of which any bytes are a value: `#[derive(Clone, Copy, bytemuck::AnyBitPattern)]`; for an \
            enum or one with a `bool`: `#[derive(Clone, Copy, bytemuck::CheckedBitPattern)]`; with \
            `bytemuck = {{ version = \"1\", features = [\"derive\"] }}` in Cargo.toml",
    note = "a reference, `Vec`, `Box` or `String` points to other memory: hold plain values, and an index in place of it; atomics \
            are `shared_atomics![AtomicU32; 256]`"
)]
pub trait SharedElement: CheckedBitPattern {}

#[diagnostic::do_not_recommend]
impl<T: CheckedBitPattern> SharedElement for T {}

impl<T, const N: usize> SharedArray<T, N> {
    /// The block's array of the source place that `place` stands for.
    #[doc(hidden)]
    #[inline]
    pub fn of_place<P: Fn() + 'static>(_place: P) -> Self
    where
        T: SharedElement,
    {
        Self {
            first: storage::<[T; N], P>().cast(),
        }
    }
}

impl<T, const ROWS: usize, const COLS: usize> SharedArray2d<T, ROWS, COLS> {
    /// The block's array of the source place that `place` stands for.
    #[doc(hidden)]
    #[inline]
    pub fn of_place<P: Fn() + 'static>(_place: P) -> Self
    where
        T: SharedElement,
    {
        Self {
            first: storage::<[[T; COLS]; ROWS], P>().cast(),
        }
    }
}

impl<T, const PLANES: usize, const ROWS: usize, const COLS: usize>
    SharedArray3d<T, PLANES, ROWS, COLS>
{
    /// The block's array of the source place that `place` stands for.
    #[doc(hidden)]
    #[inline]
    pub fn of_place<P: Fn() + 'static>(_place: P) -> Self
    where
        T: SharedElement,
    {
        Self {
            first: storage::<[[[T; COLS]; ROWS]; PLANES], P>().cast(),
        }
    }
}
