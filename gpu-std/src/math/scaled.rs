//! The scaled complementary error function, `exp(x²) erfc(x)`.
//!
//! As that product, with what is lost in squaring `x` put back, and beyond a limit by the asymptotic series (Abramowitz and
//! Stegun, 7.1.23).

macro_rules! functions {
    ($float:ident, beyond $limit:literal, $terms:literal terms) => {
        pub mod $float {
            use super::super::Real;

            /// `1 / sqrt(pi)`
            const ROOT: $float = core::$float::consts::FRAC_2_SQRT_PI / 2.0;

            #[inline]
            pub fn erfcx(x: $float) -> $float {
                let square = x * x;
                if x < $limit {
                    let lost = Real::fma(x, x, -square);
                    let product = Real::exp(square) * Real::erfc(x);
                    if product == $float::INFINITY {
                        return product;
                    }
                    return Real::fma(product, lost, product);
                }
                let mut sum = 1.0;
                for term in (0..$terms).rev() {
                    sum = 1.0 - (2 * term + 1) as $float * (0.5 / square) * sum;
                }
                ROOT / x * sum
            }
        }
    };
}

functions!(f32, beyond 6.0, 8 terms);
functions!(f64, beyond 10.0, 13 terms);
