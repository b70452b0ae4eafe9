//! Heat spreads over a plate: many steps in one launch, with a barrier of the whole grid after each.
//! `cargo run --release --example heat [width]`

use oxwarp::prelude::*;

mod common;

const BLOCK: usize = 256;
const STEPS: usize = 50;

/// Each step writes one plate and reads the other. The edge keeps its temperature. All threads read what others wrote, so
/// the elements are atomics.
#[kernel]
fn heat(width: usize, a: &[AtomicF32], b: &[AtomicF32]) {
    let (mut from, mut to) = (a, b);
    for _ in 0..STEPS {
        for i in thread::grid_stride(width * width) {
            let (row, col) = (*i / width, *i % width);
            let at_edge = row == 0 || row == width - 1 || col == 0 || col == width - 1;
            let temperature = if at_edge {
                from[i].load()
            } else {
                let (above, below) = (from[*i - width].load(), from[*i + width].load());
                let (left, right) = (from[*i - 1].load(), from[*i + 1].load());
                0.25 * (above + below + (left + right))
            };
            to[i].store(temperature);
        }
        grid::sync();
        (from, to) = (to, from);
    }
}

fn step_on_host(width: usize, from: &[f32]) -> Vec<f32> {
    let mut to = from.to_vec();
    for row in 1..width - 1 {
        for col in 1..width - 1 {
            let i = row * width + col;
            to[i] = 0.25 * (from[i - width] + from[i + width] + (from[i - 1] + from[i + 1]));
        }
    }
    to
}

fn main() -> oxwarp::Result<()> {
    let width = common::size(128).max(2);
    let plate = common::random(width * width, 1);

    let gpu = Gpu::new()?;
    let mut a = gpu.to_device(&plate)?;
    let mut b = gpu.zeros::<f32>(width * width)?;
    // All blocks wait for each other, so all must run at once.
    let blocks = heat.on(&gpu).max_cooperative_blocks(BLOCK)?;
    let time = common::time(&gpu, || launch!(heat[blocks, BLOCK](width, &mut a, &mut b)))?;

    // Two launches, a warm-up and the timed one. Sums of two and a quarter of them are the same on the CPU.
    let expected = (0..2 * STEPS).fold(plate, |plate, _| step_on_host(width, &plate));
    common::report("heat", &gpu, time, &a.to_vec()?, &expected, 0.0);
    Ok(())
}
