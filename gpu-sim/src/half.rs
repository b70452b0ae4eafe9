//! Arithmetic on 16-bit floats: in `f64`, which holds sums and products of them or enough of their bits, and then rounded
//! once.

/// A format: bits of the fraction, and the exponent of the least normal number.
pub(crate) struct Format {
    fraction: u32,
    least: i32,
}

pub(crate) const F16: Format = Format {
    fraction: 10,
    least: -14,
};
pub(crate) const BF16: Format = Format {
    fraction: 7,
    least: -126,
};

impl Format {
    fn infinity(&self) -> u16 {
        0x7fff & !((1 << self.fraction) - 1)
    }

    /// The number of these bits.
    pub(crate) fn value(&self, bits: u16) -> f64 {
        let sign = if bits >> 15 == 0 { 1.0 } else { -1.0 };
        let (exponent, fraction) = (
            (bits & 0x7fff) >> self.fraction,
            bits & ((1 << self.fraction) - 1),
        );
        if bits & 0x7fff >= self.infinity() {
            return if fraction == 0 {
                sign * f64::INFINITY
            } else {
                f64::NAN
            };
        }
        // `f64` has all these numbers, none of them subnormal.
        let power = |exponent: i32| f64::from_bits(((exponent + 1023) as u64) << 52);
        let size = match exponent {
            0 => f64::from(fraction) * power(self.least - self.fraction as i32),
            _ => {
                let whole = power(i32::from(exponent) - 1 + self.least).to_bits();
                f64::from_bits(whole | u64::from(fraction) << (52 - self.fraction))
            }
        };
        sign * size
    }

    /// The nearest number, half to even.
    fn round(&self, value: f64) -> u16 {
        if value.is_nan() {
            return 0x7fff;
        }
        let (sign, size) = (u16::from(value.is_sign_negative()) << 15, value.abs());
        if size == 0.0 || size.is_infinite() {
            return sign | if size == 0.0 { 0 } else { self.infinity() };
        }
        // Above any finite number, so that the shift below cannot overflow.
        let exponent = libm::ilogb(size).clamp(self.least, 1 - self.least + 1);
        let places = libm::ldexp(size, self.fraction as i32 - exponent).round_ties_even();
        let bits = ((exponent - self.least) as u64) << self.fraction;
        sign | bits
            .saturating_add(places as u64)
            .min(self.infinity().into()) as u16
    }

    /// `a * b + c`, rounded once. The product is exact. Of the sum, what `f64` loses sets its last bit (round to odd), so that
    /// the second rounding sees on which side of a tie the sum lies.
    fn fma(&self, [a, b, c]: [u16; 3]) -> u16 {
        let (product, c) = (self.value(a) * self.value(b), self.value(c));
        let sum = product + c;
        let part = sum - product;
        let lost = (product - (sum - part)) + (c - part);
        if !sum.is_finite() || lost == 0.0 || sum.to_bits() & 1 == 1 {
            return self.round(sum);
        }
        let away = (lost > 0.0) == (sum > 0.0);
        let odd = if away {
            sum.to_bits() + 1
        } else {
            sum.to_bits() - 1
        };
        self.round(f64::from_bits(odd))
    }
}

impl Format {
    /// With -0 below 0.
    fn min(&self, a: u16, b: u16) -> u16 {
        self.choose(a, b, |a, b| a.total_cmp(&b).is_le())
    }

    fn max(&self, a: u16, b: u16) -> u16 {
        self.choose(a, b, |a, b| a.total_cmp(&b).is_ge())
    }

    /// `a` if `first` says so; of a number and a NaN, the number.
    fn choose(&self, a: u16, b: u16, first: impl Fn(f64, f64) -> bool) -> u16 {
        let [x, y] = [a, b].map(|bits| self.value(bits));
        match (x.is_nan(), y.is_nan()) {
            (true, true) => 0x7fff,
            (true, false) => b,
            (false, true) => a,
            (false, false) => {
                if first(x, y) {
                    a
                } else {
                    b
                }
            }
        }
    }
}

/// Both halves of a pair.
fn each<const N: usize>(pairs: [u32; N], operation: impl Fn([u16; N]) -> u16) -> u32 {
    let half = |shift: u32| u32::from(operation(pairs.map(|pair| (pair >> shift) as u16)));
    half(0) | half(16) << 16
}

macro_rules! symbols {
    ($($symbol:literal $name:ident($($x:ident: $type:ty),*) -> $result:ty { $value:expr })*) => {$(
        #[unsafe(export_name = $symbol)]
        extern "C" fn $name($($x: $type),*) -> $result {
            $value
        }
    )*};
}

