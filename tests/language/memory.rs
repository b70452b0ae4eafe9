//! Memory by hand: unions, `MaybeUninit`, pointers, transmutes, layout, packed fields.

use std::alloc::{Layout, alloc, dealloc, realloc};
use std::mem::{self, MaybeUninit, align_of, offset_of};
use std::ptr::{self, NonNull};

use crate::check::digest;

agree!(
    unions,
    uninitialised_arrays,
    transmutes,
    unaligned_reads,
    packed_fields,
    offsets_and_sizes,
    pointers_walk,
    own_vector,
    list_of_pointers,
    swaps_and_takes,
    bytes_of_values,
    aligned_parts,
    overlapping_copies,
    casts_of_slices,
    volatile_and_provenance,
);

#[derive(Clone, Copy)]
#[repr(C)]
union Word {
    float: f32,
    int: u32,
    bytes: [u8; 4],
    halves: (u16, u16),
}

fn unions((x, y): (u32, u8)) -> (u32, u8, u32) {
    let mut word = Word { int: x };
    // SAFETY: every field is 4 bytes of plain data; a tuple of equal types has no padding.
    unsafe {
        word.bytes[usize::from(y) % 4] ^= y;
        let low = word.halves.0.min(word.halves.1);
        let float = if word.float.is_nan() {
            1
        } else {
            word.float.to_bits()
        };
        (word.int ^ u32::from(low), word.bytes[1], float)
    }
}

fn uninitialised_arrays((x, n): ([u32; 6], u8)) -> (u64, usize) {
    let n = usize::from(n) % 7;
    let mut buffer = [const { MaybeUninit::<u32>::uninit() }; 6];
    for (slot, x) in buffer.iter_mut().zip(&x[..n]) {
        slot.write(x ^ 9);
    }
    // SAFETY: the first n were written.
    let written = unsafe { buffer[..n].assume_init_ref() };
    let mut whole = MaybeUninit::<[u64; 2]>::uninit();
    // SAFETY: both halves are written before they are read.
    let whole = unsafe {
        let start = whole.as_mut_ptr().cast::<u64>();
        start.write(x[0].into());
        start.add(1).write(n as u64);
        whole.assume_init()
    };
    (
        digest(written.iter().copied()) ^ whole[0],
        whole[1] as usize,
    )
}

fn transmutes((x, y): ([u8; 8], f64)) -> ([u32; 2], [u16; 4], u64) {
    // SAFETY: all are 8 bytes of plain data.
    unsafe {
        let number: [u32; 2] = mem::transmute(x);
        let parts: [u16; 4] = mem::transmute(x);
        let bits: u64 = mem::transmute_copy(&if y.is_nan() { 0.5 } else { y });
        (number, parts, bits)
    }
}

fn unaligned_reads((mut x, at): ([u8; 16], u8)) -> (u64, u16, [u8; 16]) {
    let at = usize::from(at) % 8;
    // SAFETY: eight bytes from `at` on are in the array.
    let (wide, narrow) = unsafe {
        let place = x.as_mut_ptr().add(at);
        let wide = place.cast::<u64>().read_unaligned();
        place.add(1).cast::<u32>().write_unaligned(wide as u32 ^ 5);
        (wide, place.add(3).cast::<u16>().read_unaligned())
    };
    (wide, narrow, x)
}

#[derive(Clone, Copy)]
#[repr(C, packed(2))]
struct Packed {
    a: u8,
    b: u64,
    c: u16,
    d: [u32; 2],
}

fn packed_fields((a, b, c): (u8, u64, u32)) -> (u64, u32, usize) {
    let mut all = [Packed {
        a,
        b,
        c: c as u16,
        d: [c, !c],
    }; 3];
    all[1].b = { all[1].b }.wrapping_mul(3);
    all[2].d = [{ all[1].d }[1], u32::from(all[0].c)];
    let sum = all.iter().fold(0, |sum: u64, packed| {
        sum.rotate_left(5) ^ { packed.b } ^ u64::from(packed.a)
    });
    (sum, { all[2].d }[0], size_of::<Packed>() * usize::from(a))
}

#[repr(C)]
struct Ordered {
    a: u8,
    b: u32,
    c: [u16; 3],
    d: u128,
}

fn offsets_and_sizes(i: u8) -> (usize, usize) {
    let numbers = [
        offset_of!(Ordered, b),
        offset_of!(Ordered, c),
        offset_of!(Ordered, d),
        size_of::<Ordered>(),
        align_of::<Ordered>(),
        size_of::<Option<Box<u8>>>(),
        size_of::<&dyn Fn()>(),
        size_of::<(u8, u32, u8)>(),
        align_of::<u128>(),
        size_of::<Option<u32>>(),
        size_of::<[(u64, u8); 3]>(),
        size_of::<char>(),
        mem::needs_drop::<Vec<u8>>().into(),
    ];
    (numbers[usize::from(i) % 13], numbers.iter().sum())
}

fn pointers_walk((x, n): ([u32; 8], u8)) -> (u64, isize) {
    let range = x.as_ptr_range();
    let mut at = range.start;
    let mut seen = Vec::new();
    let step = usize::from(n) % 3 + 1;
    // SAFETY: `at` is within the array when it is read, and no further than its end.
    unsafe {
        while at < range.end {
            seen.push(*at);
            at = at.add(step.min(range.end.offset_from(at) as usize));
        }
        let third = &raw const x[3];
        (
            digest(seen),
            third.offset_from(range.start) + (*third % 5) as isize,
        )
    }
}

/// A vector on the raw allocator.
struct Stack {
    start: NonNull<u64>,
    capacity: usize,
    length: usize,
}

impl Stack {
    fn layout(capacity: usize) -> Layout {
        Layout::array::<u64>(capacity).expect("a small array")
    }

