//! A closure passed to another crate's generic kernel.
use oxwarp::prelude::*;

oxwarp::device_code!(); //~ `std::process::id

fn main() -> oxwarp::Result<()> {
    let gpu = Gpu::cpu();
    let x = gpu.zeros::<u32>(4)?;
    let mut y = gpu.zeros::<u32>(4)?;
    launch!(oxwarp::kernels::map[1, 4](|x| x + std::process::id(), &x, &mut y))?;
    Ok(())
}
