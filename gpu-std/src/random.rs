//! Random numbers in kernels: Philox4x32-10, a counter-based generator (Salmon, Moraes, Dror and Shaw, "Parallel random
//! numbers: as easy as 1, 2, 3", 2011), as cuRAND's `curandStatePhilox4_32_10_t`.
//!
//! A generator is a seed and a subsequence, which a thread makes of its own index, so no state is kept in memory, and
//! the numbers do not depend on the launch shape. The integers are those of cuRAND for the same seed and subsequence, and
//! the same on both back ends; so are uniform floats.
//!
//! ```
//! use gpu_std::random::Philox;
//! use gpu_std::{DisjointSlice, thread};
//!
//! fn noise(seed: u64, mut out: DisjointSlice<f32>) {
//!     let i = thread::index_1d();
//!     let mut random = Philox::new(seed, *i as u64);
//!     if let Some(out) = out.get_mut(i) {
//!         *out = random.uniform_f32();
//!     }
//! }
//! ```

use crate::integer::mul_hi;
use crate::math;

/// The multipliers of the round.
const MULTIPLIERS: [u32; 2] = [0xd251_1f53, 0xcd9e_8d57];
/// What the key grows by from round to round.
const WEYL: [u32; 2] = [0x9e37_79b9, 0xbb67_ae85];

/// The four words of Philox4x32-10 for a counter and a key.
///
/// ```
/// use gpu_std::random::philox4x32_10;
///
/// fn in_a_kernel() {
///     // The first of Random123's known answers.
///     let words = philox4x32_10([0; 4], [0; 2]);
///     assert_eq!(words, [0x6627_e8d5, 0xe169_c58d, 0xbc57_ac4c, 0x9b00_dbd8]);
/// }
/// ```
///
/// Ten rounds of two multiplications each. CUDA C: `curand_Philox4x32_10`.
#[inline]
pub fn philox4x32_10(counter: [u32; 4], key: [u32; 2]) -> [u32; 4] {
    let (mut counter, mut key) = (counter, key);
    for round in 0..10 {
        if round > 0 {
            key = [key[0].wrapping_add(WEYL[0]), key[1].wrapping_add(WEYL[1])];
        }
        let [a, b] = [counter[0], counter[2]];
        counter = [
            mul_hi(MULTIPLIERS[1], b) ^ counter[1] ^ key[0],
            MULTIPLIERS[1].wrapping_mul(b),
            mul_hi(MULTIPLIERS[0], a) ^ counter[3] ^ key[1],
            MULTIPLIERS[0].wrapping_mul(a),
        ];
    }
    counter
}

/// A stream of random numbers.
///
/// 11 registers, or fewer where the optimiser knows what is not used. CUDA C: `curandStatePhilox4_32_10_t`; Numba:
/// `xoroshiro128p` states, another generator.
///
/// ```
/// use gpu_std::random::Philox;
///
/// fn is_near(point: f32) -> bool {
///     let mut random = Philox::new(42, 0);
///     point * point < random.uniform_f32()
/// }
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Philox {
    key: [u32; 2],
    /// The number of the block of four words to compute next, in two words, and the subsequence.
    counter: [u32; 4],
    /// The block before it, of which some are left unless `place` is 0.
    words: [u32; 4],
    /// The next word's place among its four.
    place: u32,
}

impl Philox {
    /// The stream of a seed and a subsequence: 2^64 subsequences of a seed do not overlap. CUDA C:
    /// `curand_init(seed, subsequence, 0, &state)`.
    ///
    /// ```
    /// use gpu_std::random::Philox;
    ///
    /// fn in_a_kernel() {
    ///     let (mut a, mut b) = (Philox::new(42, 0), Philox::new(42, 1));
    ///     assert_ne!(a.next_u64(), b.next_u64());
    /// }
    /// ```
    #[inline]
    pub fn new(seed: u64, subsequence: u64) -> Self {
        Self {
            key: [seed as u32, (seed >> 32) as u32],
            counter: [0, 0, subsequence as u32, (subsequence >> 32) as u32],
            words: [0; 4],
            place: 0,
        }
    }

