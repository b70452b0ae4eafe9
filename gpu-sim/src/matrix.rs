//! The matrix units: what `mma.sync` and `ldmatrix` of a warp give each lane.
//!
//! In come addresses of the lanes' elements, which lie on the stacks of their coroutines or in shared memory; each lane's
//! elements of the result go out through its own address. Lanes have elements as `gpu_std::matrix` says (PTX ISA, "Matrix
//! fragments for mma.m16n8k16" and its neighbours). A sum starts with the element of C, and products are added in the
//! order of the dimension that is summed over.

use crate::checks::notes;
use crate::checks::shadow::Kind;
use crate::half::{BF16, F16};
use crate::symbols::kernel;
use crate::sync_symbols::warp;
use crate::wait::Request;
use crate::warp::{LANES, Part};

/// A row of a matrix that `ldmatrix` loads.
const ROW_BYTES: usize = 16;

/// An operation of the matrix units, with where a lane's part of the operands is.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Matrix {
    /// A product: the elements of C are replaced by those of the result.
    Multiply {
        name: &'static str,
        multiply: unsafe fn(&[Part], usize),
        a: *const u8,
        b: *const u8,
        c: *mut u8,
    },
    /// A load of `count` matrices of 8 rows of 16 bytes, of each of which a lane gives the address.
    Load {
        count: usize,
        transposed: bool,
        row: *const u8,
        to: *mut u32,
    },
}

impl Matrix {
    /// The operation's name, different for all that cannot meet.
    pub(crate) fn name(&self) -> &'static str {
        match self {
            Matrix::Multiply { name, .. } => name,
            Matrix::Load { count: 2, .. } => "FragmentB::load",
            Matrix::Load { .. } => "FragmentA::load",
        }
    }
}

/// Does the part of an operation that is `lane`'s. All lanes of the warp are among `parts`, in their order.
pub(crate) fn compute(parts: &[Part], lane: u32, operation: Matrix) {
    let lane = lane as usize;
    // SAFETY: the addresses are those that `gpu_std` gives to the operation, of variables on the stacks of suspended
    // lanes and of shared memory.
    unsafe {
        match operation {
            Matrix::Multiply { multiply, .. } => multiply(parts, lane),
            Matrix::Load {
                count,
                transposed,
                to,
                ..
            } => load(parts, lane, count, transposed, to),
        }
    }
}

/// What is multiplied, and how a product is added.
trait Product {
    type Factor: Copy;
    type Sum: Copy;
    /// Rows of A and C.
    const ROWS: usize;
    /// Columns of A and rows of B.
    const DEPTH: usize;
    /// Elements of A and B in one register.
    const IN_REGISTER: usize;

    fn add(sum: Self::Sum, a: Self::Factor, b: Self::Factor) -> Self::Sum;
}

/// # Safety
///
/// All lanes are there, with the addresses of elements as `P` has them.
unsafe fn multiply<P: Product>(parts: &[Part], lane: usize) {
    let (group, thread) = (lane / 4, lane % 4);
    for index in 0..P::ROWS / 4 {
        let (row, col) = (group + 8 * (index / 2), 2 * thread + index % 2);
        // SAFETY: the caller's promise.
        unsafe {
            let place = operands(parts, lane).2.cast::<P::Sum>().add(index);
            let mut sum = place.read();
            for depth in 0..P::DEPTH {
                sum = P::add(
                    sum,
                    of_a::<P>(parts, row, depth),
                    of_b::<P>(parts, depth, col),
                );
            }
            place.write(sum);
        }
    }
}

/// # Safety
///
/// As for [`multiply`].
unsafe fn of_a<P: Product>(parts: &[Part], row: usize, depth: usize) -> P::Factor {
    let (in_register, groups) = (P::IN_REGISTER, P::ROWS / 8);
    let lane = 4 * (row % 8) + depth / in_register % 4;
    let register = row / 8 + groups * (depth / (4 * in_register));
    let index = register * in_register + depth % in_register;
    // SAFETY: the caller's promise.
    unsafe {
        operands(parts, lane)
            .0
            .cast::<P::Factor>()
            .add(index)
            .read()
    }
}

/// # Safety
///
/// As for [`multiply`].
unsafe fn of_b<P: Product>(parts: &[Part], depth: usize, col: usize) -> P::Factor {
    let in_register = P::IN_REGISTER;
    let lane = 4 * col + depth / in_register % 4;
    let index = depth / (4 * in_register) * in_register + depth % in_register;
    // SAFETY: the caller's promise.
    unsafe {
        operands(parts, lane)
            .1
            .cast::<P::Factor>()
            .add(index)
            .read()
    }
}

/// The addresses of a lane's elements of A, B and C.
fn operands(parts: &[Part], lane: usize) -> (*const u8, *const u8, *mut u8) {
    match parts[lane].request {
        Request::Matrix(Matrix::Multiply { a, b, c, .. }) => (a, b, c),
        _ => unreachable!("lanes that meet have the same operation"),
    }
}

