//! Lengths of vectors and their reciprocals, without overflow or underflow in between.

use super::Real;

/// `sqrt(x² + y² + z²)` without overflow or underflow in between. CUDA C: `norm3d`.
///
/// ```
/// fn length(v: [f64; 3]) -> f64 {
///     gpu_std::math::norm3(v[0], v[1], v[2])
/// }
/// ```
#[inline]
pub fn norm3<T: Real>(x: T, y: T, z: T) -> T {
    norm(&[x, y, z])
}

/// `sqrt(x² + y² + z² + w²)` without overflow or underflow in between. CUDA C: `norm4d`.
///
/// ```
/// fn length(v: [f64; 4]) -> f64 {
///     gpu_std::math::norm4(v[0], v[1], v[2], v[3])
/// }
/// ```
#[inline]
pub fn norm4<T: Real>(x: T, y: T, z: T, w: T) -> T {
    norm(&[x, y, z, w])
}

/// The square root of the sum of the squares, without overflow or underflow in between. An infinity among `x` makes it
/// infinite. CUDA C: `norm`.
///
/// ```
/// fn length(v: &[f32]) -> f32 {
///     gpu_std::math::norm(v)
/// }
/// ```
#[inline]
pub fn norm<T: Real>(x: &[T]) -> T {
    match scaled_sum(x) {
        Sum::Scaled(sum, exponent) => sum.sqrt().ldexp(exponent),
        Sum::Length(length) => length,
    }
}

/// `1 / sqrt(x² + y²)` without overflow or underflow in between. CUDA C: `rhypot`.
///
/// ```
/// fn direction(x: f64, y: f64) -> [f64; 2] {
///     let scale = gpu_std::math::rhypot(x, y);
///     [x * scale, y * scale]
/// }
/// ```
#[inline]
pub fn rhypot<T: Real>(x: T, y: T) -> T {
    rnorm(&[x, y])
}

/// `1 / sqrt(x² + y² + z²)` without overflow or underflow in between. CUDA C: `rnorm3d`.
///
/// ```
/// fn unit(v: [f64; 3]) -> [f64; 3] {
///     let scale = gpu_std::math::rnorm3(v[0], v[1], v[2]);
///     v.map(|x| x * scale)
/// }
/// ```
#[inline]
pub fn rnorm3<T: Real>(x: T, y: T, z: T) -> T {
    rnorm(&[x, y, z])
}

/// `1 / sqrt(x² + y² + z² + w²)` without overflow or underflow in between. CUDA C: `rnorm4d`.
///
/// ```
/// fn unit(v: [f64; 4]) -> [f64; 4] {
///     let scale = gpu_std::math::rnorm4(v[0], v[1], v[2], v[3]);
///     v.map(|x| x * scale)
/// }
/// ```
#[inline]
pub fn rnorm4<T: Real>(x: T, y: T, z: T, w: T) -> T {
    rnorm(&[x, y, z, w])
}

/// `1 / norm(x)` without overflow or underflow in between. CUDA C: `rnorm`.
///
/// ```
/// fn inverse_length(v: &[f32]) -> f32 {
///     gpu_std::math::rnorm(v)
/// }
/// ```
#[inline]
pub fn rnorm<T: Real>(x: &[T]) -> T {
    match scaled_sum(x) {
        Sum::Scaled(sum, exponent) => (T::ONE / sum.sqrt()).ldexp(-exponent),
        Sum::Length(length) => T::ONE / length,
    }
}

/// The squares' sum, or at once the root of it.
enum Sum<T> {
    /// The sum of the squares is this times 4 to the power of the exponent.
    Scaled(T, i32),
    /// Zero, an infinity or a NaN.
    Length(T),
}

#[inline]
fn scaled_sum<T: Real>(x: &[T]) -> Sum<T> {
    // A maximum passes over NaN, and an infinity goes before a NaN.
    let largest = x.iter().fold(T::ZERO, |largest, &x| largest.max(x.abs()));
    if !(largest > T::ZERO && largest < T::INFINITY) {
        let sum = x.iter().fold(largest, |sum, &x| sum + x.abs());
        return Sum::Length(if largest == T::INFINITY { largest } else { sum });
    }
    // A power of two scales exactly.
    let exponent = largest.ilogb();
    let add = |sum, &x: &T| {
        let x = x.ldexp(-exponent);
        x.fma(x, sum)
    };
    Sum::Scaled(x.iter().fold(T::ZERO, add), exponent)
}
