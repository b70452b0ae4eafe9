//! Host data as arguments of a launch.
use oxwarp::prelude::*;
use oxwarp::{In, Out};

#[kernel]
fn add(a: &[f32], mut c: DisjointSlice<f32>) {
    let i = thread::index_1d();
    if let Some(c) = c.get_mut(i) {
        *c += a[*i];
    }
}

fn main() -> oxwarp::Result<()> {
    let (a, mut c) = (vec![1.0f32; 4], vec![0.0f32; 4]);
    launch!(add[1, 4](In(&a), In(&c)))?;
    launch!(add[1, 4](a, Out(&mut c)))?;
    launch!(add[1, 4](In(&1.0f32), Out(&mut c)))?;
    Ok(())
}
