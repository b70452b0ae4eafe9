//! 8-bit floats: every number comes back, and every `f32` rounds to the nearest. A module of the tests for the default
//! target, which computes the conversions, and for newer ones, which have instructions.

use oxwarp::fp8::{E4m3, E4m3x2, E5m2, E5m2x2};
use oxwarp::half::{F16, F16x2};
use oxwarp::prelude::*;

use super::common::Random;

macro_rules! formats {
    ($($name:ident: $half:ident $pair:ident, fraction $fraction:literal, bias $bias:literal, infinite $infinite:expr, nan $nan:expr,
        max $max:literal;)*) => {$(
        mod $name {
            use super::*;

            /// The number of these bits, by the definition of the format.
            fn value(bits: u8) -> f64 {
                let (exponent, fraction) = ((bits & 0x7f) >> $fraction, bits & ((1 << $fraction) - 1));
                let (is_infinite, is_nan): (fn(u8) -> bool, fn(u8) -> bool) = ($infinite, $nan);
                let size = match bits & 0x7f {
                    size if is_nan(size) => f64::NAN,
                    size if is_infinite(size) => f64::INFINITY,
                    _ if exponent == 0 => f64::from(fraction) * 2f64.powi(1 - $bias - $fraction),
                    _ => (1.0 + f64::from(fraction) / f64::from(1 << $fraction)) * 2f64.powi(i32::from(exponent) - $bias),
                };
                if bits < 0x80 { size } else { -size }
            }

            // Without padding: what is read back has all been written.
            #[kernel]
            fn widen(bits: &[u8], mut out: DisjointSlice<(f32, F16, [f32; 2], F16x2, [u8; 2])>) {
                let i = thread::index_1d();
                let Some(out) = out.get_mut(i) else { return };
                let x = $half::from_bits(bits[*i]);
                let pair = $pair::new($half::ONE, x);
                *out = (x.to_f32(), x.to_f16(), pair.to_f32(), pair.to_f16x2(), [$half::from_f32(x.to_f32()).to_bits(); 2]);
            }

            #[test]
            fn all_numbers() {
                let gpu = Gpu::new().unwrap();
                let bits: Vec<u8> = (0..=255).collect();
                // SAFETY: every element is written before it is read.
                let mut out = unsafe { gpu.uninit(256) }.unwrap();
                widen.for_each(256).launch(&gpu.to_device(&bits).unwrap(), &mut out).unwrap();
                for (bits, (single, half, pair, halves, [back, _])) in bits.into_iter().zip(out.to_vec().unwrap()) {
                    let expected = value(bits);
                    let is = |got: f64| got.to_bits() == expected.to_bits() || got.is_nan() && expected.is_nan();
                    assert!(is(single.into()) && is(half.to_f64()), "{bits:x}: {single} {half} {expected}");
                    assert!(is(pair[1].into()) && is(halves.hi().to_f64()), "{bits:x}: {pair:?} {halves:?}");
                    assert_eq!((pair[0], halves.lo()), (1.0, F16::ONE));
                    let saturated = if expected.is_infinite() { $max | bits & 0x80 } else { bits };
                    assert_eq!(back, if expected.is_nan() { 0x7f } else { saturated }, "{bits:x}");
                }
            }

            /// The finite numbers that are not negative, in their order.
            fn numbers() -> Vec<(f64, u8)> {
                (0..=$max).map(|bits| (value(bits), bits)).collect()
            }

            /// The nearest number, of two nearest the one with an even code.
            fn nearest(x: f64, numbers: &[(f64, u8)]) -> u8 {
                if x.is_nan() {
                    return 0x7f;
                }
                let (size, sign) = (x.abs(), if x.is_sign_negative() { 0x80 } else { 0 });
                let above = numbers.partition_point(|&(number, _)| number < size);
                let near = numbers[above.saturating_sub(1)..].iter().take(2);
                let key = |&&(number, bits): &&(f64, u8)| ((number - size).abs(), bits & 1);
                let best = near.min_by(|a, b| key(a).partial_cmp(&key(b)).unwrap()).unwrap();
                sign | if size > value($max) { $max } else { best.1 }
            }

            #[kernel]
            fn narrow(x: &[f32], mut out: DisjointSlice<(u8, [u8; 2], [u8; 2], u8)>) {
                let i = thread::index_1d();
                let Some(out) = out.get_mut(i) else { return };
                let x = x[*i];
                let (pair, half) = ($pair::from_f32([x, -x]), F16::from_f32(x));
                let halves = $pair::from_f16x2(F16x2::new(half, -half));
                let bytes = |pair: $pair| [pair.lo().to_bits(), pair.hi().to_bits()];
                *out = ($half::from_f32(x).to_bits(), bytes(pair), bytes(halves), $half::from_f16(half).to_bits());
            }

            #[test]
            fn random_numbers_round_to_the_nearest() {
                let gpu = Gpu::new().unwrap();
                let mut random = Random::new(31);
                let mut x: Vec<f32> = (0..4000).map(|_| f32::from_bits(random.bits() as u32)).collect();
                x.extend(random.floats(4000, -500.0, 500.0));
                x.extend(random.floats(2000, -0.02, 0.02));
                x.extend([0.0, -0.0, f32::INFINITY, f32::NEG_INFINITY, f32::NAN, -f32::NAN, f32::MAX, f32::MIN_POSITIVE, 1e-40]);
                // Every number, every tie, and what is beside them.
                let numbers = numbers();
                for pair in numbers.windows(2) {
                    for number in [pair[0].0, (pair[0].0 + pair[1].0) / 2.0] {
                        let number = number as f32;
                        x.extend([number, number.next_up(), number.next_down(), -number]);
                    }
                }
                // SAFETY: every element is written before it is read.
                let mut out = unsafe { gpu.uninit(x.len()) }.unwrap();
                narrow.for_each(x.len()).launch(&gpu.to_device(&x).unwrap(), &mut out).unwrap();
                for (&x, (single, pair, halves, half)) in x.iter().zip(out.to_vec().unwrap()) {
                    let of = |x: f32| nearest(x.into(), &numbers);
                    assert_eq!((single, pair), (of(x), [of(x), of(-x)]), "{x:e}");
                    let x = half::f16::from_f32(x).to_f32();
                    assert_eq!((half, halves), (of(x), [of(x), of(-x)]), "{x:e}");
                }
            }
        }
    )*};
}

formats! {
    e4m3: E4m3 E4m3x2, fraction 3, bias 7, infinite |_| false, nan |size| size == 0x7f, max 0x7e;
    e5m2: E5m2 E5m2x2, fraction 2, bias 15, infinite |size| size == 0x7c, nan |size| size > 0x7c, max 0x7b;
}

#[test]
fn text_and_order() {
    assert_eq!(
        format!("{} {:?}", E4m3::ONE, E5m2x2::from_f32([2.0, -0.5])),
        "1 E5m2x2(2.0, -0.5)"
    );
    assert!(E4m3::MAX > E4m3::ONE && E4m3::NAN != E4m3::NAN && !E5m2::from_bits(0x7c).is_finite());
    assert_eq!((E4m3::MAX.to_f32(), E5m2::MAX.to_f32()), (448.0, 57344.0));
}
