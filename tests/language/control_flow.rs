//! Loops, blocks and branches: labels, values of loops, early exits, blocks of constants.

use crate::check::digest;

agree!(
    labelled_breaks,
    labelled_continues,
    values_of_loops,
    labelled_blocks,
    collatz,
    conditions_in_order,
    constant_blocks,
    matches_in_expressions,
    loops_that_change_their_end,
    branches_on_many_conditions,
    long_chains,
    shadowing_and_blocks,
    early_exits_in_nests,
    interpreter,
);

fn labelled_breaks((x, wanted): ([[u8; 4]; 4], u8)) -> Option<(usize, usize)> {
    let mut found = None;
    'rows: for (row, columns) in x.iter().enumerate() {
        for (column, &value) in columns.iter().enumerate() {
            if value % 16 == wanted % 16 {
                found = Some((row, column));
                break 'rows;
            }
            if value == 255 {
                break;
            }
        }
    }
    found
}

fn labelled_continues(x: [u8; 30]) -> (u32, u32) {
    let (mut primes, mut tests) = (0, 0);
    'numbers: for x in x {
        if x < 2 {
            continue;
        }
        for divisor in 2..x {
            tests += 1;
            if divisor as u16 * divisor as u16 > x.into() {
                break;
            }
            if x.is_multiple_of(divisor) {
                continue 'numbers;
            }
        }
        primes = primes * 3 % 10_007 + u32::from(x);
    }
    (primes, tests)
}

fn values_of_loops((x, n): (u32, u8)) -> (u32, u32) {
    let mut y = x;
    let steps = loop {
        y = y.wrapping_mul(5).wrapping_add(u32::from(n));
        if y % 7 == 0 {
            break y / 7;
        }
        if y % 64 == 1 {
            break 'a'.into();
        }
        if y == x {
            break 0;
        }
    };
    (steps, y)
}

fn labelled_blocks((a, b): (u32, Option<u32>)) -> u32 {
    let x = 'x: {
        let Some(b) = b else { break 'x 1 };
        if a > b {
            break 'x a - b;
        }
        let inner = 'inner: {
            if a == b {
                break 'x 2;
            }
            if a % 2 == 0 {
                break 'inner a;
            }
            b
        };
        inner ^ 3
    };
    x.rotate_left(4)
}

fn collatz(x: u16) -> (u32, u64) {
    let (mut x, mut steps, mut largest) = (u64::from(x) + 1, 0, 0);
    while x != 1 {
        x = if x.is_multiple_of(2) {
            x / 2
        } else {
            3 * x + 1
        };
        largest = largest.max(x);
        steps += 1;
    }
    (steps, largest)
}

fn conditions_in_order(x: [bool; 4]) -> (bool, u32) {
    let mut calls = 0;
    let mut see = |x: bool| {
        calls = calls * 2 + 1 + u32::from(x);
        x
    };
    let result = see(x[0]) && (see(x[1]) || see(x[2])) || !see(x[3]) & see(x[0]);
    (result, calls)
}

fn constant_blocks(x: u8) -> (u32, usize) {
    const LIMIT: u32 = const {
        let mut n = 1;
        while n * n < 5000 {
            n += 1;
        }
        n
    };
    let table = [const { 3u32.pow(7) }, LIMIT, const { "größe".len() as u32 }];
    (
        table[usize::from(x) % 3],
        size_of::<[u16; const { 5 * 7 }]>() + usize::from(x),
    )
}

fn matches_in_expressions((a, b): (u8, i8)) -> i32 {
    let sum = i32::from(match a % 4 {
        0 => b,
        1 if b < 0 => -1,
        1 => 1,
        _ => 7,
    }) * if let 0..=9 = b { 10 } else { -10 };
    sum + match (a, b) {
        (x, y) if matches!((x, y), (1..=9, -9..=9)) => 100,
        _ => i32::from(a > 100) * 1000,
    }
}

fn loops_that_change_their_end((x, n): ([u8; 10], u8)) -> (u64, usize) {
    let mut queue = x[..usize::from(n) % 5 + 1].to_vec();
    let mut at = 0;
    while at < queue.len() {
        let value = queue[at];
        if value > 16 && queue.len() < 40 {
            queue.push(value / 2);
            if value % 2 == 1 {
                queue.push(value / 3);
            }
        }
        at += 1;
    }
    (digest(queue), at)
}

fn branches_on_many_conditions(x: [i32; 3]) -> u32 {
    let [a, b, c] = x;
    if a < b && b < c {
        1
    } else if a < c && c < b {
        2
    } else if b < a && a < c {
        3
    } else if !(c < a && c < b) {
        if a == b || b == c { 4 } else { 5 }
    } else if a % 2 == 0 || b % 2 != 0 && c > 0 {
        6
    } else {
        (a ^ b ^ c) as u32
    }
}

fn long_chains(x: u32) -> u32 {
    let mut y = x;
    for round in 0..16u32 {
        y = match (y ^ round) % 11 {
            0 => y.rotate_left(3),
            1 => y ^ 0x5555,
            2 => y.wrapping_add(round),
            3 => !y,
            4 => y >> 1,
            5 => y.wrapping_mul(9),
            6 => y.swap_bytes(),
            7 => continue,
            8 if round > 12 => break,
            9 => y.reverse_bits(),
            _ => y.wrapping_sub(1),
        };
    }
    y
}

fn shadowing_and_blocks((x, y): (u32, u32)) -> u32 {
    let x = x ^ 1;
    let z = {
        let x = x.wrapping_add(y);
        let y = {
            let x = x / 2;
            x ^ y
        };
        x ^ y
    };
    let (x, z) = (z, x);
    x.wrapping_sub(z)
}

fn early_exits_in_nests(x: [[i16; 3]; 3]) -> Result<i32, (usize, i16)> {
    let mut sum = 0i32;
    for (i, row) in x.iter().enumerate() {
        for &value in row {
            let mut rest = value;
            while rest != 0 {
                if rest == -77 || sum > 60_000 {
                    return Err((i, rest));
                }
                if rest % 10 == 9 {
                    break;
                }
                sum += i32::from(rest);
                rest /= 3;
            }
        }
        if sum < -60_000 {
            return Ok(sum);
        }
    }
    Ok(sum / 2)
}

/// A machine with jumps back and forth, and a limit of steps.
fn interpreter((program, input): ([u8; 10], i32)) -> (i32, u32) {
    let (mut at, mut steps, mut a, mut b) = (0usize, 0, input, 1i32);
    let result = 'run: loop {
        steps += 1;
        if steps > 200 {
            break a;
        }
        let Some(&code) = program.get(at) else {
            break b;
        };
        let operand = i32::from(code >> 4);
        at += 1;
        match code & 7 {
            0 => a = a.wrapping_add(operand),
            1 => b = b.wrapping_mul(a | 1),
            2 if a % 2 == 0 => at = operand as usize,
            3 if b > 100 => {
                for _ in 0..operand {
                    b /= 2;
                    if b < 10 {
                        break 'run b;
                    }
                }
            }
            4 => (a, b) = (b, a),
            5 => a = a.wrapping_sub(b),
            6 if operand == 3 => break a ^ b,
            7 => at = at.saturating_sub(operand as usize + 1),
            _ => continue,
        }
    };
    (result, steps)
}
