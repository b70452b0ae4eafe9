//! `arrayvec`, `bytemuck`.

use arrayvec::{ArrayString, ArrayVec};
use bytemuck::{Pod, TransparentWrapper, Zeroable};

use crate::check::digest;

agree!(
    vectors_without_a_heap,
    drained_and_full,
    text_without_a_heap,
    casts_of_structures,
    wrappers,
);

fn vectors_without_a_heap((x, n): ([u32; 9], u8)) -> (u64, Option<u32>, usize) {
    let mut v: ArrayVec<u32, 8> = x.iter().copied().take(usize::from(n) % 7).collect();
    v.insert(v.len() / 2, 77);
    let refused = v.try_extend_from_slice(&x).is_err();
    v.retain(|x| *x % 3 != 0);
    v.sort_unstable();
    let last = v.pop();
    (
        digest(v.iter().copied()),
        last,
        v.remaining_capacity() + usize::from(refused) * 100,
    )
}

fn drained_and_full((x, n): ([u8; 6], u8)) -> (u64, u64, Option<[u8; 4]>) {
    let mut v = ArrayVec::from(x);
    let refused = v.try_push(1).is_err();
    let n = usize::from(n) % 5;
    let drained = digest(v.drain(n / 2..n));
    let swapped = v.swap_remove(0);
    let rest = digest(v.iter().map(|x| x ^ swapped)) ^ u64::from(refused);
    v.truncate(4);
    (
        drained,
        rest,
        v.into_iter().collect::<ArrayVec<u8, 4>>().into_inner().ok(),
    )
}

fn text_without_a_heap((x, n): ([u8; 5], u8)) -> (u64, bool) {
    const WORDS: [&str; 4] = ["add", "é", "", "kernel"];
    let mut text = ArrayString::<12>::new();
    let mut whole = true;
    for x in x {
        whole &= text.try_push_str(WORDS[usize::from(x) % 4]).is_ok();
    }
    if n % 2 == 0 {
        text.pop();
    }
    (digest(text.bytes()), whole)
}

#[derive(Clone, Copy)]
#[repr(C)]
struct Particle {
    position: [f32; 2],
    id: u32,
    flags: [u8; 4],
}

// SAFETY: zeros are a value of every field.
unsafe impl Zeroable for Particle {}
// SAFETY: plain numbers in C's layout, without padding.
unsafe impl Pod for Particle {}

fn casts_of_structures(x: [u32; 8]) -> (u64, u32, [u8; 4]) {
    let particles: &[Particle] = bytemuck::cast_slice(&x);
    let mut copy = [particles[1], Particle::zeroed(), particles[0]];
    copy[1].id = particles[0].id ^ 5;
    let words: [u32; 4] = bytemuck::cast(copy[0]);
    let bytes = bytemuck::bytes_of(&copy[1]);
    (digest(bytes.iter().copied()), words[2], copy[2].flags)
}

#[derive(Clone, Copy)]
#[repr(transparent)]
struct Metres(u32);

// SAFETY: it is transparent.
unsafe impl TransparentWrapper<u32> for Metres {}

fn wrappers(mut x: [u32; 4]) -> ([u32; 4], bool) {
    for metres in Metres::wrap_slice_mut(&mut x) {
        metres.0 = metres.0.rotate_left(8);
    }
    let words: Result<&[u64], _> = bytemuck::try_cast_slice(&x[..3]);
    (x, words.is_ok() || x[0] % 2 == 0)
}
