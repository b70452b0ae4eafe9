//! The collections of alloc, each thread its own.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, BinaryHeap, LinkedList, VecDeque, btree_map::Entry};
use std::ops::Bound;

use crate::check::digest;

agree!(
    vectors_grow_and_shrink,
    drained_and_spliced,
    retained_and_deduplicated,
    split_and_appended,
    vectors_of_vectors,
    capacity_and_boxes,
    deques,
    deques_as_slices,
    maps_count,
    ranges_of_maps,
    entries_of_maps,
    split_maps,
    sets,
    heaps,
    heaps_of_the_least,
    linked_lists,
    maps_of_vectors,
    text_as_keys,
    extracted,
);

fn vectors_grow_and_shrink((x, n): ([u32; 8], u8)) -> (u64, Option<u32>, usize) {
    let mut v = vec![1u32, 2, 3];
    v.extend(x);
    v.insert(usize::from(n) % 12, 77);
    let removed = v.remove(usize::from(n / 2) % 12);
    let swapped = v.swap_remove(0);
    v.push(removed ^ swapped);
    v.truncate(usize::from(n) % 14);
    v.resize(v.len() + 2, 5);
    let last = v.pop();
    (digest(v.iter().copied()), last, v.len())
}

fn drained_and_spliced((x, a, b): ([u32; 10], u8, u8)) -> (u64, u64, u64) {
    let (a, b) = (usize::from(a) % 11, usize::from(b) % 11);
    let range = a.min(b)..a.max(b);
    let mut v = x.to_vec();
    let drained = digest(v.drain(range.clone()));
    let mut w = x.to_vec();
    let spliced = digest(w.splice(range, [7, 8, 9]));
    (drained, digest(v), digest(w) ^ spliced)
}

fn retained_and_deduplicated(x: [u32; 16]) -> (u64, u64) {
    let mut v: Vec<u32> = x.iter().map(|x| x % 4).collect();
    v.dedup();
    let mut w = x.to_vec();
    w.retain(|x| x % 3 != 0);
    w.dedup_by_key(|x| *x % 2);
    w.retain_mut(|x| {
        *x ^= 1;
        *x > 9
    });
    (digest(v), digest(w))
}

fn split_and_appended((x, n): ([u32; 8], u8)) -> (u64, usize) {
    let mut v = x.to_vec();
    let mut tail = v.split_off(usize::from(n) % 9);
    tail.append(&mut v);
    tail.extend_from_within(..2);
    tail.extend_from_slice(&x[6..]);
    (digest(tail), v.len() + usize::from(n))
}

fn vectors_of_vectors(x: [u8; 12]) -> (u64, usize) {
    let mut buckets: Vec<Vec<u8>> = vec![Vec::new(); 4];
    for x in x {
        buckets[usize::from(x % 4)].push(x);
    }
    buckets.sort_by_key(Vec::len);
    let longest = buckets.last().map_or(0, Vec::len);
    (digest(buckets.concat()), longest)
}

fn capacity_and_boxes((x, n): ([u32; 6], u8)) -> (u64, bool, u32) {
    let mut v = Vec::with_capacity(20);
    v.extend_from_slice(&x[..usize::from(n) % 7]);
    let roomy = v.capacity() >= 20;
    v.shrink_to_fit();
    let boxed: Box<[u32]> = v.into_boxed_slice();
    let array: Option<Box<[u32; 3]>> = boxed.clone().try_into().ok();
    let mut back = boxed.into_vec();
    back.reserve_exact(3);
    (
        digest(back),
        roomy && n > 7,
        array.map_or(0, |x| x[0] ^ x[2]),
    )
}

fn deques((x, n): ([u32; 9], u8)) -> (u64, Option<u32>, Option<u32>) {
    let mut deque: VecDeque<u32> = x[..4].iter().copied().collect();
    for &x in &x[4..] {
        deque.push_front(x);
        if x % 2 == 0 {
            let back = deque.pop_back().unwrap_or(0);
            deque.push_back(back ^ 1);
            deque.push_front(back);
        }
    }
    deque.rotate_left(usize::from(n) % 9);
    let middle = deque.remove(usize::from(n) % 12);
    (digest(deque.iter().copied()), middle, deque.get(2).copied())
}

fn deques_as_slices(x: [u32; 8]) -> (u64, u32) {
    let mut deque = VecDeque::from(x);
    for _ in 0..3 {
        let front = deque.pop_front().unwrap_or(0);
        deque.push_back(front.rotate_left(1));
    }
    deque.make_contiguous().sort_unstable();
    let (first, second) = deque.as_slices();
    let largest = first.last().copied().unwrap_or(0) ^ second.len() as u32;
    deque.truncate(5);
    (digest(deque), largest)
}

fn maps_count(x: [u8; 24]) -> (u64, Option<(u8, u32)>) {
    let mut counts = BTreeMap::new();
    for x in x {
        *counts.entry(x % 8).or_insert(0u32) += 1;
    }
    let most = counts
        .iter()
        .max_by_key(|(_, count)| **count)
        .map(|(&x, &count)| (x, count));
    (
        digest(
            counts
                .into_iter()
                .map(|(x, count)| u64::from(x) << 8 | u64::from(count)),
        ),
        most,
    )
}

