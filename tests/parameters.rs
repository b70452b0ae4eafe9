//! Parameters by value, of many layouts: what the kernel reads is what the launch was given.
#![allow(missing_docs)]

use std::num::{NonZeroU8, NonZeroU32};
use std::time::Duration;

use oxwarp::prelude::*;

/// A kernel that takes one value and writes numbers made from it, and a test that the host makes the same numbers.
macro_rules! layouts {
    ($($name:ident: $ty:ty = [$($value:expr),+ $(,)?] => |$x:ident| $numbers:expr;)*) => {$(
        #[test]
        fn $name() {
            fn numbers($x: $ty) -> [u64; 4] {
                $numbers
            }
            /// An odd size in front and behind, so that alignment shows.
            #[kernel]
            fn read(before: u8, first: $ty, between: u16, second: $ty, after: u8, mut out: DisjointSlice<u64>) {
                let (first, second) = (numbers(first), numbers(second));
                let i = thread::index_1d();
                if let Some(out) = out.get_mut(i) {
                    *out = match *i {
                        0..4 => first[*i],
                        4..8 => second[*i - 4],
                        _ => u64::from(before) << 32 | u64::from(between) << 8 | u64::from(after),
                    };
                }
            }
            let gpu = Gpu::new().unwrap();
            let values: Vec<$ty> = vec![$($value),+];
            for (index, &value) in values.iter().enumerate() {
                let other = values[(index + 1) % values.len()];
                let mut out = gpu.zeros::<u64>(9).unwrap();
                launch!(read[1, 16](0xab, value, 0xcdef, other, 0x12, &mut out)).unwrap();
                let mut expected = numbers(value).to_vec();
                expected.extend(numbers(other));
                expected.push(0xab_00cd_ef12);
                assert_eq!(out.to_vec().unwrap(), expected, "value {index}");
            }
        }
    )*};
}

#[derive(Clone, Copy)]
struct Mixed {
    a: u8,
    b: u64,
    c: u16,
    d: f32,
    e: bool,
}

#[derive(Clone, Copy)]
#[repr(C)]
struct InOrder {
    a: u8,
    b: u64,
    c: u16,
    d: f64,
}

#[derive(Clone, Copy)]
#[repr(C, align(16))]
struct Aligned {
    a: f32,
    b: [u8; 5],
}

#[derive(Clone, Copy)]
#[repr(C, packed)]
struct Packed {
    a: u8,
    b: u32,
    c: u64,
}

#[derive(Clone, Copy)]
struct Nested {
    first: (u8, Aligned),
    second: [InOrder; 2],
    third: Option<Mixed>,
}

#[derive(Clone, Copy)]
enum Shape {
    Empty,
    Circle { radius: f64 },
    Box(u8, u16, u32),
    Ids([u32; 3]),
}

#[derive(Clone, Copy, PartialEq)]
#[repr(u16)]
enum Mode {
    Add = 3,
    Multiply = 700,
}

#[derive(Clone, Copy)]
struct Unit;

#[derive(Clone, Copy)]
union Bits {
    float: f64,
    int: u64,
}

