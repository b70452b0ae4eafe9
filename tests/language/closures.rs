//! Closures: by reference, by value, called once, returned, boxed, stored, recursive.

use crate::check::digest;

agree!(
    captures_by_reference_and_value,
    changes_what_it_captures,
    consumes_what_it_captures,
    returned_closures,
    boxed_closures,
    closures_in_structs,
    composition_of_many,
    recursion_through_an_object,
    closures_as_function_pointers,
    nested_closures,
    fields_are_captured_apart,
    higher_ranked,
    objects_of_fn_mut,
    currying,
);

fn captures_by_reference_and_value((a, b): (u32, u32)) -> (u32, u32) {
    let array = [a, b, a ^ b];
    let by_reference = |i: usize| array[i % 3];
    let by_value = move |i: usize| array[i % 3].wrapping_add(b);
    (
        by_reference(a as usize) ^ by_reference(1),
        by_value(b as usize),
    )
}

fn changes_what_it_captures(x: [u32; 6]) -> (u32, Vec2) {
    let mut count = 0;
    let mut last = [0, 0];
    let mut see = |x: u32| {
        count += x % 10;
        last = [last[1], x];
    };
    x.iter().copied().for_each(&mut see);
    see(5);
    (count, last)
}

type Vec2 = [u32; 2];

fn consumes_what_it_captures((x, twice): ([u32; 4], bool)) -> u64 {
    fn run(f: impl FnOnce(u32) -> Vec<u32>, x: u32) -> u64 {
        digest(f(x))
    }
    let owned = x.to_vec();
    let append = move |x| {
        let mut owned = owned;
        owned.push(x);
        owned
    };
    if twice {
        run(append.clone(), 1) ^ run(append, 2)
    } else {
        run(append, 3)
    }
}

fn returned_closures((a, x): (i32, i32)) -> [i32; 3] {
    fn adder(a: i32) -> impl Fn(i32) -> i32 {
        move |x| x.wrapping_add(a)
    }
    fn counter() -> impl FnMut() -> i32 {
        let mut n = 0;
        move || {
            n += 1;
            n
        }
    }
    let (add, mut count) = (adder(a), counter());
    count();
    [add(x), add(add(x)), count().wrapping_mul(x)]
}

fn boxed_closures((x, choice): (u32, [u8; 4])) -> u32 {
    let steps: Vec<Box<dyn Fn(u32) -> u32>> = choice
        .iter()
        .map(|&n| -> Box<dyn Fn(u32) -> u32> {
            match n % 3 {
                0 => Box::new(|x| x.rotate_left(5)),
                1 => Box::new(move |x| x.wrapping_add(n.into())),
                _ => {
                    let table = [x, x ^ 1, x ^ 2];
                    Box::new(move |x| x ^ table[x as usize % 3])
                }
            }
        })
        .collect();
    let once: Box<dyn FnOnce(u32) -> u32> = Box::new(move |y| y ^ x);
    once(steps.iter().fold(x, |x, step| step(x)))
}

struct Filter<F> {
    keep: F,
    kept: u32,
}

impl<F: FnMut(u32) -> bool> Filter<F> {
    fn feed(&mut self, x: u32) {
        if (self.keep)(x) {
            self.kept = self.kept.rotate_left(4) ^ x;
        }
    }
}

fn closures_in_structs((x, limit): ([u32; 8], u32)) -> u32 {
    let mut previous = 0;
    let mut filter = Filter {
        keep: move |x| {
            let rises = x > previous;
            previous = x;
            rises && x != limit
        },
        kept: 0,
    };
    for x in x {
        filter.feed(x);
    }
    filter.kept
}

fn composition_of_many((x, y): (f32, f32)) -> f32 {
    fn compose<A, B, C>(f: impl Fn(A) -> B, g: impl Fn(B) -> C) -> impl Fn(A) -> C {
        move |x| g(f(x))
    }
    let f = compose(|x: f32| x + y, |x: f32| (x * 0.5, x));
    let g = compose(f, |(a, b)| if a < 0.0 { -b } else { a });
    compose(g, f32::abs)(x)
}

fn recursion_through_an_object(n: u8) -> u64 {
    // Else LLVM writes out many levels of it.
    #[inline(never)]
    fn fix(f: &dyn Fn(&dyn Fn(u64) -> u64, u64) -> u64, n: u64) -> u64 {
        f(&|n| fix(f, n), n)
    }
    fix(
        &|again, n| {
            if n < 2 {
                n + 1
            } else {
                again(n - 1) * 3 + again(n / 2)
            }
        },
        (n % 12).into(),
    )
}

fn closures_as_function_pointers((x, i): (u32, u8)) -> u32 {
    let table: [(fn(u32) -> u32, u32); 3] = [(|x| !x, 1), (|x| x.count_ones(), 2), (|x| x >> 3, 3)];
    let (f, add) = table[usize::from(i) % 3];
    f(x) + add % 2 * (x & 1)
}

fn nested_closures((a, b, c): (u32, u32, u32)) -> u32 {
    let outer = |x: u32| {
        let middle = |y: u32| {
            let inner = |z: u32| (a ^ x).wrapping_mul(y | 1).wrapping_add(z);
            inner(b) ^ inner(c)
        };
        middle(x).wrapping_add(middle(b))
    };
    outer(c)
}

fn fields_are_captured_apart((a, b): (u32, u32)) -> (u32, u32) {
    struct Pair {
        left: Vec<u32>,
        right: u32,
    }
    let mut pair = Pair {
        left: vec![a],
        right: b,
    };
    let grow = |n: u32| pair.right = pair.right.wrapping_add(n);
    // The closure holds `right` alone.
    pair.left.push(1);
    let mut grow = grow;
    grow(3);
    grow(4);
    (pair.left.iter().fold(0, |a, b| a ^ b), pair.right)
}

fn higher_ranked(x: [u32; 5]) -> u32 {
    fn apply<F>(f: F, x: &[u32]) -> u32
    where
        F: for<'a> Fn(&'a [u32]) -> &'a u32,
    {
        *f(&x[1..]) ^ *f(x)
    }
    let largest = |x: &[u32]| -> usize { (0..x.len()).max_by_key(|&i| x[i]).unwrap_or(0) };
    fn pick<'a>(x: &'a [u32], i: usize) -> &'a u32 {
        &x[i]
    }
    apply(|x| pick(x, largest(x)), &x)
}

fn objects_of_fn_mut((x, n): ([u32; 4], u8)) -> (u32, u32) {
    fn repeat(n: u8, f: &mut dyn FnMut(u8)) {
        for i in 0..n % 8 {
            f(i);
        }
    }
    let (mut sum, mut parity) = (0u32, 0);
    repeat(n, &mut |i| sum = sum.wrapping_add(x[usize::from(i) % 4]));
    repeat(n / 2, &mut |i| parity ^= u32::from(i) << (i % 4));
    (sum, parity)
}

fn currying((a, b, c): (i64, i64, i64)) -> i64 {
    let f = |a: i64| move |b: i64| move |c: i64| a.wrapping_mul(b).wrapping_sub(c);
    let partial = f(a)(b);
    partial(c) ^ partial(1) ^ f(c)(a)(b)
}