/// `ldmatrix`: a lane gets two neighbouring elements of 16 bits of one row of each matrix, of one column if `transposed`.
///
/// # Safety
///
/// All lanes are there; the lanes from `8 * i` on have the addresses of the rows of matrix `i`.
unsafe fn load(parts: &[Part], lane: usize, count: usize, transposed: bool, to: *mut u32) {
    let (group, thread) = (lane / 4, lane % 4);
    for matrix in 0..count {
        let element = |row: usize, col: usize| match parts[8 * matrix + row].request {
            // SAFETY: the caller's promise.
            Request::Matrix(Matrix::Load { row, .. }) => unsafe {
                u32::from(row.cast::<u16>().add(col).read())
            },
            _ => unreachable!("lanes that meet have the same operation"),
        };
        let [low, high] = [0, 1].map(|side| match transposed {
            false => element(group, 2 * thread + side),
            true => element(2 * thread + side, group),
        });
        // SAFETY: the caller's promise.
        unsafe { to.add(matrix).write(low | high << 16) };
    }
}

macro_rules! products {
    ($($symbol:literal $name:ident $text:literal [$rows:literal $depth:literal $in_register:literal]
        ($sum:ident: $sum_type:ty, $a:ident, $b:ident: $factor:ty) $add:expr;)*) => {$(
        mod $name {
            use super::*;

            struct Shape;

            impl Product for Shape {
                type Factor = $factor;
                type Sum = $sum_type;
                const ROWS: usize = $rows;
                const DEPTH: usize = $depth;
                const IN_REGISTER: usize = $in_register;

                fn add($sum: $sum_type, $a: $factor, $b: $factor) -> $sum_type {
                    $add
                }
            }

            /// # Safety
            ///
            /// The addresses are those of the lane's elements.
            #[unsafe(export_name = $symbol)]
            unsafe extern "C" fn symbol(c: *mut u8, a: *const u8, b: *const u8) {
                let operation = Matrix::Multiply {
                    name: concat!("mma of ", $text),
                    multiply: multiply::<Shape>,
                    a,
                    b,
                    c,
                };
                warp("matrix::mma", u32::MAX, Request::Matrix(operation));
            }
        }
    )*};
}

products! {
    "gpu.mma.m16n8k16.row.col.f32.f32" f16 "F16" [16 16 2]
        (sum: f32, a, b: u16) sum + (F16.value(a) * F16.value(b)) as f32;
    "gpu.mma.m16n8k16.row.col.bf16" bf16 "Bf16" [16 16 2]
        (sum: f32, a, b: u16) sum + (BF16.value(a) * BF16.value(b)) as f32;
    "gpu.mma.m16n8k8.row.col.tf32" tf32 "Tf32" [16 8 1]
        (sum: f32, a, b: f32) sum + a * b;
    "gpu.mma.m8n8k4.row.col.f64" double "f64" [8 4 1]
        (sum: f64, a, b: f64) a.mul_add(b, sum);
    "gpu.mma.m16n8k32.row.col.s8" signed "i8" [16 32 4]
        (sum: i32, a, b: i8) sum.wrapping_add(i32::from(a) * i32::from(b));
    "gpu.mma.m16n8k32.row.col.u8" unsigned "u8" [16 32 4]
        (sum: i32, a, b: u8) sum.wrapping_add(i32::from(a) * i32::from(b));
}

/// The row that the running lane gives the address of is read.
fn note_row(row: *const u8) {
    let context = kernel("matrix::FragmentA::load");
    if context.noting
        && let Some(place) = context.place.get()
    {
        notes::shared(context, row, ROW_BYTES, Kind::Read, place);
    }
}

macro_rules! loads {
    ($($symbol:literal $name:ident $count:literal $transposed:literal;)*) => {$(
        /// # Safety
        ///
        /// The registers have room, and the row has 16 bytes in shared memory.
        #[unsafe(export_name = $symbol)]
        unsafe extern "C" fn $name(to: *mut u32, row: *const u8) {
            note_row(row);
            let operation = Matrix::Load {
                count: $count,
                transposed: $transposed,
                row,
                to,
            };
            warp("matrix::FragmentA::load", u32::MAX, Request::Matrix(operation));
        }
    )*};
}

loads! {
    "gpu.ldmatrix.x4" load_4 4 false;
    "gpu.ldmatrix.x2" load_2 2 false;
    "gpu.ldmatrix.x4.trans" load_4_transposed 4 true;
    "gpu.ldmatrix.x2.trans" load_2_transposed 2 true;
}

/// Why lanes that have all met cannot work on a matrix: there are too few.
pub(crate) fn missing_lanes(parts: &[Part]) -> Option<String> {
    let Request::Matrix(_) = parts.first()?.request else {
        return None;
    };
    (parts.len() < LANES as usize).then(|| {
        let there = parts.len();
        format!("the {LANES} lanes of a warp work on a matrix together, but this warp has only {there} that have not ended")
    })
}
