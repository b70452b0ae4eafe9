//! Recursion: of functions, mutual, over trees, with backtracking.

use crate::check::digest;

agree!(
    ackermann,
    mutual,
    towers_of_hanoi,
    tree_of_boxes,
    expressions,
    queens,
    flood_fill,
    permutations,
    memoised,
    depth_first,
    subsets,
    power_by_halves,
);

fn ackermann((m, n): (u8, u8)) -> u32 {
    fn a(m: u32, n: u32) -> u32 {
        match (m, n) {
            (0, n) => n + 1,
            (m, 0) => a(m - 1, 1),
            (m, n) => a(m - 1, a(m, n - 1)),
        }
    }
    a((m % 3).into(), (n % 4).into())
}

fn mutual(n: u8) -> (bool, u32) {
    fn even(n: u32, steps: &mut u32) -> bool {
        *steps += 1;
        n == 0 || odd(n - 1, steps)
    }
    fn odd(n: u32, steps: &mut u32) -> bool {
        *steps += 2;
        n != 0 && even(n - 1, steps)
    }
    let mut steps = 0;
    (even(u32::from(n) % 40, &mut steps), steps)
}

fn towers_of_hanoi(n: u8) -> (u32, u64) {
    fn go(n: u8, from: u8, to: u8, moves: &mut Vec<u16>) {
        if n > 0 {
            let other = 3 - from - to;
            go(n - 1, from, other, moves);
            moves.push(u16::from(n) << 8 | u16::from(from) << 4 | u16::from(to));
            go(n - 1, other, to, moves);
        }
    }
    let mut moves = Vec::new();
    go(n % 6, 0, 2, &mut moves);
    (moves.len() as u32, digest(moves))
}

#[derive(Default)]
struct Tree {
    root: Option<Box<Node>>,
}

struct Node {
    key: u32,
    left: Tree,
    right: Tree,
}

impl Tree {
    fn insert(&mut self, key: u32) -> bool {
        match &mut self.root {
            None => {
                let (left, right) = (Tree::default(), Tree::default());
                self.root = Some(Box::new(Node { key, left, right }));
                true
            }
            Some(node) if key < node.key => node.left.insert(key),
            Some(node) if key > node.key => node.right.insert(key),
            Some(_) => false,
        }
    }
    fn depth(&self) -> u32 {
        self.root
            .as_ref()
            .map_or(0, |node| 1 + node.left.depth().max(node.right.depth()))
    }
    fn in_order(&self, out: &mut Vec<u32>) {
        if let Some(node) = &self.root {
            node.left.in_order(out);
            out.push(node.key);
            node.right.in_order(out);
        }
    }
}

fn tree_of_boxes(x: [u32; 10]) -> (u64, u32, u32) {
    let mut tree = Tree::default();
    let inserted = x.iter().filter(|&&x| tree.insert(x % 64)).count() as u32;
    let mut keys = Vec::new();
    tree.in_order(&mut keys);
    (digest(keys), tree.depth(), inserted)
}

enum Expression {
    Number(i64),
    Variable,
    Add(Box<Expression>, Box<Expression>),
    Multiply(Box<Expression>, Box<Expression>),
    Negate(Box<Expression>),
}

use Expression::{Add, Multiply, Negate, Number, Variable};

impl Expression {
    /// Built from bytes in prefix order.
    fn read(bytes: &mut std::slice::Iter<u8>, depth: u8) -> Expression {
        let byte = bytes.next().copied().unwrap_or(0);
        let mut part = || Box::new(Self::read(bytes, depth + 1));
        match byte % 5 {
            1 if depth < 5 => Add(part(), part()),
            2 if depth < 5 => Multiply(part(), part()),
            3 if depth < 5 => Negate(part()),
            4 => Variable,
            _ => Number(i64::from(byte) - 100),
        }
    }
    fn value(&self, x: i64) -> i64 {
        match self {
            Number(n) => *n,
            Variable => x,
            Add(a, b) => a.value(x).wrapping_add(b.value(x)),
            Multiply(a, b) => a.value(x).wrapping_mul(b.value(x)),
            Negate(a) => a.value(x).wrapping_neg(),
        }
    }
    fn derivative(&self) -> Expression {
        let copy = |e: &Expression| Box::new(e.copy());
        match self {
            Number(_) => Number(0),
            Variable => Number(1),
            Add(a, b) => Add(Box::new(a.derivative()), Box::new(b.derivative())),
            Multiply(a, b) => Add(
                Box::new(Multiply(Box::new(a.derivative()), copy(b))),
                Box::new(Multiply(copy(a), Box::new(b.derivative()))),
            ),
            Negate(a) => Negate(Box::new(a.derivative())),
        }
    }
    fn copy(&self) -> Expression {
        match self {
            Number(n) => Number(*n),
            Variable => Variable,
            Add(a, b) => Add(Box::new(a.copy()), Box::new(b.copy())),
            Multiply(a, b) => Multiply(Box::new(a.copy()), Box::new(b.copy())),
            Negate(a) => Negate(Box::new(a.copy())),
        }
    }
}

