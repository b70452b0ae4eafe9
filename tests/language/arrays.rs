//! Arrays: nested, of structures, by value, mapped, zipped, compared, transposed.

use std::array;

use crate::check::digest;

agree!(
    made_from_functions,
    mapped_and_zipped,
    nested_and_transposed,
    products_of_matrices,
    powers_of_matrices,
    returned_and_passed_by_value,
    compared,
    of_structures,
    of_enums_and_options,
    indexed_by_data,
    parts_as_arrays,
    flattened,
    game_of_life,
    prefix_sums,
    three_dimensions,
    large_on_the_stack,
    repeated_values,
);

fn made_from_functions((a, n): (u32, u8)) -> ([u32; 6], Option<u64>) {
    let powers = array::from_fn(|i| a.wrapping_pow(i as u32));
    let squares: [u64; 9] = array::from_fn(|i| (i * i) as u64);
    (powers, squares.get(usize::from(n) % 12).copied())
}

fn mapped_and_zipped((x, y): ([i16; 5], [i16; 5])) -> ([i32; 5], [bool; 5]) {
    let products = array::from_fn(|i| i32::from(x[i]) * i32::from(y[i]));
    let mut less = [false; 5];
    for (less, (x, y)) in less.iter_mut().zip(x.into_iter().zip(y)) {
        *less = x < y;
    }
    (products.map(|x: i32| x.wrapping_mul(3)), less)
}

fn nested_and_transposed(x: [[u8; 4]; 3]) -> [[u8; 3]; 4] {
    let mut out = [[0; 3]; 4];
    for (r, row) in x.iter().enumerate() {
        for (c, value) in row.iter().enumerate() {
            out[c][r] = value.rotate_left((r + c) as u32);
        }
    }
    out
}

type Matrix = [[u32; 3]; 3];

fn product(a: &Matrix, b: &Matrix) -> Matrix {
    array::from_fn(|i| {
        array::from_fn(|j| {
            (0..3).fold(0u32, |sum, k| {
                sum.wrapping_add(a[i][k].wrapping_mul(b[k][j]))
            })
        })
    })
}

fn products_of_matrices((a, b): (Matrix, Matrix)) -> (Matrix, bool) {
    let (ab, ba) = (product(&a, &b), product(&b, &a));
    (ab, ab == ba)
}

fn powers_of_matrices((a, n): (Matrix, u8)) -> Matrix {
    let (mut result, mut square, mut n) = ([[1, 0, 0], [0, 1, 0], [0, 0, 1]], a, n);
    while n > 0 {
        if n & 1 == 1 {
            result = product(&result, &square);
        }
        square = product(&square, &square);
        n >>= 1;
    }
    result
}

fn returned_and_passed_by_value((x, n): ([u64; 8], u8)) -> [u64; 8] {
    #[inline(never)]
    fn turned(mut x: [u64; 8], by: usize) -> [u64; 8] {
        x.rotate_left(by % 8);
        x[0] ^= by as u64;
        x
    }
    let y = turned(x, n.into());
    let z = turned(y, x[0] as usize);
    array::from_fn(|i| x[i] ^ y[i].wrapping_add(z[7 - i]))
}

fn compared((x, y): ([u8; 4], [u8; 4])) -> ([bool; 4], usize) {
    let (x, y) = (x.map(|x| x % 2), y.map(|y| y % 2));
    (
        [x == y, x < y, x[..] == y[..2], [x, y] == [y, x]],
        x.iter().zip(&y).filter(|(x, y)| x != y).count(),
    )
}

#[derive(Clone, Copy, Default)]
struct Body {
    position: [f32; 2],
    velocity: [f32; 2],
    mass: u8,
}

fn of_structures((x, masses): ([[f32; 2]; 3], [u8; 3])) -> [f32; 4] {
    let mut bodies = [Body::default(); 3];
    for ((body, x), mass) in bodies.iter_mut().zip(x).zip(masses) {
        (body.position, body.mass) = (x, mass % 8 + 1);
    }
    for _ in 0..2 {
        let before = bodies;
        for (i, body) in bodies.iter_mut().enumerate() {
            let other = &before[(i + 1) % 3];
            for axis in 0..2 {
                let distance = other.position[axis] - body.position[axis];
                body.velocity[axis] += distance * f32::from(other.mass) / f32::from(body.mass);
                body.position[axis] += body.velocity[axis] * 0.125;
            }
        }
    }
    let [first, _, last] = bodies;
    [
        first.position[0],
        first.velocity[1],
        last.position[1],
        last.velocity[0],
    ]
}

#[derive(Clone, Copy)]
enum Cell {
    Empty,
    Wall { strength: u8 },
    Coin(u32),
}

