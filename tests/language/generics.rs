//! Generics: over types, constants and functions, with bounds of every kind.

use std::fmt::Display;
use std::marker::PhantomData;
use std::ops::{Add, Mul, Rem};

use crate::check::digest_text;

agree!(
    constants_as_lengths,
    matrices_of_any_shape,
    markers_of_units,
    one_function_of_many_types,
    default_parameters,
    bounds_on_associated_types,
    recursive_types,
    generic_structures_with_own_traits,
    static_tables_of_generic_functions,
    impl_trait_in_both_places,
    constants_of_generic_types,
    type_lists,
);

fn sum_of<T: Copy + Into<u64>, const N: usize>(x: [T; N]) -> u64 {
    x.into_iter()
        .fold(N as u64, |sum, x| sum.rotate_left(9) ^ x.into())
}

fn constants_as_lengths((a, b, c): ([u8; 3], [u32; 5], [u64; 1])) -> u64 {
    struct Halves<const N: usize>;
    impl<const N: usize> Halves<N> {
        const HALF: usize = N / 2;
        fn of(x: [u32; N]) -> u64 {
            let (left, right) = x.split_at(Self::HALF);
            u64::from(left[0]) ^ (right.len() as u64)
        }
    }
    sum_of(a) ^ sum_of(b) ^ sum_of(c) ^ Halves::of(b)
}

#[derive(Clone, Copy)]
struct Matrix<T, const R: usize, const C: usize>([[T; C]; R]);

impl<T, const R: usize, const K: usize, const C: usize> Mul<&Matrix<T, K, C>> for Matrix<T, R, K>
where
    T: Copy + Default + Add<Output = T> + Mul<Output = T>,
{
    type Output = Matrix<T, R, C>;
    fn mul(self, other: &Matrix<T, K, C>) -> Matrix<T, R, C> {
        let mut product = [[T::default(); C]; R];
        for (row, out) in self.0.iter().zip(&mut product) {
            for (c, out) in out.iter_mut().enumerate() {
                for (a, b) in row.iter().zip(&other.0) {
                    *out = *out + *a * b[c];
                }
            }
        }
        Matrix(product)
    }
}

fn matrices_of_any_shape((a, b): ([[u8; 3]; 2], [[u8; 4]; 3])) -> ([[u32; 4]; 2], f32) {
    let wide = Matrix(a.map(|row| row.map(u32::from))) * &Matrix(b.map(|row| row.map(u32::from)));
    let floats = Matrix(a.map(|row| row.map(|x| f32::from(x) / 16.0)));
    let product = floats * &Matrix([[0.5f32], [-1.25], [2.0]]);
    (wide.0, product.0[1][0])
}

struct Metres;
struct Feet;
struct Length<Unit>(f64, PhantomData<Unit>);

trait Unit {
    const IN_METRES: f64;
}
impl Unit for Metres {
    const IN_METRES: f64 = 1.0;
}
impl Unit for Feet {
    const IN_METRES: f64 = 0.3048;
}
impl<U: Unit> Length<U> {
    fn to<V: Unit>(&self) -> Length<V> {
        Length(self.0 * U::IN_METRES / V::IN_METRES, PhantomData)
    }
}

fn markers_of_units(x: f64) -> (f64, f64) {
    let feet: Length<Feet> = Length(x, PhantomData);
    let metres = feet.to::<Metres>();
    (metres.0, metres.to::<Feet>().0)
}

fn gcd<T: Copy + Default + PartialEq + Rem<Output = T>>(a: T, b: T) -> T {
    if b == T::default() { a } else { gcd(b, a % b) }
}

fn one_function_of_many_types((a, b, c): ([u8; 2], [u32; 2], [u128; 2])) -> (u8, u32, u128, i64) {
    let signed = [i64::from(b[0]), -i64::from(b[1])];
    (
        gcd(a[0], a[1]),
        gcd(b[0], b[1]),
        gcd(c[0], c[1]),
        gcd(signed[0], signed[1]),
    )
}

struct Buffer<T = u8, const N: usize = 4> {
    values: [T; N],
    length: usize,
}

impl<T: Copy + Default, const N: usize> Default for Buffer<T, N> {
    fn default() -> Self {
        Buffer {
            values: [T::default(); N],
            length: 0,
        }
    }
}

impl<T, const N: usize> Buffer<T, N> {
    fn push(&mut self, value: T) -> Result<(), T> {
        match self.values.get_mut(self.length) {
            Some(slot) => *slot = value,
            None => return Err(value),
        }
        self.length += 1;
        Ok(())
    }
}

fn default_parameters((x, n): ([u8; 6], u8)) -> (u32, usize, Option<u8>) {
    let (mut small, mut large) = (Buffer::<u8>::default(), Buffer::<u32, 6>::default());
    let mut refused = None;
    for &x in &x[..usize::from(n) % 7] {
        refused = refused.or(small.push(x).err());
        large.push(u32::from(x) << 8).unwrap_or_default();
    }
    (large.values.iter().sum(), small.length, refused)
}

