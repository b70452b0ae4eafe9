//! Brackets on what gives no references to its elements, as in CUDA C and Python.
use oxwarp::prelude::*;

#[kernel]
fn add(a: &[f32], mut c: DisjointSlice<f32>) {
    let tile = shared_array![f32; 32];
    let square = shared_array![f32; 8, 8];
    let t = thread::index_in_block();
    let i = thread::block_idx_x() as usize * thread::block_dim_x() as usize + t;
    tile[t] = a[i];
    square[t][0] = tile[t];
    c[i] = a[i];
    c[thread::index_1d()] += 1.0;
}

fn main() -> oxwarp::Result<()> {
    let gpu = Gpu::cpu();
    let mut c = gpu.zeros::<f32>(4)?;
    c[0] = 1.0;
    println!("{}", c[1]);
    Ok(())
}
