//! Modified Bessel functions of the first kind, of the orders 0 and 1.
//!
//! Up to 7.75, a polynomial in `x²/4` as the power series is; beyond, `exp(x) / sqrt(x)` times a polynomial in `1 / x` (Abramowitz
//! and Stegun, 9.6.10 and 9.7.1). The coefficients interpolate the functions at Chebyshev nodes; they were computed with 60
//! digits.

macro_rules! modified {
    ($float:ident, $half_from:literal, $overflow:literal) => {
        /// `coefficients` start with the constant one.
        #[inline]
        fn polynomial(coefficients: &[$float], x: $float) -> $float {
            let next = |sum: $float, coefficient: &$float| Real::fma(sum, x, *coefficient);
            coefficients.iter().rev().fold(0.0, next)
        }

        /// `near` and `far` are coefficients of one order.
        #[inline]
        fn modified(size: $float, near: &[$float], far: &[$float]) -> $float {
            if size <= 7.75 {
                let square = 0.25 * size * size;
                return Real::fma(square, polynomial(near, square), 1.0);
            }
            if size > $overflow {
                return $float::INFINITY;
            }
            let scaled = polynomial(far, 15.5 / size - 1.0) / Real::sqrt(size);
            if size > $half_from {
                // The exponential function overflows first.
                let root = Real::exp(0.5 * size);
                root * scaled * root
            } else {
                Real::exp(size) * scaled
            }
        }

        #[inline]
        pub fn i0(x: $float) -> $float {
            modified(Real::abs(x), &NEAR_0, &FAR_0)
        }

        #[inline]
        pub fn i1(x: $float) -> $float {
            let size = Real::abs(x);
            let value = modified(size, &NEAR_1, &FAR_1);
            let value = if size <= 7.75 {
                0.5 * size * value
            } else {
                value
            };
            Real::copysign(value, x)
        }
    };
}

pub mod f64 {
    use super::super::Real;

    /// Order 0, in `x²/4`.
    const NEAR_0: [f64; 16] = [
        1.0,
        0.25,
        0.02777777777777777,
        0.0017361111111111264,
        6.944444444442643e-05,
        1.9290123456917823e-06,
        3.9367598885468295e-08,
        6.151187345855877e-10,
        7.59405799151242e-12,
        7.59406569086215e-14,
        6.275992815367177e-16,
        4.359179222574322e-18,
        2.573849552118932e-20,
        1.338658615422607e-22,
        5.168493361903827e-25,
        3.4544079411937995e-27,
    ];
    /// Order 0, in `15.5 / x - 1`.
    const FAR_0: [f64; 25] = [
        0.4022850564674586,
        0.003478064623595485,
        0.00014630498370430667,
        1.2470619506991695e-05,
        1.7408594826323462e-06,
        3.6969863933323284e-07,
        1.1886657428396514e-07,
        5.6374693223420516e-08,
        3.0103386632359844e-08,
        6.064512875930854e-09,
        -1.6226703181974062e-08,
        -2.0872319684699343e-08,
        -2.2406788749605607e-09,
        1.539859639937685e-08,
        7.565459277473972e-09,
        -9.440448704624536e-09,
        -7.034701953327103e-09,
        5.149911202408895e-09,
        4.579179840517919e-09,
        -2.2266653433329167e-09,
        -2.111669509038891e-09,
        6.357159438381006e-10,
        6.121712063359057e-10,
        -8.636190259764549e-11,
        -8.285475316696035e-11,
    ];
    /// Order 1, in `x²/4`.
    const NEAR_1: [f64; 16] = [
        0.5,
        0.08333333333333333,
        0.006944444444444444,
        0.00034722222222222305,
        1.1574074074073093e-05,
        2.75573192240555e-07,
        4.920949861102224e-09,
        6.834652595713312e-11,
        7.594058190027416e-13,
        6.90369344165997e-15,
        5.2300194827588474e-17,
        3.353038467351603e-19,
        1.8393176870906e-21,
        8.896948437349037e-24,
        3.2829086177684486e-26,
        1.9865122567390098e-28,
    ];
    /// Order 1, in `15.5 / x - 1`.
    const FAR_1: [f64; 25] = [
        0.38908372789601825,
        -0.010078728909315644,
        -0.00023517122407207722,
        -1.680582722467105e-05,
        -2.1490095327223734e-06,
        -4.321654960964498e-07,
        -1.336329280161556e-07,
        -6.175357323416661e-08,
        -3.2779351957263275e-08,
        -7.178695346460046e-09,
        1.65643446553773e-08,
        2.2052319306175508e-08,
        2.958037230660562e-09,
        -1.5848611972995965e-08,
        -8.28810200787858e-09,
        9.558566650010088e-09,
        7.556027869811482e-09,
        -5.168605283655262e-09,
        -4.887772310086781e-09,
        2.226229886974229e-09,
        2.24940368348181e-09,
        -6.347229666496968e-10,
        -6.518024229998795e-10,
        8.619624135245696e-11,
        8.822934919531861e-11,
    ];

    modified!(f64, 700.0, 720.0);
}

pub mod f32 {
    use super::super::Real;

    /// Order 0, in `x²/4`.
    const NEAR_0: [f32; 9] = [
        1.0,
        0.24999958,
        0.027778525,
        0.0017356036,
        6.961638e-05,
        1.8965002e-06,
        4.2941863e-08,
        3.907255e-10,
        1.4806746e-11,
    ];
    /// Order 0, in `15.5 / x - 1`.
    const FAR_0: [f32; 7] = [
        0.40228507,
        0.0034780693,
        0.00014630554,
        1.2431298e-05,
        1.735048e-06,
        4.5478143e-07,
        1.393733e-07,
    ];
    /// Order 1, in `x²/4`.
    const NEAR_1: [f32; 9] = [
        0.5,
        0.0833333,
        0.006944509,
        0.00034717808,
        1.1589038e-05,
        2.7273978e-07,
        5.2330837e-09,
        4.8680407e-11,
        1.3963457e-12,
    ];
    /// Order 1, in `15.5 / x - 1`.
    const FAR_1: [f32; 7] = [
        0.3890837,
        -0.010078735,
        -0.00023517193,
        -1.67616e-05,
        -2.1418282e-06,
        -5.271298e-07,
        -1.5736457e-07,
    ];

    modified!(f32, 85.0, 95.0);
}
