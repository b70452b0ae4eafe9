//! Trait objects at their edges: diamonds of supertraits, generic methods beside them, objects in `Rc`, tables made by
//! generic code, sizes and types asked through them, traits with `impl Trait` methods.

use std::any::{Any, type_name};
use std::fmt::Debug;
use std::rc::Rc;

agree!(
    diamonds,
    generic_methods,
    shared_objects,
    tables_of_generics,
    sizes_of_values,
    slices_as_objects,
    opaque_in_traits,
    objects_compare,
    visitors,
    closures_as_traits,
    boxed_in_boxes,
    names_of_types,
);

trait Base {
    fn id(&self) -> u32;
}
trait Left: Base {
    fn left(&self) -> u32 {
        self.id() ^ 1
    }
}
trait Right: Base {
    fn right(&self) -> u32 {
        self.id().rotate_left(4)
    }
}
trait Both: Left + Right + Debug {
    fn both(&self) -> u32 {
        self.left() ^ self.right()
    }
}

#[derive(Debug)]
struct One(u32);
#[derive(Debug)]
struct Two(u32, u32);

impl Base for One {
    fn id(&self) -> u32 {
        self.0
    }
}
impl Left for One {}
impl Right for One {}
impl Both for One {}
impl Base for Two {
    fn id(&self) -> u32 {
        self.0 / (self.1 | 1)
    }
}
impl Left for Two {
    fn left(&self) -> u32 {
        self.1
    }
}
impl Right for Two {}
impl Both for Two {
    fn both(&self) -> u32 {
        let right: &dyn Right = self;
        right.right().wrapping_add(self.1)
    }
}

fn diamonds((a, b, which): (u32, u32, bool)) -> [u32; 4] {
    let object: Box<dyn Both> = if which {
        Box::new(One(a))
    } else {
        Box::new(Two(a, b))
    };
    let (left, right): (&dyn Left, &dyn Right) = (&*object, &*object);
    let (from_left, from_right): (&dyn Base, &dyn Base) = (left, right);
    [
        object.both(),
        left.left(),
        right.right(),
        from_left.id() ^ from_right.id() ^ a,
    ]
}

trait Store {
    fn get(&self, i: usize) -> u32;
    fn map<T>(&self, f: impl Fn(u32) -> T) -> [T; 3]
    where
        Self: Sized,
    {
        [0, 1, 2].map(|i| f(self.get(i)))
    }
}
impl Store for [u32; 3] {
    fn get(&self, i: usize) -> u32 {
        self[i]
    }
}
impl<S: Store + ?Sized> Store for &S {
    fn get(&self, i: usize) -> u32 {
        (**self).get(2 - i)
    }
}

fn generic_methods(x: [u32; 3]) -> ([u64; 3], [bool; 3]) {
    let object: &dyn Store = &x;
    (
        Store::map(&x, |x| u64::from(x) * 3),
        Store::map(&object, |x| x % 2 == 0),
    )
}

fn shared_objects((a, b): (u32, u32)) -> (u32, usize) {
    let first: Rc<dyn Both> = Rc::new(One(a));
    let all = [first.clone(), Rc::new(Two(a, b)), first];
    (
        all.iter()
            .map(|x| x.both())
            .fold(0, |a, b| a.rotate_left(7) ^ b),
        Rc::strong_count(&all[0]),
    )
}

/// A table of methods by hand, of which each type has its own.
struct Methods {
    size: usize,
    sum: unsafe fn(*const u8) -> u64,
}
trait Summed {
    fn sum(&self) -> u64;
}
impl<T: Copy + Into<u64>, const N: usize> Summed for [T; N] {
    fn sum(&self) -> u64 {
        self.iter()
            .fold(0, |sum, &x| sum.wrapping_mul(3).wrapping_add(x.into()))
    }
}
impl Methods {
    const fn of<T: Summed>() -> &'static Self {
        const {
            &Methods {
                size: size_of::<T>(),
                sum: |x| unsafe { (*x.cast::<T>()).sum() },
            }
        }
    }
}

fn tables_of_generics((a, b, which): ([u8; 7], [u32; 3], bool)) -> (u64, usize) {
    let (methods, value) = if which {
        (Methods::of::<[u8; 7]>(), (&raw const a).cast())
    } else {
        (Methods::of::<[u32; 3]>(), (&raw const b).cast())
    };
    (unsafe { (methods.sum)(value) }, methods.size)
}

fn sizes_of_values((x, which): ([u16; 5], u8)) -> (usize, usize) {
    let value: &dyn Any = match which % 3 {
        0 => &x,
        1 => &x[0],
        _ => &(),
    };
    let slice = &x[..which as usize % 6];
    (
        size_of_val(value) * 10 + align_of_val(value),
        size_of_val(slice),
    )
}

fn slices_as_objects(x: [u32; 4]) -> u32 {
    let slices: [&dyn AsRef<[u32]>; 3] = [&x, &vec![x[0]; 2], &(&x[1..3])];
    slices
        .iter()
        .flat_map(|x| x.as_ref())
        .fold(0, |sum, x| sum.rotate_left(1) ^ x)
}