    fn push(&mut self, x: u64) {
        if self.length == self.capacity {
            let larger = (self.capacity * 2).max(1);
            // SAFETY: the layouts are of at least one element, and the old one is what was allocated.
            let start = unsafe {
                match self.capacity {
                    0 => alloc(Self::layout(larger)),
                    old => realloc(self.start.as_ptr().cast(), Self::layout(old), larger * 8),
                }
            };
            self.start = NonNull::new(start.cast()).expect("room on the heap");
            self.capacity = larger;
        }
        // SAFETY: there is room for one more.
        unsafe { self.start.add(self.length).write(x) };
        self.length += 1;
    }

    fn pop(&mut self) -> Option<u64> {
        self.length = self.length.checked_sub(1)?;
        // SAFETY: it was written when it was pushed.
        Some(unsafe { self.start.add(self.length).read() })
    }
}

impl Drop for Stack {
    fn drop(&mut self) {
        if self.capacity > 0 {
            // SAFETY: it was allocated with this layout.
            unsafe { dealloc(self.start.as_ptr().cast(), Self::layout(self.capacity)) };
        }
    }
}

fn own_vector((x, n): ([u64; 10], u8)) -> (u64, usize) {
    let mut stack = Stack {
        start: NonNull::dangling(),
        capacity: 0,
        length: 0,
    };
    for (i, x) in x.into_iter().enumerate() {
        stack.push(x);
        if i % (usize::from(n) % 4 + 2) == 0 {
            let (a, b) = (stack.pop(), stack.pop());
            stack.push(a.unwrap_or(1) ^ b.unwrap_or(2));
        }
    }
    let capacity = stack.capacity;
    (
        digest(std::iter::from_fn(|| stack.pop())),
        capacity + usize::from(n),
    )
}

struct Link {
    value: u32,
    next: *mut Link,
}

fn list_of_pointers(x: [u32; 7]) -> (u64, u32) {
    let mut head: *mut Link = ptr::null_mut();
    for value in x {
        // Sorted: the link after which it goes.
        let mut place = &raw mut head;
        // SAFETY: links are made by `Box::into_raw` and freed below only.
        unsafe {
            while !(*place).is_null() && (**place).value < value {
                place = &raw mut (**place).next;
            }
            let next = *place;
            *place = Box::into_raw(Box::new(Link { value, next }));
        }
    }
    let (mut values, mut count) = (Vec::new(), 0);
    while !head.is_null() {
        // SAFETY: as above; each is freed once.
        let link = unsafe { Box::from_raw(head) };
        values.push(link.value);
        head = link.next;
        count += link.value % 3;
    }
    (digest(values), count)
}

fn swaps_and_takes((a, b): ([u32; 3], [u32; 3])) -> ([u32; 3], [u32; 3], u32) {
    let (mut x, mut y) = (a, b);
    mem::swap(&mut x, &mut y);
    let old = mem::replace(&mut x[0], 9);
    let mut v = x.to_vec();
    let taken = mem::take(&mut v);
    // SAFETY: both pointers are to arrays of their own.
    unsafe { ptr::swap(&raw mut x[1], &raw mut y[2]) };
    (x, y, old ^ taken[0] ^ v.len() as u32)
}

fn bytes_of_values((a, b): (u32, f32)) -> (u64, u32) {
    let b = if b.is_nan() { 3.0 } else { b };
    #[repr(C)]
    struct Pair(u32, f32);
    let pair = Pair(a, b);
    // SAFETY: the structure is 8 bytes without padding.
    let bytes =
        unsafe { std::slice::from_raw_parts((&raw const pair).cast::<u8>(), size_of::<Pair>()) };
    let words: &[u32] = bytemuck::cast_slice(std::slice::from_ref(&b));
    (
        digest(bytes.iter().rev().copied()),
        words[0] ^ pair.0 ^ pair.1.to_bits(),
    )
}

fn aligned_parts((x, n): ([u64; 4], u8)) -> (usize, u64) {
    let bytes: &[u8] = bytemuck::bytes_of(&x);
    let from = usize::from(n) % 9;
    // SAFETY: any bytes are a number.
    let (head, words, tail) = unsafe { bytes[from..29].align_to::<u32>() };
    (head.len() * 10 + tail.len(), digest(words.iter().copied()))
}

fn overlapping_copies((mut x, n): ([u16; 12], u8)) -> [u16; 12] {
    let n = usize::from(n) % 6;
    // SAFETY: both ranges are within the array.
    unsafe {
        let start = x.as_mut_ptr();
        ptr::copy(start, start.add(n), 12 - n);
        ptr::copy_nonoverlapping(start.add(6), start, n.min(6));
        ptr::write_bytes(start.add(11), 0xa5, 1);
    }
    x
}

fn casts_of_slices((x, wide): ([u32; 4], bool)) -> u64 {
    let bytes: [u8; 16] = bytemuck::cast(x);
    if wide {
        let words: &[[u8; 2]] = bytemuck::cast_slice(&bytes);
        digest(words.iter().map(|&word| u16::from_be_bytes(word)))
    } else {
        bytemuck::pod_read_unaligned::<u64>(&bytes[3..11])
    }
}

fn volatile_and_provenance((x, i): ([u32; 4], u8)) -> (u32, usize) {
    let mut copy = x;
    let place = &raw mut copy[usize::from(i) % 4];
    // SAFETY: the pointer is to an element, and the tagged address loses its tag before it is used.
    unsafe {
        place.write_volatile(place.read_volatile() ^ 3);
        let tagged = place.map_addr(|address| address | 1);
        let tag = tagged.addr() & 1;
        let untagged = tagged.map_addr(|address| address & !1);
        (*untagged ^ copy[0], tag + usize::from(i))
    }
}
