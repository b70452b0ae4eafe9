//! Searching and dynamic programming: text, graphs, sequences, numbers.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

use crate::check::digest;

agree!(
    by_halves,
    two_pointers,
    knuth_morris_pratt,
    edit_distance,
    longest_common_part,
    longest_rise,
    knapsack,
    shortest_paths,
    breadth_first,
    all_pairs,
    union_of_sets,
    topological_order,
    sieve,
    miller_rabin,
    euclid_extended,
    checksums,
    bits_of_a_bloom_filter,
    moving_maxima,
);

fn by_halves((x, wanted): (u64, u32)) -> (u64, u32) {
    // The root, and where a function that rises passes a value.
    let (mut low, mut high) = (0u64, 1 << 32);
    while low + 1 < high {
        let middle = low.midpoint(high);
        *(if middle * middle <= x {
            &mut low
        } else {
            &mut high
        }) = middle;
    }
    let place = (0..32).rev().fold(0u32, |place, bit| {
        let next = place | 1 << bit;
        if next / 3 + next / 7 <= wanted / 4 {
            next
        } else {
            place
        }
    });
    (low, place)
}

fn two_pointers((mut x, wanted): ([i16; 12], i16)) -> Option<(i16, i16)> {
    x.iter_mut().for_each(|x| *x %= 50);
    x.sort_unstable();
    let (mut low, mut high) = (0, 11);
    while low < high {
        match (x[low] + x[high]).cmp(&(wanted % 60)) {
            std::cmp::Ordering::Less => low += 1,
            std::cmp::Ordering::Equal => return Some((x[low], x[high])),
            std::cmp::Ordering::Greater => high -= 1,
        }
    }
    None
}

fn knuth_morris_pratt((text, pattern, n): ([u8; 30], [u8; 4], u8)) -> (Option<usize>, usize) {
    let text = text.map(|x| x % 2);
    let pattern = &pattern.map(|x| x % 2)[..usize::from(n) % 4 + 1];
    let mut back = vec![0; pattern.len()];
    for i in 1..pattern.len() {
        let mut k = back[i - 1];
        while k > 0 && pattern[i] != pattern[k] {
            k = back[k - 1];
        }
        back[i] = k + usize::from(pattern[i] == pattern[k]);
    }
    let (mut k, mut first, mut count) = (0, None, 0);
    for (i, x) in text.iter().enumerate() {
        while k == pattern.len() || k > 0 && *x != pattern[k] {
            k = back[k - 1];
        }
        k += usize::from(*x == pattern[k]);
        if k == pattern.len() {
            first = first.or(Some(i + 1 - k));
            count += 1;
        }
    }
    (first, count)
}

fn edit_distance((a, b, n): ([u8; 9], [u8; 8], u8)) -> usize {
    let (a, b) = (a.map(|x| x % 4), b.map(|x| x % 4));
    let b = &b[..usize::from(n) % 9];
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.iter().enumerate() {
        let mut corner = i;
        row[0] = i + 1;
        for (j, y) in b.iter().enumerate() {
            let swapped = corner + usize::from(x != y);
            corner = row[j + 1];
            row[j + 1] = swapped.min(row[j] + 1).min(corner + 1);
        }
    }
    row[b.len()]
}

fn longest_common_part((a, b): ([u8; 10], [u8; 10])) -> (u8, usize) {
    let (a, b) = (a.map(|x| x % 3), b.map(|x| x % 3));
    let mut table = [[0u8; 11]; 11];
    for i in 0..10 {
        for j in 0..10 {
            table[i + 1][j + 1] = if a[i] == b[j] {
                table[i][j] + 1
            } else {
                table[i][j + 1].max(table[i + 1][j])
            };
        }
    }
    let equal = a
        .windows(3)
        .filter(|window| b.windows(3).any(|other| other == *window));
    (table[10][10], equal.count())
}

fn longest_rise(x: [u8; 16]) -> (usize, u64) {
    let mut tails: Vec<u8> = Vec::new();
    for x in x {
        let at = tails.partition_point(|&tail| tail < x);
        match tails.get_mut(at) {
            Some(tail) => *tail = x,
            None => tails.push(x),
        }
    }
    (tails.len(), digest(tails))
}