fn bounds_on_associated_types((x, y): ([u8; 4], [u32; 3])) -> u64 {
    fn total<I>(numbers: I) -> u64
    where
        I: IntoIterator,
        I::Item: Into<u64>,
        I::IntoIter: DoubleEndedIterator + Clone,
    {
        let numbers = numbers.into_iter();
        let backwards = numbers.clone().rev();
        numbers.zip(backwards).fold(0u64, |sum, (a, b)| {
            sum.wrapping_mul(31)
                .wrapping_add(a.into() ^ (b.into() << 1))
        })
    }
    total(x) ^ total(y) ^ total(x.iter().copied().skip(1))
}

struct Zero;
struct Next<N>(PhantomData<N>);

trait Number {
    const VALUE: u32;
    fn power(x: u32) -> u32;
}
impl Number for Zero {
    const VALUE: u32 = 0;
    fn power(_: u32) -> u32 {
        1
    }
}
impl<N: Number> Number for Next<N> {
    const VALUE: u32 = N::VALUE + 1;
    fn power(x: u32) -> u32 {
        x.wrapping_mul(N::power(x))
    }
}

fn recursive_types(x: u32) -> (u32, u32) {
    type Five = Next<Next<Next<Next<Next<Zero>>>>>;
    (Five::power(x), Five::VALUE ^ x)
}

trait Monoid: Copy {
    const EMPTY: Self;
    fn join(self, other: Self) -> Self;
}
#[derive(Clone, Copy)]
struct Max(i32);
#[derive(Clone, Copy)]
struct Both<A, B>(A, B);
impl Monoid for Max {
    const EMPTY: Max = Max(i32::MIN);
    fn join(self, other: Max) -> Max {
        Max(self.0.max(other.0))
    }
}
impl Monoid for u64 {
    const EMPTY: u64 = 0;
    fn join(self, other: u64) -> u64 {
        self.wrapping_add(other)
    }
}
impl<A: Monoid, B: Monoid> Monoid for Both<A, B> {
    const EMPTY: Self = Both(A::EMPTY, B::EMPTY);
    fn join(self, other: Self) -> Self {
        Both(self.0.join(other.0), self.1.join(other.1))
    }
}

fn generic_structures_with_own_traits(x: [i32; 7]) -> (i32, u64, u64) {
    fn fold<M: Monoid>(x: &[i32], of: impl Fn(i32) -> M) -> M {
        x.iter().map(|&x| of(x)).fold(M::EMPTY, M::join)
    }
    let Both(Max(max), Both(sum, count)) =
        fold(&x, |x| Both(Max(x), Both(u64::from(x.unsigned_abs()), 1)));
    (max, sum, count ^ sum)
}

fn static_tables_of_generic_functions((x, i): (u32, u8)) -> u32 {
    fn step<const K: u32>(x: u32) -> u32 {
        x.rotate_left(K) ^ K
    }
    const STEPS: [fn(u32) -> u32; 4] = [step::<1>, step::<5>, step::<9>, step::<31>];
    STEPS[usize::from(i) % 4](STEPS[usize::from(i / 4) % 4](x))
}

fn impl_trait_in_both_places((x, n): ([u32; 6], u8)) -> u64 {
    fn odd(x: impl Iterator<Item = u32> + Clone, n: usize) -> impl Iterator<Item = u32> + Clone {
        x.clone().filter(|x| x % 2 == 1).chain(x.take(n))
    }
    fn text(x: impl Iterator<Item = impl Display>) -> String {
        x.map(|x| x.to_string()).collect::<Vec<_>>().join("-")
    }
    let numbers = odd(x.into_iter(), usize::from(n) % 3);
    digest_text(&text(numbers.clone())) ^ numbers.count() as u64
}

fn constants_of_generic_types(x: [u8; 2]) -> (usize, u32, bool) {
    struct Bits<T>(T);
    impl<T: Copy + Into<u32>> Bits<T> {
        const BITS: usize = size_of::<T>() * 8;
        const LARGE: bool = const { Self::BITS > 8 };
        fn top(&self) -> u32 {
            self.0.into() >> (Self::BITS - 1)
        }
    }
    let (small, large) = (Bits(x[0]), Bits(u16::from_le_bytes(x)));
    (
        Bits::<u8>::BITS + usize::from(x[0]),
        small.top() * 2 + large.top(),
        Bits::<u16>::LARGE && !Bits::<u8>::LARGE && x[1] > 9,
    )
}

trait Layers {
    fn run(&self, x: f32) -> f32;
}
impl Layers for () {
    fn run(&self, x: f32) -> f32 {
        x
    }
}
impl<F: Fn(f32) -> f32, Rest: Layers> Layers for (F, Rest) {
    fn run(&self, x: f32) -> f32 {
        self.1.run((self.0)(x))
    }
}

fn type_lists((x, a): (f32, f32)) -> f32 {
    let layers = (|x: f32| x * a, (|x: f32| x.max(0.5), (|x: f32| x - a, ())));
    layers.run(x)
}
