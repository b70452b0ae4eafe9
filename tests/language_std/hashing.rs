//! Hash maps and sets with a fixed hasher, and hashers themselves.

use std::collections::hash_map::Entry;
use std::collections::{HashMap, HashSet};
use std::hash::{BuildHasher, BuildHasherDefault, DefaultHasher, Hash, Hasher};

use crate::check::digest;

agree!(
    default_hasher,
    of_one_value,
    derived,
    counts,
    sets,
    own_hasher,
    entries,
    text_as_keys,
    grown_and_cleared,
);

type Fixed = BuildHasherDefault<DefaultHasher>;
type Map<K, V> = HashMap<K, V, Fixed>;

fn default_hasher((a, b, c): (u32, u64, [u8; 9])) -> u64 {
    let mut hasher = DefaultHasher::new();
    a.hash(&mut hasher);
    b.hash(&mut hasher);
    c.hash(&mut hasher);
    hasher.write(&c[..(a % 9) as usize]);
    hasher.finish()
}

fn of_one_value((a, b): (u64, char)) -> u64 {
    Fixed::default().hash_one((a, b, "text"))
}

#[derive(Hash)]
enum Key {
    One(u32),
    Two { x: Option<i64>, y: [u8; 3] },
    Three,
}

fn derived((a, x, y): (u32, Option<i64>, [u8; 3])) -> [u64; 3] {
    [Key::One(a), Key::Two { x, y }, Key::Three].map(|key| Fixed::default().hash_one(key))
}

fn counts(x: [u8; 24]) -> (usize, u64) {
    let mut counts: Map<u8, u32> = Map::default();
    for x in x {
        *counts.entry(x % 7).or_insert(0) += 1;
    }
    let mut pairs: Vec<u64> = counts
        .iter()
        .map(|(&key, &count)| u64::from(key) << 32 | u64::from(count))
        .collect();
    pairs.sort_unstable();
    (counts.len(), digest(pairs))
}

fn sets((x, y): ([u8; 10], [u8; 10])) -> (usize, usize, u32, bool) {
    let [a, b] = [x, y].map(|x| x.into_iter().collect::<HashSet<u8, Fixed>>());
    (
        a.intersection(&b).count(),
        a.union(&b).count(),
        a.difference(&b).map(|&x| u32::from(x)).sum(),
        a.is_subset(&b),
    )
}

/// The order of iteration is this hasher's.
#[derive(Default)]
struct Multiplying(u64);

impl Hasher for Multiplying {
    fn write(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            self.0 = (self.0.rotate_left(5) ^ u64::from(byte)).wrapping_mul(0x517c_c1b7_2722_0a95);
        }
    }
    fn finish(&self) -> u64 {
        self.0
    }
}

fn own_hasher(x: [u32; 12]) -> (u64, Option<u32>) {
    let mut map: HashMap<u32, u32, BuildHasherDefault<Multiplying>> =
        HashMap::with_capacity_and_hasher(4, Default::default());
    for (i, x) in x.iter().enumerate() {
        map.insert(x % 100, i as u32);
    }
    map.retain(|key, _| key % 3 != 0);
    map.remove(&5);
    let in_order = map.iter().fold(0, |sum: u64, (&key, &value)| {
        sum.rotate_left(9) ^ u64::from(key) << 8 ^ u64::from(value)
    });
    (in_order, map.get(&(x[0] % 100)).copied())
}

fn entries(x: [u16; 10]) -> [u32; 3] {
    let mut map: Map<u16, Vec<u16>> = Map::default();
    let (mut occupied, mut vacant) = (0, 0);
    for x in x {
        match map.entry(x % 5) {
            Entry::Occupied(mut entry) => {
                occupied += 1;
                entry.get_mut().push(x);
            }
            Entry::Vacant(entry) => {
                vacant += 1;
                entry.insert(vec![x]);
            }
        }
    }
    let sum = map.values().flatten().map(|&x| u32::from(x)).sum();
    [occupied, vacant, sum]
}

fn text_as_keys(x: [u8; 6]) -> (Option<usize>, bool) {
    let mut map: Map<String, usize> = Map::default();
    for x in x {
        let count = map.len();
        map.insert(
            ["zero", "one", "two", "three"][x as usize % 4].into(),
            count,
        );
    }
    (map.get("two").copied(), map.contains_key("three"))
}

fn grown_and_cleared(n: u8) -> (usize, u64, bool) {
    let mut map: Map<u64, u8> = (0..n).map(|i| (u64::from(i) * 0x9e37_79b9, i)).collect();
    let odd: Vec<u64> = map
        .extract_if(|_, i| *i % 2 == 1)
        .map(|(key, _)| key)
        .collect();
    let left = map.len();
    map.clear();
    map.shrink_to_fit();
    (left, odd.iter().fold(0, |a, b| a ^ b), map.capacity() == 0)
}
