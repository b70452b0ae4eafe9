//! Generic kernels, closures, const generics; kernels in functions, modules and with recursion; every form of a launch.
#![allow(missing_docs)]

mod common;

use std::ops::{Add, Mul};

use common::Random;
use oxwarp::DeviceCopy;
use oxwarp::prelude::*;

#[kernel]
fn map<T: DeviceCopy, U: DeviceCopy, F: Fn(T) -> U + Copy>(f: F, x: &[T], mut y: DisjointSlice<U>) {
    let i = thread::index_1d();
    if let Some(y) = y.get_mut(i) {
        *y = f(x[*i]);
    }
}

#[kernel]
fn map_impl(f: impl Fn(f32, usize) -> f32 + Copy, x: &[f32], mut y: DisjointSlice<f32>) {
    for i in thread::grid_stride(y.len()) {
        if let Some(y) = y.get_mut(i) {
            *y = f(x[*i], *i);
        }
    }
}

#[kernel]
fn two_impls(
    f: impl Fn(u32) -> u32 + Copy,
    g: impl Fn(u32) -> u32 + Copy,
    mut y: DisjointSlice<u32>,
) {
    let i = thread::index_1d();
    if let Some(y) = y.get_mut(i) {
        *y = g(f(*i as u32));
    }
}

#[kernel]
fn axpy<T>(a: T, x: &[T], mut y: DisjointSlice<T>)
where
    T: Copy + DeviceCopy + Add<Output = T> + Mul<Output = T>,
{
    let i = thread::index_1d();
    if let Some(y) = y.get_mut(i) {
        *y = a * x[*i] + *y;
    }
}

#[kernel]
fn polynomial<const N: usize>(coefficients: [f64; N], x: &[f64], mut y: DisjointSlice<f64>) {
    let i = thread::index_1d();
    if let Some(y) = y.get_mut(i) {
        *y = coefficients
            .iter()
            .rev()
            .fold(0.0, |sum, c| sum * x[*i] + c);
    }
}

trait Operation: Copy + 'static {
    const NAME: u32;
    fn apply(self, x: u32) -> u32;
}

#[derive(Clone, Copy)]
struct Double;

#[derive(Clone, Copy)]
struct Plus(u32);

impl Operation for Double {
    const NAME: u32 = 1;
    fn apply(self, x: u32) -> u32 {
        2 * x
    }
}

impl Operation for Plus {
    const NAME: u32 = 2;
    fn apply(self, x: u32) -> u32 {
        x + self.0
    }
}

#[kernel]
fn operate<O: Operation>(operation: O, mut y: DisjointSlice<u32>) {
    let i = thread::index_1d();
    if let Some(y) = y.get_mut(i) {
        *y = operation.apply(*i as u32) * 10 + O::NAME;
    }
}

mod inner {
    use oxwarp::prelude::*;

    #[kernel]
    pub fn add(mut y: DisjointSlice<u32>) {
        if let Some(y) = y.get_mut(thread::index_1d()) {
            *y += 3;
        }
    }

    pub mod deeper {
        use oxwarp::prelude::*;

        /// The same name as in the module above, and generic.
        #[kernel]
        pub fn add<const N: u32>(mut y: DisjointSlice<u32>) {
            if let Some(y) = y.get_mut(thread::index_1d()) {
                *y += N;
            }
        }
    }
}

#[kernel]
fn add(mut y: DisjointSlice<u32>) {
    if let Some(y) = y.get_mut(thread::index_1d()) {
        *y += 100;
    }
}

fn fibonacci(n: u32) -> u64 {
    if n < 2 {
        n.into()
    } else {
        fibonacci(n - 1) + fibonacci(n - 2)
    }
}

#[kernel]
fn fibonaccis(mut y: DisjointSlice<u64>) {
    let i = thread::index_1d();
    if let Some(y) = y.get_mut(i) {
        *y = fibonacci(*i as u32);
    }
}

/// The kernel function itself recurs.
#[kernel]
fn countdown(n: u32, counts: &[std::sync::atomic::AtomicU32]) {
    counts[n as usize].fetch_add(1, std::sync::atomic::Ordering::Relaxed);
    if n > 0 {
        countdown(n - 1, counts);
    }
}

#[kernel]
fn borrowed<'a>(x: &'a [u32], mut y: DisjointSlice<u32>) {
    let first: Option<&'a u32> = x.first();
    if let (Some(y), Some(first)) = (y.get_mut(thread::index_1d()), first) {
        *y = *first;
    }
}

#[kernel]
fn pattern((low, high): (u32, u32), _: u8, mut y: DisjointSlice<u32>) {
    if let Some(y) = y.get_mut(thread::index_1d()) {
        *y = high - low;
    }
}

