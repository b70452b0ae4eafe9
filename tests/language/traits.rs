//! Traits: objects, supertraits, associated items, operators, blanket implementations, function pointers.

use std::any::Any;
use std::hash::{Hash, Hasher};
use std::ops::{Add, AddAssign, Deref, DerefMut, Index, IndexMut, Mul, Neg, Not, Sub};

agree!(
    objects_in_a_vector,
    supertraits_and_upcasts,
    default_methods,
    associated_types_and_constants,
    generic_associated_types,
    operators,
    blanket_implementations,
    downcasts,
    function_pointers,
    methods_as_functions,
    objects_of_generic_types,
    iterators_as_objects,
    deref_and_index,
    derived_hash,
    derived_order_and_default,
    conversions_between_types,
    static_and_dynamic_agree,
    objects_behind_references,
);

trait Shape {
    fn area(&self) -> u64;
    fn scaled(&self, by: u32) -> Box<dyn Shape>;
    fn name(&self) -> &'static str {
        "shape"
    }
}

struct Square(u32);
struct Rectangle {
    width: u32,
    height: u32,
}

impl Shape for Square {
    fn area(&self) -> u64 {
        u64::from(self.0) * u64::from(self.0)
    }
    fn scaled(&self, by: u32) -> Box<dyn Shape> {
        Box::new(Square(self.0.wrapping_mul(by)))
    }
    fn name(&self) -> &'static str {
        "square"
    }
}

impl Shape for Rectangle {
    fn area(&self) -> u64 {
        u64::from(self.width) * u64::from(self.height)
    }
    fn scaled(&self, by: u32) -> Box<dyn Shape> {
        Box::new(Rectangle {
            width: self.width.wrapping_mul(by),
            ..*self
        })
    }
}

fn objects_in_a_vector(x: [u32; 6]) -> (u64, usize) {
    let shapes: Vec<Box<dyn Shape>> = x
        .chunks(2)
        .map(|x| -> Box<dyn Shape> {
            if x[0] % 2 == 0 {
                Box::new(Square(x[1]))
            } else {
                Box::new(Rectangle {
                    width: x[0],
                    height: x[1],
                })
            }
        })
        .collect();
    let areas = shapes
        .iter()
        .map(|shape| shape.scaled(3).area() ^ shape.area());
    (
        areas.fold(0, |sum, area| sum.rotate_left(7) ^ area),
        shapes.iter().map(|shape| shape.name().len()).sum(),
    )
}

trait Named {
    fn id(&self) -> u32;
}
trait Animal: Named {
    fn legs(&self) -> u32;
    fn describe(&self) -> u32 {
        self.id().wrapping_mul(10).wrapping_add(self.legs())
    }
}
struct Cat(u32);
struct Bird;
impl Named for Cat {
    fn id(&self) -> u32 {
        self.0
    }
}
impl Named for Bird {
    fn id(&self) -> u32 {
        77
    }
}
impl Animal for Cat {
    fn legs(&self) -> u32 {
        4
    }
}
impl Animal for Bird {
    fn legs(&self) -> u32 {
        2
    }
    fn describe(&self) -> u32 {
        self.legs()
    }
}

fn supertraits_and_upcasts((x, choice): (u32, bool)) -> (u32, u32) {
    let cat = Cat(x);
    let animal: &dyn Animal = if choice { &cat } else { &Bird };
    let named: &dyn Named = animal;
    (animal.describe(), named.id())
}

trait Greet {
    const BASE: u32 = 100;
    fn number(&self) -> u32;
    fn greeting(&self) -> u32 {
        Self::BASE ^ self.number()
    }
}
struct Plain(u32);
struct Special(u32);
impl Greet for Plain {
    fn number(&self) -> u32 {
        self.0
    }
}
impl Greet for Special {
    const BASE: u32 = 7;
    fn number(&self) -> u32 {
        !self.0
    }
}

fn default_methods(x: u32) -> (u32, u32) {
    (Plain(x).greeting(), Special(x).greeting())
}

trait Storage {
    type Item: Copy + Into<u64>;
    const SIZE: usize;
    fn at(&self, i: usize) -> Self::Item;
    fn sum(&self) -> u64 {
        (0..Self::SIZE)
            .map(|i| self.at(i).into())
            .fold(0, u64::wrapping_add)
    }
}
impl<const N: usize> Storage for [u8; N] {
    type Item = u8;
    const SIZE: usize = N;
    fn at(&self, i: usize) -> u8 {
        self[i]
    }
}
impl Storage for (u32, u32) {
    type Item = u32;
    const SIZE: usize = 2;
    fn at(&self, i: usize) -> u32 {
        if i == 0 { self.0 } else { self.1 }
    }
}

fn associated_types_and_constants((a, b): ([u8; 5], (u32, u32))) -> [u64; 2] {
    fn twice<S: Storage>(storage: &S) -> u64
    where
        S::Item: PartialOrd,
    {
        let largest = storage.at(0) > storage.at(S::SIZE - 1);
        storage.sum() * 2 + u64::from(largest)
    }
    [twice(&a), twice(&b)]
}

