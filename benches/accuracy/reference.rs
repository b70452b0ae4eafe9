//! The functions with more digits than an `f64` has: what the results of doubles are compared with.
//!
//! Elementary functions are those of `dashu-float`, which rounds correctly. The others come from series, continued fractions
//! and recurrences (Abramowitz and Stegun, the sections named below), and inverses from Newton's method, which starts from
//! the result that is checked.

use dashu_float::FBig;
use dashu_float::ops::CubicRoot;
use dashu_float::round::mode::HalfEven;

/// A number of [`BITS`] bits.
pub type Big = FBig<HalfEven, 2>;

/// Enough for what cancels, with some 100 bits left.
const BITS: usize = 192;

/// The same number.
pub fn big(x: f64) -> Big {
    let exact = Big::try_from(x).expect("arguments are finite");
    exact.with_precision(BITS).value()
}

fn whole(x: u64) -> Big {
    Big::from(x).with_precision(BITS).value()
}

fn pi() -> Big {
    Big::pi(BITS)
}

/// Euler's constant, as a sum of doubles.
fn euler() -> Big {
    [
        0.5772156649015329,
        -4.942915152430645e-18,
        -2.322111740706957e-34,
        1.7004947433810964e-50,
    ]
    .into_iter()
    .fold(big(0.0), |sum, part| sum + big(part))
}

fn is_below(x: &Big, limit: f64) -> bool {
    x.to_f64().value() < limit
}

/// `first` and what follows it, each by `next` of the last and its number, until nothing changes any more.
fn series(first: Big, next: impl Fn(&Big, u64) -> Big) -> Big {
    let (mut sum, mut term) = (first.clone(), first);
    for n in 1.. {
        term = next(&term, n);
        sum += &term;
        let (size, of_sum) = (term.to_f64().value().abs(), sum.to_f64().value().abs());
        // Terms of Bessel functions grow at first.
        if size == 0.0 || size < of_sum * 1e-45 && n > 8 {
            break;
        }
    }
    sum
}

pub fn exp2(x: &Big) -> Big {
    whole(2).powf(x)
}

pub fn exp10(x: &Big) -> Big {
    whole(10).powf(x)
}

pub fn sqrt(x: &Big) -> Big {
    x.sqrt()
}

pub fn cbrt(x: &Big) -> Big {
    x.cbrt()
}

pub fn rsqrt(x: &Big) -> Big {
    whole(1) / x.sqrt()
}

pub fn rcbrt(x: &Big) -> Big {
    whole(1) / x.cbrt()
}

pub fn hypot(x: &Big, y: &Big) -> Big {
    (x * x + y * y).sqrt()
}

pub fn rhypot(x: &Big, y: &Big) -> Big {
    whole(1) / hypot(x, y)
}

/// 7.1.6
pub fn erf(x: &Big) -> Big {
    let square = x * x;
    let doubled = &square * whole(2);
    let sum = series(x.clone(), |term, n| term * &doubled / whole(2 * n + 1));
    sum * (-square).exp() * whole(2) / pi().sqrt()
}

/// 7.1.14, where `1 - erf(x)` would cancel.
pub fn erfc(x: &Big) -> Big {
    if is_below(x, 5.0) {
        return whole(1) - erf(x);
    }
    let square = x * x;
    let doubled = &square * whole(2);
    let fraction = (1..=120).rev().fold(whole(1), |fraction, k| {
        whole(1) + whole(k) / (&doubled * fraction)
    });
    (-square).exp() / (x * pi().sqrt() * fraction)
}

pub fn erfcx(x: &Big) -> Big {
    (x * x).exp() * erfc(x)
}

pub fn norm_cdf(x: &Big) -> Big {
    erfc(&(-x / whole(2).sqrt())) / whole(2)
}

/// Newton's method for `function(y) = x`, from `guess` on.
fn inverse(x: &Big, guess: f64, step: impl Fn(&Big, &Big) -> Big) -> Big {
    (0..2).fold(big(guess), |y, _| {
        let change = step(&y, x);
        y - change
    })
}

pub fn erf_inv(x: &Big, guess: f64) -> Big {
    inverse(x, guess, |y, x| {
        (erf(y) - x) * (y * y).exp() * pi().sqrt() / whole(2)
    })
}

