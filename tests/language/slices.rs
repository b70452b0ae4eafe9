//! Slices: parts, chunks, windows, moves, searches.

use crate::check::digest;

agree!(
    chunks_of_every_kind,
    chunks_from_the_end,
    chunks_of_a_predicate,
    arrays_of_chunks,
    split_in_two,
    splits_at_elements,
    rotated_and_reversed,
    copied_within,
    filled_and_swapped,
    binary_searches,
    several_mutable_parts,
    first_and_last,
    prefixes_and_suffixes,
    joined_and_repeated,
    selected_without_sorting,
    ranges_that_may_not_fit,
    equal_and_ordered,
    mutable_chunks,
    slices_of_slices,
    reborrowed,
);

fn chunks_of_every_kind((x, n): ([u32; 11], u8)) -> [u64; 3] {
    let n = usize::from(n) % 5 + 1;
    let sums = |chunk: &[u32]| chunk.iter().fold(chunk.len() as u32, |a, b| a ^ b);
    let exact = x.chunks_exact(n);
    let rest = digest(exact.remainder().iter().copied());
    [digest(x.chunks(n).map(sums)), digest(exact.map(sums)), rest]
}

fn chunks_from_the_end((x, n): ([u32; 11], u8)) -> (u64, u64) {
    let n = usize::from(n) % 5 + 1;
    let sums = |chunk: &[u32]| chunk.iter().fold(1, |a: u32, b| a.rotate_left(3) ^ b);
    (
        digest(x.rchunks(n).map(sums)),
        digest(x.windows(n).rev().map(sums)),
    )
}

fn chunks_of_a_predicate(x: [u8; 12]) -> (u64, usize) {
    let lengths = x.chunk_by(|a, b| a <= b).map(|run| run.len() as u32);
    (digest(lengths), x.chunk_by(|a, b| a % 2 == b % 2).count())
}

fn arrays_of_chunks(x: [u32; 11]) -> (u64, u32) {
    let (chunks, rest) = x.as_chunks::<4>();
    let by_four = chunks.iter().map(|&[a, b, c, d]| a ^ b.wrapping_add(c) ^ d);
    let pair: Option<&[u32; 2]> = x.last_chunk();
    (
        digest(by_four),
        rest.len() as u32 ^ pair.map_or(0, |&[a, b]| a ^ b),
    )
}

fn split_in_two((x, n): ([u32; 8], u8)) -> (u64, Option<u32>) {
    let n = usize::from(n) % 10;
    let Some((left, right)) = x.split_at_checked(n) else {
        return (0, None);
    };
    let first = right
        .split_first()
        .map(|(first, rest)| first ^ rest.len() as u32);
    (digest(right.iter().chain(left).copied()), first)
}

fn splits_at_elements(x: [u8; 12]) -> [u64; 3] {
    let lengths =
        |parts: &mut dyn Iterator<Item = &[u8]>| digest(parts.map(|part| part.len() as u64));
    [
        lengths(&mut x.split(|x| x % 4 == 0)),
        lengths(&mut x.split_inclusive(|x| x % 4 == 0)),
        lengths(&mut x.rsplitn(3, |x| x % 4 == 0)),
    ]
}

fn rotated_and_reversed((mut x, n): ([u32; 9], u8)) -> [u32; 9] {
    let n = usize::from(n) % 10;
    x.rotate_left(n);
    x[..n].reverse();
    x[n / 2..].rotate_right((9 - n / 2) / 3);
    x
}

fn copied_within((mut x, a, b): ([u32; 10], u8, u8)) -> [u32; 10] {
    let (from, to) = (usize::from(a) % 10, usize::from(b) % 10);
    let length = 10 - from.max(to);
    x.copy_within(from..from + length, to);
    let (left, right) = x.split_at_mut(5);
    left[..3].copy_from_slice(&right[1..4]);
    right[..2].clone_from_slice(&left[..2]);
    x
}

fn filled_and_swapped((mut x, n): ([u32; 10], u8)) -> [u32; 10] {
    let n = usize::from(n) % 5;
    x.swap(n, 9 - n);
    x[n..5].fill(7);
    let mut next = 0;
    x[5 + n..].fill_with(|| {
        next += 3;
        next
    });
    let (left, right) = x.split_at_mut(5);
    left.swap_with_slice(right);
    x
}

fn binary_searches(
    (mut x, wanted): ([u8; 16], u8),
) -> (Result<usize, usize>, usize, Result<usize, usize>) {
    x.iter_mut().for_each(|x| *x %= 50);
    x.sort_unstable();
    x.iter_mut()
        .enumerate()
        .for_each(|(i, x)| *x = *x * 5 + (i as u8 % 5));
    x.sort_unstable();
    (
        x.binary_search(&wanted),
        x.partition_point(|&x| x < wanted),
        x.binary_search_by_key(&(wanted / 5), |x| x / 5)
            .map(|i| usize::from(x[i] / 5)),
    )
}

