//! Random data from a seed, the same in every run.

use oxwarp::vector::Float4;

/// The splitmix64 sequence.
pub struct Random(u64);

impl Random {
    pub fn new(seed: u64) -> Self {
        Random(seed)
    }

    pub fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    /// Uniform in 0..1.
    pub fn float(&mut self) -> f32 {
        (self.bits() >> 40) as f32 / (1u64 << 24) as f32
    }

    /// Uniform below `end`.
    pub fn below(&mut self, end: usize) -> usize {
        ((u128::from(self.bits()) * end as u128) >> 64) as usize
    }
}

/// So many floats in `low..high`.
pub fn floats(count: usize, low: f32, high: f32, seed: u64) -> Vec<f32> {
    let mut random = Random::new(seed);
    (0..count)
        .map(|_| low + (high - low) * random.float())
        .collect()
}

/// So many vectors, with components in `low..high`.
pub fn vectors(count: usize, low: f32, high: f32, seed: u64) -> Vec<Float4> {
    let mut random = Random::new(seed);
    let mut component = || low + (high - low) * random.float();
    (0..count)
        .map(|_| Float4::new(component(), component(), component(), component()))
        .collect()
}

/// The components in their order.
pub fn components(vectors: &[Float4]) -> &[f32] {
    bytemuck::cast_slice(vectors)
}
