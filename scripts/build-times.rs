//! 26 kernels of all sorts, whose builds `build-times.sh` measures. It changes the number of `changed`.

use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

use oxwarp::prelude::*;
use oxwarp::warp::FULL_MASK;

#[kernel]
fn changed(x: &[f32], mut y: DisjointSlice<f32>) {
    let i = thread::index_1d();
    if let Some(y) = y.get_mut(i) {
        *y += x[*i] * 1.0;
    }
}

#[kernel]
fn copy(x: &[f32], mut y: DisjointSlice<f32>) {
    let i = thread::index_1d();
    if let Some(y) = y.get_mut(i) {
        *y = x[*i];
    }
}

#[kernel]
fn map<T: Copy, F: Fn(T) -> T + Copy>(f: F, mut y: DisjointSlice<T>) {
    if let Some(y) = y.get_mut(thread::index_1d()) {
        *y = f(*y);
    }
}

#[kernel]
fn polynomial<const N: usize>(coefficients: [f32; N], mut y: DisjointSlice<f32>) {
    if let Some(y) = y.get_mut(thread::index_1d()) {
        *y = coefficients.iter().rev().fold(0.0, |sum, c| sum * *y + c);
    }
}

#[kernel]
fn functions(x: &[f32], mut y: DisjointSlice<f32>) {
    let i = thread::index_1d();
    if let Some(y) = y.get_mut(i) {
        let x = x[*i];
        *y = x.sin() * x.exp() + x.abs().powf(1.5) + x.atan2(2.0);
    }
}

#[kernel]
fn black_scholes(x: &[f32], mut y: DisjointSlice<f32>) {
    let i = thread::index_1d();
    if let Some(y) = y.get_mut(i) {
        let (spot, strike, rate, volatility) = (x[*i], 100.0f32, 0.02f32, 0.3f32);
        let d1 = ((spot / strike).ln() + (rate + 0.5 * volatility * volatility)) / volatility;
        let share = |d: f32| 1.0 / (1.0 + (-1.702 * d).exp());
        *y = spot * share(d1) - strike * (-rate).exp() * share(d1 - volatility);
    }
}

#[kernel]
fn mandelbrot(width: usize, mut y: DisjointSlice<u32>) {
    let i = thread::index_1d();
    let Some(y) = y.get_mut(i) else { return };
    let (re, im) = (
        (*i % width) as f32 / 99.0 - 2.0,
        (*i / width) as f32 / 99.0 - 1.0,
    );
    let (mut a, mut b, mut steps) = (0.0f32, 0.0f32, 0);
    while a * a + b * b < 4.0 && steps < 1000 {
        (a, b) = (a * a - b * b + re, 2.0 * a * b + im);
        steps += 1;
    }
    *y = steps;
}

#[kernel]
fn collatz(mut y: DisjointSlice<u32>) {
    let i = thread::index_1d();
    if let Some(y) = y.get_mut(i) {
        let mut n = *i as u128 + 1;
        while n > 1 {
            n = if n.is_multiple_of(2) {
                n / 2
            } else {
                3 * n + 1
            };
            *y += 1;
        }
    }
}

#[kernel]
fn monte_carlo(mut y: DisjointSlice<u32>) {
    let i = thread::index_1d();
    if let Some(y) = y.get_mut(i) {
        let mut state = *i as u32 | 1;
        let mut next = || {
            state ^= state << 13;
            state ^= state >> 17;
            state ^= state << 5;
            state as f32 / u32::MAX as f32
        };
        *y = (0..100).filter(|_| next().hypot(next()) < 1.0).count() as u32;
    }
}

#[kernel]
fn reduction(x: &[f32], mut sums: DisjointSlice<f32, BlockIndex>) {
    let temp = shared_array![f32; 256];
    let t = thread::index_in_block();
    temp.set(t, thread::grid_stride(x.len()).map(|i| x[*i]).sum());
    sync_threads();
    let mut stride = block::len() / 2;
    while stride > 0 {
        if t < stride {
            temp.set(t, temp.get(t) + temp.get(t + stride));
        }
        sync_threads();
        stride /= 2;
    }
    if let Some(sum) = sums.get_mut(block::index()) {
        *sum = temp.get(0);
    }
}

#[kernel]
fn scan(mut y: DisjointSlice<f32>) {
    let temp = shared_array![f32; 256];
    let (i, t) = (thread::index_1d(), thread::index_in_block());
    temp.set(t, y.get_mut(i).map_or(0.0, |y| *y));
    let mut distance = 1;
    while distance < block::len() {
        sync_threads();
        let before = if t >= distance {
            temp.get(t - distance)
        } else {
            0.0
        };
        sync_threads();
        temp.set(t, temp.get(t) + before);
        distance *= 2;
    }
    if let Some(y) = y.get_mut(i) {
        *y = temp.get(t);
    }
}

