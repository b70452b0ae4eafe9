//! The mathematical functions: `f32::sin` and its like.
//!
//! rustc writes them as LLVM intrinsics (`llvm.sin.f32`) or as calls of C's libm (`tanf`). Neither exists on a device.
//! All become calls of the C name, which is then defined by CUDA's libdevice (`__nv_sinf`) where it is found, else by
//! the `libm` crate, whose bitcode the build script makes.
//!
//! What NVPTX has as instructions (`sqrt`, `fma`, `floor`, `min`...) stays an intrinsic.

use std::path::Path;

use crate::error::Error;
use crate::link::read_file;
use crate::llvm::{self, Context, FUNCTION_INDEX, Module, Value, kind, opcode};
use crate::names;

/// The `libm` crate as bitcode of this toolchain.
pub const LIBM: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/libm.bc"));

/// C's functions on doubles; those on floats have an `f` more. All are in libdevice and in the `libm` crate.
const FUNCTIONS: [&str; 42] = [
    "acos",
    "acosh",
    "asin",
    "asinh",
    "atan",
    "atan2",
    "atanh",
    "cbrt",
    "cos",
    "cosh",
    "erf",
    "erfc",
    "exp",
    "exp10",
    "exp2",
    "expm1",
    "fdim",
    "fmod",
    "frexp",
    "hypot",
    "ilogb",
    "j0",
    "j1",
    "jn",
    "ldexp",
    "lgamma",
    "log",
    "log10",
    "log1p",
    "log2",
    "modf",
    "nextafter",
    "pow",
    "remainder",
    "sin",
    "sinh",
    "tan",
    "tanh",
    "tgamma",
    "y0",
    "y1",
    "yn",
];

/// LLVM's intrinsics that have no instruction on NVPTX, without `llvm.` and the type.
const INTRINSICS: [&str; 17] = [
    "acos", "asin", "atan", "atan2", "cos", "cosh", "exp", "exp10", "exp2", "log", "log10", "log2",
    "pow", "sin", "sinh", "tan", "tanh",
];

/// CUDA's libdevice.
pub struct Libdevice {
    bitcode: Vec<u8>,
}

impl Libdevice {
    /// Reads `libdevice.10.bc`.
    pub fn open(path: &Path) -> Result<Self, Error> {
        Ok(Libdevice {
            bitcode: read_file(path)?,
        })
    }

    /// Its bytes.
    pub fn bitcode(&self) -> &[u8] {
        &self.bitcode
    }
}

/// Whether `name` is one of C's functions that this module can define.
pub fn is_function(name: &str) -> bool {
    let double = |name: &str| FUNCTIONS.contains(&name);
    double(name) || name.strip_suffix('f').is_some_and(double) || is_reentrant_lgamma(name)
}

/// std's `ln_gamma` calls the variant that returns the sign through a pointer.
fn is_reentrant_lgamma(name: &str) -> bool {
    matches!(name, "lgamma_r" | "lgammaf_r")
}

/// Turns intrinsics, `gpu.math.*`, the `libm` crate's functions and `frem` into calls of C's functions.
pub fn name_calls(module: Module) {
    for function in llvm::functions(module).collect::<Vec<_>>() {
        let symbol = llvm::name(function);
        let own = symbol.strip_prefix("gpu.math.").map(String::from);
        let name = own.or_else(|| c_name_of_intrinsic(&symbol));
        let name = name.or_else(|| of_libm_crate(&symbol).filter(|_| !is_in_library(function)));
        if let Some(name) = name {
            let named = llvm::declare(module, &name, llvm::value_type(function));
            llvm::replace_all_uses(function, named);
        }
    }
    for function in llvm::functions(module)
        .filter(|&function| !llvm::declared_only(function))
        .collect::<Vec<_>>()
    {
        for instruction in llvm::instructions(function) {
            if llvm::opcode(instruction) == opcode::FREM {
                call_fmod(module, instruction);
            }
        }
    }
}

fn c_name_of_intrinsic(name: &str) -> Option<String> {
    let rest = name.strip_prefix("llvm.")?;
    match rest {
        "powi.f32.i32" => return Some("__powisf2".into()),
        "powi.f64.i32" => return Some("__powidf2".into()),
        _ => {}
    }
    let (function, suffix) = rest.split_once('.')?;
    let suffix = match suffix {
        "f32" => "f",
        "f64" => "",
        _ => return None,
    };
    INTRINSICS
        .contains(&function)
        .then(|| format!("{function}{suffix}"))
}

