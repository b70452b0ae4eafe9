//! Arguments of type `f64`, and the worst of the results that they gave.

use crate::measure::{Worst, distance_of_doubles};
use crate::reference::{self, Big};

/// Where the arguments of a function come from.
#[derive(Clone)]
pub struct Range {
    low: f64,
    high: f64,
    near: Vec<f64>,
}

impl Range {
    /// From `low` to `high`: half of the arguments evenly, half with even logarithms of their size.
    pub fn new(low: f64, high: f64) -> Range {
        Range {
            low,
            high,
            near: Vec::new(),
        }
    }

    /// Also numbers close to `point`.
    pub fn near(mut self, point: f64) -> Range {
        self.near.push(point);
        self
    }

    /// `count` arguments, the same every time.
    pub fn samples(&self, count: usize) -> Vec<f64> {
        self.seeded(count, 0x9e37_79b9_7f4a_7c15)
    }

    /// Other arguments, the same every time.
    pub fn others(&self, count: usize) -> Vec<f64> {
        self.seeded(count, 0x632b_e59b_d9b4_e019)
    }

    fn seeded(&self, count: usize, seed: u64) -> Vec<f64> {
        let mut random = Random(seed);
        let points = self.near.len() + 2;
        (0..count)
            .map(|_| match random.below(points) {
                0 => self.low + (self.high - self.low) * random.fraction(),
                1 => self.of_any_size(&mut random),
                other => {
                    let away = (-60.0 * random.fraction()).exp2();
                    let point = self.near[other - 2];
                    point * (1.0 + if random.below(2) == 0 { away } else { -away })
                }
            })
            .filter(|&x| x >= self.low && x <= self.high)
            .collect()
    }

    fn of_any_size(&self, random: &mut Random) -> f64 {
        let negative = self.low < 0.0 && (self.high <= 0.0 || random.below(2) == 0);
        let most = if negative { -self.low } else { self.high };
        let least = if self.low > 0.0 {
            self.low
        } else {
            most.min(1.0) * 1e-30
        };
        let fraction = random.fraction();
        let size = most.powf(fraction) * least.powf(1.0 - fraction);
        if negative { -size } else { size }
    }
}

struct Random(u64);

impl Random {
    fn bits(&mut self) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_f491_4f6c_dd1d)
    }

    fn below(&mut self, end: usize) -> usize {
        (self.bits() >> 33) as usize % end
    }

    fn fraction(&mut self) -> f64 {
        (self.bits() >> 11) as f64 / (1u64 << 53) as f64
    }
}

/// The worst result, by a function of an argument with all its digits and of the result.
pub fn compare(x: &[f64], got: &[f64], right: impl Fn(&Big, f64) -> Big + Sync) -> Worst {
    in_parallel(x.len(), |i| {
        let distance = if got[i].is_finite() {
            let right = right(&reference::big(x[i]), got[i]);
            distance_of_doubles(got[i], right.to_f64().value())
        } else {
            u64::MAX
        };
        Worst {
            distance,
            at: [x[i], 0.0],
        }
    })
}

/// The worst result of a function of two arguments.
pub fn compare_two(x: &[[f64; 2]], got: &[f64], right: impl Fn(f64, f64) -> f64 + Sync) -> Worst {
    in_parallel(x.len().min(got.len()), |i| Worst {
        distance: distance_of_doubles(got[i], right(x[i][0], x[i][1])),
        at: x[i],
    })
}

fn in_parallel(count: usize, one: impl Fn(usize) -> Worst + Sync) -> Worst {
    let threads = std::thread::available_parallelism().map_or(1, |threads| threads.get());
    let one = &one;
    let worst_of = move |from: usize| {
        let results = (from..count).step_by(threads).map(one);
        results.fold(Worst::default(), Worst::or)
    };
    std::thread::scope(|scope| {
        let parts: Vec<_> = (0..threads)
            .map(|from| scope.spawn(move || worst_of(from)))
            .collect();
        let parts = parts
            .into_iter()
            .map(|part| part.join().expect("references do not panic"));
        parts.fold(Worst::default(), Worst::or)
    })
}