    /// Passes over `count` words, in constant time. CUDA C: `skipahead`.
    ///
    /// ```
    /// use gpu_std::random::Philox;
    ///
    /// fn in_a_kernel() {
    ///     let (mut a, mut b) = (Philox::new(42, 0), Philox::new(42, 0));
    ///     let seventh = [0; 7].map(|_| a.next_u32())[6];
    ///     b.skip(6);
    ///     assert_eq!(b.next_u32(), seventh);
    /// }
    /// ```
    #[inline]
    pub fn skip(&mut self, count: u64) {
        let place = self.place + (count % 4) as u32;
        let next = u64::from(self.counter[0]) | u64::from(self.counter[1]) << 32;
        let present = next.wrapping_sub(u64::from(self.place > 0));
        let blocks = (count / 4).wrapping_add(u64::from(place / 4));
        let next = present.wrapping_add(blocks);
        (self.counter[0], self.counter[1]) = (next as u32, (next >> 32) as u32);
        self.place = place % 4;
        if self.place > 0 {
            self.words = self.next_block();
        }
    }

    #[inline]
    fn next_block(&mut self) -> [u32; 4] {
        let block = philox4x32_10(self.counter, self.key);
        self.counter[0] = self.counter[0].wrapping_add(1);
        if self.counter[0] == 0 {
            self.counter[1] = self.counter[1].wrapping_add(1);
        }
        block
    }

    /// 32 random bits. CUDA C: `curand`.
    ///
    /// Every fourth call computes four words.
    ///
    /// ```
    /// fn die(random: &mut gpu_std::random::Philox) -> u32 {
    ///     1 + random.next_u32() % 6
    /// }
    /// ```
    #[inline]
    pub fn next_u32(&mut self) -> u32 {
        let place = self.place;
        if place == 0 {
            self.words = self.next_block();
        }
        self.place = (place + 1) % 4;
        // Not an index, which would put the words into local memory.
        let [a, b, c, d] = self.words;
        match place {
            0 => a,
            1 => b,
            2 => c,
            _ => d,
        }
    }

    /// 64 random bits: two words, the lower first.
    ///
    /// CUDA C: two calls of `curand`.
    ///
    /// ```
    /// fn key(random: &mut gpu_std::random::Philox) -> u64 {
    ///     random.next_u64()
    /// }
    /// ```
    #[inline]
    pub fn next_u64(&mut self) -> u64 {
        let low = self.next_u32();
        u64::from(low) | u64::from(self.next_u32()) << 32
    }

    /// Four words at once, of the next block that starts: what is left of the present one is passed over. The cheapest
    /// way to many numbers. CUDA C: `curand4`, where the state is at the start of a block.
    ///
    /// ```
    /// fn address(random: &mut gpu_std::random::Philox) -> [u32; 4] {
    ///     random.next_4()
    /// }
    /// ```
    #[inline]
    pub fn next_4(&mut self) -> [u32; 4] {
        self.place = 0;
        self.next_block()
    }

    /// Uniform in [0, 1): a multiple of 2^-24. (CUDA C's `curand_uniform` is in (0, 1].)
    ///
    /// ```
    /// fn in_kelvin(random: &mut gpu_std::random::Philox) -> f32 {
    ///     270.0 + 30.0 * random.uniform_f32()
    /// }
    /// ```
    #[inline]
    pub fn uniform_f32(&mut self) -> f32 {
        (self.next_u32() >> 8) as f32 * (1.0 / (1 << 24) as f32)
    }

    /// Uniform in [0, 1): a multiple of 2^-53, of two words.
    ///
    /// (CUDA C's `curand_uniform_double` is in (0, 1].)
    ///
    /// ```
    /// fn angle(random: &mut gpu_std::random::Philox) -> f64 {
    ///     random.uniform_f64() * core::f64::consts::TAU
    /// }
    /// ```
    #[inline]
    pub fn uniform_f64(&mut self) -> f64 {
        (self.next_u64() >> 11) as f64 * (1.0 / (1u64 << 53) as f64)
    }