#[test]
fn two_closures_in_one_function_are_two_kernels() {
    let gpu = Gpu::new().unwrap();
    let host = Random::new(1).floats(777, -10.0, 10.0);
    let x = gpu.to_device(&host).unwrap();
    let mut y = gpu.zeros::<f32>(777).unwrap();
    let (a, b) = (3.0f32, 0.5f32);
    launch!(map[4, 256](move |x: f32| a * x, &x, &mut y)).unwrap();
    assert_eq!(
        y.to_vec().unwrap(),
        host.iter().map(|x| 3.0 * x).collect::<Vec<_>>()
    );
    launch!(map[4, 256](move |x: f32| x.abs() - b, &x, &mut y)).unwrap();
    assert_eq!(
        y.to_vec().unwrap(),
        host.iter().map(|x| x.abs() - 0.5).collect::<Vec<_>>()
    );
}

#[test]
fn a_closure_may_change_the_type() {
    let gpu = Gpu::new().unwrap();
    let x = gpu.to_device(&[-1.5f32, 0.0, 7.25]).unwrap();
    let mut y = gpu.zeros::<i64>(3).unwrap();
    map.for_each(3)
        .launch(|x: f32| (x * 4.0) as i64, &x, &mut y)
        .unwrap();
    assert_eq!(y.to_vec().unwrap(), [-6, 0, 29]);
    let mut y = gpu.zeros::<[u8; 4]>(3).unwrap();
    map.for_each(3)
        .launch(|x: f32| x.to_bits().to_le_bytes(), &x, &mut y)
        .unwrap();
    assert_eq!(y.to_vec().unwrap()[2], 7.25f32.to_bits().to_le_bytes());
}

#[test]
fn captured_values_of_many_types_arrive() {
    let gpu = Gpu::new().unwrap();
    let x = gpu.to_device(&[1u32, 2, 3]).unwrap();
    let mut y = gpu.zeros::<u64>(3).unwrap();
    let (a, b, c, d) = (7u8, Some(-3i64), [1.5f64, 2.5], true);
    let f = move |x: u32| {
        u64::from(a) + (b.unwrap() + 10) as u64 + (c[0] + c[1]) as u64 * u64::from(x) + u64::from(d)
    };
    map.for_each(3).launch(f, &x, &mut y).unwrap();
    assert_eq!(y.to_vec().unwrap(), [19, 23, 27]);
}

#[test]
fn closures_come_from_nested_functions_and_generic_ones() {
    fn outer(gpu: &Gpu, k: u32) -> Vec<u32> {
        fn inner<const N: u32>(gpu: &Gpu, k: u32) -> Vec<u32> {
            let x = gpu.to_device(&[1u32, 2, 3]).unwrap();
            let mut y = gpu.zeros::<u32>(3).unwrap();
            map.for_each(3)
                .launch(move |x: u32| x * N + k, &x, &mut y)
                .unwrap();
            y.to_vec().unwrap()
        }
        let mut all = inner::<10>(gpu, k);
        all.extend(inner::<100>(gpu, k));
        all
    }
    fn compose<F: Fn(u32) -> u32 + Copy + 'static>(f: F) -> impl Fn(u32) -> u32 + Copy {
        move |x| f(f(x))
    }
    fn triple(x: u32) -> u32 {
        3 * x
    }
    let gpu = Gpu::new().unwrap();
    assert_eq!(outer(&gpu, 5), [15, 25, 35, 105, 205, 305]);
    let x = gpu.to_device(&[1u32, 2, 3]).unwrap();
    let mut y = gpu.zeros::<u32>(3).unwrap();
    map.for_each(3)
        .launch(compose(|x| x * x + 1), &x, &mut y)
        .unwrap();
    assert_eq!(y.to_vec().unwrap(), [5, 26, 101]);
    map.for_each(3).launch(triple, &x, &mut y).unwrap();
    assert_eq!(y.to_vec().unwrap(), [3, 6, 9]);
}

#[test]
fn impl_parameters_are_generic_ones() {
    let gpu = Gpu::new().unwrap();
    let host = Random::new(2).floats(1000, 0.0, 1.0);
    let x = gpu.to_device(&host).unwrap();
    let mut y = gpu.zeros::<f32>(1000).unwrap();
    launch!(map_impl[2, 64](|x, i| x + i as f32, &x, &mut y)).unwrap();
    let expected: Vec<f32> = host.iter().enumerate().map(|(i, x)| x + i as f32).collect();
    assert_eq!(y.to_vec().unwrap(), expected);
    let mut y = gpu.zeros::<u32>(4).unwrap();
    let k = 5;
    launch!(two_impls[1, 4](move |x| x + k, |x| x * x, &mut y)).unwrap();
    assert_eq!(y.to_vec().unwrap(), [25, 36, 49, 64]);
}