layouts! {
    small_integers: (u8, i8, u16, i16) = [(1, -1, 2, -2), (255, i8::MIN, u16::MAX, i16::MIN)]
        => |x| [x.0.into(), x.1 as u64, x.2.into(), x.3 as u64];
    wide_integers: (u128, u8, i128) = [(u128::MAX - 5, 3, -7), (1 << 64 | 9, 0, i128::MIN)]
        => |x| [x.0 as u64, (x.0 >> 64) as u64, x.1.into(), (x.2 >> 3) as u64];
    floats: (f32, f64, f32) = [(1.5, -0.0, f32::MIN_POSITIVE), (f32::INFINITY, f64::MAX, -2.0)]
        => |x| [x.0.to_bits().into(), x.1.to_bits(), x.2.to_bits().into(), 0];
    chars_and_bools: (char, bool, char) = [('a', true, 'é'), ('\u{1f980}', false, '\0')]
        => |x| [x.0.into(), x.1.into(), x.2.into(), u64::from(x.1 && x.0 > x.2)];
    mixed: Mixed = [
        Mixed { a: 1, b: 2, c: 3, d: 4.0, e: true },
        Mixed { a: 255, b: u64::MAX, c: 9, d: -1.0, e: false },
    ] => |x| [x.a.into(), x.b, x.c.into(), u64::from(x.d.to_bits()) << 1 | u64::from(x.e)];
    in_order: InOrder = [InOrder { a: 1, b: 2, c: 3, d: 4.0 }, InOrder { a: 255, b: 7 << 40, c: 9, d: -1.0 }]
        => |x| [x.a.into(), x.b, x.c.into(), x.d.to_bits()];
    aligned: Aligned = [Aligned { a: 1.0, b: [1, 2, 3, 4, 5] }, Aligned { a: -2.0, b: [9; 5] }]
        => |x| [x.a.to_bits().into(), x.b[0].into(), x.b[4].into(), (&raw const x).addr() as u64 % 16];
    packed: Packed = [Packed { a: 1, b: 2, c: 3 }, Packed { a: 200, b: u32::MAX, c: 5 << 50 }]
        => |x| [x.a.into(), { x.b }.into(), x.c, 0];
    nested: Nested = [
        Nested {
            first: (7, Aligned { a: 1.0, b: [1, 2, 3, 4, 5] }),
            second: [InOrder { a: 1, b: 2, c: 3, d: 4.0 }, InOrder { a: 5, b: 6, c: 7, d: 8.0 }],
            third: None,
        },
        Nested {
            first: (8, Aligned { a: 2.0, b: [9; 5] }),
            second: [InOrder { a: 1, b: 2, c: 3, d: 4.0 }; 2],
            third: Some(Mixed { a: 1, b: 2, c: 3, d: 4.0, e: true }),
        },
    ] => |x| [
        u64::from(x.first.0) << 8 | u64::from(x.first.1.b[2]),
        x.second[1].b << 8 | u64::from(x.second[0].a),
        x.second[1].d.to_bits() ^ u64::from(x.first.1.a.to_bits()),
        x.third.map_or(99, |mixed| mixed.b << 8 | u64::from(mixed.c)),
    ];
    options: (Option<u64>, Option<u8>, Option<bool>, Option<f32>) = [
        (Some(5), None, Some(false), None),
        (None, Some(0), None, Some(1.5)),
        (Some(0), Some(9), Some(true), Some(0.0)),
    ] => |x| [
        x.0.map_or(u64::MAX, |y| y + 1),
        x.1.map_or(999, u64::from),
        x.2.map_or(7, u64::from),
        x.3.map_or(1, |y| y.to_bits().into()),
    ];
    niches: (Option<NonZeroU8>, Option<NonZeroU32>, Option<char>, Option<Option<bool>>) = [
        (NonZeroU8::new(3), None, Some('x'), Some(None)),
        (None, NonZeroU32::new(1 << 31), None, None),
        (None, None, Some('\0'), Some(Some(false))),
    ] => |x| [
        x.0.map_or(0, |y| y.get().into()),
        x.1.map_or(0, |y| y.get().into()),
        x.2.map_or(u64::MAX, u64::from),
        match x.3 {
            None => 0,
            Some(None) => 1,
            Some(Some(y)) => 2 + u64::from(y),
        },
    ];
    enums: Shape = [Shape::Empty, Shape::Circle { radius: 2.5 }, Shape::Box(1, 2, 3), Shape::Ids([4, 5, 6])]
        => |x| match x {
            Shape::Empty => [0; 4],
            Shape::Circle { radius } => [1, radius.to_bits(), 0, 0],
            Shape::Box(a, b, c) => [2, a.into(), b.into(), c.into()],
            Shape::Ids([a, b, c]) => [3, a.into(), b.into(), c.into()],
        };
    enums_with_numbers: (Mode, Option<Mode>) = [(Mode::Add, None), (Mode::Multiply, Some(Mode::Add))]
        => |x| [x.0 as u64, x.1.map_or(0, |mode| mode as u64), u64::from(x.0 == Mode::Add), 0];
    arrays: ([u8; 3], [u16; 5], [f64; 4]) =
        [([1, 2, 3], [4; 5], [5.0; 4]), ([9; 3], [1, 2, 3, 4, 5], [1.0, 2.0, 3.0, 4.0])]
        => |x| [
            x.0.iter().fold(0, |sum, &y| sum << 8 | u64::from(y)),
            x.1.iter().fold(0, |sum, &y| sum << 12 | u64::from(y)),
            x.2[3].to_bits(),
            x.2[0].to_bits(),
        ];
    large_arrays: [u32; 100] = [std::array::from_fn(|i| i as u32), [7; 100]]
        => |x| [x[0].into(), x[99].into(), x.iter().map(|&y| u64::from(y)).sum(), x[x[1] as usize % 100].into()];
    results: Result<u32, (u8, u64)> = [Ok(5), Err((1, 2)), Ok(0)]
        => |x| match x {
            Ok(y) => [0, y.into(), 0, 0],
            Err((y, z)) => [1, y.into(), z, 0],
        };
    of_no_size: (Unit, (), [u64; 0]) = [(Unit, (), [])]
        => |x| {
            let (Unit, (), empty) = x;
            [1, 2, empty.len() as u64, 3]
        };
    unions: Bits = [Bits { float: 1.5 }, Bits { int: 77 }]
        // SAFETY: both fields are 8 bytes of plain data.
        => |x| unsafe { [x.int, x.float.to_bits(), 0, 0] };
    durations: Duration = [Duration::from_millis(1500), Duration::ZERO]
        => |x| [x.as_secs(), x.subsec_nanos().into(), x.as_millis() as u64, 0];
}

#[kernel]
#[allow(clippy::too_many_arguments)]
fn many(
    a: u8,
    b: u16,
    c: u32,
    d: u64,
    e: u128,
    f: f32,
    g: f64,
    h: bool,
    x: &[u8],
    y: &[u64],
    mut out: DisjointSlice<u64>,
) {
    if let Some(out) = out.get_mut(thread::index_1d()) {
        let small = u64::from(a) + u64::from(b) + u64::from(c) + u64::from(h);
        *out = small + d + e as u64 + f as u64 + g as u64 + u64::from(x[x.len() - 1]) + y[0];
    }
}

#[kernel]
fn nothing() {}

#[test]
fn many_parameters_and_none() {
    let gpu = Gpu::new().unwrap();
    let (x, y) = (
        gpu.to_device(&[1u8, 2, 9]).unwrap(),
        gpu.to_device(&[10u64]).unwrap(),
    );
    let mut out = gpu.zeros::<u64>(3).unwrap();
    launch!(many[1, 3](1, 2, 3, 4, 5, 6.0, 7.0, true, &x, &y, &mut out)).unwrap();
    assert_eq!(out.to_vec().unwrap(), [48; 3]);
    nothing.on(&gpu).grid(3).block(5).launch().unwrap();
    gpu.synchronize().unwrap();
}
