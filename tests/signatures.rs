//! Kernels in every place and with every kind of parameter that Rust has for functions.
#![allow(missing_docs, clippy::all)]

mod device_code;

use std::cmp::Ordering;
use std::marker::PhantomData;
use std::num::NonZero;
use std::ops::Add;
use std::time::Duration;

use oxwarp::prelude::*;

/// What the kernel `run` by `launch` leaves for each of 32 threads, which is the same.
#[track_caller]
fn result<T: DeviceCopy + PartialEq + std::fmt::Debug + Default>(
    launch: impl FnOnce(&Gpu, &mut DeviceArray<T>) -> oxwarp::Result<()>,
) -> T {
    let gpu = Gpu::new().unwrap();
    let mut out = gpu.full(32, T::default()).unwrap();
    launch(&gpu, &mut out).unwrap();
    let out = out.to_vec().unwrap();
    assert_eq!(out, [out[0]; 32]);
    out[0]
}

#[kernel]
fn größe(größen: &[u32], r#type: u32, mut r#fn: DisjointSlice<u32>) {
    if let Some(out) = r#fn.get_mut(thread::index_1d()) {
        *out = größen[0] + r#type;
    }
}

#[kernel]
fn r#match(r#in: u32, mut out: DisjointSlice<u32>) {
    if let Some(out) = out.get_mut(thread::index_1d()) {
        *out = r#in;
    }
}

