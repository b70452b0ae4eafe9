//! `num-complex`, `num-traits`, `half`, `fixed`.

use fixed::types::{I16F16, I32F32, U8F8, U64F64};
use half::{bf16, f16};
use num_complex::Complex;
use num_traits::{
    AsPrimitive, Bounded, CheckedAdd, Euclid, Float, Inv, One, PrimInt, Saturating, Signed,
    WrappingMul, Zero, clamp, pow,
};

agree!(
    complex_arithmetic,
    complex_of_integers,
    complex_functions within 64 ulp,
    generic_over_numbers,
    generic_over_integers,
    generic_over_floats,
    casts,
    halves,
    conversions_of_halves,
    fixed_point,
    wide_fixed_point,
    fixed_point_overflow,
);

fn complex_arithmetic((a, b): ([f32; 2], [f32; 2])) -> [f32; 6] {
    let (a, b) = (Complex::new(a[0], a[1]), Complex::new(b[0], b[1]));
    let (product, quotient) = (a * b - a.conj(), a / b);
    let square = product * Complex::i() + 2.0;
    [
        product.re,
        product.im,
        quotient.re,
        quotient.im,
        square.re,
        b.norm_sqr(),
    ]
}

fn complex_of_integers((a, n): ([i16; 2], u8)) -> (i64, i64, bool) {
    let a = Complex::new(i64::from(a[0] % 50), i64::from(a[1] % 50));
    let power = pow(a, usize::from(n) % 6);
    let sum: Complex<i64> = [a, power, -a].into_iter().sum();
    (sum.re, power.im, (a * a.conj()).is_zero())
}

/// Of numbers near one: what is far away differs by more.
fn complex_functions([x, y]: [u8; 2]) -> [f64; 4] {
    let z = Complex::new(f64::from(x) / 128.0 + 0.25, f64::from(y) / 128.0 + 0.25);
    let (root, exponential) = (z.sqrt(), z.exp());
    [root.re, root.im, exponential.norm(), z.norm()]
}

/// A polynomial of any numbers.
fn horner<T: Copy + Zero + std::ops::Mul<Output = T>>(coefficients: &[T], x: T) -> T {
    coefficients.iter().fold(T::zero(), |sum, &c| sum * x + c)
}

fn generic_over_numbers((a, b, c): ([i8; 4], [f64; 3], [f32; 2])) -> (i64, f64, f32) {
    let z = horner(
        &[Complex::one(), Complex::new(c[0], c[1])],
        Complex::new(0.5, -1.0),
    );
    (horner(&a.map(i64::from), 3), horner(&b, b[0]), z.re)
}

fn generic_over_integers((a, b): (u32, i64)) -> ([u32; 3], [i64; 3], Option<u32>) {
    fn bits<T: PrimInt + WrappingMul + Saturating>(x: T) -> [T; 3] {
        let shifted = x.rotate_left(x.count_ones()) ^ (x >> 3);
        [
            shifted,
            x.wrapping_mul(&x),
            x.saturating_add(T::max_value()),
        ]
    }
    (bits(a), bits(b), CheckedAdd::checked_add(&a, &(b as u32)))
}

fn generic_over_floats((a, b): (f32, f64)) -> ([f32; 3], [f64; 3]) {
    fn shape<T: Float + Signed>(x: T) -> [T; 3] {
        let x = if x.is_nan() { T::one() } else { x };
        [
            x.floor().max(-T::one()),
            x.abs().sqrt(),
            clamp(x, T::zero(), T::epsilon()),
        ]
    }
    (shape(a), shape(b))
}

fn casts((a, b, c): (f32, i32, u8)) -> (u8, i16, f64, i32, u8) {
    let inverse = f64::from(c | 1).inv();
    (
        a.as_(),
        b.as_(),
        inverse,
        Euclid::rem_euclid(&b, &17),
        <u8 as Bounded>::max_value() - c,
    )
}

fn halves((a, b): (f32, f32)) -> ([u16; 4], bool) {
    let clean = |x: f32| if x.is_nan() { 0.5 } else { x };
    let (a, b) = (clean(a), clean(b));
    let (x, y) = (f16::from_f32(a), bf16::from_f32(b));
    (
        [
            x.to_bits(),
            y.to_bits(),
            // One that has no more bits: the portable conversion leaves out the low 32, and rounds without them.
            f16::from_f64(x.to_f64()).to_bits(),
            (-x).to_bits(),
        ],
        x < f16::from_f32(b),
    )
}

fn conversions_of_halves([a, b]: [u16; 2]) -> (f32, f64, f32, [bool; 3]) {
    let (x, y) = (f16::from_bits(a), bf16::from_bits(b));
    (
        x.to_f32(),
        x.to_f64(),
        y.to_f32(),
        [x.is_nan(), y.is_finite(), x.is_sign_negative()],
    )
}

fn fixed_point((a, b): (i32, i32)) -> ([i32; 4], f64, i16) {
    let (x, y) = (I16F16::from_bits(a), I16F16::from_bits(b | 1));
    (
        [
            x.wrapping_mul(y).to_bits(),
            x.wrapping_div(y).to_bits(),
            (x >> 1u32).saturating_sub(y).to_bits(),
            x.frac().to_bits(),
        ],
        x.to_num(),
        x.wrapping_round().wrapping_to_num(),
    )
}

fn wide_fixed_point((a, b): (u128, i64)) -> (u128, i64, i64) {
    let x = U64F64::from_bits(a);
    let y = I32F32::from_bits(b);
    (
        x.wrapping_mul(x).to_bits(),
        y.wrapping_mul(y).to_bits(),
        (y >> 1u32).abs().wrapping_sqrt().to_bits(),
    )
}

fn fixed_point_overflow((a, b, c): (u16, u16, f32)) -> (Option<u16>, u16, (u16, bool)) {
    let (x, y) = (U8F8::from_bits(a), U8F8::from_bits(b));
    let c = if c.is_finite() { c } else { 3.25 };
    let (sum, over) = x.overflowing_add(y);
    (
        x.checked_mul(y).map(U8F8::to_bits),
        U8F8::saturating_from_num(c).to_bits(),
        (sum.to_bits(), over),
    )
}
