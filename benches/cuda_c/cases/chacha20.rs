//! ChaCha20 (RFC 8439): a thread encrypts a block of 64 bytes.

use oxwarp::prelude::*;
use oxwarp::unroll;

use super::case::{arguments, launch_either, with_unchecked};
use super::random::Random;
use super::{Case, Entry, Outcome, Size, Source, Twin, Work};

#[derive(Clone, Copy, Debug, PartialEq, oxwarp::DeviceCopy)]
#[repr(C, align(16))]
struct Words([u32; 16]);

#[inline]
fn quarter_round(x: &mut [u32; 16], a: usize, b: usize, c: usize, d: usize) {
    x[a] = x[a].wrapping_add(x[b]);
    x[d] = (x[d] ^ x[a]).rotate_left(16);
    x[c] = x[c].wrapping_add(x[d]);
    x[b] = (x[b] ^ x[c]).rotate_left(12);
    x[a] = x[a].wrapping_add(x[b]);
    x[d] = (x[d] ^ x[a]).rotate_left(8);
    x[c] = x[c].wrapping_add(x[d]);
    x[b] = (x[b] ^ x[c]).rotate_left(7);
}

/// The key stream of block `counter`.
#[inline]
fn key_stream(key: [u32; 8], nonce: [u32; 3], counter: u32) -> [u32; 16] {
    let mut start = [0; 16];
    start[..4].copy_from_slice(&[0x6170_7865, 0x3320_646e, 0x7962_2d32, 0x6b20_6574]);
    start[4..12].copy_from_slice(&key);
    start[12] = counter;
    start[13..].copy_from_slice(&nonce);
    let mut x = start;
    for _ in 0..10 {
        unroll::full();
        quarter_round(&mut x, 0, 4, 8, 12);
        quarter_round(&mut x, 1, 5, 9, 13);
        quarter_round(&mut x, 2, 6, 10, 14);
        quarter_round(&mut x, 3, 7, 11, 15);
        quarter_round(&mut x, 0, 5, 10, 15);
        quarter_round(&mut x, 1, 6, 11, 12);
        quarter_round(&mut x, 2, 7, 8, 13);
        quarter_round(&mut x, 3, 4, 9, 14);
    }
    for (x, start) in x.iter_mut().zip(start) {
        *x = x.wrapping_add(start);
    }
    x
}

with_unchecked! {
    chacha20_unchecked:
    #[kernel]
    fn chacha20(key: [u32; 8], nonce: [u32; 3], mut text: DisjointSlice<Words>) {
        let i = thread::index_1d();
        if let Some(text) = text.get_mut(i) {
            let stream = key_stream(key, nonce, *i as u32);
            for (word, key) in text.0.iter_mut().zip(stream) {
                *word ^= key;
            }
        }
    }
}

pub const CHACHA20: Entry = Entry {
    name: "chacha20",
    kernels: &["chacha20"],
    index_bits: 64,
    source: Source {
        name: "chacha20.cu",
        text: include_str!("chacha20.cu"),
        fast_math: false,
    },
    build: case,
};

fn case(gpu: &Gpu, size: Size) -> Outcome<Case> {
    const BLOCK: usize = 256;
    let n: usize = size.pick(1 << 22, 999);
    let mut random = Random::new(1);
    let mut word = |_| random.bits() as u32;
    let key: [u32; 8] = std::array::from_fn(&mut word);
    let nonce: [u32; 3] = std::array::from_fn(&mut word);
    let before: Vec<Words> = (0..n)
        .map(|_| Words(std::array::from_fn(&mut word)))
        .collect();
    let text = gpu.to_device(&before)?;
    let grid = n.div_ceil(BLOCK);
    let twin = Twin::new("chacha20", grid, BLOCK, arguments![key, nonce, text, n]);
    let start = before.clone();
    Ok(Case::new(
        Work::Results(n as f64),
        vec![twin],
        text,
        move |text| text.copy_from(&start),
        move |checks, text| launch_either!(checks, chacha20 / chacha20_unchecked[grid, BLOCK](key, nonce, text)),
        move |text| {
            let text = text.to_vec()?;
            let is_wrong = |i: &usize| {
                let stream = key_stream(key, nonce, *i as u32);
                (0..16).any(|k| text[*i].0[k] != before[*i].0[k] ^ stream[k])
            };
            match (0..n).step_by(size.pick(37, 1)).find(is_wrong) {
                Some(i) => Err(format!("block {i} is wrong").into()),
                None => Ok(()),
            }
        },
    ))
}

/// The reference itself, by the example of RFC 8439, 2.3.2.
#[test]
fn the_reference_is_right() {
    let key = std::array::from_fn(|k| 0x0302_0100 + 0x0404_0404 * k as u32);
    let stream = key_stream(key, [0x0900_0000, 0x4a00_0000, 0], 1);
    assert_eq!(
        stream[..4],
        [0xe4e7_f110, 0x1559_3bd1, 0x1fdd_0f50, 0xc471_20a3]
    );
    assert_eq!(
        stream[12..],
        [0xd19c_12b5, 0xb94e_16de, 0xe883_d0cb, 0x4e3c_50a2]
    );
}