#[test]
fn names_in_any_language_and_of_keywords() {
    let with = |gpu: &Gpu, out: &mut _| größe.for_each(32).launch(&gpu.to_device(&[7])?, 5, out);
    assert_eq!(result(with), 12);
    assert_eq!(result(|_, out| launch!(r#match[1, 32](9, out))), 9);
}

#[derive(Clone, Copy, DeviceCopy)]
struct Point {
    x: f32,
    y: f32,
}

#[derive(Clone, Copy, DeviceCopy)]
enum Operation {
    Negate,
    Scale(f32),
    Line { slope: f32, offset: f32 },
}

#[kernel]
fn patterns(
    (a, b): (f32, f32),
    [first, .., last]: [f32; 4],
    Point { x, y: height }: Point,
    _: u32,
    mut n: u32,
    ref r: u32,
    operation: Operation,
    mut out: DisjointSlice<f32>,
) {
    n += *r;
    let sum = a + b + first + last + x + height + n as f32;
    if let Some(out) = out.get_mut(thread::index_1d()) {
        *out = match operation {
            Operation::Negate => -sum,
            Operation::Scale(by) => sum * by,
            Operation::Line { slope, offset } => sum * slope + offset,
        };
    }
}

#[test]
fn parameters_are_patterns() {
    let apply = |operation| {
        let point = Point { x: 0.5, y: 0.25 };
        result(|_, out| {
            patterns.for_each(32).launch(
                (1.0, 2.0),
                [4.0, 0.0, 0.0, 8.0],
                point,
                0,
                16,
                32,
                operation,
                out,
            )
        })
    };
    assert_eq!(apply(Operation::Negate), -63.75);
    assert_eq!(apply(Operation::Scale(2.0)), 127.5);
    let line = Operation::Line {
        slope: 4.0,
        offset: 1.0,
    };
    assert_eq!(apply(line), 256.0);
}

#[kernel]
fn types_of_std(
    span: Duration,
    number: Option<NonZero<u32>>,
    order: Ordering,
    letter: char,
    nothing: (),
    empty: [u8; 0],
    marker: PhantomData<fn(u32)>,
    wide: u128,
    nested: (u8, (bool, [u64; 2])),
    mut out: DisjointSlice<[u64; 7]>,
) {
    let ((), [], PhantomData) = (nothing, empty, marker);
    if let Some(out) = out.get_mut(thread::index_1d()) {
        *out = [
            span.as_secs(),
            number.map_or(0, |number| number.get().into()),
            order.is_lt().into(),
            letter.into(),
            (wide >> 100) as u64,
            nested.1.1[1],
            nested.1.0.into(),
        ];
    }
}

#[test]
fn parameters_of_types_of_std() {
    let seen = result(|_, out| {
        let (number, nested) = (NonZero::new(4), (1, (true, [2, 3])));
        types_of_std.for_each(32).launch(
            Duration::from_secs(5),
            number,
            Ordering::Less,
            'x',
            (),
            [],
            PhantomData,
            6 << 100,
            nested,
            out,
        )
    });
    assert_eq!(seen, [5, 4, 1, 120, 6, 3, 1]);
}

#[kernel]
fn times<T, const N: usize, F>(x: &[T], f: F, mut out: DisjointSlice<T>)
where
    T: DeviceCopy + Add<Output = T>,
    F: Fn(T) -> T + Copy,
    [T; N]: Sized,
{
    if let Some(out) = out.get_mut(thread::index_1d()) {
        *out = (1..N).fold(f(x[0]), |sum, _| sum + x[0]);
    }
}

#[kernel]
fn only_constants<const N: usize, const YES: bool, const LETTER: char>(
    mut out: DisjointSlice<u32>,
) {
    if let Some(out) = out.get_mut(thread::index_1d()) {
        *out = N as u32 + u32::from(YES) + u32::from(LETTER);
    }
}

#[test]
fn generics_with_where_clauses_and_constants() {
    let tripled = |gpu: &Gpu, out: &mut _| {
        times
            .for_each(32)
            .launch::<f32, 3, _>(&gpu.to_device(&[2.0])?, |x| -x, out)
    };
    assert_eq!(result(tripled), 2.0);
    let constants = |_: &Gpu, out: &mut _| only_constants.for_each(32).launch::<3, true, 'x'>(out);
    assert_eq!(result(constants), 124);
}

#[kernel]
fn lifetimes<'a, 'b: 'a>(x: &'a [u32], y: &'b [u32], mut out: DisjointSlice<u32>) {
    fn larger<'a>(x: &'a [u32], y: &'a [u32]) -> &'a [u32] {
        if x[0] > y[0] { x } else { y }
    }
    if let Some(out) = out.get_mut(thread::index_1d()) {
        *out = larger(x, y)[1];
    }
}

#[test]
fn lifetimes_have_names() {
    let both = |gpu: &Gpu, out: &mut _| {
        let (x, y) = (gpu.to_device(&[1, 2])?, gpu.to_device(&[3, 4])?);
        lifetimes.for_each(32).launch(&x, &y, out)
    };
    assert_eq!(result(both), 4);
}

trait Shape: Copy {
    const CORNERS: u32;
    type Size: Into<f64>;
    fn size(&self) -> Self::Size;
}

#[derive(Clone, Copy, DeviceCopy)]
struct Square(f32);

impl Shape for Square {
    const CORNERS: u32 = 4;
    type Size = f32;
    fn size(&self) -> f32 {
        self.0 * self.0
    }
}

#[kernel]
fn of_a_trait<S: Shape + DeviceCopy>(one: S, all: &[S], mut out: DisjointSlice<f64>) {
    if let Some(out) = out.get_mut(thread::index_1d()) {
        let sum: f64 = all.iter().map(|shape| shape.size().into()).sum();
        *out = one.size().into() + sum + f64::from(S::CORNERS);
    }
}

#[test]
fn types_with_associated_types_and_constants() {
    let squares = |gpu: &Gpu, out: &mut _| {
        let all = gpu.to_device(&[Square(1.0), Square(2.0)])?;
        of_a_trait.for_each(32).launch(Square(3.0), &all, out)
    };
    assert_eq!(result(squares), 18.0);
}

#[kernel]
fn of_closures<F: Fn(u32) -> u32 + Copy>(
    two: [F; 2],
    maybe: Option<F>,
    other: impl Fn(u32, u32) -> u32 + Copy,
    mut out: DisjointSlice<u32>,
) {
    if let Some(out) = out.get_mut(thread::index_1d()) {
        *out = other(two[0](1) + two[1](2), maybe.map_or(0, |f| f(3)));
    }
}

#[test]
fn closures_in_arrays_and_options() {
    let by = 10;
    let f = move |x| x * by;
    let all = |_: &Gpu, out: &mut _| {
        of_closures
            .for_each(32)
            .launch([f, f], Some(f), |x, y| x * 100 + y, out)
    };
    assert_eq!(result(all), 3030);
}

#[kernel]
#[allow(unused_mut)]
fn conditional(#[allow(unused)] mut x: u32, mut out: DisjointSlice<u32>) {
    #[cfg(any())]
    compile_error!("this is not there");
    #[cfg(any())]
    let x = "nor is this";
    #[cfg(all())]
    let y = 3;
    if let Some(out) = out.get_mut(thread::index_1d()) {
        *out = x + y;
    }
}

#[kernel]
#[inline(never)]
#[cold]
#[track_caller]
fn attributed(mut out: DisjointSlice<u32>) {
    if let Some(out) = out.get_mut(thread::index_1d()) {
        *out = 6;
    }
}

#[test]
fn statements_and_kernels_with_attributes() {
    assert_eq!(result(|_, out| conditional.for_each(32).launch(4, out)), 7);
    assert_eq!(result(|_, out| attributed.for_each(32).launch(out)), 6);
}

macro_rules! kernels {
    ($(#[$attribute:meta])* $visibility:vis $name:ident($($x:ident: $ty:ty),*; $pattern:pat) $body:block [$threads:expr]) => {
        $(#[$attribute])*
        #[kernel(block($threads))]
        $visibility fn $name($($x: $ty,)* $pattern: (u32, f32), mut out: DisjointSlice<u32>) {
            let value: u32 = $body;
            if let Some(out) = out.get_mut(thread::index_1d()) {
                *out = value $(+ $x as u32)*;
            }
        }
    };
}

kernels! {
    /// Its documentation.
    #[allow(dead_code)]
    pub(crate) from_a_macro(x: u32, y: u8; (_, _)) { 5 } [32]
}

#[test]
fn kernels_from_macros() {
    assert_eq!(
        result(|_, out| from_a_macro.grid(1).launch(1, 2, (0, 0.0), out)),
        8
    );
}

/// Three kernels of one name, whose parent modules have one name too.
mod outer {
    use super::*;

    #[kernel]
    pub fn same(mut out: DisjointSlice<u32>) {
        if let Some(out) = out.get_mut(thread::index_1d()) {
            *out = 1;
        }
    }

    pub mod outer {
        use super::*;

        #[kernel]
        pub fn same(mut out: DisjointSlice<u32>) {
            if let Some(out) = out.get_mut(thread::index_1d()) {
                *out = 2;
            }
        }
    }
}

#[kernel]
fn same(mut out: DisjointSlice<u32>) {
    if let Some(out) = out.get_mut(thread::index_1d()) {
        *out = 3;
    }
}

#[test]
fn kernels_of_one_name_in_several_modules() {
    assert_eq!(result(|_, out| outer::same.for_each(32).launch(out)), 1);
    assert_eq!(
        result(|_, out| outer::outer::same.for_each(32).launch(out)),
        2
    );
    assert_eq!(result(|_, out| same.for_each(32).launch(out)), 3);
}

struct Holder;

impl Holder {
    fn run(&self, out: &mut DeviceArray<u32>) -> oxwarp::Result<()> {
        const SEVEN: u32 = 7;

        #[kernel]
        fn inside(mut out: DisjointSlice<u32>) {
            fn helper() -> u32 {
                SEVEN * 11
            }
            if let Some(out) = out.get_mut(thread::index_1d()) {
                *out = helper();
            }
        }
        inside.for_each(32).launch(out)
    }
}

fn in_generic_code<T: DeviceCopy + Into<f64> + 'static>(x: T) -> f64 {
    #[kernel]
    fn convert<T: DeviceCopy + Into<f64>>(x: T, mut out: DisjointSlice<f64>) {
        if let Some(out) = out.get_mut(thread::index_1d()) {
            *out = x.into();
        }
    }
    result(|_, out| convert.for_each(32).launch(x, out))
}

fn returned() -> impl Fn(&mut DeviceArray<u32>) -> oxwarp::Result<()> {
    #[kernel]
    fn local(mut out: DisjointSlice<u32>) {
        if let Some(out) = out.get_mut(thread::index_1d()) {
            *out = 8;
        }
    }
    |out| local.for_each(32).launch(out)
}

#[test]
fn kernels_in_functions_methods_and_generic_code() {
    assert_eq!(result(|_, out| Holder.run(out)), 77);
    assert_eq!(in_generic_code(4u8), 4.0);
    assert_eq!(in_generic_code(4.5f32), 4.5);
    assert_eq!(result(|_, out| returned()(out)), 8);
}

#[kernel]
fn names_of_the_builder(
    grid: u32,
    block: u32,
    on: u32,
    launch: u32,
    out_: u32,
    mut out: DisjointSlice<u32>,
) {
    if let Some(out) = out.get_mut(thread::index_1d()) {
        *out = grid + block + on + launch + out_;
    }
}

#[test]
fn parameters_named_like_what_the_builder_has() {
    assert_eq!(
        result(|_, out| names_of_the_builder.for_each(32).launch(1, 2, 3, 4, 5, out)),
        15
    );
}

#[test]
fn ptxas_takes_it() {
    device_code::assembles_for_its_target();
}
