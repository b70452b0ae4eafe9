//! The shared memory of one block after the other: static arrays by their keys, and the dynamic memory.
//!
//! A worker keeps the arrays from block to block, because the blocks of a launch run the same kernel. Each block finds
//! a pattern in them rather than what the block before left, so that a kernel that reads before it writes shows it.

use std::alloc::{Layout, alloc, dealloc, handle_alloc_error};
use std::any::TypeId;
use std::ptr;

use gpu_std::shared::DYNAMIC_ALIGN;

use crate::Fault;
use crate::checks::Checks;
use crate::checks::shadow::Shadow;

/// What every byte of an array is at the start of a block.
const UNWRITTEN: u8 = 0xA5;
/// What it is where a read of it is found anyway: a value with which the kernel can go on, until it is clear whether some
/// thread writes there too late.
const UNWRITTEN_BUT_NOTED: u8 = 0;

/// The alignment of every static array, at least, as on a GPU.
const ALIGN: usize = 16;

/// The key of the dynamic memory.
struct Dynamic;

/// The shared arrays of the block that a worker runs.
pub(crate) struct SharedMemory {
    arrays: Vec<Array>,
    limit: usize,
    dynamic: Layout,
    /// Where the next array would start on a GPU, which lays them out one after the other.
    end: usize,
    block: u64,
    /// The array that was found last.
    found: usize,
    unwritten: u8,
}

struct Array {
    key: TypeId,
    layout: Layout,
    first: *mut u8,
    /// The block that uses it, or did last.
    block: u64,
    shadow: Shadow,
}

/// Where an access is.
#[derive(Clone, Copy)]
pub(crate) struct Place {
    /// Bytes before it in its array.
    pub(crate) offset: usize,
    /// Bytes of the array.
    pub(crate) len: usize,
    is_dynamic: bool,
}

impl Place {
    /// The array, for messages.
    pub(crate) fn description(&self) -> String {
        match self.is_dynamic {
            true => format!("the {} bytes of dynamic shared memory", self.len),
            false => format!("a shared array of {} bytes", self.len),
        }
    }
}

impl SharedMemory {
    pub(crate) fn new(limit: usize, dynamic: u32, checks: Checks) -> Self {
        Self {
            arrays: Vec::new(),
            limit,
            dynamic: Layout::from_size_align(dynamic as usize, DYNAMIC_ALIGN)
                .expect("32 bits of bytes are a layout"),
            end: 0,
            block: 0,
            found: 0,
            unwritten: if checks.init {
                UNWRITTEN_BUT_NOTED
            } else {
                UNWRITTEN
            },
        }
    }

    /// From now on, all contents are unwritten.
    pub(crate) fn start_block(&mut self) {
        self.block += 1;
    }

    /// The block's array of `key`.
    pub(crate) fn array(&mut self, key: TypeId, layout: Layout) -> Result<*mut u8, Fault> {
        let block = self.block;
        let index = match self.arrays.iter().position(|array| array.key == key) {
            Some(index) => index,
            None => self.add(key, layout)?,
        };
        Ok(self.arrays[index].first_in(block, self.unwritten))
    }

    /// Bytes of the dynamic memory.
    pub(crate) fn dynamic_bytes(&self) -> u32 {
        self.dynamic.size() as u32
    }

    /// The block's dynamic memory, which the launch's own check has found to fit.
    pub(crate) fn dynamic(&mut self) -> *mut u8 {
        let key = TypeId::of::<Dynamic>();
        let index = self.arrays.iter().position(|array| array.key == key);
        let index = index.unwrap_or_else(|| self.push(key, self.dynamic));
        self.arrays[index].first_in(self.block, self.unwritten)
    }

    /// Where so many bytes are, and the shadow of their array; `None` where they are not shared memory.
    #[inline]
    pub(crate) fn shadow_at(
        &mut self,
        address: *const u8,
        bytes: usize,
    ) -> Option<(Place, &mut Shadow)> {
        let holds = |array: &Array| array.offset_of(address, bytes).is_some();
        if !self.arrays.get(self.found).is_some_and(holds) {
            self.found = self.arrays.iter().position(holds)?;
        }
        let array = &mut self.arrays[self.found];
        let place = Place {
            offset: array.offset_of(address, bytes)?,
            len: array.layout.size(),
            is_dynamic: array.key == TypeId::of::<Dynamic>(),
        };
        Some((place, &mut array.shadow))
    }

