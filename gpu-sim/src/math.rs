//! The functions of C's libm that `gpu_std` asks for, by the `libm` crate.

macro_rules! functions {
    ($($symbol:literal $name:ident($($x:ident: $type:ty),*) -> $result:ty = $function:expr;)*) => {$(
        #[unsafe(export_name = $symbol)]
        extern "C" fn $name($($x: $type),*) -> $result {
            $function($($x),*)
        }
    )*};
}

functions! {
    "gpu.math.sinf" sinf(x: f32) -> f32 = libm::sinf;
    "gpu.math.sin" sin(x: f64) -> f64 = libm::sin;
    "gpu.math.cosf" cosf(x: f32) -> f32 = libm::cosf;
    "gpu.math.cos" cos(x: f64) -> f64 = libm::cos;
    "gpu.math.expf" expf(x: f32) -> f32 = libm::expf;
    "gpu.math.exp" exp(x: f64) -> f64 = libm::exp;
    "gpu.math.exp2f" exp2f(x: f32) -> f32 = libm::exp2f;
    "gpu.math.exp2" exp2(x: f64) -> f64 = libm::exp2;
    "gpu.math.logf" logf(x: f32) -> f32 = libm::logf;
    "gpu.math.log" log(x: f64) -> f64 = libm::log;
    "gpu.math.log2f" log2f(x: f32) -> f32 = libm::log2f;
    "gpu.math.log2" log2(x: f64) -> f64 = libm::log2;
    "gpu.math.tanhf" tanhf(x: f32) -> f32 = libm::tanhf;
    "gpu.math.tanh" tanh(x: f64) -> f64 = libm::tanh;
    "gpu.math.cbrtf" cbrtf(x: f32) -> f32 = libm::cbrtf;
    "gpu.math.cbrt" cbrt(x: f64) -> f64 = libm::cbrt;
    "gpu.math.erff" erff(x: f32) -> f32 = libm::erff;
    "gpu.math.erf" erf(x: f64) -> f64 = libm::erf;
    "gpu.math.erfcf" erfcf(x: f32) -> f32 = libm::erfcf;
    "gpu.math.erfc" erfc(x: f64) -> f64 = libm::erfc;
    "gpu.math.tgammaf" tgammaf(x: f32) -> f32 = libm::tgammaf;
    "gpu.math.tgamma" tgamma(x: f64) -> f64 = libm::tgamma;
    "gpu.math.lgammaf" lgammaf(x: f32) -> f32 = libm::lgammaf;
    "gpu.math.lgamma" lgamma(x: f64) -> f64 = libm::lgamma;
    "gpu.math.exp10f" exp10f(x: f32) -> f32 = libm::exp10f;
    "gpu.math.exp10" exp10(x: f64) -> f64 = libm::exp10;
    "gpu.math.asinhf" asinhf(x: f32) -> f32 = libm::asinhf;
    "gpu.math.asinh" asinh(x: f64) -> f64 = libm::asinh;
    "gpu.math.acoshf" acoshf(x: f32) -> f32 = libm::acoshf;
    "gpu.math.acosh" acosh(x: f64) -> f64 = libm::acosh;
    "gpu.math.atanhf" atanhf(x: f32) -> f32 = libm::atanhf;
    "gpu.math.atanh" atanh(x: f64) -> f64 = libm::atanh;
    "gpu.math.j0f" j0f(x: f32) -> f32 = libm::j0f;
    "gpu.math.j0" j0(x: f64) -> f64 = libm::j0;
    "gpu.math.j1f" j1f(x: f32) -> f32 = libm::j1f;
    "gpu.math.j1" j1(x: f64) -> f64 = libm::j1;
    "gpu.math.y0f" y0f(x: f32) -> f32 = libm::y0f;
    "gpu.math.y0" y0(x: f64) -> f64 = libm::y0;
    "gpu.math.y1f" y1f(x: f32) -> f32 = libm::y1f;
    "gpu.math.y1" y1(x: f64) -> f64 = libm::y1;
    "gpu.math.jnf" jnf(order: i32, x: f32) -> f32 = libm::jnf;
    "gpu.math.jn" jn(order: i32, x: f64) -> f64 = libm::jn;
    "gpu.math.ynf" ynf(order: i32, x: f32) -> f32 = libm::ynf;
    "gpu.math.yn" yn(order: i32, x: f64) -> f64 = libm::yn;
    "gpu.math.nextafterf" nextafterf(x: f32, y: f32) -> f32 = libm::nextafterf;
    "gpu.math.nextafter" nextafter(x: f64, y: f64) -> f64 = libm::nextafter;
    "gpu.math.remainderf" remainderf(x: f32, y: f32) -> f32 = libm::remainderf;
    "gpu.math.remainder" remainder(x: f64, y: f64) -> f64 = libm::remainder;
    "gpu.math.fdimf" fdimf(x: f32, y: f32) -> f32 = libm::fdimf;
    "gpu.math.fdim" fdim(x: f64, y: f64) -> f64 = libm::fdim;
    "gpu.math.ldexpf" ldexpf(x: f32, exponent: i32) -> f32 = libm::ldexpf;
    "gpu.math.ilogbf" ilogbf(x: f32) -> i32 = libm::ilogbf;
    "gpu.math.ldexp" ldexp(x: f64, exponent: i32) -> f64 = libm::ldexp;
    "gpu.math.ilogb" ilogb(x: f64) -> i32 = libm::ilogb;
    "gpu.llvm.sqrt.f32" sqrt_f32(x: f32) -> f32 = f32::sqrt;
    "gpu.llvm.floor.f32" floor_f32(x: f32) -> f32 = f32::floor;
    "gpu.llvm.trunc.f32" trunc_f32(x: f32) -> f32 = f32::trunc;
    "gpu.llvm.roundeven.f32" rint_f32(x: f32) -> f32 = f32::round_ties_even;
    "gpu.llvm.fma.f32" fma_f32(x: f32, y: f32, z: f32) -> f32 = f32::mul_add;
    "gpu.llvm.sqrt.f64" sqrt_f64(x: f64) -> f64 = f64::sqrt;
    "gpu.llvm.floor.f64" floor_f64(x: f64) -> f64 = f64::floor;
    "gpu.llvm.trunc.f64" trunc_f64(x: f64) -> f64 = f64::trunc;
    "gpu.llvm.roundeven.f64" rint_f64(x: f64) -> f64 = f64::round_ties_even;
    "gpu.llvm.fma.f64" fma_f64(x: f64, y: f64, z: f64) -> f64 = f64::mul_add;
}
