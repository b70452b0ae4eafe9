//! A closure that captures a reference to host memory, which no bound on its type forbids.
use oxwarp::prelude::*;

#[kernel]
fn map(f: impl Fn(u32) -> u32 + Copy, mut y: DisjointSlice<u32>) { //~ holds a reference
    if let Some(y) = y.get_mut(thread::index_1d()) {
        *y = f(*y);
    }
}

fn main() -> oxwarp::Result<()> {
    let table: &'static [u32] = Box::leak(vec![1, 2, 3].into_boxed_slice());
    let gpu = Gpu::cpu();
    let mut y = gpu.zeros::<u32>(3)?;
    launch!(map[1, 4](move |x| table[x as usize], &mut y))?;
    Ok(())
}
