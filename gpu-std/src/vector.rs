//! CUDA's vector types: two, three or four numbers that are loaded and stored at once.
//!
//! A kernel that takes `&[Float4]` reads it with `ld.global.nc.v4`: a quarter of the instructions of `&[f32]`. Fields,
//! alignments and names are CUDA C's (`float4` is [`Float4`]): two have twice, four have four times the alignment of their
//! number, up to 16 bytes; three have that of their number, and are loaded one by one. Operators work on each
//! component, and with one number on the right on each alike.
//!
//! ```
//! use gpu_std::vector::Float4;
//! use gpu_std::{DisjointSlice, thread};
//!
//! fn saxpy(a: f32, x: &[Float4], mut y: DisjointSlice<Float4>) {
//!     let i = thread::index_1d();
//!     if let Some(y) = y.get_mut(i) {
//!         *y += x[i] * a;
//!     }
//! }
//! ```
//!
//! An array of numbers is one of vectors through `bytemuck::cast_slice`, if its length is a multiple.

use core::ops::{Add, AddAssign, Div, DivAssign, Mul, MulAssign, Neg, Sub, SubAssign};

use bytemuck::{Pod, Zeroable};

macro_rules! vectors {
    ($($name:ident: $number:ident, $align:literal, $count:literal, $c:literal, $($field:ident $index:tt),+;)*) => {$(
        #[doc = concat!("`", stringify!($count), "` of `", stringify!($number), "`, aligned to ", stringify!($align), " bytes. CUDA C: `", $c, "`.")]
        ///
        /// ```
        #[doc = concat!("use gpu_std::vector::", stringify!($name), ";\n\nassert_eq!(size_of::<", stringify!($name), ">(), ", stringify!($count), " * size_of::<", stringify!($number), ">());\nassert_eq!(align_of::<", stringify!($name), ">(), ", stringify!($align), ");")]
        /// ```
        #[derive(Clone, Copy, Debug, Default, PartialEq)]
        #[repr(C, align($align))]
        pub struct $name {
            $(
                #[doc = concat!("Component ", stringify!($index), ".")]
                pub $field: $number,
            )+
        }

        const _: () = assert!(size_of::<$name>() == $count * size_of::<$number>());

        // SAFETY: zeros are numbers.
        unsafe impl Zeroable for $name {}
        // SAFETY: all bits are numbers, and by the assertion there is no padding.
        unsafe impl Pod for $name {}
        // SAFETY: it holds numbers, no references.
        unsafe impl crate::DeviceCopy for $name {
            const NO_PADDING: bool = true;
        }

        impl $name {
            #[doc = concat!("A vector of its components. CUDA C: `make_", $c, "`.")]
            ///
            /// ```
            #[doc = concat!("use gpu_std::vector::", stringify!($name), ";\n\nlet v = ", stringify!($name), "::new(", $(stringify!($index), "_", stringify!($number), ", ",)+ ");\nassert_eq!(v.x, 0_", stringify!($number), ");")]
            /// ```
            #[inline]
            pub const fn new($($field: $number),+) -> Self {
                Self { $($field),+ }
            }

            /// A vector of equal components.
            ///
            /// ```
            #[doc = concat!("use gpu_std::vector::", stringify!($name), ";\n\nassert_eq!(", stringify!($name), "::splat(2_", stringify!($number), ").y, 2_", stringify!($number), ");")]
            /// ```
            #[inline]
            pub const fn splat(value: $number) -> Self {
                Self { $($field: value),+ }
            }

            /// `f` of each component.
            ///
            /// ```
            #[doc = concat!("use gpu_std::vector::", stringify!($name), ";\n\nlet x = ", stringify!($name), "::splat(2_", stringify!($number), ");\nassert_eq!(x.map(|x| x * x), ", stringify!($name), "::splat(4_", stringify!($number), "));")]
            /// ```
            #[inline]
            pub fn map(self, f: impl Fn($number) -> $number) -> Self {
                Self { $($field: f(self.$field)),+ }
            }

            /// `f` of each pair of components.
            ///
            /// ```
            #[doc = concat!("use gpu_std::vector::", stringify!($name), ";\n\nlet x = ", stringify!($name), "::splat(2_", stringify!($number), ");\nassert_eq!(x.zip(x, |a, b| a * b), ", stringify!($name), "::splat(4_", stringify!($number), "));")]
            /// ```
            #[inline]
            pub fn zip(self, other: Self, f: impl Fn($number, $number) -> $number) -> Self {
                Self { $($field: f(self.$field, other.$field)),+ }
            }

            /// The components, in order.
            ///
            /// ```
            #[doc = concat!("use gpu_std::vector::", stringify!($name), ";\n\nassert_eq!(", stringify!($name), "::splat(2_", stringify!($number), ").to_array()[1], 2_", stringify!($number), ");")]
            /// ```
            #[inline]
            pub const fn to_array(self) -> [$number; $count] {
                [$(self.$field),+]
            }

            /// The lesser of each pair of components.
            ///
            /// CUDA C: `fminf` or `min` of each.
            ///
            /// ```
            #[doc = concat!("use gpu_std::vector::", stringify!($name), ";\n\nlet (a, b) = (", stringify!($name), "::splat(1_", stringify!($number), "), ", stringify!($name), "::splat(2_", stringify!($number), "));\nassert_eq!(a.min(b), a);")]
            /// ```
            #[inline]
            pub fn min(self, other: Self) -> Self {
                self.zip(other, $number::min)
            }

            /// The greater of each pair of components.
            ///
            /// CUDA C: `fmaxf` or `max` of each.
            ///
            /// ```
            #[doc = concat!("use gpu_std::vector::", stringify!($name), ";\n\nlet (a, b) = (", stringify!($name), "::splat(1_", stringify!($number), "), ", stringify!($name), "::splat(2_", stringify!($number), "));\nassert_eq!(a.max(b), b);")]
            /// ```
            #[inline]
            pub fn max(self, other: Self) -> Self {
                self.zip(other, $number::max)
            }

            /// The sum of the products of the pairs of components.
            ///
            /// CUDA C: `dot` of the samples' `helper_math.h`.
            ///
            /// ```
            #[doc = concat!("use gpu_std::vector::", stringify!($name), ";\n\nlet x = ", stringify!($name), "::splat(2_", stringify!($number), ");\nassert_eq!(x.dot(x), 4_", stringify!($number), " * ", stringify!($count), "_", stringify!($number), ");")]
            /// ```
            #[inline]
            pub fn dot(self, other: Self) -> $number {
                (self * other).sum()
            }

            /// The sum of the components, from the first to the last.
            ///
            /// ```
            #[doc = concat!("use gpu_std::vector::", stringify!($name), ";\n\nassert_eq!(", stringify!($name), "::splat(2_", stringify!($number), ").sum(), 2_", stringify!($number), " * ", stringify!($count), "_", stringify!($number), ");")]
            /// ```
            #[inline]
            pub fn sum(self) -> $number {
                let [first, rest @ ..] = self.to_array();
                rest.into_iter().fold(first, |sum, component| sum + component)
            }
        }

        impl From<[$number; $count]> for $name {
            #[inline]
            fn from([$($field),+]: [$number; $count]) -> Self {
                Self { $($field),+ }
            }
        }

        impl From<$name> for [$number; $count] {
            #[inline]
            fn from(vector: $name) -> Self {
                vector.to_array()
            }
        }

        operators! { $name $number Add add AddAssign add_assign + }
        operators! { $name $number Sub sub SubAssign sub_assign - }
        operators! { $name $number Mul mul MulAssign mul_assign * }
        operators! { $name $number Div div DivAssign div_assign / }
    )*};
}

