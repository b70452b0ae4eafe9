//! Philox: known answers, the same stream in a kernel, and the distributions.
#![allow(missing_docs)]

mod device_code;

use oxwarp::prelude::*;
use oxwarp::random::{Philox, philox4x32_10};

#[test]
fn the_known_answers_of_random123() {
    let answers = [
        (
            [0; 4],
            [0; 2],
            [0x6627_e8d5, 0xe169_c58d, 0xbc57_ac4c, 0x9b00_dbd8],
        ),
        (
            [u32::MAX; 4],
            [u32::MAX; 2],
            [0x408f_276d, 0x41c8_3b0e, 0xa20b_c7c6, 0x6d54_51fd],
        ),
        (
            [0x243f_6a88, 0x85a3_08d3, 0x1319_8a2e, 0x0370_7344],
            [0xa409_3822, 0x299f_31d0],
            [0xd16c_fe09, 0x94fd_cceb, 0x5001_e420, 0x2412_6ea1],
        ),
    ];
    for (counter, key, expected) in answers {
        assert_eq!(philox4x32_10(counter, key), expected);
    }
}

#[test]
fn a_stream_is_its_counters_words() {
    let (seed, subsequence) = (0x0123_4567_89ab_cdef, 42);
    let mut random = Philox::new(seed, subsequence);
    let words: Vec<u32> = (0..40).map(|_| random.next_u32()).collect();
    for (number, words) in words.chunks_exact(4).enumerate() {
        let block = philox4x32_10([number as u32, 0, 42, 0], [0x89ab_cdef, 0x0123_4567]);
        assert_eq!(words, block);
    }
    for skipped in 0..30 {
        let mut random = Philox::new(seed, subsequence);
        random.next_u32();
        random.skip(skipped as u64);
        assert_eq!(random.next_u32(), words[skipped + 1]);
        assert_eq!(
            random.next_u64(),
            u64::from(words[skipped + 2]) | u64::from(words[skipped + 3]) << 32
        );
        let block = (skipped + 4).div_ceil(4) * 4;
        assert_eq!(random.next_4(), words[block..block + 4]);
    }
}

/// Where the number of a block no longer fits one word, and where words of the present block are left.
#[test]
fn skips_add_up() {
    for (first, second) in [(0, (1 << 34) - 4), (3, (1 << 34) + 2), (5, u64::MAX - 30)] {
        let mut random = Philox::new(7, 9);
        random.skip(first);
        random.skip(second);
        let at = first + second;
        for at in at..at + 9 {
            let (block, word) = (at / 4, (at % 4) as usize);
            let counter = [block as u32, (block >> 32) as u32, 9, 0];
            assert_eq!(random.next_u32(), philox4x32_10(counter, [7, 0])[word]);
        }
    }
}

#[kernel]
fn draw(
    seed: u64,
    mut words: DisjointSlice<[u32; 6]>,
    mut floats: DisjointSlice<(f32, f64)>,
    mut bounded: DisjointSlice<(u32, u64)>,
) {
    let i = thread::index_1d();
    let mut random = Philox::new(seed, *i as u64);
    if let Some(words) = words.get_mut(i) {
        for word in words {
            *word = random.next_u32();
        }
    }
    if let Some(floats) = floats.get_mut(i) {
        *floats = (random.uniform_f32(), random.uniform_f64());
    }
    if let Some(bounded) = bounded.get_mut(i) {
        *bounded = (random.below_u32(10), random.below_u64(1 << 40));
    }
}

