//! Floats: arithmetic to the bit, rounding, zeros and NaN, classes, conversions of their bits. (`tests/math.rs` has the
//! mathematical functions.)

/// The same functions for both types, a module each.
macro_rules! widths {
    ($($float:ident $bits:ident $int:ident)*) => {$(
        mod $float {
            use std::num::FpCategory;

            agree!(
                arithmetic, remainders, rounding, signs, comparisons, extremes, classes, bits, to_integers, neighbours,
                roots_and_fused, sums_in_order, polynomials, steps_of_newton, angles within 1 ulp,
            );

            fn arithmetic((a, b): ($float, $float)) -> [$float; 6] {
                [a + b, a - b, a * b, a / b, -a, a * b + a]
            }

            fn remainders((a, b): ($float, $float)) -> [$float; 2] {
                // The quotient of rem_euclid and div_euclid is rounded twice.
                [a % b, (a % 3.0) * b]
            }

            fn rounding(x: $float) -> [$float; 6] {
                [x.floor(), x.ceil(), x.trunc(), x.round(), x.round_ties_even(), x.fract()]
            }

            fn signs((a, b): ($float, $float)) -> ([$float; 3], [bool; 2]) {
                let a = if a.is_nan() { 1.0 } else { a };
                let b = if b.is_nan() { -2.0 } else { b };
                ([a.abs(), a.copysign(b), b.signum()], [a.is_sign_negative(), b.is_sign_positive()])
            }

            fn comparisons((a, b): ($float, $float)) -> ([bool; 6], Option<i8>, bool) {
                (
                    [a < b, a <= b, a == b, a != b, a > b, a >= b],
                    a.partial_cmp(&b).map(|order| order as i8),
                    !(a < b) && !(a >= b),
                )
            }

            fn extremes((a, b): ($float, $float)) -> [$float; 4] {
                // Of two zeros either may be the larger, so they are made one.
                [a.max(b) + 0.0, a.min(b) + 0.0, a.clamp(-1.5, 2.5) + 0.0, a.max(b).min(4.0) + 0.0]
            }

            fn classes(x: $float) -> (u8, [bool; 5]) {
                let class = match x.classify() {
                    FpCategory::Nan => 0,
                    FpCategory::Infinite => 1,
                    FpCategory::Zero => 2,
                    FpCategory::Subnormal => 3,
                    FpCategory::Normal => 4,
                };
                (class, [x.is_nan(), x.is_infinite(), x.is_finite(), x.is_subnormal(), x.is_normal()])
            }

            fn bits((x, n): ($float, $bits)) -> ([$bits; 2], $float, i8, [u8; size_of::<$float>()]) {
                let x = if x.is_nan() { 7.5 } else { x };
                (
                    [x.to_bits() ^ 5, x.to_bits().rotate_left(9)],
                    $float::from_bits(n),
                    x.total_cmp(&-0.0) as i8,
                    x.to_be_bytes(),
                )
            }

            fn to_integers(x: $float) -> (i8, u8, $int, $bits, i128, u128) {
                (x as i8, x as u8, x as $int, x as $bits, x as i128, x as u128)
            }

            fn neighbours(x: $float) -> [$float; 4] {
                [x.next_up(), x.next_down(), x.midpoint(3.0), x * $float::EPSILON]
            }

            fn roots_and_fused((a, b): ($float, $float)) -> [$float; 4] {
                [a.sqrt(), a.abs().sqrt() / b, a.mul_add(b, a), a.recip()]
            }

            fn sums_in_order(x: [$float; 9]) -> [$float; 3] {
                let mut compensated = (0.0, 0.0);
                for x in x {
                    let y: $float = x - compensated.1;
                    let sum: $float = compensated.0 + y;
                    compensated = (sum, (sum - compensated.0) - y);
                }
                [x.iter().sum(), x.iter().rev().product(), compensated.0]
            }

            fn polynomials((x, c): ($float, [$float; 5])) -> [$float; 2] {
                let horner = c.iter().rev().fold(0.0, |sum, c| sum * x + c);
                let powers = [1.0, x, x * x, x.powi(3)];
                [horner, powers.iter().zip(&c).map(|(p, c)| p * c).sum()]
            }

            fn steps_of_newton(x: $float) -> ($float, u32) {
                let x = x.abs().min(1e6) + 0.25;
                let mut root = x.max(1.0);
                let mut steps = 0;
                loop {
                    let next = 0.5 * (root + x / root);
                    if next >= root || steps == 50 {
                        break (root, steps);
                    }
                    root = next;
                    steps += 1;
                }
            }

            fn angles(x: $float) -> [$float; 2] {
                [x.to_degrees(), x.to_radians()]
            }
        }
    )*};
}

widths!(f32 u32 i32 f64 u64 i64);

agree!(between_the_two, of_integers, intervals, smooth_functions within 4 ulp);

fn between_the_two((a, b): (f32, f64)) -> (f64, f32, f32) {
    (f64::from(a) * b, b as f32, (f64::from(a) + b) as f32)
}

fn of_integers((a, b, c, d): (i64, u64, i128, u32)) -> ([f32; 4], [f64; 4]) {
    (
        [a as f32, b as f32, c as f32, d as f32],
        [a as f64, b as f64, c as f64, d.into()],
    )
}

/// A sum of intervals that holds the exact one.
fn intervals(x: [(f64, f64); 4]) -> (f64, f64) {
    let ordered = |(a, b): (f64, f64)| if a <= b { (a, b) } else { (b, a) };
    x.into_iter()
        .map(ordered)
        .reduce(|a, b| ((a.0 + b.0).next_down(), (a.1 + b.1).next_up()))
        .unwrap_or((0.0, 0.0))
}

fn smooth_functions((x, y): (f32, f64)) -> (f32, f64) {
    let (x, y) = (x.abs().min(50.0), y.abs().min(50.0));
    // NaN fall to 50.
    ((1.0 + x).ln().max(0.0).sqrt(), (y * y + 1.0).sqrt().ln_1p())
}