macro_rules! operators {
    ($name:ident $number:ident $trait:ident $method:ident $assign:ident $assign_method:ident $operator:tt) => {
        impl $trait for $name {
            type Output = Self;

            #[inline]
            fn $method(self, other: Self) -> Self {
                self.zip(other, |a, b| a $operator b)
            }
        }

        impl $trait<$number> for $name {
            type Output = Self;

            #[inline]
            fn $method(self, number: $number) -> Self {
                self.map(|component| component $operator number)
            }
        }

        impl $assign for $name {
            #[inline]
            fn $assign_method(&mut self, other: Self) {
                *self = *self $operator other;
            }
        }

        impl $assign<$number> for $name {
            #[inline]
            fn $assign_method(&mut self, number: $number) {
                *self = *self $operator number;
            }
        }
    };
}

macro_rules! signed {
    ($($name:ident)*) => {$(
        impl Neg for $name {
            type Output = Self;

            #[inline]
            fn neg(self) -> Self {
                self.map(|component| -component)
            }
        }
    )*};
}

macro_rules! floats {
    ($($name:ident $number:ident)*) => {$(
        impl $name {
            /// `self * factor + summand` of each component, rounded once. PTX: `fma.rn`.
            ///
            /// ```
            #[doc = concat!("use gpu_std::vector::", stringify!($name), ";\n\nfn of_two(x: ", stringify!($name), ", y: ", stringify!($name), ") -> ", stringify!($name), " {\n    x.mul_add(y, x)\n}")]
            /// ```
            #[inline]
            pub fn mul_add(self, factor: Self, summand: Self) -> Self {
                let [a, b, c] = [self, factor, summand].map(Self::to_array);
                let mut result = a;
                for (k, result) in result.iter_mut().enumerate() {
                    *result = crate::math::fma(a[k], b[k], c[k]);
                }
                result.into()
            }

            /// The Euclidean length.
            ///
            /// CUDA C: `length` of the samples' `helper_math.h`, `norm3df`.
            ///
            /// ```
            #[doc = concat!("use gpu_std::vector::", stringify!($name), ";\n\nfn unit(x: ", stringify!($name), ") -> ", stringify!($name), " {\n    x / x.length()\n}")]
            /// ```
            #[inline]
            pub fn length(self) -> $number {
                crate::math::Real::sqrt(self.dot(self))
            }
        }
    )*};
}

