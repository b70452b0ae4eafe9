//! Generators of `rand_core`: the numbers that a seed gives are the host's.

use oxwarp::Kernel;
use rand_chacha::{ChaCha8Rng, ChaCha20Rng};
use rand_pcg::rand_core::{RngCore, SeedableRng};
use rand_pcg::{Lcg128Xsl64, Mcg128Xsl64, Pcg32};
use rand_xoshiro::{SplitMix64, Xoroshiro64Star, Xoshiro128PlusPlus, Xoshiro256StarStar};

agree!(
    pcg,
    pcg_of_128_bits,
    xoshiro,
    jumps,
    split_mix,
    bytes,
    chacha,
    chacha_at_a_place,
);

#[test]
fn kernels_of_a_library_draw_too() {
    let gpu = oxwarp::Gpu::new().unwrap();
    let mut out = gpu.zeros::<u32>(100).unwrap();
    crates::draw.for_each(100).launch(7, &mut out).unwrap();
    let expected: Vec<u32> = (0..100).map(|i| Pcg32::new(7, i).next_u32()).collect();
    assert_eq!(out.to_vec().unwrap(), expected);
}

fn pcg((seed, stream): (u64, u64)) -> [u32; 4] {
    let mut random = Pcg32::new(seed, stream);
    random.advance(stream % 1000);
    std::array::from_fn(|_| random.next_u32())
}

fn pcg_of_128_bits((seed, stream): (u128, u128)) -> [u64; 4] {
    let (mut a, mut b) = (Lcg128Xsl64::new(seed, stream), Mcg128Xsl64::new(seed));
    [a.next_u64(), a.next_u64(), b.next_u64(), b.next_u64()]
}

fn xoshiro(seed: u64) -> ([u64; 2], [u32; 2], u32) {
    let mut a = Xoshiro256StarStar::seed_from_u64(seed);
    let mut b = Xoshiro128PlusPlus::seed_from_u64(seed);
    let mut c = Xoroshiro64Star::seed_from_u64(seed);
    (
        [a.next_u64(), a.next_u64()],
        [b.next_u32(), b.next_u32()],
        c.next_u32(),
    )
}

fn jumps((seed, n): (u64, u8)) -> [u64; 2] {
    let mut random = Xoshiro256StarStar::seed_from_u64(seed);
    for _ in 0..n % 3 {
        random.jump();
    }
    [random.next_u64(), random.next_u64()]
}

fn split_mix(seed: u64) -> [u64; 2] {
    let mut random = SplitMix64::from_seed(seed.to_le_bytes());
    [random.next_u64(), u64::from(random.next_u32())]
}

fn bytes(seed: u64) -> [u8; 13] {
    let mut bytes = [0; 13];
    Xoshiro256StarStar::seed_from_u64(seed).fill_bytes(&mut bytes);
    bytes
}

fn chacha(seed: [u8; 32]) -> ([u64; 2], [u32; 2]) {
    let (mut a, mut b) = (ChaCha20Rng::from_seed(seed), ChaCha8Rng::from_seed(seed));
    ([a.next_u64(), a.next_u64()], [b.next_u32(), b.next_u32()])
}

fn chacha_at_a_place((seed, place): (u64, u32)) -> [u32; 3] {
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    random.set_stream(place.into());
    random.set_word_pos(u128::from(place) * 3);
    std::array::from_fn(|_| random.next_u32())
}
