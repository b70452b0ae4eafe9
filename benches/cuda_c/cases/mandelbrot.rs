//! The Mandelbrot set: iterations until a point escapes, at most 256.

use oxwarp::prelude::*;

use super::case::{arguments, launch_either, with_unchecked};
use super::{Case, Entry, Outcome, Size, Source, Twin, Work};

with_unchecked! {
    mandelbrot_unchecked:
    #[kernel]
    fn mandelbrot(most: u32, mut counts: DisjointSlice<u32, ThreadIndex2d>) {
        let i = thread::index_2d();
        let [height, width] = counts.shape();
        let cx = i.col() as f32 / width as f32 * 3.0 - 2.0;
        let cy = i.row() as f32 / height as f32 * 2.0 - 1.0;
        if let Some(counts) = counts.get_mut(i) {
            *counts = escape(cx, cy, most);
        }
    }
}

#[inline]
fn escape(cx: f32, cy: f32, most: u32) -> u32 {
    let (mut zx, mut zy, mut count) = (0.0f32, 0.0f32, 0);
    while count < most && zx * zx + zy * zy < 4.0 {
        (zx, zy) = (zx * zx - zy * zy + cx, 2.0 * zx * zy + cy);
        count += 1;
    }
    count
}

pub const MANDELBROT: Entry = Entry {
    name: "mandelbrot",
    kernels: &["mandelbrot"],
    index_bits: 64,
    source: Source {
        name: "mandelbrot.cu",
        text: include_str!("mandelbrot.cu"),
        fast_math: false,
    },
    build: case,
};

fn case(gpu: &Gpu, size: Size) -> Outcome<Case> {
    const MOST: u32 = 256;
    let (height, width): (usize, usize) = size.pick((8192, 8192), (61, 75));
    let counts = gpu.zeros_nd::<u32, _>((height, width))?;
    let grid = (width.div_ceil(32), height.div_ceil(8));
    let twin = Twin::new(
        "mandelbrot",
        grid,
        (32, 8),
        arguments![MOST, counts, height, width],
    );
    Ok(Case::new(
        Work::Results((height * width) as f64),
        vec![twin],
        counts,
        |counts| counts.fill(u32::MAX),
        move |checks, counts| launch_either!(checks, mandelbrot / mandelbrot_unchecked[grid, (32, 8)](MOST, counts)),
        move |counts| {
            let counts = counts.to_vec()?;
            let every = size.pick(101, 1);
            let places: Vec<usize> = (0..height * width).step_by(every).collect();
            // Near the set a rounding error decides, and the sides contract products and sums each in its own way.
            let differ = places.iter().filter(|&&i| {
                let cx = (i % width) as f32 / width as f32 * 3.0 - 2.0;
                let cy = (i / width) as f32 / height as f32 * 2.0 - 1.0;
                counts[i] != escape(cx, cy, MOST)
            });
            let (differ, of) = (differ.count(), places.len());
            if differ * 100 > of {
                return Err(format!("{differ} of {of} counts differ").into());
            }
            Ok(())
        },
    ))
}