trait Tree {
    fn leaves(&self) -> impl Iterator<Item = u32> + '_;
    fn twice(&self) -> impl Iterator<Item = u32> + '_ {
        self.leaves().chain(self.leaves().map(|x| !x))
    }
}
impl Tree for [u32; 4] {
    fn leaves(&self) -> impl Iterator<Item = u32> + '_ {
        self.iter().copied().filter(|x| x % 3 != 0)
    }
}
impl Tree for Option<u32> {
    fn leaves(&self) -> impl Iterator<Item = u32> + '_ {
        self.iter().copied()
    }
    fn twice(&self) -> impl Iterator<Item = u32> + '_ {
        self.leaves().chain([1, 2])
    }
}

fn opaque_in_traits((x, y): ([u32; 4], Option<u32>)) -> (u32, usize) {
    fn all<T: Tree>(tree: &T) -> impl Iterator<Item = u32> + use<T> {
        tree.twice().collect::<Vec<_>>().into_iter()
    }
    (
        all(&x)
            .chain(all(&y))
            .fold(0, |sum, x| sum.rotate_left(5) ^ x),
        all(&y).count(),
    )
}

trait Same: Any {
    fn same(&self, other: &dyn Same) -> bool;
}
impl<T: Any + PartialEq> Same for T {
    fn same(&self, other: &dyn Same) -> bool {
        let other: &dyn Any = other;
        other.downcast_ref::<T>().is_some_and(|other| other == self)
    }
}

fn objects_compare((a, b): (u8, u8)) -> [bool; 3] {
    let (a, b) = (a % 3, b % 3);
    let all: [&dyn Same; 3] = [&a, &b, &u32::from(a)];
    [
        all[0].same(all[1]),
        all[0].same(all[2]),
        all[2].same(&u32::from(b)),
    ]
}

trait Visitor {
    fn number(&mut self, x: u32);
    fn pair(&mut self, x: &dyn Node, y: &dyn Node);
}
trait Node {
    fn accept(&self, visitor: &mut dyn Visitor);
}
struct Pair(Box<dyn Node>, Box<dyn Node>);
impl Node for u32 {
    fn accept(&self, visitor: &mut dyn Visitor) {
        visitor.number(*self);
    }
}
impl Node for Pair {
    fn accept(&self, visitor: &mut dyn Visitor) {
        visitor.pair(&*self.0, &*self.1);
    }
}
#[derive(Default)]
struct Depth {
    at: u32,
    deepest: u32,
    sum: u32,
}
impl Visitor for Depth {
    fn number(&mut self, x: u32) {
        self.deepest = self.deepest.max(self.at);
        self.sum = self.sum.wrapping_add(x << self.at);
    }
    fn pair(&mut self, x: &dyn Node, y: &dyn Node) {
        self.at += 1;
        x.accept(self);
        y.accept(self);
        self.at -= 1;
    }
}

fn visitors(x: [u32; 6]) -> (u32, u32) {
    let tree = x
        .into_iter()
        .fold(Box::new(1u32) as Box<dyn Node>, |tree, x| match x % 3 {
            0 => Box::new(Pair(tree, Box::new(x))),
            1 => Box::new(Pair(Box::new(x), tree)),
            _ => tree,
        });
    let mut depth = Depth::default();
    tree.accept(&mut depth);
    (depth.deepest, depth.sum)
}

trait Rule {
    fn apply(&self, x: u32) -> Option<u32>;
}
impl<F: Fn(u32) -> Option<u32>> Rule for F {
    fn apply(&self, x: u32) -> Option<u32> {
        self(x)
    }
}
impl Rule for (&dyn Rule, &dyn Rule) {
    fn apply(&self, x: u32) -> Option<u32> {
        self.0.apply(x).or_else(|| self.1.apply(x))
    }
}

fn closures_as_traits((x, by): (u32, u32)) -> Option<u32> {
    let (add, halve) = (
        |x: u32| x.checked_add(by),
        |x: u32| (x % 2 == 0).then_some(x / 2),
    );
    let either = (&add as &dyn Rule, &halve as &dyn Rule);
    (&either as &dyn Rule, &either as &dyn Rule).apply(x)
}

fn boxed_in_boxes((x, n): (u32, u8)) -> u32 {
    let mut f: Box<dyn Fn(u32) -> u32> = Box::new(|x| x ^ 1);
    for i in 0..n % 5 {
        f = Box::new(move |x| f(x).rotate_left(i.into()) ^ x);
    }
    f(x)
}

fn names_of_types(which: u8) -> (usize, bool) {
    fn name<T>(_: &T) -> &'static str {
        type_name::<T>()
    }
    let names = [
        name(&1u8),
        name(&"text"),
        name(&Some([1.5f32])),
        name(&(which, 'x')),
    ];
    let name = names[which as usize % 4];
    (name.len(), name.starts_with('&'))
}
