//! Looks into kernels: what their code does without a GPU, and what a GPU says of them.
//!
//! ```sh
//! cargo run --release --example inspect
//! ```

use ndarray::Array2;
use oxwarp::prelude::*;
use oxwarp::report::Position;

/// The sum of every row: a loop whose check is made once, before it.
#[kernel]
fn row_sums(a: ArrayView2<f32>, mut sums: DisjointSlice<f32>) {
    let row = thread::index_1d();
    if let Some(sum) = sums.get_mut(row) {
        let mut total = 0.0;
        for column in 0..a.ncols() {
            total += a[(*row, column)];
        }
        *sum = total;
    }
}

/// A gather: each index comes out of memory, so it must be checked in the loop.
#[kernel]
fn gather_sums(a: &[f32], indices: ArrayView2<u32>, mut sums: DisjointSlice<f32>) {
    let row = thread::index_1d();
    if let Some(sum) = sums.get_mut(row) {
        let mut total = 0.0;
        for column in 0..indices.ncols() {
            total += a[indices[(*row, column)] as usize];
        }
        *sum = total;
    }
}

fn main() -> oxwarp::Result<()> {
    // Without a GPU.
    println!("{}", row_sums.explain()?);
    let gather = gather_sums.explain_for(90)?;
    println!("{gather}");
    let checks: Vec<_> = gather.code().checks_at(Position::Loop).collect();
    assert_eq!(checks.len(), 1, "the check of `a` stays in the loop");

    // On the device that there is; the simulator knows less.
    let gpu = Gpu::new()?;
    let info = row_sums.inspect(&gpu)?;
    println!("{info}");
    match info.occupancy(256, 0) {
        Ok(occupancy) => println!("{} registers, {occupancy}", info.registers()?),
        Err(error) => println!("{error}"),
    }

    // A launch whose block size the driver chooses, for all registers and shared memory that the kernel takes.
    let a = gpu.to_device(&Array2::from_elem((1000, 64), 0.5f32))?;
    let mut sums = gpu.zeros::<f32>(1000)?;
    row_sums.for_each(1000).auto_block().launch(&a, &mut sums)?;
    assert_eq!(sums.to_vec()?, [32.0; 1000]);
    println!("ok");
    Ok(())
}
