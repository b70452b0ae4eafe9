//! The declared parameters of a kernel against those of the compiled one.
//!
//! In: what `cuda_kernel!` wrote down, and what the PTX or the driver says. Out: nothing, or the first difference. C++ and
//! Rust lay parameters out by the same rule, each at the next multiple of its alignment, so offsets and sizes tell.

use std::any::TypeId;
use std::fmt;

use crate::DeviceCopy;

/// A parameter as `cuda_kernel!` declares it.
#[derive(Clone, Copy, Debug)]
pub struct Parameter {
    /// Its name.
    pub name: &'static str,
    /// Its type, as in the source.
    pub ty: &'static str,
    size: usize,
    align: usize,
    kind: Kind,
}

/// What a value is, where that is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// A floating-point number.
    Float,
    /// An integer or an address.
    Integer,
    /// A struct, or not known.
    Other,
}

impl Parameter {
    /// A value that crosses as a `T`.
    pub fn value<T: DeviceCopy + 'static>(name: &'static str, ty: &'static str) -> Self {
        Self::of::<T>(name, ty, kind_of(TypeId::of::<T>()))
    }

    /// An address.
    pub fn pointer(name: &'static str, ty: &'static str) -> Self {
        Self::of::<*const u8>(name, ty, Kind::Integer)
    }

    fn of<T>(name: &'static str, ty: &'static str, kind: Kind) -> Self {
        Self {
            name,
            ty,
            size: size_of::<T>(),
            align: align_of::<T>(),
            kind,
        }
    }
}

fn kind_of(id: TypeId) -> Kind {
    macro_rules! is {
        ($($ty:ty)*) => { [$(TypeId::of::<$ty>()),*].contains(&id) };
    }
    if is!(f32 f64) {
        Kind::Float
    } else if is!(i8 u8 i16 u16 i32 u32 i64 u64 isize usize bool char) {
        Kind::Integer
    } else {
        Kind::Other
    }
}

/// A parameter as it was compiled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Compiled {
    /// Bytes before it.
    pub offset: usize,
    /// Its bytes.
    pub size: usize,
    pub kind: Kind,
}

/// How a declared signature differs from the kernel's.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum SignatureMismatch {
    /// Another number of parameters.
    ParameterCount {
        /// Parameters that are declared.
        declared: usize,
        /// Parameters that the kernel has.
        compiled: usize,
    },
    /// Another size or place of a parameter.
    Layout {
        /// Which, from 1.
        number: usize,
        /// Its name and type in the declaration.
        declared: String,
        /// Its size in the declaration, and how many bytes are before it.
        declared_layout: (usize, usize),
        /// Its size in the kernel, and how many bytes are before it.
        compiled_layout: (usize, usize),
    },
    /// A floating-point number for an integer, or the other way round.
    Kind {
        /// Which, from 1.
        number: usize,
        /// Its name and type in the declaration.
        declared: String,
        /// What it is in the kernel.
        compiled: &'static str,
    },
}

impl fmt::Display for SignatureMismatch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::ParameterCount { declared, compiled } => write!(
                f,
                "{declared} parameters are declared, but the kernel has {compiled}"
            ),
            Self::Layout {
                number,
                declared,
                declared_layout: (size, offset),
                compiled_layout: (there, at),
            } => {
                write!(f, "parameter {number}, `{declared}`, has {size} bytes")?;
                if size != there {
                    write!(f, ", but the kernel's has {there}")
                } else {
                    write!(
                        f,
                        " and begins at byte {offset}, but the kernel's begins at byte {at}: a type before it, or its own, \
                         has another size or alignment"
                    )
                }
            }
            Self::Kind {
                number,
                declared,
                compiled,
            } => write!(
                f,
                "parameter {number}, `{declared}`, is {compiled} in the kernel"
            ),
        }
    }
}

/// Checks the declaration.
pub(crate) fn check(
    declared: &[Parameter],
    compiled: &[Compiled],
) -> Result<(), SignatureMismatch> {
    let mut end = 0usize;
    for (index, (parameter, there)) in declared.iter().zip(compiled).enumerate() {
        let text = || format!("{}: {}", parameter.name, parameter.ty);
        let offset = end.next_multiple_of(parameter.align);
        end = offset + parameter.size;
        let number = index + 1;
        if (parameter.size, offset) != (there.size, there.offset) {
            return Err(SignatureMismatch::Layout {
                number,
                declared: text(),
                declared_layout: (parameter.size, offset),
                compiled_layout: (there.size, there.offset),
            });
        }
        let compiled = match (parameter.kind, there.kind) {
            (Kind::Float, Kind::Integer) => "an integer or a pointer",
            (Kind::Integer, Kind::Float) => "a floating-point number",
            _ => continue,
        };
        return Err(SignatureMismatch::Kind {
            number,
            declared: text(),
            compiled,
        });
    }
    if declared.len() != compiled.len() {
        return Err(SignatureMismatch::ParameterCount {
            declared: declared.len(),
            compiled: compiled.len(),
        });
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn compiled(parameters: &[(usize, usize, Kind)]) -> Vec<Compiled> {
        let of = |&(offset, size, kind)| Compiled { offset, size, kind };
        parameters.iter().map(of).collect()
    }

    #[test]
    fn what_differs_is_named() {
        #[derive(Clone, Copy)]
        #[repr(C)]
        struct Wide([f32; 4]);
        // SAFETY: it holds numbers only.
        unsafe impl DeviceCopy for Wide {}
        let declared = [
            Parameter::value::<i32>("n", "i32"),
            Parameter::value::<f32>("a", "f32"),
            Parameter::pointer("x", "&[f32]"),
        ];
        let right = [
            (0, 4, Kind::Integer),
            (4, 4, Kind::Float),
            (8, 8, Kind::Integer),
        ];
        assert_eq!(check(&declared, &compiled(&right)), Ok(()));
        let unknown = right.map(|(offset, size, _)| (offset, size, Kind::Other));
        assert_eq!(check(&declared, &compiled(&unknown)), Ok(()));
        assert_eq!(check(&[], &[]), Ok(()));

        let text = |declared: &[Parameter], there: &[(usize, usize, Kind)]| {
            check(declared, &compiled(there)).unwrap_err().to_string()
        };
        assert_eq!(
            text(&declared, &right[..2]),
            "3 parameters are declared, but the kernel has 2"
        );
        assert_eq!(
            text(&declared[..1], &right),
            "1 parameters are declared, but the kernel has 3"
        );
        assert_eq!(
            text(&declared, &[right[0], (8, 8, Kind::Float)]),
            "parameter 2, `a: f32`, has 4 bytes, but the kernel's has 8"
        );
        assert_eq!(
            text(&declared, &[(0, 4, Kind::Float)]),
            "parameter 1, `n: i32`, is a floating-point number in the kernel"
        );
        assert_eq!(
            text(&declared, &[right[0], (4, 4, Kind::Integer)]),
            "parameter 2, `a: f32`, is an integer or a pointer in the kernel"
        );
        // A float4 of CUDA C lies at a multiple of 16 bytes.
        let wide = [declared[0], Parameter::value::<Wide>("v", "Wide")];
        let text = text(&wide, &[right[0], (16, 16, Kind::Other)]);
        assert!(
            text.starts_with("parameter 2, `v: Wide`, has 16 bytes and begins at byte 4, but the kernel's begins at byte 16"),
            "{text}"
        );
    }
}