trait Lending {
    type Lent<'a>
    where
        Self: 'a;
    fn lend(&mut self) -> Option<Self::Lent<'_>>;
}
struct Windows<'x> {
    x: &'x mut [u32],
    at: usize,
}
impl Lending for Windows<'_> {
    type Lent<'a>
        = &'a mut [u32]
    where
        Self: 'a;
    fn lend(&mut self) -> Option<&mut [u32]> {
        self.at += 1;
        self.x.get_mut(self.at - 1..self.at + 1)
    }
}

fn generic_associated_types(mut x: [u32; 7]) -> [u32; 7] {
    let mut windows = Windows { x: &mut x, at: 0 };
    while let Some(window) = windows.lend() {
        window[1] = window[1].wrapping_add(window[0].rotate_left(1));
    }
    x
}

#[derive(Clone, Copy, PartialEq, Debug, Default)]
struct Vector {
    x: i32,
    y: i32,
}
impl Add for Vector {
    type Output = Vector;
    fn add(self, other: Vector) -> Vector {
        Vector {
            x: self.x.wrapping_add(other.x),
            y: self.y.wrapping_add(other.y),
        }
    }
}
impl Sub<i32> for Vector {
    type Output = Vector;
    fn sub(self, other: i32) -> Vector {
        Vector {
            x: self.x.wrapping_sub(other),
            y: self.y.wrapping_sub(other),
        }
    }
}
impl Mul<Vector> for i32 {
    type Output = Vector;
    fn mul(self, v: Vector) -> Vector {
        Vector {
            x: v.x.wrapping_mul(self),
            y: v.y.wrapping_mul(self),
        }
    }
}
impl Neg for Vector {
    type Output = Vector;
    fn neg(self) -> Vector {
        Vector {
            x: self.x.wrapping_neg(),
            y: self.y.wrapping_neg(),
        }
    }
}
impl Not for Vector {
    type Output = bool;
    fn not(self) -> bool {
        self == Vector::default()
    }
}
impl AddAssign<&Vector> for Vector {
    fn add_assign(&mut self, other: &Vector) {
        *self = *self + *other;
    }
}
impl std::iter::Sum for Vector {
    fn sum<I: Iterator<Item = Vector>>(all: I) -> Vector {
        all.fold(Vector::default(), Add::add)
    }
}

fn operators(x: [i32; 5]) -> (i32, i32, bool) {
    let (a, b) = (Vector { x: x[0], y: x[1] }, Vector { x: x[2], y: x[3] });
    let mut sum = -(a + x[4] * b) - 3;
    sum += &a;
    let total: Vector = [a, b, sum].into_iter().sum();
    (total.x, total.y, !a)
}

trait Describe {
    fn describe(&self) -> u64;
}
impl<T: Copy + Into<u64>> Describe for T {
    fn describe(&self) -> u64 {
        (*self).into() ^ size_of::<T>() as u64
    }
}

fn blanket_implementations((a, b, c): (u8, u32, bool)) -> [u64; 3] {
    [a.describe(), b.describe(), c.describe()]
}

fn downcasts((x, kind): (u32, u8)) -> u32 {
    let (byte, pair) = (x as u8, (x, 5u8));
    let any: &dyn Any = match kind % 4 {
        0 => &x,
        1 => &byte,
        2 => &pair,
        _ => &"text",
    };
    if let Some(x) = any.downcast_ref::<u32>() {
        x ^ 1
    } else if let Some(&(x, y)) = any.downcast_ref::<(u32, u8)>() {
        x ^ u32::from(y)
    } else if any.is::<u8>() {
        u32::from(byte)
    } else {
        any.downcast_ref::<&str>()
            .map_or(0, |text| text.len() as u32)
    }
}

fn double(x: u32) -> u32 {
    x.wrapping_mul(2)
}
fn increment(x: u32) -> u32 {
    x.wrapping_add(1)
}
static TABLE: [fn(u32) -> u32; 4] = [double, increment, u32::swap_bytes, |x| x ^ 0xff];

fn function_pointers((x, program): (u32, [u8; 6])) -> (u32, bool) {
    let result = program
        .iter()
        .fold(x, |x, &step| TABLE[step as usize % 4](x));
    let chosen: Option<fn(u32) -> u32> = (x > 5).then_some(double);
    (result ^ chosen.map_or(0, |f| f(x)), chosen.is_some())
}

fn methods_as_functions(x: [Option<i32>; 4]) -> i64 {
    let sum: i32 = x.iter().flatten().copied().fold(0, i32::wrapping_add);
    let parts = x.map(Option::unwrap_or_default).map(i64::from);
    parts.into_iter().map(i64::abs).max().map_or(0, |x| x) ^ i64::from(sum)
}

trait Visit {
    fn visit(&mut self, x: u32);
}
struct Sum<T>(T);
impl<T: Copy + From<u8> + Add<Output = T>> Visit for Sum<T> {
    fn visit(&mut self, x: u32) {
        self.0 = self.0 + T::from(x as u8);
    }
}

