//! A closure passed to a kernel of the same file.
use oxwarp::prelude::*;

#[kernel]
fn map(f: impl Fn(u32) -> u32 + Copy, mut y: DisjointSlice<u32>) {
    if let Some(y) = y.get_mut(thread::index_1d()) {
        *y = f(*y); //~ `std::process::id
    }
}

fn main() -> oxwarp::Result<()> {
    let gpu = Gpu::cpu();
    let mut y = gpu.zeros::<u32>(4)?;
    launch!(map[1, 4](|x| x + std::process::id(), &mut y))?;
    Ok(())
}
