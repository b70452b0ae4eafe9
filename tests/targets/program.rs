//! A program for three targets, with code that only some of them have. It prints its PTX, and what its kernel computes.
use oxwarp::__private::{DeviceCode, inventory};
use oxwarp::prelude::*;
use oxwarp::{ptx, target};

/// Two numbers as fp8 (e4m3), by the instruction that sm_89 has.
fn converted(x: f32, y: f32) -> u16 {
    target::require_sm(89, "`cvt.rn.satfinite.e4m3x2.f32`");
    target::require_ptx(81);
    // SAFETY: the instruction reads its inputs and writes its output.
    unsafe {
        ptx!(pure, "cvt.rn.satfinite.e4m3x2.f32 {0}, {1}, {2};", out(u16), in x, in y; else by_hand(x, y))
    }
}

/// The same for powers of two from 1 to 256.
fn by_hand(x: f32, y: f32) -> u16 {
    let one = |x: f32| ((x.to_bits() >> 23) as u16 - 127 + 7) << 3;
    one(x) << 8 | one(y)
}

#[kernel]
fn convert(x: &[f32], mut y: DisjointSlice<u16>) {
    let i = thread::index_1d();
    if let Some(y) = y.get_mut(i) {
        *y = if target::sm() >= 89 {
            converted(x[*i], 1.0)
        } else {
            by_hand(x[*i], 1.0)
        };
    }
}

#[kernel]
fn scales(mut y: DisjointSlice<u32>) {
    let i = thread::index_1d();
    if let Some(y) = y.get_mut(i) {
        *y = linked::scale(*i as u32);
    }
}

fn main() -> oxwarp::Result<()> {
    let gpu = Gpu::new()?;
    let x: Vec<f32> = (0..9).map(|power| (1u32 << power) as f32).collect();
    let x = gpu.to_device(&x)?;
    let mut y = gpu.zeros::<u16>(9)?;
    convert.for_each(9).launch(&x, &mut y)?;
    println!("{:x?}", y.to_vec()?);
    let mut y = gpu.zeros::<u32>(5)?;
    scales.for_each(5).launch(&mut y)?;
    println!("{:?}", y.to_vec()?);
    for image in inventory::iter::<DeviceCode>
        .into_iter()
        .flat_map(|code| code.images)
    {
        println!("sm_{}\n{}", image.target, image.ptx.to_str().unwrap());
    }
    Ok(())
}