fn objects_of_generic_types(x: [u32; 8]) -> (u16, u64, f32) {
    let (mut a, mut b, mut c) = (Sum(1u16), Sum(2u64), Sum(0.5f32));
    let all: [&mut dyn Visit; 3] = [&mut a, &mut b, &mut c];
    for (i, x) in x.into_iter().enumerate() {
        all[i % 3].visit(x);
    }
    (a.0, b.0, c.0)
}

fn iterators_as_objects((n, choice): (u8, u8)) -> u32 {
    let n = u32::from(n % 20);
    let numbers: Box<dyn Iterator<Item = u32>> = match choice % 3 {
        0 => Box::new(0..n),
        1 => Box::new((0..n).rev().filter(|x| x % 3 != 1)),
        _ => Box::new(std::iter::successors(Some(1u32), |x| x.checked_mul(3)).take(n as usize)),
    };
    numbers.fold(choice.into(), |sum, x| sum.rotate_left(3) ^ x)
}

struct Wrapper {
    values: [u32; 4],
    reads: u32,
}
impl Deref for Wrapper {
    type Target = [u32];
    fn deref(&self) -> &[u32] {
        &self.values
    }
}
impl DerefMut for Wrapper {
    fn deref_mut(&mut self) -> &mut [u32] {
        self.reads += 1;
        &mut self.values
    }
}
impl Index<char> for Wrapper {
    type Output = u32;
    fn index(&self, letter: char) -> &u32 {
        &self.values[letter as usize % 4]
    }
}
impl IndexMut<char> for Wrapper {
    fn index_mut(&mut self, letter: char) -> &mut u32 {
        &mut self.values[letter as usize % 4]
    }
}

fn deref_and_index((values, letter): ([u32; 4], char)) -> (u32, u32, Option<u32>) {
    let mut wrapper = Wrapper { values, reads: 0 };
    wrapper.sort_unstable();
    wrapper[letter] ^= wrapper['b'];
    wrapper.reverse();
    (
        wrapper[letter],
        wrapper.reads,
        wrapper.iter().max().copied(),
    )
}

struct Fnv(u64);
impl Hasher for Fnv {
    fn finish(&self) -> u64 {
        self.0
    }
    fn write(&mut self, bytes: &[u8]) {
        self.0 = bytes.iter().fold(self.0, |sum, &byte| {
            (sum ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3)
        });
    }
}

#[derive(Hash, Clone, Copy)]
enum Key {
    Number(i16),
    Pair(u8, char),
    Nothing,
}

fn derived_hash((a, b, c): (i16, u8, char)) -> u64 {
    let mut hasher = Fnv(0xcbf2_9ce4_8422_2325);
    [Key::Number(a), Key::Pair(b, c), Key::Nothing].hash(&mut hasher);
    (a, Some(b), "text").hash(&mut hasher);
    hasher.finish()
}

#[derive(PartialEq, Eq, PartialOrd, Ord, Clone, Copy, Default)]
struct Version {
    major: u8,
    minor: u8,
    pre: Option<char>,
}

fn derived_order_and_default((a, b, c): ([u8; 2], [u8; 2], Option<char>)) -> (i8, bool, u8) {
    let version = |x: [u8; 2], pre| Version {
        major: x[0] % 3,
        minor: x[1] % 3,
        pre,
    };
    let (x, y) = (version(a, c), version(b, Some('m')));
    let larger = x.max(y).minor + Version::default().major;
    (x.cmp(&y) as i8, x <= y, larger)
}

struct Celsius(f64);
struct Fahrenheit(f64);
impl From<Celsius> for Fahrenheit {
    fn from(c: Celsius) -> Self {
        Fahrenheit(c.0 * 9.0 / 5.0 + 32.0)
    }
}
impl AsRef<f64> for Fahrenheit {
    fn as_ref(&self) -> &f64 {
        &self.0
    }
}

fn conversions_between_types(x: f64) -> (f64, bool) {
    fn is_warm(x: impl AsRef<f64>) -> bool {
        *x.as_ref() > 68.0
    }
    let warm: Fahrenheit = Celsius(x).into();
    (warm.0, is_warm(warm))
}

fn static_and_dynamic_agree(x: [u32; 3]) -> (u64, u64) {
    fn by_type<S: Shape>(shape: &S, n: u32) -> u64 {
        shape.scaled(n).area()
    }
    fn by_object(shape: &dyn Shape, n: u32) -> u64 {
        shape.scaled(n).area()
    }
    let rectangle = Rectangle {
        width: x[0],
        height: x[1],
    };
    (by_type(&rectangle, x[2]), by_object(&rectangle, x[2]))
}

fn objects_behind_references(x: [u32; 4]) -> u64 {
    fn total(shapes: &[&dyn Shape]) -> u64 {
        shapes
            .iter()
            .map(|shape| shape.area())
            .fold(0, u64::wrapping_add)
    }
    let squares = x.map(Square);
    let references = [0, 1, 2, 3].map(|i| &squares[(i + x[0] as usize % 4) % 4] as &dyn Shape);
    total(&references[..x[1] as usize % 5])
}