    /// Two independent numbers of the standard normal distribution (Box and Muller), of two words. The back ends agree to
    /// the accuracy of their logarithm and sine. CUDA C: `curand_normal2`.
    ///
    /// ```
    /// fn step(random: &mut gpu_std::random::Philox, scale: f32) -> [f32; 2] {
    ///     random.normal_pair_f32().map(|x| scale * x)
    /// }
    /// ```
    #[inline]
    pub fn normal_pair_f32(&mut self) -> [f32; 2] {
        let radius = math::Real::sqrt(-2.0 * math::Real::ln(1.0 - self.uniform_f32()));
        let (sin, cos) = math::sin_cos_pi(2.0 * self.uniform_f32());
        [radius * cos, radius * sin]
    }

    /// Two independent numbers of the standard normal distribution, of four words. CUDA C: `curand_normal2_double`.
    ///
    /// ```
    /// fn step(random: &mut gpu_std::random::Philox, scale: f64) -> [f64; 2] {
    ///     random.normal_pair_f64().map(|x| scale * x)
    /// }
    /// ```
    #[inline]
    pub fn normal_pair_f64(&mut self) -> [f64; 2] {
        let radius = math::Real::sqrt(-2.0 * math::Real::ln(1.0 - self.uniform_f64()));
        let (sin, cos) = math::sin_cos_pi(2.0 * self.uniform_f64());
        [radius * cos, radius * sin]
    }

    /// A number of the standard normal distribution, of two words. CUDA C: `curand_normal`.
    ///
    /// ```
    /// fn step(random: &mut gpu_std::random::Philox, drift: f32) -> f32 {
    ///     drift + random.normal_f32()
    /// }
    /// ```
    #[inline]
    pub fn normal_f32(&mut self) -> f32 {
        self.normal_pair_f32()[0]
    }

    /// A number of the standard normal distribution, of four words. CUDA C: `curand_normal_double`.
    ///
    /// ```
    /// fn step(random: &mut gpu_std::random::Philox, drift: f64) -> f64 {
    ///     drift + random.normal_f64()
    /// }
    /// ```
    #[inline]
    pub fn normal_f64(&mut self) -> f64 {
        self.normal_pair_f64()[0]
    }

    /// An integer below `end`, each with the same probability (Lemire, "Fast random integer generation in an interval",
    /// 2019). It may take several words.
    ///
    /// CUDA C has only `curand() % end`, which prefers small numbers a little.
    ///
    /// ```
    /// fn die(random: &mut gpu_std::random::Philox) -> u32 {
    ///     1 + random.below_u32(6)
    /// }
    /// ```
    ///
    /// # Panics
    ///
    /// If `end` is 0.
    #[inline]
    #[track_caller]
    pub fn below_u32(&mut self, end: u32) -> u32 {
        assert!(end > 0, "there is no integer below 0");
        let mut product = u64::from(self.next_u32()) * u64::from(end);
        if (product as u32) < end {
            let biased = end.wrapping_neg() % end;
            while (product as u32) < biased {
                product = u64::from(self.next_u32()) * u64::from(end);
            }
        }
        (product >> 32) as u32
    }

    /// An integer below `end`, each with the same probability; as [`below_u32`](Self::below_u32), in 64 bits.
    ///
    /// CUDA C has only a remainder of `curand` words.
    ///
    /// ```
    /// fn place(random: &mut gpu_std::random::Philox, bytes: u64) -> u64 {
    ///     random.below_u64(bytes)
    /// }
    /// ```
    ///
    /// # Panics
    ///
    /// If `end` is 0.
    #[inline]
    #[track_caller]
    pub fn below_u64(&mut self, end: u64) -> u64 {
        assert!(end > 0, "there is no integer below 0");
        let mut product = u128::from(self.next_u64()) * u128::from(end);
        if (product as u64) < end {
            let biased = end.wrapping_neg() % end;
            while (product as u64) < biased {
                product = u128::from(self.next_u64()) * u128::from(end);
            }
        }
        (product >> 64) as u64
    }
}
