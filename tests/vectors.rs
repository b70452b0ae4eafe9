//! CUDA's vector types: layout, arithmetic, and loads and stores of 8 and 16 bytes.
#![allow(missing_docs)]

mod common;
mod device_code;

use common::Random;
use oxwarp::prelude::*;
use oxwarp::vector::*;

#[kernel]
fn saxpy4(a: f32, x: &[Float4], mut y: DisjointSlice<Float4>) {
    let i = thread::index_1d();
    if let Some(y) = y.get_mut(i) {
        *y += x[*i] * a;
    }
}

#[test]
fn four_floats_are_loaded_and_stored_at_once() {
    let gpu = Gpu::new().unwrap();
    let mut random = Random::new(1);
    let (x, y) = (
        random.floats(4000, -1.0, 1.0),
        random.floats(4000, -1.0, 1.0),
    );
    let as_vectors = |x: &[f32]| {
        x.chunks_exact(4)
            .map(|c| Float4::new(c[0], c[1], c[2], c[3]))
            .collect::<Vec<_>>()
    };
    let device_x = gpu.to_device(&as_vectors(&x)).unwrap();
    let mut device_y = gpu.to_device(&as_vectors(&y)).unwrap();
    saxpy4
        .for_each(1000)
        .launch(0.5, &device_x, &mut device_y)
        .unwrap();
    let result: Vec<f32> = device_y
        .to_vec()
        .unwrap()
        .into_iter()
        .flat_map(Float4::to_array)
        .collect();
    // A half is exact, so contraction to a fused multiply-add changes nothing.
    let expected: Vec<f32> = x.iter().zip(&y).map(|(x, y)| y + x * 0.5).collect();
    assert_eq!(result, expected);
    device_code::contains(
        &device_code::of("saxpy4"),
        &[
            "ld.global.nc.v4.b32",
            "ld.global.v4.b32",
            "st.global.v4.b32",
        ],
    );
}

/// Overflow checks, in this debug build, may split the load of a `LongLong2`.
macro_rules! copies {
    ($($name:ident $vector:ident [$($number:expr),+] $wanted:expr;)*) => {$(
        mod $name {
            use super::*;

            #[kernel]
            fn $name(x: &[$vector], mut y: DisjointSlice<$vector>) {
                let i = thread::index_1d();
                if let Some(y) = y.get_mut(i) {
                    *y = x[*i] + x[*i];
                }
            }

            #[test]
            fn doubles() {
                let gpu = Gpu::new().unwrap();
                let x = vec![$vector::from([$($number),+]); 33];
                let device = gpu.to_device(&x).unwrap();
                let mut y = gpu.zeros::<$vector>(33).unwrap();
                $name.for_each(33).launch(&device, &mut y).unwrap();
                assert_eq!(y.to_vec().unwrap(), vec![$vector::new($($number + $number),+); 33]);
                let wanted: &[&str] = &$wanted;
                device_code::contains(&device_code::of(stringify!($name)), wanted);
            }
        }
    )*};
}

copies! {
    char2 Char2 [1, -2] [];
    char4 Char4 [1, -2, 3, -4] ["ld.global.nc.b32"];
    uchar2 UChar2 [1, 2] [];
    uchar4 UChar4 [1, 2, 3, 4] ["ld.global.nc.b32"];
    short2 Short2 [1, -2] ["ld.global.nc"];
    short4 Short4 [1, -2, 3, -4] ["ld.global.nc"];
    ushort2 UShort2 [1, 2] ["ld.global.nc"];
    ushort4 UShort4 [1, 2, 3, 4] ["ld.global.nc"];
    int2 Int2 [1, -2] ["ld.global.nc.b64", "st.global.b64"];
    int3 Int3 [1, -2, 3] ["ld.global.nc.b32"];
    int4 Int4 [1, -2, 3, -4] ["ld.global.nc.v4.b32", "st.global.v4.b32"];
    uint2 UInt2 [1, 2] ["ld.global.nc.b64", "st.global.b64"];
    uint3 UInt3 [1, 2, 3] [];
    uint4 UInt4 [1, 2, 3, 4] ["ld.global.nc.v4.b32", "st.global.v4.b32"];
    longlong2 LongLong2 [1, -2] ["st.global.v2.b64"];
    ulonglong2 ULongLong2 [1, 2] ["st.global.v2.b64"];
    float2 Float2 [1.5, -2.0] ["ld.global.nc.b64", "st.global.b64"];
    float3 Float3 [1.5, -2.0, 3.0] ["ld.global.nc.b32"];
    float4 Float4 [1.5, -2.0, 3.0, 4.0] ["ld.global.nc.v4.b32", "st.global.v4.b32"];
    double2 Double2 [1.5, -2.0] ["ld.global.nc.v2.b64", "st.global.v2.b64"];
    double3 Double3 [1.5, -2.0, 3.0] ["ld.global.nc.b64"];
    double4 Double4 [1.5, -2.0, 3.0, 4.0] ["ld.global.nc.v2.b64", "st.global.v2.b64"];
}

#[test]
fn layout_is_cudas() {
    fn layout<T>() -> (usize, usize) {
        (size_of::<T>(), align_of::<T>())
    }
    assert_eq!(layout::<Float2>(), (8, 8));
    assert_eq!(layout::<Float3>(), (12, 4));
    assert_eq!(layout::<Float4>(), (16, 16));
    assert_eq!(layout::<Double2>(), (16, 16));
    assert_eq!(layout::<Double4>(), (32, 16));
    assert_eq!(layout::<UChar4>(), (4, 4));
    assert_eq!(layout::<Short4>(), (8, 8));
}

#[test]
fn arithmetic_is_by_component() {
    let (a, b) = (Float4::new(1.0, 2.0, 3.0, 4.0), Float4::splat(2.0));
    assert_eq!(a + b, Float4::new(3.0, 4.0, 5.0, 6.0));
    assert_eq!(a - b, Float4::new(-1.0, 0.0, 1.0, 2.0));
    assert_eq!(a * b, a * 2.0);
    assert_eq!(a / b, Float4::new(0.5, 1.0, 1.5, 2.0));
    assert_eq!(-a, Float4::new(-1.0, -2.0, -3.0, -4.0));
    assert_eq!((a.dot(b), a.sum()), (20.0, 10.0));
    assert_eq!(a.mul_add(b, a), a * 3.0);
    assert_eq!(Float2::new(3.0, 4.0).length(), 5.0);
    assert_eq!(
        a.min(b).max(Float4::splat(1.5)),
        Float4::new(1.5, 2.0, 2.0, 2.0)
    );
    assert_eq!(
        Float3::new(1.0, 0.0, 0.0).cross(Float3::new(0.0, 1.0, 0.0)),
        Float3::new(0.0, 0.0, 1.0)
    );
    let mut c = Int3::new(7, 8, 9);
    c /= 2;
    c *= Int3::new(1, 2, 3);
    assert_eq!(<[i32; 3]>::from(c), [3, 8, 12]);
}

#[test]
fn ptxas_takes_it() {
    device_code::assembles();
}