#[kernel]
fn warp_sum(x: &[f32], mut y: DisjointSlice<f32>) {
    let i = thread::index_1d();
    let mut sum = x.get(*i).copied().unwrap_or(0.0);
    for distance in [16, 8, 4, 2, 1] {
        sum += warp::shuffle_down(FULL_MASK, sum, distance);
    }
    if let Some(y) = y.get_mut(i) {
        *y = sum;
    }
}

#[kernel]
fn histogram(x: &[f32], bins: &[AtomicU32]) {
    let counts = shared_atomics![AtomicU32; 64];
    counts.fill(0);
    sync_threads();
    for i in thread::grid_stride(x.len()) {
        counts.at(x[*i] as usize % 64).fetch_add(1, Relaxed);
    }
    sync_threads();
    let t = thread::index_in_block();
    if t < 64 {
        bins[t].fetch_add(counts.at(t).load(Relaxed), Relaxed);
    }
}

#[kernel]
fn count(threshold: f32, x: &[f32], found: &[AtomicU32]) {
    let i = *thread::index_1d();
    if i < x.len() && x[i] > threshold {
        found[0].fetch_add(1, Relaxed);
    }
}

#[kernel]
fn transpose(n: usize, x: &[f32], mut y: DisjointSlice<f32>) {
    let i = thread::index_1d();
    if let Some(y) = y.get_mut(i) {
        *y = x[*i % n * n + *i / n];
    }
}

#[kernel]
fn matmul(n: usize, a: &[f32], b: &[f32], mut c: DisjointSlice<f32>) {
    let i = thread::index_1d();
    if let Some(c) = c.get_mut(i) {
        let (row, column) = (*i / n, *i % n);
        *c = (0..n).map(|k| a[row * n + k] * b[k * n + column]).sum();
    }
}

#[kernel]
fn matmul_tiled(n: usize, a: &[f32], b: &[f32], mut c: DisjointSlice<f32>) {
    let (of_a, of_b) = (shared_array![[f32; 16]; 16], shared_array![[f32; 16]; 16]);
    let (i, t) = (thread::index_1d(), thread::index_in_block());
    let (row, column) = (t / 16, t % 16);
    let mut sum = 0.0;
    for tile in 0..n / 16 {
        if column == 0 {
            of_a.set(row, std::array::from_fn(|k| a[row * n + tile * 16 + k]));
            of_b.set(row, std::array::from_fn(|k| b[(tile * 16 + row) * n + k]));
        }
        sync_threads();
        for k in 0..16 {
            sum += of_a.get(row)[k] * of_b.get(k)[column];
        }
        sync_threads();
    }
    if let Some(c) = c.get_mut(i) {
        *c = sum;
    }
}

#[kernel]
fn sparse(rows: &[u32], columns: &[u32], values: &[f32], x: &[f32], mut y: DisjointSlice<f32>) {
    let i = thread::index_1d();
    if let Some(y) = y.get_mut(i) {
        let row = rows[*i] as usize..rows[*i + 1] as usize;
        *y = columns[row.clone()]
            .iter()
            .zip(&values[row])
            .map(|(&c, v)| v * x[c as usize])
            .sum();
    }
}

#[kernel]
fn stencil(width: usize, x: &[f32], mut y: DisjointSlice<f32>) {
    let i = thread::index_1d();
    let (row, column) = (*i / width, *i % width);
    if row == 0 || column == 0 || column == width - 1 || *i + width >= x.len() {
        return;
    }
    if let Some(y) = y.get_mut(i) {
        *y = 0.25 * (x[*i - 1] + x[*i + 1] + x[*i - width] + x[*i + width]);
    }
}

#[kernel]
fn bodies(positions: &[[f32; 3]], mut forces: DisjointSlice<[f32; 3]>) {
    let i = thread::index_1d();
    let Some(force) = forces.get_mut(i) else {
        return;
    };
    let own = positions[*i];
    for other in positions {
        let d: [f32; 3] = std::array::from_fn(|k| other[k] - own[k]);
        let inverse = (d[0] * d[0] + d[1] * d[1] + d[2] * d[2] + 0.01)
            .sqrt()
            .recip();
        for k in 0..3 {
            force[k] += d[k] * inverse * inverse * inverse;
        }
    }
}