fn expressions((bytes, x): ([u8; 12], i64)) -> (i64, i64) {
    let expression = Expression::read(&mut bytes.iter(), 0);
    (expression.value(x), expression.derivative().value(x))
}

/// How many ways there are to place queens on a board of 5 with one square taken.
fn queens(taken: u8) -> u32 {
    fn place(row: u32, columns: u32, left: u32, right: u32, taken: u32) -> u32 {
        if row == 5 {
            return 1;
        }
        let mut free = !(columns | left | right) & 0b11111;
        if taken / 5 == row {
            free &= !(1 << (taken % 5));
        }
        let mut ways = 0;
        while free != 0 {
            let bit = free & free.wrapping_neg();
            free ^= bit;
            ways += place(
                row + 1,
                columns | bit,
                (left | bit) << 1,
                (right | bit) >> 1,
                taken,
            );
        }
        ways
    }
    place(0, 0, 0, 0, u32::from(taken) % 30)
}

fn flood_fill((rows, at): ([u8; 8], u8)) -> (u32, [u8; 8]) {
    fn fill(rows: &mut [u8; 8], x: i8, y: i8) -> u32 {
        let (0..8, 0..8) = (x, y) else { return 0 };
        if rows[y as usize] & 1 << x == 0 {
            return 0;
        }
        rows[y as usize] &= !(1 << x);
        1 + fill(rows, x + 1, y)
            + fill(rows, x - 1, y)
            + fill(rows, x, y + 1)
            + fill(rows, x, y - 1)
    }
    let mut rows = rows;
    let area = fill(&mut rows, at as i8 & 7, (at >> 3) as i8 & 7);
    (area, rows)
}

fn permutations((x, n): ([u32; 5], u8)) -> u64 {
    fn permute(x: &mut [u32], k: usize, out: &mut u64) {
        if k == x.len() {
            *out = out.rotate_left(1) ^ digest(x.iter().copied());
            return;
        }
        for i in k..x.len() {
            x.swap(k, i);
            permute(x, k + 1, out);
            x.swap(k, i);
        }
    }
    let (mut x, mut out) = (x, 0);
    permute(&mut x[..usize::from(n) % 4 + 1], 0, &mut out);
    out
}

fn memoised((n, k): (u8, u8)) -> u64 {
    fn binomial(n: usize, k: usize, known: &mut [[Option<u64>; 24]; 24]) -> u64 {
        if k > n {
            return 0;
        }
        if k == 0 || k == n {
            return 1;
        }
        if let Some(known) = known[n][k] {
            return known;
        }
        let value = binomial(n - 1, k - 1, known) + binomial(n - 1, k, known);
        known[n][k] = Some(value);
        value
    }
    binomial(
        usize::from(n) % 24,
        usize::from(k) % 24,
        &mut [[None; 24]; 24],
    )
}

/// The order in which a graph of 8 is visited.
fn depth_first((edges, start): ([u8; 8], u8)) -> u64 {
    fn visit(edges: &[u8; 8], at: usize, seen: &mut u8, order: &mut Vec<u8>) {
        *seen |= 1 << at;
        order.push(at as u8);
        for next in 0..8 {
            if edges[at] & !*seen & 1 << next != 0 {
                visit(edges, next, seen, order);
            }
        }
    }
    let (mut seen, mut order) = (0, Vec::new());
    visit(&edges, usize::from(start) % 8, &mut seen, &mut order);
    digest(order) ^ u64::from(seen)
}

fn subsets((x, wanted): ([u8; 10], u16)) -> (u32, Option<u16>) {
    fn search(x: &[u8], left: u16, chosen: u16, ways: &mut u32) -> Option<u16> {
        let Some((&first, rest)) = x.split_first() else {
            *ways += u32::from(left == 0);
            return (left == 0).then_some(chosen);
        };
        let with = left
            .checked_sub(first.into())
            .and_then(|left| search(rest, left, chosen << 1 | 1, ways));
        search(rest, left, chosen << 1, ways).or(with)
    }
    let mut ways = 0;
    let found = search(&x.map(|x| x % 16), wanted % 64, 0, &mut ways);
    (ways, found)
}

fn power_by_halves((x, n, m): (u64, u16, u32)) -> u64 {
    fn power(x: u64, n: u16, m: u64) -> u64 {
        match n {
            0 => 1 % m,
            n if n % 2 == 1 => power(x, n - 1, m) * (x % m) % m,
            n => {
                let half = power(x, n / 2, m);
                half * half % m
            }
        }
    }
    power(x, n, u64::from(m) | 1)
}