fn knapsack((weights, values): ([u8; 8], [u8; 8])) -> (u32, u32) {
    let mut best = [0u32; 41];
    for (weight, value) in weights.iter().zip(values) {
        let weight = usize::from(weight % 20) + 1;
        for room in (weight..=40).rev() {
            best[room] = best[room].max(best[room - weight] + u32::from(value));
        }
    }
    (best[40], best[20])
}

fn shortest_paths((lengths, start): ([[u8; 6]; 6], u8)) -> [u32; 6] {
    let mut distances = [u32::MAX; 6];
    let start = usize::from(start) % 6;
    distances[start] = 0;
    let mut heap = BinaryHeap::from([Reverse((0, start))]);
    while let Some(Reverse((distance, at))) = heap.pop() {
        if distance > distances[at] {
            continue;
        }
        for (next, &length) in lengths[at]
            .iter()
            .enumerate()
            .filter(|(_, length)| **length % 3 != 0)
        {
            let through = distance + u32::from(length);
            if through < distances[next] {
                distances[next] = through;
                heap.push(Reverse((through, next)));
            }
        }
    }
    distances
}

/// Steps out of a maze of 6 by 6, walls as bits.
fn breadth_first((walls, start): (u64, u8)) -> Option<u32> {
    let is_free = |at: (i32, i32)| walls >> (at.0 * 6 + at.1) & 1 == 0;
    let start = (i32::from(start) % 6, i32::from(start / 6) % 6);
    let mut queue = VecDeque::from([(start, 0)]);
    let mut seen = [[false; 6]; 6];
    while let Some(((y, x), steps)) = queue.pop_front() {
        for (dy, dx) in [(0, 1), (1, 0), (0, -1), (-1, 0)] {
            let next @ (y, x) = (y + dy, x + dx);
            let (0..6, 0..6) = next else {
                return Some(steps);
            };
            let seen = &mut seen[y as usize][x as usize];
            if is_free(next) && !*seen {
                *seen = true;
                queue.push_back((next, steps + 1));
            }
        }
    }
    None
}

fn all_pairs(lengths: [[u8; 5]; 5]) -> [[u16; 5]; 5] {
    let mut distances =
        lengths.map(|row| row.map(|x| if x % 2 == 0 { 9999 } else { u16::from(x) }));
    for k in 0..5 {
        for i in 0..5 {
            for j in 0..5 {
                distances[i][j] = distances[i][j].min(distances[i][k] + distances[k][j]);
            }
        }
    }
    distances
}

fn union_of_sets(pairs: [(u8, u8); 8]) -> (usize, [u8; 12]) {
    fn root(parents: &mut [u8; 12], x: u8) -> u8 {
        let parent = parents[usize::from(x)];
        if parent == x {
            return x;
        }
        let root = root(parents, parent);
        parents[usize::from(x)] = root;
        root
    }
    let mut parents: [u8; 12] = std::array::from_fn(|i| i as u8);
    for (a, b) in pairs {
        let (a, b) = (root(&mut parents, a % 12), root(&mut parents, b % 12));
        parents[usize::from(a.max(b))] = a.min(b);
    }
    let roots = (0..12).filter(|&x| root(&mut parents, x) == x).count();
    (roots, parents)
}

fn topological_order(edges: [(u8, u8); 9]) -> Result<u64, usize> {
    let (mut next, mut before) = ([const { Vec::new() }; 7], [0; 7]);
    let edges = edges.map(|(a, b)| (a % 7, b % 7));
    for (a, b) in edges.iter().filter(|(a, b)| a != b) {
        next[usize::from(*a)].push(*b);
        before[usize::from(*b)] += 1;
    }
    let mut ready: Vec<u8> = (0..7).filter(|&i| before[usize::from(i)] == 0).collect();
    let mut order = Vec::new();
    while let Some(at) = ready.pop() {
        order.push(at);
        for &next in &next[usize::from(at)] {
            before[usize::from(next)] -= 1;
            if before[usize::from(next)] == 0 {
                ready.push(next);
            }
        }
    }
    if order.len() == 7 {
        Ok(digest(order))
    } else {
        Err(order.len())
    }
}