#[kernel]
fn softmax(width: usize, x: &[f32], mut y: DisjointSlice<f32>) {
    let i = thread::index_1d();
    let row = &x[*i / width * width..][..width];
    let most = row.iter().fold(f32::MIN, |most, &x| most.max(x));
    let sum: f32 = row.iter().map(|x| (x - most).exp()).sum();
    if let Some(y) = y.get_mut(i) {
        *y = (x[*i] - most).exp() / sum;
    }
}

#[kernel]
fn sort(x: &[u32], mut y: DisjointSlice<u32>) {
    let i = thread::index_1d();
    let mut own = [0u32; 32];
    own.copy_from_slice(&x[*i..][..32]);
    own.sort_unstable();
    if let Some(y) = y.get_mut(i) {
        *y = own[16];
    }
}

#[kernel]
fn search(x: &[u32], mut y: DisjointSlice<u32>) {
    if let Some(y) = y.get_mut(thread::index_1d()) {
        *y = x.binary_search(y).unwrap_or_else(|place| place) as u32;
    }
}

#[derive(Clone, Copy)]
enum Step {
    Add(f32),
    Multiply(f32),
    Clamp { low: f32, high: f32 },
}

#[kernel]
fn interpreter(steps: [Step; 4], mut y: DisjointSlice<f32>) {
    if let Some(y) = y.get_mut(thread::index_1d()) {
        for step in steps {
            *y = match step {
                Step::Add(x) => *y + x,
                Step::Multiply(x) => *y * x,
                Step::Clamp { low, high } => y.clamp(low, high),
            };
        }
    }
}

#[kernel]
fn heap(mut y: DisjointSlice<f32>) {
    let i = thread::index_1d();
    let values: Vec<f32> = (0..*i % 8).map(|k| k as f32).collect();
    if let Some(y) = y.get_mut(i) {
        *y = values.iter().sum();
    }
}

#[kernel]
fn prints(x: &[f32]) {
    let i = *thread::index_1d();
    if x[i] < 0.0 {
        println!("element {i} is {:.3}", x[i]);
    }
}

fn main() -> oxwarp::Result<()> {
    let gpu = Gpu::new()?;
    let n = 256;
    let x = gpu.to_device(&vec![1.0f32; n])?;
    let (mut y, mut z) = (gpu.zeros::<f32>(n)?, gpu.zeros::<u32>(n)?);
    launch!(changed[1, 256](&x, &mut y))?;
    launch!(copy[1, 256](&x, &mut y))?;
    launch!(map[1, 256](|x: f32| 2.0 * x, &mut y))?;
    launch!(polynomial[1, 256]([1.0, 2.0, 3.0], &mut y))?;
    launch!(functions[1, 256](&x, &mut y))?;
    launch!(black_scholes[1, 256](&x, &mut y))?;
    launch!(mandelbrot[1, 256](16, &mut z))?;
    launch!(collatz[1, 256](&mut z))?;
    launch!(monte_carlo[1, 256](&mut z))?;
    launch!(reduction[1, 256](&x, &mut y))?;
    launch!(scan[1, 256](&mut y))?;
    launch!(warp_sum[1, 256](&x, &mut y))?;
    launch!(histogram[1, 256](&x, &mut z))?;
    launch!(count[1, 256](0.5, &x, &mut z))?;
    launch!(transpose[1, 256](16, &x, &mut y))?;
    launch!(matmul[1, 256](16, &x, &x, &mut y))?;
    launch!(matmul_tiled[1, 256](16, &x, &x, &mut y))?;
    let rows = gpu.to_device(&vec![0u32; n + 1])?;
    launch!(sparse[1, 256](&rows, &rows, &x, &x, &mut y))?;
    launch!(stencil[1, 256](16, &x, &mut y))?;
    let positions = gpu.to_device(&vec![[0.5f32; 3]; n])?;
    launch!(bodies[1, 256](&positions, &mut gpu.zeros::<[f32; 3]>(n)?))?;
    launch!(softmax[1, 256](16, &x, &mut y))?;
    launch!(sort[1, 128](&rows, &mut z))?;
    launch!(search[1, 256](&rows, &mut z))?;
    let steps = [
        Step::Add(1.0),
        Step::Multiply(2.0),
        Step::Clamp {
            low: 0.0,
            high: 3.0,
        },
        Step::Add(0.5),
    ];
    launch!(interpreter[1, 256](steps, &mut y))?;
    launch!(heap[1, 256](&mut y))?;
    launch!(prints[1, 256](&x))?;
    gpu.synchronize()
}