fn ranges_of_maps((x, a, b): ([u8; 20], u8, u8)) -> (u64, u64, Option<u8>) {
    let map: BTreeMap<u8, usize> = x.iter().enumerate().map(|(i, &x)| (x, i)).collect();
    let (low, high) = (a.min(b), a.max(b));
    let within = map
        .range(low..high)
        .map(|(x, i)| u64::from(*x) * 100 + *i as u64);
    let above = map
        .range((Bound::Excluded(high), Bound::Unbounded))
        .rev()
        .map(|(x, _)| *x);
    (
        digest(within),
        digest(above),
        map.range(..=low).next_back().map(|(x, _)| *x),
    )
}

fn entries_of_maps(x: [u32; 12]) -> (u64, usize) {
    let mut map: BTreeMap<u32, u32> = BTreeMap::new();
    for x in x {
        match map.entry(x % 5) {
            Entry::Vacant(entry) => {
                entry.insert(x);
            }
            Entry::Occupied(entry) if x % 2 == 0 => {
                entry.remove();
            }
            Entry::Occupied(mut entry) => *entry.get_mut() ^= x,
        }
    }
    map.retain(|key, _| key % 3 != 1);
    if let Some(mut first) = map.first_entry() {
        *first.get_mut() = 1;
    }
    (digest(map.values().copied()), map.len())
}

fn split_maps((x, at): ([u16; 30], u16)) -> (u64, u64, bool) {
    let mut map: BTreeMap<u16, u16> = x.iter().map(|&x| (x, x ^ 1)).collect();
    let mut high = map.split_off(&at);
    let removed = high.pop_first().or(map.pop_last());
    let key = removed.map_or(0, |(key, _)| key);
    map.remove(&x[7]);
    high.append(&mut map);
    (
        digest(high.keys().copied()),
        key.into(),
        high.contains_key(&x[7]),
    )
}

fn sets((x, y): ([u8; 12], [u8; 12])) -> [u64; 4] {
    let set = |x: [u8; 12]| -> BTreeSet<u8> { x.into_iter().map(|x| x % 32).collect() };
    let (x, y) = (set(x), set(y));
    [
        digest(x.union(&y).copied()),
        digest(x.intersection(&y).copied()),
        digest(x.difference(&y).copied()),
        u64::from(x.is_subset(&y)) ^ x.last().map_or(0, |&x| x.into()),
    ]
}

fn heaps(x: [u32; 12]) -> (u64, Option<u32>, u64) {
    let mut heap = BinaryHeap::from(x[..6].to_vec());
    heap.extend(&x[6..]);
    if let Some(mut top) = heap.peek_mut() {
        *top /= 2;
    }
    let second = heap.clone().into_sorted_vec()[10];
    let order = std::iter::from_fn(|| heap.pop()).take(4);
    (digest(order), heap.peek().copied(), second.into())
}

/// The merge of sorted rows.
fn heaps_of_the_least(x: [[u8; 4]; 4]) -> u64 {
    let mut rows = x;
    rows.iter_mut().for_each(|row| row.sort_unstable());
    let mut heap: BinaryHeap<_> = (0..4).map(|row| Reverse((rows[row][0], row, 0))).collect();
    let mut merged = Vec::new();
    while let Some(Reverse((value, row, at))) = heap.pop() {
        merged.push(value);
        if let Some(&next) = rows[row].get(at + 1) {
            heap.push(Reverse((next, row, at + 1)));
        }
    }
    assert!(merged.is_sorted() && merged.len() == 16);
    digest(merged)
}

fn linked_lists(x: [u32; 8]) -> (u64, u64) {
    let mut list: LinkedList<u32> = x[..5].iter().copied().collect();
    for &x in &x[5..] {
        if x % 2 == 0 {
            list.push_front(x)
        } else {
            list.push_back(x)
        }
    }
    let mut tail = list.split_off(x[0] as usize % 9);
    tail.iter_mut().for_each(|x| *x ^= 3);
    tail.append(&mut LinkedList::from([1, 2]));
    (digest(list), digest(tail.into_iter().rev()))
}

fn maps_of_vectors(x: [(u8, u32); 12]) -> (u64, usize) {
    let mut groups: BTreeMap<u8, Vec<u32>> = BTreeMap::new();
    for (key, value) in x {
        groups.entry(key % 4).or_default().push(value);
    }
    let longest = groups.values().map(Vec::len).max().unwrap_or(0);
    (digest(groups.into_values().flatten()), longest)
}

fn text_as_keys(x: [u8; 8]) -> u64 {
    const WORDS: [&str; 5] = ["add", "a", "sub", "", "adder"];
    let mut counts: BTreeMap<String, u32> = BTreeMap::new();
    for x in x {
        *counts
            .entry(WORDS[usize::from(x) % 5].to_owned())
            .or_default() += 1;
    }
    let found = counts.get("sub").copied().unwrap_or(0);
    digest(
        counts
            .iter()
            .map(|(word, count)| word.len() as u64 * 100 + u64::from(*count)),
    ) ^ u64::from(found)
}

fn extracted(x: [u32; 12]) -> (u64, u64) {
    let mut v = x.to_vec();
    let odd: Vec<u32> = v.extract_if(.., |x| *x % 2 == 1).collect();
    v.iter_mut().rev().zip(&odd).for_each(|(x, y)| *x ^= y);
    (digest(odd), digest(v))
}