pub fn erfc_inv(x: &Big, guess: f64) -> Big {
    inverse(x, guess, |y, x| {
        (x - erfc(y)) * (y * y).exp() * pi().sqrt() / whole(2)
    })
}

pub fn norm_cdf_inv(x: &Big, guess: f64) -> Big {
    inverse(x, guess, |y, x| {
        (norm_cdf(y) - x) * (y * y / whole(2)).exp() * (whole(2) * pi()).sqrt()
    })
}

/// The Bernoulli numbers 2, 4, 6...
const BERNOULLI: [(i64, u64); 16] = [
    (1, 6),
    (-1, 30),
    (1, 42),
    (-1, 30),
    (5, 66),
    (-691, 2730),
    (7, 6),
    (-3617, 510),
    (43867, 798),
    (-174611, 330),
    (854513, 138),
    (-236364091, 2730),
    (8553103, 6),
    (-23749461029, 870),
    (8615841276005, 14322),
    (-7709321041217, 510),
];

/// 6.1.40 for arguments of at least 32, to which smaller ones go by the recurrence; 6.1.17 for negative ones.
pub fn ln_gamma(x: &Big) -> Big {
    if is_below(x, 0.0) {
        let sine = x.sin_pi();
        let sine = if is_below(&sine, 0.0) { -sine } else { sine };
        return (pi() / sine).ln() - ln_gamma(&(whole(1) - x));
    }
    let (mut at, mut product) = (x.clone(), whole(1));
    while is_below(&at, 32.0) {
        product *= &at;
        at += whole(1);
    }
    let square = &at * &at;
    let mut power = at.clone();
    let mut sum = (&at - whole(1) / whole(2)) * at.ln() - &at + (whole(2) * pi()).ln() / whole(2);
    for (k, (numerator, denominator)) in (1..).zip(BERNOULLI) {
        let term =
            whole(numerator.unsigned_abs()) / (whole(denominator * 2 * k * (2 * k - 1)) * &power);
        if numerator < 0 {
            sum -= term;
        } else {
            sum += term;
        }
        power *= &square;
    }
    let result = sum - product.ln();
    // At 1 and 2 it is 0, and what is left is what the digits do not hold.
    if result.to_f64().value().abs() < 1e-35 {
        big(0.0)
    } else {
        result
    }
}

pub fn gamma(x: &Big) -> Big {
    if is_below(x, 0.0) {
        return pi() / (x.sin_pi() * gamma(&(whole(1) - x)));
    }
    ln_gamma(x).exp()
}

/// 9.1.10 (9.6.10 with a sign of 1) of the order 0 or 1, without the factor `x / 2` of order 1.
fn bessel(x: &Big, order: u64, sign: i8) -> Big {
    let quarter = x * x / whole(4);
    let quarter = if sign < 0 { -quarter } else { quarter };
    series(whole(1), |term, k| term * &quarter / whole(k * (k + order)))
}

pub fn j0(x: &Big) -> Big {
    bessel(x, 0, -1)
}

pub fn j1(x: &Big) -> Big {
    bessel(x, 1, -1) * x / whole(2)
}

pub fn bessel_i0(x: &Big) -> Big {
    bessel(x, 0, 1)
}

pub fn bessel_i1(x: &Big) -> Big {
    bessel(x, 1, 1) * x / whole(2)
}

/// 9.1.11 of order `order`: the sum over the powers with harmonic numbers.
fn with_harmonic_numbers(x: &Big, order: u64) -> Big {
    let quarter = -(x * x / whole(4));
    let (mut power, mut harmonic, mut sum) = (whole(1), big(0.0), big(0.0));
    for k in 0..80 {
        if k > 0 {
            power = power * &quarter / whole(k * (k + order));
            harmonic += whole(1) / whole(k);
        }
        // psi(k + 1) + psi(k + 1 + order)
        let above = if order == 1 {
            whole(1) / whole(k + 1)
        } else {
            big(0.0)
        };
        sum += (whole(2) * (&harmonic - euler()) + above) * &power;
    }
    sum
}

pub fn y0(x: &Big) -> Big {
    (whole(2) * (x / whole(2)).ln() * j0(x) - with_harmonic_numbers(x, 0)) / pi()
}

pub fn y1(x: &Big) -> Big {
    let half = x / whole(2);
    (whole(2) * half.ln() * j1(x) - whole(1) / &half - with_harmonic_numbers(x, 1) * &half) / pi()
}
