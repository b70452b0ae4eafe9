//! `libm`, whose functions become the device's own, and instances that another crate has made.

use std::collections::VecDeque;

use crate::check::digest;

agree!(
    mathematics within 6 ulp,
    mathematics_of_doubles within 6 ulp,
    parts_of_numbers,
    vectors_of_sizes,
);

/// Not far from zero, since what these functions do with far angles is measured elsewhere.
fn moderate(x: f64) -> f64 {
    if x.abs() < 50.0 { x } else { 0.75 }
}

fn mathematics((x, y): (f32, f32)) -> [f32; 6] {
    let (x, y) = (moderate(x.into()) as f32, moderate(y.into()) as f32);
    [
        libm::sinf(x),
        libm::expf(y),
        libm::powf(x.abs(), y / 8.0),
        libm::atan2f(x, y),
        libm::cbrtf(x),
        libm::hypotf(x, y),
    ]
}

fn mathematics_of_doubles((x, y): (f64, f64)) -> [f64; 6] {
    let (x, y) = (moderate(x), moderate(y));
    [
        libm::cos(x),
        libm::log(y.abs()),
        libm::pow(x.abs(), y / 8.0),
        libm::erf(x),
        libm::fmod(x, y),
        libm::fma(x, y, libm::sqrt(x.abs())),
    ]
}

fn parts_of_numbers((x, n): (f64, u8)) -> (f64, i32, f64, f64) {
    let (mantissa, exponent) = libm::frexp(x);
    let exponent = if x.is_finite() { exponent } else { 0 };
    (
        mantissa,
        exponent,
        libm::modf(x).0,
        libm::scalbn(x, i32::from(n)),
    )
}

/// `ndarray` and others have made vectors of `usize`, and rustc makes no second instance of what grows them.
fn vectors_of_sizes((x, n): ([u8; 9], u8)) -> (u64, usize) {
    let (mut v, mut deque) = (Vec::new(), VecDeque::new());
    for x in x.map(usize::from) {
        v.push(x);
        deque.push_front(x ^ 1);
        if x % 3 == 0 {
            deque.pop_back();
        }
    }
    v.sort_unstable();
    v.dedup();
    (
        digest(v.iter().zip(&deque).map(|(&x, &y)| (x * 1000 + y) as u64)),
        deque.len() + usize::from(n),
    )
}