fn sieve(n: u8) -> (usize, Option<usize>) {
    let n = usize::from(n) + 2;
    let mut composite = vec![false; n];
    for i in (2..).take_while(|i| i * i < n) {
        if !composite[i] {
            composite[i * i..]
                .iter_mut()
                .step_by(i)
                .for_each(|x| *x = true);
        }
    }
    let mut primes = (2..n).filter(|&i| !composite[i]);
    let last = primes.clone().next_back();
    (primes.by_ref().count(), last)
}

fn miller_rabin(n: u64) -> (bool, u64) {
    let n = n | 1;
    let product = |a: u64, b: u64| (u128::from(a) * u128::from(b) % u128::from(n)) as u64;
    let power = |mut base: u64, mut exponent: u64| {
        let mut result = 1 % n;
        while exponent > 0 {
            if exponent & 1 == 1 {
                result = product(result, base);
            }
            base = product(base, base);
            exponent >>= 1;
        }
        result
    };
    let (twos, odd) = (
        (n - 1).trailing_zeros(),
        (n - 1) >> (n - 1).trailing_zeros().min(63),
    );
    let passes = |base: u64| {
        let mut x = power(base % n, odd);
        x == 1
            || x == n - 1
            || base % n == 0
            || (1..twos).any(|_| {
                x = product(x, x);
                x == n - 1
            })
    };
    (
        n > 1 && [2, 3, 5, 7].into_iter().all(passes),
        power(3, n / 2),
    )
}

fn euclid_extended((a, b): (u32, u32)) -> (i64, i64, i64) {
    let (mut r, mut s, mut t) = ((i64::from(a), i64::from(b)), (1i64, 0i64), (0i64, 1i64));
    while r.1 != 0 {
        let quotient = r.0 / r.1;
        let step = |(x, y): (i64, i64)| (y, x - quotient * y);
        (r, s, t) = (step(r), step(s), step(t));
    }
    (r.0, s.0, t.0)
}

fn checksums(bytes: [u8; 24]) -> (u32, u32, u64) {
    let crc = bytes.iter().fold(!0u32, |crc, &byte| {
        (0..8).fold(crc ^ u32::from(byte), |crc, _| {
            crc >> 1 ^ 0xedb8_8320 & (crc & 1).wrapping_neg()
        })
    });
    let (a, b) = bytes.iter().fold((1u32, 0u32), |(a, b), &byte| {
        let a = (a + u32::from(byte)) % 65521;
        (a, (b + a) % 65521)
    });
    (!crc, b << 16 | a, digest(bytes))
}

fn bits_of_a_bloom_filter((x, y): ([u32; 8], u32)) -> (u32, bool) {
    let mut bits = [0u64; 4];
    let places =
        |x: u32| [0x9e37_79b9u32, 0x85eb_ca6b, 0xc2b2_ae35].map(|k| x.wrapping_mul(k) >> 24);
    for place in x.into_iter().flat_map(places) {
        bits[place as usize / 64] |= 1 << (place % 64);
    }
    let holds = places(y)
        .iter()
        .all(|&place| bits[place as usize / 64] >> (place % 64) & 1 == 1);
    (bits.iter().map(|bits| bits.count_ones()).sum(), holds)
}

fn moving_maxima((x, n): ([i32; 14], u8)) -> (u64, usize) {
    let width = usize::from(n) % 5 + 1;
    // Places and numbers; the numbers fall.
    let mut window: VecDeque<(u8, i32)> = VecDeque::new();
    let mut maxima = Vec::new();
    for (i, x) in x.into_iter().enumerate() {
        while window.back().is_some_and(|last| last.1 <= x) {
            window.pop_back();
        }
        window.push_back((i as u8, x));
        if usize::from(window[0].0) + width == i {
            window.pop_front();
        }
        if i + 1 >= width {
            maxima.push(window[0].1 as u32);
        }
    }
    (digest(maxima.iter().copied()), maxima.len())
}
