//! Draws the Mandelbrot set into a PNG file. `cargo run --release --example mandelbrot [file]`

use std::ops::{Add, Mul};
use std::path::{Path, PathBuf};

use oxwarp::prelude::*;

mod common;

const ROWS: usize = 800;
const COLS: usize = 1200;
const MOST_STEPS: u32 = 256;

/// Kernels use your own types, with their operators and methods.
#[derive(Clone, Copy)]
struct Complex {
    re: f32,
    im: f32,
}

impl Add for Complex {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self {
            re: self.re + other.re,
            im: self.im + other.im,
        }
    }
}

impl Mul for Complex {
    type Output = Self;

    fn mul(self, other: Self) -> Self {
        Self {
            re: self.re * other.re - self.im * other.im,
            im: self.re * other.im + self.im * other.re,
        }
    }
}

/// Steps until the orbit of the point at `(row, col)` leaves the circle of radius 2. Also the CPU's computation below.
fn steps(row: usize, col: usize) -> u32 {
    let c = Complex {
        re: col as f32 / COLS as f32 * 3.0 - 2.0,
        im: row as f32 / ROWS as f32 * 2.0 - 1.0,
    };
    let mut z = c;
    let mut steps = 0;
    while steps < MOST_STEPS && z.re * z.re + z.im * z.im <= 4.0 {
        z = z * z + c;
        steps += 1;
    }
    steps
}

// Without `fma`, so that the GPU rounds as the CPU does: orbits near the edge of the set show every rounding.
#[kernel(fma = false)]
fn mandelbrot(mut image: DisjointSlice<u32, ThreadIndex2d>) {
    let i = thread::index_2d();
    if let Some(pixel) = image.get_mut(i) {
        *pixel = steps(i.row(), i.col());
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let file = std::env::args().nth(1).map(PathBuf::from);
    let file = file.unwrap_or_else(|| "target/mandelbrot.png".into());

    let gpu = Gpu::new()?;
    let mut image = gpu.zeros_nd::<u32, _>((ROWS, COLS))?;
    let (grid, block) = ((COLS.div_ceil(32), ROWS.div_ceil(8)), (32, 8));
    let time = common::time(&gpu, || launch!(mandelbrot[grid, block](&mut image)))?;
    let image = image.to_vec()?;

    let expected: Vec<u32> = (0..ROWS * COLS)
        .map(|i| steps(i / COLS, i % COLS))
        .collect();
    common::report("mandelbrot", &gpu, time, &image, &expected, 0.0);

    write_png(&file, &image)?;
    println!("wrote {}", file.display());
    Ok(())
}

fn write_png(file: &Path, steps: &[u32]) -> Result<(), Box<dyn std::error::Error>> {
    if let Some(folder) = file.parent() {
        std::fs::create_dir_all(folder)?;
    }
    let mut encoder = png::Encoder::new(std::fs::File::create(file)?, COLS as u32, ROWS as u32);
    encoder.set_color(png::ColorType::Rgb);
    let colors = steps.iter().flat_map(|&steps| match steps {
        MOST_STEPS => [0, 0, 0],
        _ => {
            let bright = (steps as f32 / MOST_STEPS as f32).cbrt() * 255.0;
            [bright as u8, (bright / 2.0) as u8, 64]
        }
    });
    let mut writer = encoder.write_header()?;
    writer.write_image_data(&colors.collect::<Vec<u8>>())?;
    writer.finish()?;
    Ok(())
}