symbols! {
    "gpu.half.add.f16" f16_add(a: u16, b: u16) -> u16 { F16.round(F16.value(a) + F16.value(b)) }
    "gpu.half.add.f16x2" f16x2_add(a: u32, b: u32) -> u32 { each([a, b], |[a, b]| f16_add(a, b)) }
    "gpu.half.sub.f16" f16_sub(a: u16, b: u16) -> u16 { F16.round(F16.value(a) - F16.value(b)) }
    "gpu.half.sub.f16x2" f16x2_sub(a: u32, b: u32) -> u32 { each([a, b], |[a, b]| f16_sub(a, b)) }
    "gpu.half.mul.f16" f16_mul(a: u16, b: u16) -> u16 { F16.round(F16.value(a) * F16.value(b)) }
    "gpu.half.mul.f16x2" f16x2_mul(a: u32, b: u32) -> u32 { each([a, b], |[a, b]| f16_mul(a, b)) }
    "gpu.half.div.f16" f16_div(a: u16, b: u16) -> u16 { F16.round(F16.value(a) / F16.value(b)) }
    "gpu.half.fma.f16" f16_fma(a: u16, b: u16, c: u16) -> u16 { F16.fma([a, b, c]) }
    "gpu.half.fma.f16x2" f16x2_fma(a: u32, b: u32, c: u32) -> u32 { each([a, b, c], |halves| F16.fma(halves)) }
    "gpu.half.minnum.f16" f16_min(a: u16, b: u16) -> u16 { F16.min(a, b) }
    "gpu.half.minnum.f16x2" f16x2_min(a: u32, b: u32) -> u32 { each([a, b], |[a, b]| F16.min(a, b)) }
    "gpu.half.maxnum.f16" f16_max(a: u16, b: u16) -> u16 { F16.max(a, b) }
    "gpu.half.maxnum.f16x2" f16x2_max(a: u32, b: u32) -> u32 { each([a, b], |[a, b]| F16.max(a, b)) }
    "gpu.half.floor.f16" f16_floor(x: u16) -> u16 { F16.round(F16.value(x).floor()) }
    "gpu.half.ceil.f16" f16_ceil(x: u16) -> u16 { F16.round(F16.value(x).ceil()) }
    "gpu.half.trunc.f16" f16_trunc(x: u16) -> u16 { F16.round(F16.value(x).trunc()) }
    "gpu.half.roundeven.f16" f16_round(x: u16) -> u16 { F16.round(F16.value(x).round_ties_even()) }
    "gpu.half.minnum.bf16" bf16_min(a: u16, b: u16) -> u16 { BF16.min(a, b) }
    "gpu.half.minnum.bf16x2" bf16x2_min(a: u32, b: u32) -> u32 { each([a, b], |[a, b]| BF16.min(a, b)) }
    "gpu.half.maxnum.bf16" bf16_max(a: u16, b: u16) -> u16 { BF16.max(a, b) }
    "gpu.half.maxnum.bf16x2" bf16x2_max(a: u32, b: u32) -> u32 { each([a, b], |[a, b]| BF16.max(a, b)) }
    "gpu.half.floor.bf16" bf16_floor(x: u16) -> u16 { BF16.round(BF16.value(x).floor()) }
    "gpu.half.ceil.bf16" bf16_ceil(x: u16) -> u16 { BF16.round(BF16.value(x).ceil()) }
    "gpu.half.trunc.bf16" bf16_trunc(x: u16) -> u16 { BF16.round(BF16.value(x).trunc()) }
    "gpu.half.roundeven.bf16" bf16_round(x: u16) -> u16 { BF16.round(BF16.value(x).round_ties_even()) }
    "gpu.half.to_f32.f16" f16_to_f32(x: u16) -> f32 { F16.value(x) as f32 }
    "gpu.half.from_f32.f16" f16_from_f32(x: f32) -> u16 { F16.round(x.into()) }
    "gpu.half.from_f64.f16" f16_from_f64(x: f64) -> u16 { F16.round(x) }
    "gpu.half.add.bf16" bf16_add(a: u16, b: u16) -> u16 { BF16.round(BF16.value(a) + BF16.value(b)) }
    "gpu.half.add.bf16x2" bf16x2_add(a: u32, b: u32) -> u32 { each([a, b], |[a, b]| bf16_add(a, b)) }
    "gpu.half.sub.bf16" bf16_sub(a: u16, b: u16) -> u16 { BF16.round(BF16.value(a) - BF16.value(b)) }
    "gpu.half.sub.bf16x2" bf16x2_sub(a: u32, b: u32) -> u32 { each([a, b], |[a, b]| bf16_sub(a, b)) }
    "gpu.half.mul.bf16" bf16_mul(a: u16, b: u16) -> u16 { BF16.round(BF16.value(a) * BF16.value(b)) }
    "gpu.half.mul.bf16x2" bf16x2_mul(a: u32, b: u32) -> u32 { each([a, b], |[a, b]| bf16_mul(a, b)) }
    "gpu.half.div.bf16" bf16_div(a: u16, b: u16) -> u16 { BF16.round(BF16.value(a) / BF16.value(b)) }
    "gpu.half.fma.bf16" bf16_fma(a: u16, b: u16, c: u16) -> u16 { BF16.fma([a, b, c]) }
    "gpu.half.fma.bf16x2" bf16x2_fma(a: u32, b: u32, c: u32) -> u32 { each([a, b, c], |halves| BF16.fma(halves)) }
    "gpu.half.to_f32.bf16" bf16_to_f32(x: u16) -> f32 { BF16.value(x) as f32 }
    "gpu.half.from_f32.bf16" bf16_from_f32(x: f32) -> u16 { BF16.round(x.into()) }
    "gpu.half.from_f64.bf16" bf16_from_f64(x: f64) -> u16 { BF16.round(x) }
}