/// What takes the place of a function of the `libm` crate that the user calls: C's of the same name, or an intrinsic. Both
/// are faster, and the crate's own may be assembly of the host.
fn of_libm_crate(symbol: &str) -> Option<String> {
    // Instructions of NVPTX, by the crate's names of them.
    const INSTRUCTIONS: [(&str, &str); 11] = [
        ("ceil", "ceil"),
        ("copysign", "copysign"),
        ("fabs", "fabs"),
        ("floor", "floor"),
        ("fma", "fma"),
        ("fmax", "maxnum"),
        ("fmin", "minnum"),
        ("rint", "rint"),
        ("round", "round"),
        ("sqrt", "sqrt"),
        ("trunc", "trunc"),
    ];
    // These return what C writes through a pointer.
    const OTHERWISE: [&str; 4] = ["frexp", "frexpf", "modf", "modff"];
    if !symbol.contains("libm") {
        return None;
    }
    let path = names::path(symbol);
    let (modules, name) = path.strip_prefix("libm::math::")?.rsplit_once("::")?;
    if modules != name && !modules.starts_with("arch::") || OTHERWISE.contains(&name) {
        return None;
    }
    let (double, suffix) = match name.strip_suffix('f') {
        Some(double) => (double, "f32"),
        None => (name, "f64"),
    };
    let instruction = INSTRUCTIONS
        .iter()
        .find(|instruction| instruction.0 == double);
    match instruction {
        Some((_, intrinsic)) => Some(format!("llvm.{intrinsic}.{suffix}")),
        None => is_function(name).then(|| name.into()),
    }
}

fn call_fmod(module: Module, remainder: Value) {
    let float = llvm::type_of(remainder);
    let name = match llvm::type_kind(float) {
        kind::FLOAT => "fmodf",
        kind::DOUBLE => "fmod",
        _ => return,
    };
    let signature = llvm::signature(float, &[float, float]);
    let function = llvm::declare(module, name, signature);
    let builder = llvm::create_builder(llvm::module_context(module));
    llvm::position_before(builder, remainder);
    let operands = [llvm::operand(remainder, 0), llvm::operand(remainder, 1)];
    let call = llvm::call(builder, signature, function, &operands);
    llvm::replace_instruction(remainder, call);
}

/// The attribute of a function of libdevice or libm.
const IN_LIBRARY: &str = "oxwarp.math";

/// Marks the functions of libdevice or libm before they are linked.
pub fn mark(context: Context, source: Module) {
    let attribute = llvm::string_attribute(context, IN_LIBRARY, "");
    for function in llvm::functions(source).filter(|&function| !llvm::declared_only(function)) {
        llvm::add_attribute(function, FUNCTION_INDEX, attribute);
    }
}

/// Whether a function is marked as one of libdevice or libm.
pub fn is_in_library(function: Value) -> bool {
    llvm::has_string_attribute(function, IN_LIBRARY)
}

/// Gives the definitions in libdevice or libm the C names in `wanted`.
pub fn name_definitions(source: Module, wanted: &[&String], libdevice: bool) {
    for function in llvm::functions(source)
        .filter(|&function| !llvm::declared_only(function))
        .collect::<Vec<_>>()
    {
        let symbol = llvm::name(function);
        let name = if libdevice {
            libdevice_name(&symbol)
        } else {
            libm_name(&symbol)
        };
        if name.as_ref().is_some_and(|name| wanted.contains(&name)) {
            llvm::set_linkage(function, llvm::linkage::EXTERNAL);
            llvm::rename(function, &name.unwrap_or_default());
        }
    }
}

fn libdevice_name(symbol: &str) -> Option<String> {
    symbol.strip_prefix("__nv_").map(String::from)
}

/// `libm::math::sinf::sinf` is `sinf`.
fn libm_name(symbol: &str) -> Option<String> {
    let path = names::path(symbol);
    path.strip_prefix("libm::math::")?;
    path.rsplit("::").next().map(String::from)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn intrinsics_become_c_names() {
        for (intrinsic, name) in [
            ("llvm.sin.f32", Some("sinf")),
            ("llvm.pow.f64", Some("pow")),
            ("llvm.powi.f32.i32", Some("__powisf2")),
            ("llvm.sqrt.f32", None),
            ("llvm.fma.f64", None),
            ("llvm.memcpy.p0.p0.i64", None),
        ] {
            assert_eq!(c_name_of_intrinsic(intrinsic).as_deref(), name);
        }
    }

    #[test]
    fn functions_of_the_libm_crate_become_c_names_and_intrinsics() {
        for (path, name) in [
            ("4math3sin3sin", Some("sin")),
            ("4math4powf4powf", Some("powf")),
            ("4math5sqrtf5sqrtf", Some("llvm.sqrt.f32")),
            ("4math4arch3x864sqrt", Some("llvm.sqrt.f64")),
            ("4math5frexp5frexp", None),
            ("4math5k_sin5k_sin", None),
        ] {
            let symbol = format!("_ZN4libm{path}17h0123456789abcdefE");
            assert_eq!(of_libm_crate(&symbol).as_deref(), name);
        }
    }
}