#[test]
fn a_kernel_draws_what_the_host_draws() {
    let gpu = Gpu::new().unwrap();
    let n = 20_000;
    let mut words = gpu.zeros::<[u32; 6]>(n).unwrap();
    let mut floats = gpu.full(n, (0.0, 0.0)).unwrap();
    let mut bounded = gpu.full(n, (0, 0)).unwrap();
    draw.for_each(n)
        .launch(7, &mut words, &mut floats, &mut bounded)
        .unwrap();
    let (words, floats, bounded) = (
        words.to_vec().unwrap(),
        floats.to_vec().unwrap(),
        bounded.to_vec().unwrap(),
    );
    let mut counts = [0.0f64; 10];
    for i in 0..n {
        let mut random = Philox::new(7, i as u64);
        assert_eq!(words[i], std::array::from_fn(|_| random.next_u32()));
        assert_eq!(floats[i], (random.uniform_f32(), random.uniform_f64()));
        assert_eq!(
            bounded[i],
            (random.below_u32(10), random.below_u64(1 << 40))
        );
        assert!((0.0..1.0).contains(&floats[i].0) && (0.0..1.0).contains(&floats[i].1));
        assert!(bounded[i].1 < 1 << 40);
        counts[bounded[i].0 as usize] += 1.0;
    }
    let mean = floats.iter().map(|x| f64::from(x.0) + x.1).sum::<f64>() / (2 * n) as f64;
    assert!((mean - 0.5).abs() < 0.01, "{mean}");
    // The 99.9 % quantile of chi² with nine degrees of freedom.
    let expected = n as f64 / 10.0;
    let chi2: f64 = counts
        .iter()
        .map(|count| (count - expected).powi(2) / expected)
        .sum();
    assert!(chi2 < 27.9, "{chi2}");
    let code = device_code::of("draw");
    assert!(
        !code.contains(".local"),
        "the state is in registers\n{code}"
    );
    device_code::assembles();
}

#[kernel]
fn normal(seed: u64, mut singles: DisjointSlice<[f32; 2]>, mut doubles: DisjointSlice<[f64; 2]>) {
    let i = thread::index_1d();
    let mut random = Philox::new(seed, *i as u64);
    if let Some(singles) = singles.get_mut(i) {
        *singles = random.normal_pair_f32();
    }
    if let Some(doubles) = doubles.get_mut(i) {
        *doubles = random.normal_pair_f64();
    }
}

#[test]
fn normal_numbers_have_the_moments() {
    let gpu = Gpu::new().unwrap();
    let n = 20_000;
    let mut singles = gpu.zeros::<[f32; 2]>(n).unwrap();
    let mut doubles = gpu.zeros::<[f64; 2]>(n).unwrap();
    normal
        .for_each(n)
        .launch(11, &mut singles, &mut doubles)
        .unwrap();
    let singles: Vec<f64> = singles
        .to_vec()
        .unwrap()
        .into_iter()
        .flatten()
        .map(f64::from)
        .collect();
    let doubles: Vec<f64> = doubles.to_vec().unwrap().into_iter().flatten().collect();
    for sample in [singles, doubles] {
        let count = sample.len() as f64;
        let moment = |power: i32| sample.iter().map(|x| x.powi(power)).sum::<f64>() / count;
        // Four standard errors of 40,000 numbers.
        assert!(moment(1).abs() < 0.02, "mean {}", moment(1));
        assert!((moment(2) - 1.0).abs() < 0.03, "variance {}", moment(2));
        assert!(moment(3).abs() < 0.08, "skewness {}", moment(3));
        assert!((moment(4) - 3.0).abs() < 0.2, "kurtosis {}", moment(4));
    }
}

#[kernel]
fn nothing_below_zero(mut out: DisjointSlice<u32>) {
    if let Some(out) = out.get_mut(thread::index_1d()) {
        *out = Philox::new(0, 0).below_u32(*out);
    }
}

#[test]
fn an_empty_range_panics() {
    let gpu = Gpu::new().unwrap();
    let mut out = gpu.zeros::<u32>(1).unwrap();
    let launched = nothing_below_zero
        .for_each(1)
        .launch(&mut out)
        .and_then(|()| gpu.synchronize());
    let error = launched.unwrap_err().to_string();
    assert!(error.contains("there is no integer below 0"), "{error}");
}
