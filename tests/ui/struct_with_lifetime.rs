//! A parameter that holds a reference to host memory inside a struct.
use oxwarp::prelude::*;

#[derive(Clone, Copy)]
struct View<'a> {
    x: &'a [f32],
}

#[kernel]
fn view(view: View<'_>, mut y: DisjointSlice<f32>) {
    if let Some(y) = y.get_mut(thread::index_1d()) {
        *y = view.x[0];
    }
}

fn main() -> oxwarp::Result<()> {
    let gpu = Gpu::cpu();
    let mut y = gpu.zeros::<f32>(4)?;
    let host = vec![1.0f32; 4];
    launch!(view[1, 4](View { x: &host }, &mut y))?;
    Ok(())
}
