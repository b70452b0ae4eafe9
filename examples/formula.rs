//! A kernel whose formula is known only when the program runs: it is compiled then, by the rustc that compiled this program.
//! `cargo run --release --example formula ["x.sin() / (1.0 + x * x)"]`

use oxwarp::prelude::*;
use oxwarp::{Error, RustSource, RustSourceError, rust_kernel};

mod common;

/// The formula if none is given, and the same in this program.
const USUAL: &str = "x * x - 0.5 * x + 0.25";
fn usual(x: f32) -> f32 {
    x * x - 0.5 * x + 0.25
}

rust_kernel! {
    /// `y[i] = f(x[i])`
    fn apply(x: &[f32], y: DisjointSlice<f32>);
}

fn main() -> oxwarp::Result<()> {
    let given = std::env::args().nth(1);
    let formula = given.as_deref().unwrap_or(USUAL);
    let source = RustSource::new(format!(
        "fn apply(x: &[f32], mut y: DisjointSlice<f32>) {{
             let i = thread::index_1d();
             if let Some(y) = y.get_mut(i) {{
                 let x = x[i];
                 *y = {formula};
             }}
         }}"
    ));

    let gpu = Gpu::new()?;
    let apply = match source.file_name("formula.rs").kernel::<apply>(&gpu) {
        Ok(apply) => apply,
        // A program that was carried to another machine.
        Err(Error::RustSource(error)) if !matches!(*error, RustSourceError::Compilation { .. }) => {
            println!("formula on {}: not compiled, ok; {error}", gpu.name());
            return Ok(());
        }
        Err(error) => return Err(error),
    };
    let x = common::random(1 << 20, 1);
    let device_x = gpu.to_device(&x)?;
    let mut y = gpu.zeros::<f32>(x.len())?;
    let time = common::time(&gpu, || apply.for_each(x.len()).launch(&device_x, &mut y))?;
    let y = y.to_vec()?;
    match given {
        Some(formula) => println!("{formula} of {} is {}, {time:.3?}", x[0], y[0]),
        None => {
            // A GPU contracts multiplications and additions; the terms are at most 1, and the result at least 0.18.
            let expected: Vec<_> = x.iter().map(|&x| usual(x)).collect();
            common::report("formula", &gpu, time, &y, &expected, 1e-6);
        }
    }
    Ok(())
}