vectors! {
    Char2: i8, 2, 2, "char2", x 0, y 1;
    Char4: i8, 4, 4, "char4", x 0, y 1, z 2, w 3;
    UChar2: u8, 2, 2, "uchar2", x 0, y 1;
    UChar4: u8, 4, 4, "uchar4", x 0, y 1, z 2, w 3;
    Short2: i16, 4, 2, "short2", x 0, y 1;
    Short4: i16, 8, 4, "short4", x 0, y 1, z 2, w 3;
    UShort2: u16, 4, 2, "ushort2", x 0, y 1;
    UShort4: u16, 8, 4, "ushort4", x 0, y 1, z 2, w 3;
    Int2: i32, 8, 2, "int2", x 0, y 1;
    Int3: i32, 4, 3, "int3", x 0, y 1, z 2;
    Int4: i32, 16, 4, "int4", x 0, y 1, z 2, w 3;
    UInt2: u32, 8, 2, "uint2", x 0, y 1;
    UInt3: u32, 4, 3, "uint3", x 0, y 1, z 2;
    UInt4: u32, 16, 4, "uint4", x 0, y 1, z 2, w 3;
    LongLong2: i64, 16, 2, "longlong2", x 0, y 1;
    ULongLong2: u64, 16, 2, "ulonglong2", x 0, y 1;
    Float2: f32, 8, 2, "float2", x 0, y 1;
    Float3: f32, 4, 3, "float3", x 0, y 1, z 2;
    Float4: f32, 16, 4, "float4", x 0, y 1, z 2, w 3;
    Double2: f64, 16, 2, "double2", x 0, y 1;
    Double3: f64, 8, 3, "double3", x 0, y 1, z 2;
    Double4: f64, 16, 4, "double4", x 0, y 1, z 2, w 3;
}

signed! { Char2 Char4 Short2 Short4 Int2 Int3 Int4 LongLong2 Float2 Float3 Float4 Double2 Double3 Double4 }
floats! { Float2 f32 Float3 f32 Float4 f32 Double2 f64 Double3 f64 Double4 f64 }

impl Float3 {
    /// The cross product.
    ///
    /// CUDA C: `cross` of the samples' `helper_math.h`.
    ///
    /// ```
    /// use gpu_std::vector::Float3;
    ///
    /// let (x, y) = (Float3::new(1.0, 0.0, 0.0), Float3::new(0.0, 1.0, 0.0));
    /// assert_eq!(x.cross(y), Float3::new(0.0, 0.0, 1.0));
    /// ```
    #[inline]
    pub fn cross(self, other: Self) -> Self {
        Self::new(
            self.y * other.z - self.z * other.y,
            self.z * other.x - self.x * other.z,
            self.x * other.y - self.y * other.x,
        )
    }
}