#[test]
fn one_generic_kernel_with_several_types() {
    fn check<T>(gpu: &Gpu, of: impl Fn(u8) -> T)
    where
        T: Copy
            + DeviceCopy
            + Add<Output = T>
            + Mul<Output = T>
            + PartialEq
            + std::fmt::Debug
            + 'static,
    {
        let x: Vec<T> = (0..100).map(&of).collect();
        let mut y = gpu.full(100, of(2)).unwrap();
        let x_device = gpu.to_device(&x).unwrap();
        launch!(axpy[2, 64](of(2), &x_device, &mut y)).unwrap();
        let expected: Vec<T> = x.iter().map(|&x| of(2) * x + of(2)).collect();
        assert_eq!(
            y.to_vec().unwrap(),
            expected,
            "{}",
            std::any::type_name::<T>()
        );
    }
    let gpu = Gpu::new().unwrap();
    check(&gpu, f32::from);
    check(&gpu, f64::from);
    check(&gpu, u8::from);
    check(&gpu, u16::from);
    check(&gpu, |x| -i64::from(x));
    check(&gpu, |x| u128::from(x) << 60);
}

#[test]
fn const_generics_and_trait_constants() {
    let gpu = Gpu::new().unwrap();
    let x = gpu.to_device(&[0.0f64, 1.0, -2.0]).unwrap();
    let mut y = gpu.zeros::<f64>(3).unwrap();
    launch!(polynomial[1, 3]([1.0, 2.0, 3.0], &x, &mut y)).unwrap();
    assert_eq!(y.to_vec().unwrap(), [1.0, 6.0, 9.0]);
    launch!(polynomial[1, 3]([4.0, -1.0], &x, &mut y)).unwrap();
    assert_eq!(y.to_vec().unwrap(), [4.0, 3.0, 6.0]);
    let mut y = gpu.zeros::<u32>(3).unwrap();
    launch!(operate[1, 3](Double, &mut y)).unwrap();
    assert_eq!(y.to_vec().unwrap(), [1, 21, 41]);
    launch!(operate[1, 3](Plus(7), &mut y)).unwrap();
    assert_eq!(y.to_vec().unwrap(), [72, 82, 92]);
}

#[test]
fn kernels_of_one_name_in_modules_and_functions() {
    #[kernel]
    fn add_here(mut y: DisjointSlice<u32>) {
        if let Some(y) = y.get_mut(thread::index_1d()) {
            *y += 1000;
        }
    }
    let gpu = Gpu::new().unwrap();
    let mut y = gpu.zeros::<u32>(2).unwrap();
    launch!(add[1, 2](&mut y)).unwrap();
    launch!(inner::add[1, 2](&mut y)).unwrap();
    launch!(add_here[1, 2](&mut y)).unwrap();
    inner::deeper::add.for_each(2).launch::<7>(&mut y).unwrap();
    inner::deeper::add.for_each(2).launch::<20>(&mut y).unwrap();
    assert_eq!(y.to_vec().unwrap(), [1130, 1130]);
}

#[test]
fn recursion_of_functions_and_of_the_kernel() {
    let gpu = Gpu::new().unwrap();
    let mut y = gpu.zeros::<u64>(20).unwrap();
    launch!(fibonaccis[1, 32](&mut y)).unwrap();
    assert_eq!(
        y.to_vec().unwrap(),
        (0..20).map(fibonacci).collect::<Vec<_>>()
    );
    let mut counts = gpu.zeros::<u32>(6).unwrap();
    launch!(countdown[2, 4](4, &mut counts)).unwrap();
    assert_eq!(counts.to_vec().unwrap(), [8, 8, 8, 8, 8, 0]);
}

#[test]
fn lifetimes_and_patterns_in_the_signature() {
    let gpu = Gpu::new().unwrap();
    let x = gpu.to_device(&[42u32, 1]).unwrap();
    let mut y = gpu.zeros::<u32>(2).unwrap();
    launch!(borrowed[1, 2](&x, &mut y)).unwrap();
    assert_eq!(y.to_vec().unwrap(), [42, 42]);
    launch!(pattern[1, 2]((3, 10), 1, &mut y)).unwrap();
    assert_eq!(y.to_vec().unwrap(), [7, 7]);
}

#[test]
fn every_form_of_a_launch() {
    let gpu = Gpu::new().unwrap();
    let mut y = gpu.zeros::<u32>(600).unwrap();
    launch!(add[3, 200](&mut y)).unwrap();
    launch!(add[(3, 1), [200, 1, 1]](&mut y)).unwrap();
    add.grid(3usize).block(200u32).launch(&mut y).unwrap();
    add.for_each(y.len()).launch(&mut y).unwrap();
    add.for_each(600).block(32).launch(&mut y).unwrap();
    add.on(&gpu).grid(3).block(200).launch(&mut y).unwrap();
    let launch = add.grid(1);
    launch.clone().block(600).launch(&mut y).unwrap();
    launch.block(100).launch(&mut y).unwrap();
    add.for_each(0).launch(&mut y).unwrap();
    let add = 1; // a local variable may have the name of a kernel
    let mut expected = vec![800; 100];
    expected.resize(600, 700);
    assert_eq!(y.to_vec().unwrap(), expected, "{add}");
}