    fn add(&mut self, key: TypeId, layout: Layout) -> Result<usize, Fault> {
        let layout = layout
            .align_to(ALIGN)
            .expect("a type's size leaves room for 16 more bytes");
        let wanted = self
            .end
            .next_multiple_of(layout.align())
            .saturating_add(layout.size());
        if wanted > self.limit {
            return Err(Fault::SharedMemory {
                wanted,
                limit: self.limit,
            });
        }
        self.end = wanted;
        Ok(self.push(key, layout))
    }

    fn push(&mut self, key: TypeId, layout: Layout) -> usize {
        self.arrays.push(Array {
            key,
            layout,
            first: allocate(layout),
            block: 0,
            shadow: Shadow::default(),
        });
        self.arrays.len() - 1
    }
}

impl Array {
    /// How far into the array so many bytes are, if they are all inside.
    #[inline]
    fn offset_of(&self, address: *const u8, bytes: usize) -> Option<usize> {
        let offset = address.addr().wrapping_sub(self.first.addr());
        let is_inside =
            bytes > 0 && offset < self.layout.size() && bytes <= self.layout.size() - offset;
        is_inside.then_some(offset)
    }

    /// Where it starts; unwritten, if `block` has not used it before.
    #[inline]
    fn first_in(&mut self, block: u64, unwritten: u8) -> *mut u8 {
        if self.block != block {
            self.block = block;
            // SAFETY: the allocation has that many bytes.
            unsafe { self.first.write_bytes(unwritten, self.layout.size()) };
        }
        self.first
    }
}

impl Drop for Array {
    fn drop(&mut self) {
        if self.layout.size() > 0 {
            // SAFETY: `allocate` made it with this layout.
            unsafe { dealloc(self.first, self.layout) };
        }
    }
}

fn allocate(layout: Layout) -> *mut u8 {
    if layout.size() == 0 {
        return ptr::without_provenance_mut(layout.align());
    }
    // SAFETY: the size is not zero.
    let first = unsafe { alloc(layout) };
    if first.is_null() {
        handle_alloc_error(layout);
    }
    first
}

#[cfg(test)]
mod tests {
    use super::*;

    fn layout(size: usize, align: usize) -> Layout {
        Layout::from_size_align(size, align).expect("a valid layout")
    }

    #[test]
    fn a_key_has_one_array_and_every_block_finds_it_unwritten() {
        let mut memory = SharedMemory::new(64, 0, Checks::default());
        memory.start_block();
        let key = TypeId::of::<u8>();
        let first = memory.array(key, layout(4, 4)).unwrap();
        // SAFETY: the array has four bytes.
        unsafe { first.write_bytes(1, 4) };
        assert_eq!(memory.array(key, layout(4, 4)), Ok(first));
        // SAFETY: the array has four bytes.
        assert_eq!(unsafe { first.cast::<u32>().read() }, 0x0101_0101);
        memory.start_block();
        assert_eq!(memory.array(key, layout(4, 4)), Ok(first));
        // SAFETY: the array has four bytes.
        assert_eq!(unsafe { first.cast::<u32>().read() }, 0xA5A5_A5A5);
    }

    #[test]
    fn alignment_holds_and_its_padding_counts() {
        let mut memory = SharedMemory::new(4096 + 1, 0, Checks::default());
        memory.start_block();
        memory.array(TypeId::of::<u8>(), layout(1, 1)).unwrap();
        let aligned = memory.array(TypeId::of::<u16>(), layout(1, 4096)).unwrap();
        assert_eq!(aligned.addr() % 4096, 0);
        assert_eq!(
            memory.array(TypeId::of::<u32>(), layout(4, 4)),
            Err(Fault::SharedMemory {
                wanted: 4116,
                limit: 4097
            })
        );
    }

    #[test]
    fn an_array_of_no_bytes_needs_no_memory() {
        let mut memory = SharedMemory::new(0, 0, Checks::default());
        memory.start_block();
        let first = memory.array(TypeId::of::<u8>(), layout(0, 8)).unwrap();
        assert_eq!(first.addr() % 8, 0);
    }
    #[test]
    fn dynamic_memory_is_aligned_and_beside_the_limit_of_static_arrays() {
        let mut memory = SharedMemory::new(0, 1000, Checks::default());
        memory.start_block();
        let first = memory.dynamic();
        assert_eq!(memory.dynamic(), first);
        assert_eq!(
            (first.addr() % DYNAMIC_ALIGN, memory.dynamic_bytes()),
            (0, 1000)
        );
        // SAFETY: the memory has 1000 bytes.
        assert_eq!(unsafe { first.add(999).read() }, UNWRITTEN);
    }
}