fn several_mutable_parts((mut x, i, j): ([u32; 8], u8, u8)) -> [u32; 8] {
    let (i, j) = (usize::from(i) % 9, usize::from(j) % 9);
    if let Ok([a, b]) = x.get_disjoint_mut([i, j]) {
        *a ^= *b;
        *b = b.wrapping_add(*a);
    }
    if let [first, .., last] = &mut x[i.min(j)..] {
        std::mem::swap(first, last);
    }
    x
}

fn first_and_last((mut x, n): ([u32; 6], u8)) -> (Option<u32>, u32) {
    let part = &mut x[..usize::from(n) % 7];
    if let Some(last) = part.last_mut() {
        *last ^= 1;
    }
    let first = part.first().copied();
    let ends = part.split_last_mut().map_or(0, |(last, rest)| {
        rest.iter_mut().for_each(|x| *x ^= *last);
        rest.iter().fold(*last, |a, b| a.wrapping_add(*b))
    });
    (first, ends)
}

fn prefixes_and_suffixes((x, n): ([u8; 6], u8)) -> (bool, bool, Option<usize>, Option<u8>) {
    let x = x.map(|x| x % 2);
    let n = usize::from(n) % 4;
    (
        x.starts_with(&[0, 1]),
        x.ends_with(&x[..n]),
        x.strip_prefix(&[1]).map(<[u8]>::len),
        x.strip_suffix(&[0, 0]).and_then(|x| x.last().copied()),
    )
}

fn joined_and_repeated((x, n): ([u16; 6], u8)) -> (u64, u64, usize) {
    let parts: [&[u16]; 3] = [&x[..2], &[], &x[2..]];
    let repeated = x[..2].repeat(usize::from(n) % 4);
    (
        digest(parts.join(&9)),
        digest(parts.concat().into_iter().chain(repeated)),
        [x, x].as_flattened().len() + usize::from(n),
    )
}

fn selected_without_sorting((mut x, n): ([i32; 15], u8)) -> (i32, bool) {
    let n = usize::from(n) % 15;
    let (low, &mut middle, high) = x.select_nth_unstable(n);
    let parted = low.iter().all(|x| *x <= middle) && high.iter().all(|x| *x >= middle);
    (middle, parted)
}

fn ranges_that_may_not_fit(
    (x, a, b): ([u32; 7], u8, u8),
) -> (Option<u64>, Option<u64>, Option<u32>) {
    let (a, b) = (usize::from(a) % 10, usize::from(b) % 10);
    let part = |part: Option<&[u32]>| part.map(|part| digest(part.iter().copied()));
    (part(x.get(a..b)), part(x.get(a..=b)), x.get(a).copied())
}

fn equal_and_ordered((x, y): ([u8; 5], [u8; 5])) -> (bool, i8, bool, bool) {
    let (x, y) = (x.map(|x| x % 2), y.map(|y| y % 2));
    (
        x[..2] == y[1..3],
        x[..].cmp(&y[..4]) as i8,
        x[1..] < y[..],
        x.is_sorted(),
    )
}

fn mutable_chunks((mut x, n): ([u32; 12], u8)) -> [u32; 12] {
    let n = usize::from(n) % 5 + 1;
    for (i, chunk) in x.chunks_mut(n).enumerate() {
        chunk[0] ^= i as u32;
        chunk.reverse();
    }
    for pair in x.chunks_exact_mut(2) {
        pair[1] = pair[1].wrapping_add(pair[0]);
    }
    for chunk in x.rchunks_mut(n) {
        chunk.rotate_left(1);
    }
    x
}

fn slices_of_slices(x: [u32; 10]) -> u64 {
    let mut parts: Vec<&[u32]> = vec![&x[..3], &x[3..4], &x[4..9], &x[9..]];
    parts.sort_by_key(|part| part.iter().max().copied());
    parts.swap(0, 3);
    digest(parts.concat())
}

fn reborrowed((mut x, n): ([u32; 6], u8)) -> [u32; 6] {
    fn halve(x: &mut [u32], depth: u8) {
        let middle = x.len() / 2;
        if let (Some(x), 1..) = (x.get_mut(middle), depth) {
            *x = x.wrapping_mul(3) ^ u32::from(depth);
            let (left, right) = x_parts(std::slice::from_mut(x));
            left.iter_mut().chain(right).for_each(|x| *x ^= 1);
        }
        if depth > 0 && x.len() > 1 {
            halve(&mut x[..middle], depth - 1);
            halve(&mut x[middle..], depth - 1);
        }
    }
    fn x_parts(x: &mut [u32]) -> (&mut [u32], &mut [u32]) {
        x.split_at_mut(x.len() / 2)
    }
    halve(&mut x, n % 4);
    x
}