fn of_enums_and_options(x: [(u8, u32); 6]) -> (u32, Option<u32>) {
    let mut cells = x.map(|(kind, x)| match kind % 3 {
        0 => Cell::Empty,
        1 => Cell::Wall { strength: x as u8 },
        _ => Cell::Coin(x),
    });
    let firsts: [Option<u32>; 6] = cells.map(|cell| {
        if let Cell::Coin(x) = cell {
            Some(x)
        } else {
            None
        }
    });
    for cell in &mut cells {
        match cell {
            Cell::Wall { strength: 0..=99 } => *cell = Cell::Empty,
            Cell::Wall { strength } => *strength -= 50,
            Cell::Coin(x) => *x /= 2,
            Cell::Empty => *cell = Cell::Coin(3),
        }
    }
    let sum = cells.iter().fold(0u32, |sum, cell| {
        sum.rotate_left(5)
            ^ match *cell {
                Cell::Empty => 1,
                Cell::Wall { strength } => strength.into(),
                Cell::Coin(x) => x,
            }
    });
    (sum, firsts.into_iter().flatten().next())
}

/// A cycle of a permutation that data makes.
fn indexed_by_data((x, start): ([u8; 16], u8)) -> (u32, [u8; 16]) {
    let mut order: [u8; 16] = array::from_fn(|i| i as u8);
    for (i, x) in x.into_iter().enumerate() {
        order.swap(i, usize::from(x) % 16);
    }
    let start = usize::from(start) % 16;
    let (mut at, mut length) = (usize::from(order[start]), 1);
    while at != start {
        at = usize::from(order[at]);
        length += 1;
    }
    (length, order)
}

fn parts_as_arrays((x, i): ([u32; 8], u8)) -> (u32, Option<u32>, [u32; 3]) {
    let first: &[u32; 3] = x.first_chunk().unwrap_or(&[0; 3]);
    let part: Option<[u32; 4]> = x[usize::from(i) % 8..]
        .get(..4)
        .and_then(|x| x.try_into().ok());
    let [a, b, rest @ ..] = x;
    (
        a ^ b ^ rest.len() as u32,
        part.map(|[.., last]| last),
        first.map(|x| x ^ 7),
    )
}

fn flattened(x: [[[u8; 2]; 3]; 2]) -> (u64, u32) {
    let flat = x.as_flattened().as_flattened();
    let columns = (0..2).map(|i| {
        x.iter()
            .flatten()
            .map(|pair| u32::from(pair[i]))
            .max()
            .unwrap_or(0)
    });
    (
        digest(flat.iter().copied()),
        columns.fold(0, |a, b| a * 256 + b),
    )
}

fn game_of_life((rows, steps): ([u8; 8], u8)) -> [u8; 8] {
    let mut cells: [[bool; 8]; 8] = rows.map(|row| array::from_fn(|x| row >> x & 1 == 1));
    for _ in 0..steps % 4 {
        let before = cells;
        for (y, row) in cells.iter_mut().enumerate() {
            for (x, cell) in row.iter_mut().enumerate() {
                let around = (0..9)
                    .filter(|i| *i != 4)
                    .filter(|i| before[(y + i / 3 + 7) % 8][(x + i % 3 + 7) % 8]);
                *cell = matches!((*cell, around.count()), (true, 2) | (_, 3));
            }
        }
    }
    cells.map(|row| {
        row.iter()
            .rev()
            .fold(0, |byte, &cell| byte << 1 | u8::from(cell))
    })
}

fn prefix_sums(x: [i32; 12]) -> ([i32; 12], i32) {
    let mut sums = x;
    for i in 1..12 {
        sums[i] = sums[i].wrapping_add(sums[i - 1]);
    }
    // The largest sum of neighbours.
    let (mut best, mut here) = (i32::MIN, 0i32);
    for x in x {
        here = here.max(0).saturating_add(x);
        best = best.max(here);
    }
    (sums, best)
}

fn three_dimensions((x, at): ([u32; 3], u8)) -> (u32, u32) {
    let mut cube = [[[0u32; 4]; 3]; 2];
    for (i, plane) in cube.iter_mut().enumerate() {
        for (j, row) in plane.iter_mut().enumerate() {
            for (k, cell) in row.iter_mut().enumerate() {
                *cell = x[(i + j + k) % 3].rotate_left((i * 12 + j * 4 + k) as u32);
            }
        }
    }
    let at = usize::from(at);
    let [_, plane] = cube;
    (
        cube[at % 2][at % 3][at % 4],
        plane.iter().map(|row| row[at % 4]).fold(0, |a, b| a ^ b),
    )
}

fn large_on_the_stack((x, i): ([u16; 8], u16)) -> (u16, u32) {
    let mut table = [0u16; 700];
    for (i, slot) in table.iter_mut().enumerate() {
        *slot = x[i % 8].wrapping_mul(i as u16 | 1);
    }
    let i = usize::from(i);
    table[i % 700] = 5;
    table.swap(i % 300, 400 + i % 300);
    (
        table[(i * 3) % 700],
        table.iter().map(|&x| u32::from(x)).sum(),
    )
}

fn repeated_values((x, n): ((u8, Option<u32>), u8)) -> (u64, usize) {
    let all = [x; 5];
    let texts: [String; 3] = [const { String::new() }; 3];
    let mut boxes: [Option<Box<u32>>; 4] = [const { None }; 4];
    boxes[usize::from(n) % 4] = x.1.map(Box::new);
    let filled = boxes.iter().flatten().map(|x| u64::from(**x)).sum::<u64>();
    (
        filled ^ digest(all.map(|x| x.0)),
        texts.iter().map(String::len).sum::<usize>() + usize::from(n),
    )
}
