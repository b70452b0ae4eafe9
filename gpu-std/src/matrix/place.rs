//! How the elements of A and B come from memory into a lane's registers.
//!
//! In: where a fragment's elements are. Out: those of this lane, in the order that the [fragments](super::fragment) have.

use bytemuck::AnyBitPattern;

use super::element::{Element, Lane};
use crate::intrinsics as gpu;
use crate::note;

/// Where the elements of A or B are: the first, and how far the next is along the rows of A (columns of B), and along the
/// dimension that the product sums over.
pub(super) struct Place<S> {
    pub(super) first: *const S,
    pub(super) is_shared: bool,
    pub(super) outer: usize,
    pub(super) depth: usize,
}

/// A lane's elements as they are in memory, in its registers.
#[repr(C, align(16))]
struct Registers([u32; 4]);

impl<S: AnyBitPattern> Place<S> {
    /// This lane's elements. `GROUPS` is how often 8 rows of A, or columns of B, there are.
    ///
    /// # Safety
    ///
    /// All elements of the fragment can be read; `is_shared` is true.
    #[inline]
    #[track_caller]
    pub(super) unsafe fn load<T: Element<Stored = S>, L: Lane<T>, const GROUPS: usize>(&self) -> L {
        let in_register = T::IN_REGISTER;
        let (group, thread) = group_and_thread();
        let address = |register: usize, element: usize| {
            let outer = group + 8 * (register % GROUPS);
            let depth = in_register * (thread + 4 * (register / GROUPS)) + element;
            self.at(outer, depth)
        };
        let mut registers = Registers([0; 4]);
        // SAFETY: the addresses are those of elements of the fragment, and aligned where words are read; a lane has at most
        // 16 bytes of elements.
        unsafe {
            if self.is_shared
                && self.rows_are_aligned(self.depth, self.outer, 16)
                && size_of::<S>() <= 4
            {
                self.load_matrices::<GROUPS>(&mut registers);
            } else if self.is_shared
                && self.rows_are_aligned(self.outer, self.depth, 16)
                && size_of::<S>() == 2
            {
                self.load_matrices_transposed::<GROUPS>(&mut registers);
            } else if in_register > 1 && self.rows_are_aligned(self.depth, self.outer, 4) {
                for register in 0..L::LEN / in_register {
                    self.note(address(register, 0).cast::<u32>());
                    registers.0[register] = address(register, 0).cast::<u32>().read();
                }
            } else {
                let elements = registers.0.as_mut_ptr().cast::<S>();
                for index in 0..L::LEN {
                    let element = address(index / in_register, index % in_register);
                    self.note(element);
                    elements.add(index).write(element.read());
                }
            }
            let elements = registers.0.as_ptr().cast::<S>();
            L::from_fn(|index| T::from_stored(elements.add(index).read()))
        }
    }

    /// Part of the fragment is read, in shared memory at any rate.
    #[inline(always)]
    #[track_caller]
    fn note<W>(&self, address: *const W) {
        if self.is_shared {
            note::shared_read(address);
        }
    }

    /// Where an element is.
    #[inline]
    fn at(&self, outer: usize, depth: usize) -> *const S {
        self.first
            .wrapping_add(outer.wrapping_mul(self.outer))
            .wrapping_add(depth.wrapping_mul(self.depth))
    }

    /// Whether the elements lie side by side along one dimension, in rows that start at multiples of `bytes`.
    #[inline]
    fn rows_are_aligned(&self, along: usize, across: usize, bytes: usize) -> bool {
        let between = across.wrapping_mul(size_of::<S>());
        along == 1 && (self.address() | between).is_multiple_of(bytes)
    }

    /// The address in its own memory, of which LLVM knows the alignment.
    #[inline]
    fn address(&self) -> usize {
        if self.is_shared {
            // SAFETY: it is an address in shared memory.
            unsafe { gpu::shared_offset(self.first.cast()) as usize }
        } else {
            self.first.addr()
        }
    }

    /// `ldmatrix` for elements that lie side by side along the depth: 8 rows of 16 bytes a register. The lane gives the
    /// address of one row.
    ///
    /// # Safety
    ///
    /// As for [`Self::load`], in shared memory.
    #[inline]
    unsafe fn load_matrices<const GROUPS: usize>(&self, registers: &mut Registers) {
        let (row, matrix) = row_and_matrix::<GROUPS>();
        let address = self.at(row + 8 * (matrix % GROUPS), 0).cast::<u8>();
        let address = address.wrapping_add(16 * (matrix / GROUPS));
        let to = registers.0.as_mut_ptr();
        // SAFETY: the address is that of 16 bytes of the fragment; the registers have room for what is loaded.
        unsafe {
            match GROUPS {
                2 => gpu::ldmatrix_x4(to, address),
                _ => gpu::ldmatrix_x2(to, address),
            }
        }
    }

    /// As [`Self::load_matrices`], for elements of 16 bits that lie side by side along the other dimension.
    ///
    /// # Safety
    ///
    /// As for [`Self::load`], in shared memory.
    #[inline]
    unsafe fn load_matrices_transposed<const GROUPS: usize>(&self, registers: &mut Registers) {
        let (row, matrix) = row_and_matrix::<GROUPS>();
        let address = self.at(0, row + 8 * (matrix / GROUPS)).cast::<u8>();
        let address = address.wrapping_add(16 * (matrix % GROUPS));
        let to = registers.0.as_mut_ptr();
        // SAFETY: as above.
        unsafe {
            match GROUPS {
                2 => gpu::ldmatrix_x4_trans(to, address),
                _ => gpu::ldmatrix_x2_trans(to, address),
            }
        }
    }
}

/// Which row of which 8 x 8 matrix a lane gives the address of, of four matrices for A and two for B (where the lanes from
/// 16 on repeat those before).
#[inline]
fn row_and_matrix<const GROUPS: usize>() -> (usize, usize) {
    let lane = gpu::laneid() as usize;
    (lane % 8, lane / 8 % (2 * GROUPS))
}

/// Which rows (or columns of B), and which part of the depth, a lane has.
#[inline]
pub(super) fn group_and_thread() -> (usize, usize) {
    let lane = gpu::laneid() as usize;
    (lane / 4, lane % 4)
}
