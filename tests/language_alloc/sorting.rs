//! Sorting: core's and alloc's sorts, and those that people write.

use std::cmp::Reverse;

use crate::check::digest;

agree!(
    insertion,
    heap_sort,
    quick_sort,
    merge_sort,
    counting,
    radix,
    bitonic_network,
    unstable_by_key,
    stable_by_several_keys,
    cached_keys,
    floats_and_text,
    indices_instead_of_values,
    partly_sorted,
    lists_of_lists,
);

fn insertion(mut x: [i32; 12]) -> [i32; 12] {
    for i in 1..12 {
        let mut j = i;
        while j > 0 && x[j - 1] > x[j] {
            x.swap(j - 1, j);
            j -= 1;
        }
    }
    x
}

fn heap_sort(mut x: [i32; 13]) -> [i32; 13] {
    fn sift(x: &mut [i32], mut root: usize) {
        while let Some(child) = (root * 2 + 1 < x.len()).then_some(root * 2 + 1) {
            let larger = if x.get(child + 1).is_some_and(|right| *right > x[child]) {
                child + 1
            } else {
                child
            };
            if x[root] >= x[larger] {
                break;
            }
            x.swap(root, larger);
            root = larger;
        }
    }
    for root in (0..x.len() / 2).rev() {
        sift(&mut x, root);
    }
    for end in (1..x.len()).rev() {
        x.swap(0, end);
        sift(&mut x[..end], 0);
    }
    x
}

fn quick_sort(mut x: [u8; 16]) -> [u8; 16] {
    fn sort(x: &mut [u8]) {
        let Some((&mut pivot, _)) = x.split_last_mut() else {
            return;
        };
        let mut next = 0;
        for i in 0..x.len() - 1 {
            if x[i] < pivot {
                x.swap(i, next);
                next += 1;
            }
        }
        x.swap(next, x.len() - 1);
        let (left, right) = x.split_at_mut(next);
        sort(left);
        sort(&mut right[1..]);
    }
    sort(&mut x);
    x
}

fn merge_sort(x: [u32; 11]) -> u64 {
    fn sorted(x: &[u32]) -> Vec<u32> {
        if x.len() < 2 {
            return x.to_vec();
        }
        let (left, right) = x.split_at(x.len() / 2);
        let (left, right) = (sorted(left), sorted(right));
        let (mut left, mut right) = (left.into_iter().peekable(), right.into_iter().peekable());
        let mut out = Vec::with_capacity(x.len());
        loop {
            let next = match (left.peek(), right.peek()) {
                (Some(a), Some(b)) if b < a => right.next(),
                (Some(_), _) => left.next(),
                _ => right.next(),
            };
            let Some(next) = next else { return out };
            out.push(next);
        }
    }
    digest(sorted(&x))
}

fn counting(x: [u8; 20]) -> [u8; 20] {
    let mut counts = [0u8; 32];
    x.iter().for_each(|x| counts[usize::from(x % 32)] += 1);
    let mut sorted = [0; 20];
    let values = (0u8..)
        .zip(counts)
        .flat_map(|(x, count)| std::iter::repeat_n(x, count.into()));
    sorted
        .iter_mut()
        .zip(values)
        .for_each(|(slot, x)| *slot = x);
    sorted
}

fn radix(x: [i32; 10]) -> [i32; 10] {
    let mut keys = x.map(|x| x as u32 ^ 1 << 31);
    for shift in (0..32).step_by(4) {
        let digit = |key: u32| (key >> shift & 15) as usize;
        let mut starts = [0usize; 17];
        keys.iter().for_each(|&key| starts[digit(key) + 1] += 1);
        (1..17).for_each(|i| starts[i] += starts[i - 1]);
        let before = keys;
        for key in before {
            keys[starts[digit(key)]] = key;
            starts[digit(key)] += 1;
        }
    }
    keys.map(|key| (key ^ 1 << 31) as i32)
}

fn bitonic_network(mut x: [u32; 16]) -> [u32; 16] {
    let mut size = 2;
    while size <= 16 {
        let mut step = size / 2;
        while step > 0 {
            for i in 0..16 {
                let other = i ^ step;
                if other > i && (x[i] > x[other]) == (i & size == 0) {
                    x.swap(i, other);
                }
            }
            step /= 2;
        }
        size *= 2;
    }
    x
}

fn unstable_by_key(mut x: [(u8, u32); 24]) -> (u64, bool) {
    x.iter_mut().for_each(|x| x.0 %= 5);
    x.sort_unstable_by_key(|&(key, value)| (Reverse(key), value));
    (
        digest(x.map(|(key, value)| u64::from(key) << 32 | u64::from(value))),
        x.is_sorted_by_key(|x| Reverse(x.0)),
    )
}

fn stable_by_several_keys(x: [[u8; 3]; 14]) -> u64 {
    let mut rows = x.map(|row| row.map(|x| x % 3)).to_vec();
    for column in [2, 0, 1] {
        rows.sort_by(|a, b| b[column].cmp(&a[column]));
    }
    digest(rows.concat())
}

fn cached_keys((x, n): ([u32; 10], u8)) -> (u64, u32) {
    let mut calls = 0;
    let mut v = x.to_vec();
    v.truncate(usize::from(n) % 11);
    v.sort_by_cached_key(|x| {
        calls += 1;
        x.to_string()
    });
    (digest(v), calls)
}

fn floats_and_text((x, y): ([f64; 9], [u8; 6])) -> ([u64; 9], u64) {
    const WORDS: [&str; 6] = ["tau", "Pi", "", "pi", "phi", "\u{3c0}"];
    let mut floats = x.map(|x| if x.is_nan() { 0.5 } else { x });
    floats.sort_unstable_by(|a, b| b.total_cmp(a));
    let mut words = y.map(|y| WORDS[usize::from(y) % 6]);
    words.sort_unstable_by_key(|word| word.to_lowercase());
    (floats.map(f64::to_bits), digest(words.concat().bytes()))
}

fn indices_instead_of_values(x: [i16; 12]) -> [u8; 12] {
    let mut order: [u8; 12] = std::array::from_fn(|i| i as u8);
    order.sort_by_key(|&i| x[usize::from(i)] / 100);
    order
}

/// Runs that rise and fall, long enough for core to look for them.
fn partly_sorted((x, n): ([u16; 4], u8)) -> (u64, bool) {
    let n = usize::from(n) % 60;
    let up = (0..n as u16).map(|i| i.wrapping_mul(3));
    let down = (0..60 - n as u16).rev().map(|i| i ^ 1);
    let mut v: Vec<u16> = up.chain(x).chain(down).collect();
    let was = v.is_sorted();
    v.sort();
    let mut w = v.clone();
    w.rotate_left(n);
    w.sort_unstable();
    assert_eq!(v, w);
    (digest(v), was)
}

fn lists_of_lists(x: [u8; 12]) -> u64 {
    let mut lists: Vec<Vec<u8>> = x
        .chunk_by(|a, b| a % 8 <= b % 8)
        .map(<[u8]>::to_vec)
        .collect();
    lists.sort_by(|a, b| a.len().cmp(&b.len()).then_with(|| b.cmp(a)));
    lists.dedup_by_key(|list| list.len());
    digest(lists.concat())
}
