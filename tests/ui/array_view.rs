//! Arrays of the wrong number of dimensions, the wrong element type and the wrong mutability for views; `ndarray`'s own
//! view; an index of another dimension.
use ndarray::Ix3;
use oxwarp::prelude::*;

#[kernel]
fn multiply(a: ArrayView2<f32>, mut c: DisjointSlice<f32, ThreadIndex2d>) {
    let i = thread::index_2d();
    if let Some(c) = c.get_mut(i) {
        *c = a[*i];
    }
}

#[kernel]
fn sort(mut rows: DisjointRows<f32, WarpIndex>) {
    let _ = rows.get_mut(warp::index());
}

#[kernel]
fn host(a: ndarray::ArrayView2<f32>) {
    let _ = a;
}

#[kernel]
fn wrong_index(a: ArrayView2<f32>, mut rows: DisjointRows<f32, WarpIndex>) {
    let _ = rows.get_mut(thread::index_1d());
    let _ = a[(0, 0, 0)];
}

fn main() -> oxwarp::Result<()> {
    let gpu = Gpu::cpu();
    let flat = gpu.zeros::<f32>(4)?;
    let a = gpu.zeros_nd::<f32, _>((2, 2))?;
    let mut cube: DeviceArray<f32, Ix3> = gpu.zeros_nd((2, 2, 2))?;
    let mut c = gpu.zeros_nd::<f32, _>((2, 2))?;
    launch!(multiply[1, (2, 2)](&flat, &mut c))?;
    launch!(multiply[1, (2, 2)](&a, &mut cube))?;
    launch!(multiply[1, (2, 2)](a.view(), c.view()))?;
    launch!(sort[1, 32](&mut cube))?;
    Ok(())
}
