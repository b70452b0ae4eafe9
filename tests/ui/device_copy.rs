//! Elements of device memory.
use oxwarp::prelude::*;

struct Plain {
    x: f32,
}

#[derive(Clone, Copy, DeviceCopy)]
struct Borrows<'a> {
    name: &'a str,
    id: u32,
}

#[derive(DeviceCopy)]
struct NotCopy(f32);

#[derive(Clone, Copy, DeviceCopy)]
enum Shape<T> {
    Point,
    Function(fn(f32) -> f32),
    Of(T),
}

fn arrays(gpu: &Gpu) -> oxwarp::Result<()> {
    gpu.to_device(&vec![Plain { x: 1.0 }])?;
    gpu.to_device(&1.0f32)?;
    Ok(())
}

fn main() {}
