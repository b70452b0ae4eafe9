//! A view borrows its array.
use oxwarp::prelude::*;

#[kernel]
fn transpose(a: ArrayView2<f32, Strided>, mut c: DisjointSlice<f32, ThreadIndex2d, Strided>) {
    let i = thread::index_2d();
    if let Some(c) = c.get_mut(i) {
        *c = a[*i];
    }
}

fn main() -> oxwarp::Result<()> {
    let gpu = Gpu::cpu();
    let mut a = gpu.zeros_nd::<f32, _>((2, 2))?;
    launch!(transpose[1, (2, 2)](a.view().t(), a.view_mut()))?;
    let mut row = None;
    keep(&mut row);
    Ok(())
}

/// An element of a disjoint array cannot outlive the borrow that keeps the others away.
fn two<'a>(c: &'a mut DisjointSlice<f32>) -> (Option<&'a mut f32>, Option<&'a mut f32>) {
    let i = thread::index_1d();
    (c.get_mut(i), c.get_mut(i))
}

fn keep(_: &mut Option<ThreadIndex3d>) {
    fn is_send<T: Send>(_: T) {}
    is_send(warp::index());
}
