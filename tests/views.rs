//! Array views: kernels that read arrays of several dimensions, in every layout, and what their code looks like.
#![allow(missing_docs)]

mod common;
mod device_code;

use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

use common::Random;
use ndarray::{Array, Array1, Array2, ArrayD, Dimension, Ix1, Ix2, IxDyn, array, s};
use oxwarp::prelude::*;
use oxwarp::{DeviceView, Error, KernelPanic};

#[kernel]
fn matmul(a: ArrayView2<f32>, b: ArrayView2<f32>, mut c: DisjointSlice<f32, ThreadIndex2d>) {
    let i = thread::index_2d();
    if let Some(c) = c.get_mut(i) {
        let (row, col) = *i;
        let mut sum = 0.0;
        for k in 0..a.ncols() {
            sum += a[(row, k)] * b[(k, col)];
        }
        *c = sum;
    }
}

/// The same of any layout, with iterators.
#[kernel]
fn matmul_strided(
    a: ArrayView2<f32, Strided>,
    b: ArrayView2<f32, Strided>,
    mut c: DisjointSlice<f32, ThreadIndex2d>,
) {
    let i = thread::index_2d();
    if let Some(c) = c.get_mut(i) {
        let (row, col) = (a.row(i.row()), b.column(i.col()));
        *c = row.iter().zip(col).map(|(a, b)| a * b).sum();
    }
}

#[kernel]
fn matmul_tiled(a: ArrayView2<f32>, b: ArrayView2<f32>, mut c: DisjointSlice<f32, ThreadIndex2d>) {
    const T: usize = 16;
    let (tile_a, tile_b) = (shared_array![f32; T, T], shared_array![f32; T, T]);
    let i = thread::index_2d();
    let (row, col) = *i;
    let (x, y) = (
        thread::thread_idx_x() as usize,
        thread::thread_idx_y() as usize,
    );
    let mut sum = 0.0;
    for m in (0..a.ncols()).step_by(T) {
        tile_a.set((y, x), a.get((row, m + x)).copied().unwrap_or(0.0));
        tile_b.set((y, x), b.get((m + y, col)).copied().unwrap_or(0.0));
        sync_threads();
        for k in 0..T {
            sum += tile_a.get((y, k)) * tile_b.get((k, x));
        }
        sync_threads();
    }
    if let Some(c) = c.get_mut(i) {
        *c = sum;
    }
}

fn close(found: &Array2<f32>, expected: &Array2<f32>) {
    assert_eq!(found.dim(), expected.dim());
    for (found, expected) in found.iter().zip(expected) {
        let error = (found - expected).abs();
        assert!(
            error <= 1e-5 * expected.abs().max(1.0),
            "{found} {expected}"
        );
    }
}

#[test]
fn products_of_matrices() {
    let gpu = Gpu::new().unwrap();
    let x = Array2::from_shape_fn((4, 4), |(row, col)| (4 * row + col) as f32);
    let (a, b) = (
        gpu.to_device(&x).unwrap(),
        gpu.full((4, 4), 1.0f32).unwrap(),
    );
    let mut c = gpu.zeros_nd::<f32, _>((4, 4)).unwrap();
    launch!(matmul[1, (4, 4)](&a, &b, &mut c)).unwrap();
    let sums = [6.0, 22.0, 38.0, 54.0];
    assert_eq!(
        c.to_host().unwrap(),
        Array2::from_shape_fn((4, 4), |(row, _)| sums[row])
    );

    let mut random = Random::new(1);
    for (rows, inner, cols) in [(5, 23, 7), (1, 1, 1), (33, 64, 17), (3, 0, 4)] {
        let mut matrix = |rows: usize, cols: usize| {
            Array2::from_shape_vec((rows, cols), random.floats(rows * cols, -1.0, 1.0)).unwrap()
        };
        let (host_a, host_b) = (matrix(rows, inner), matrix(inner, cols));
        let expected = host_a.dot(&host_b);
        let (a, b) = (
            gpu.to_device(&host_a).unwrap(),
            gpu.to_device(&host_b).unwrap(),
        );
        let (grid, block) = ((2, 3), (16, 16));
        let mut c = gpu.full((rows, cols), 9.0f32).unwrap();
        launch!(matmul[grid, block](&a, &b, &mut c)).unwrap();
        close(&c.to_host().unwrap(), &expected);
        c.fill(9.0).unwrap();
        launch!(matmul_tiled[grid, block](&a, &b, &mut c)).unwrap();
        close(&c.to_host().unwrap(), &expected);
        c.fill(9.0).unwrap();
        launch!(matmul_strided[grid, block](&a, &b, &mut c)).unwrap();
        close(&c.to_host().unwrap(), &expected);

        // The transposes of transposes: column-major memory.
        let (a, b) = (
            gpu.to_device(&host_a.t()).unwrap(),
            gpu.to_device(&host_b.t()).unwrap(),
        );
        c.fill(9.0).unwrap();
        launch!(matmul_strided[grid, block](a.view().t(), b.view().t(), &mut c)).unwrap();
        close(&c.to_host().unwrap(), &expected);
    }
}

#[kernel]
fn copy1(x: ArrayView1<u32, Strided>, mut out: DisjointSlice<u32>) {
    let i = thread::index_1d();
    if let Some(out) = out.get_mut(i) {
        *out = x[*i];
    }
}

#[kernel]
fn copy2(x: ArrayView2<u32, Strided>, mut out: DisjointSlice<u32, ThreadIndex2d>) {
    let i = thread::index_2d();
    if let Some(out) = out.get_mut(i) {
        *out = x[*i];
    }
}

#[kernel]
fn copy3(x: ArrayView3<u32, Strided>, mut out: DisjointSlice<u32, ThreadIndex3d>) {
    let i = thread::index_3d();
    if let Some(out) = out.get_mut(i) {
        *out = x[*i];
    }
}

fn numbers<D: Dimension>(shape: impl ndarray::IntoDimension<Dim = D>) -> Array<u32, D> {
    let shape = shape.into_dimension();
    let len = shape.size() as u32;
    Array::from_shape_vec(shape, (0..len).collect()).unwrap()
}

fn copied2(gpu: &Gpu, view: DeviceView<u32, Ix2>) -> Array2<u32> {
    let mut out = gpu.full(view.dim(), 77u32).unwrap();
    launch!(copy2[(3, 4), (8, 8)](view, &mut out)).unwrap();
    out.to_host().unwrap()
}

#[test]
fn views_of_every_layout_are_what_ndarray_says() {
    let gpu = Gpu::new().unwrap();
    let host = numbers((20, 24));
    let a = gpu.to_device(&host).unwrap();
    let mut random = Random::new(2);
    let steps = [1isize, -1, 2, -3, 5];
    for _ in 0..30 {
        let mut range = |len: usize| {
            let start = random.bits() as usize % len;
            let end = start + random.bits() as usize % (len + 1 - start);
            let step = steps[random.bits() as usize % steps.len()];
            (start, end, step)
        };
        let ((r0, r1, dr), (c0, c1, dc)) = (range(20), range(24));
        let slice = s![r0..r1;dr, c0..c1;dc];
        let view = a.view().slice(slice);
        assert_eq!(view.to_host().unwrap(), host.slice(slice), "{slice:?}");
        assert_eq!(copied2(&gpu, view), host.slice(slice), "{slice:?}");
        assert_eq!(copied2(&gpu, view.t()), host.slice(slice).t(), "{slice:?}");
    }

    // One dimension taken away, and interleaved.
    let mut out = gpu.zeros::<u32>(24).unwrap();
    let row = a.view().slice(s![7, ..;-1]);
    launch!(copy1[1, 32](row, &mut out)).unwrap();
    assert_eq!(out.to_host().unwrap(), host.slice(s![7, ..;-1]));
    let mut out = gpu.zeros::<u32>(10).unwrap();
    launch!(copy1[1, 32](a.view().slice(s![1..;2, 3]), &mut out)).unwrap();
    assert_eq!(out.to_host().unwrap(), host.slice(s![1..;2, 3]));

    let host = numbers((3, 4, 5));
    let a = gpu.to_device(&host).unwrap();
    for axes in [
        [0, 1, 2],
        [2, 1, 0],
        [1, 0, 2],
        [2, 0, 1],
        [0, 2, 1],
        [1, 2, 0],
    ] {
        let (view, expected) = (
            a.view().permuted_axes(axes),
            host.view().permuted_axes(axes),
        );
        let mut out = gpu.full(view.dim(), 77u32).unwrap();
        launch!(copy3[(2, 3, 5), (4, 2, 1)](view, &mut out)).unwrap();
        assert_eq!(out.to_host().unwrap(), expected, "{axes:?}");
        assert_eq!(view.to_host().unwrap(), expected, "{axes:?}");
    }
}

/// Numbers that depend on everything that a view of two dimensions can do. It runs on the host too, where the same is
/// computed with `ndarray`.
fn facts_of_views(x: ArrayView2<u32>) -> [u32; 14] {
    // Position and value both count.
    fn mix<'a>(elements: impl IntoIterator<Item = &'a u32>) -> u32 {
        elements
            .into_iter()
            .fold(7u32, |sum, &x| sum.wrapping_mul(31).wrapping_add(x))
    }
    let (rows, cols) = x.dim();
    let inner = x.slice((1..rows - 1, 2..));
    let cube = ArrayView3::from_shape((rows, cols / 2, 2), x.as_slice()).unwrap();
    [
        mix(x),
        mix(x.row(1)),
        mix(x.column(2)),
        x.rows()
            .fold(0, |sum, row| mix(&[sum, mix(row.as_slice())])),
        x.columns().fold(0, |sum, column| mix(&[sum, mix(column)])),
        inner.rows().fold(0, |sum, row| mix(&[sum, mix(row)])),
        inner
            .t()
            .columns()
            .fold(0, |sum, column| mix(&[sum, mix(column)])),
        mix(x.invert_axis(1).row(0)),
        mix(x.step_axis(0, 2).column(0)),
        mix(cube.outer(1)),
        mix(cube.index_axis(2, 1).row(2)),
        mix(cube.swap_axes(0, 2).index_axis(1, 1).column(0)),
        cube.strides()[1] as u32 * 100 + x.t().strides()[1] as u32,
        u32::from(x.get((rows, 0)).is_none()) + u32::from(inner.get((0, cols - 2)).is_none())
            + u32::from(ArrayView2::from_shape((rows, cols + 1), x.as_slice()).is_err())
            + u32::from(x.t().to_slice().is_none())
            + u32::from(x.to_strided().to_slice() == Some(x.as_slice()))
            // Rows of a contiguous half are contiguous.
            + u32::from(x.slice((1.., ..)).to_slice() == Some(&x.as_slice()[cols..])),
    ]
}

#[kernel]
fn facts(x: ArrayView2<u32>, mut out: DisjointSlice<[u32; 14]>) {
    if let Some(out) = out.get_mut(thread::index_1d()) {
        *out = facts_of_views(x);
    }
}

#[test]
fn rows_columns_slices_and_transposes() {
    fn mix<'a>(elements: impl IntoIterator<Item = &'a u32>) -> u32 {
        elements
            .into_iter()
            .fold(7u32, |sum, &x| sum.wrapping_mul(31).wrapping_add(x))
    }
    let gpu = Gpu::new().unwrap();
    let (rows, cols) = (7, 10);
    let x = Array2::from_shape_vec((rows, cols), Random::new(3).below(70, 1000)).unwrap();
    let inner = x.slice(s![1..rows - 1, 2..]);
    let cube = x.view().into_shape_with_order((rows, 5, 2)).unwrap();
    let lines = |lines: Vec<Vec<u32>>| lines.iter().fold(0, |sum, line| mix(&[sum, mix(line)]));
    let of = |axis: ndarray::iter::Lanes<'_, u32, Ix1>| {
        lines(axis.into_iter().map(|line| line.to_vec()).collect())
    };
    let expected = [
        mix(&x),
        mix(x.row(1)),
        mix(x.column(2)),
        of(x.rows()),
        of(x.columns()),
        of(inner.rows()),
        of(inner.rows()),
        mix(x.slice(s![0, ..;-1])),
        mix(x.slice(s![..;2, 0])),
        mix(cube.slice(s![1, .., ..])),
        mix(cube.slice(s![2, .., 1])),
        mix(cube.slice(s![0, 1, ..])),
        210,
        6,
    ];
    let a = gpu.to_device(&x).unwrap();
    let mut out = gpu.full(2, [0u32; 14]).unwrap();
    launch!(facts[1, 2](&a, &mut out)).unwrap();
    assert_eq!(out.to_vec().unwrap(), [expected; 2]);
    let on_the_host = ArrayView2::from_shape((rows, cols), x.as_slice().unwrap()).unwrap();
    assert_eq!(facts_of_views(on_the_host), expected);
}

#[kernel]
fn six(x: ArrayView6<u32>, y: ArrayView5<u32>, z: ArrayView4<u32>, mut out: DisjointSlice<u32>) {
    let i = thread::index_1d();
    let [_, b, c, d, e, f] = x.shape();
    if let Some(out) = out.get_mut(i) {
        let (f, rest) = (*i % f, *i / f);
        let (e, rest) = (rest % e, rest / e);
        let (d, rest) = (rest % d, rest / d);
        let (c, rest) = (rest % c, rest / c);
        let (b, a) = (rest % b, rest / b);
        // The same elements through other paths.
        let same = x.outer(a)[(b, c, d, e, f)] == x[[a, b, c, d, e, f]]
            && x.index_axis(5, f)[(a, b, c, d, e)] == x[(a, b, c, d, e, f)]
            && x.t()[(f, e, d, c, b, a)] == x[(a, b, c, d, e, f)]
            && y[(b, c, d, e, f)] == x[(0, b, c, d, e, f)]
            && z.get((c, d, e, f)) == x.get((0, 0, c, d, e, f));
        *out = if same {
            x[(a, b, c, d, e, f)]
        } else {
            u32::MAX
        };
    }
}

#[test]
fn up_to_six_dimensions() {
    let gpu = Gpu::new().unwrap();
    let x = numbers([2, 3, 2, 4, 1, 3]);
    let (y, z) = (numbers([3, 2, 4, 1, 3]), numbers([2, 4, 1, 3]));
    let [x, y, z] = [x.into_dyn(), y.into_dyn(), z.into_dyn()].map(|x| gpu.to_device(&x).unwrap());
    let mut out = gpu.zeros::<u32>(144).unwrap();
    launch!(six[3, 64](&x, &y, &z, &mut out)).unwrap();
    assert_eq!(out.to_vec().unwrap(), (0..144).collect::<Vec<u32>>());
}

#[kernel]
fn count_cells(points: ArrayView2<u32>, cells: ArrayView2<AtomicU32>) {
    for i in thread::grid_stride(points.nrows()) {
        let cell = (points[(*i, 0)] as usize, points[(*i, 1)] as usize);
        cells[cell].fetch_add(1, Relaxed);
    }
}

#[test]
fn atomics_in_two_dimensions() {
    let gpu = Gpu::new().unwrap();
    let points = Array2::from_shape_vec((1000, 2), Random::new(4).below(2000, 5)).unwrap();
    let mut expected = Array2::<u32>::zeros((5, 6));
    for point in points.rows() {
        expected[(point[0] as usize, point[1] as usize)] += 1;
    }
    let points = gpu.to_device(&points).unwrap();
    let mut cells = gpu.zeros_nd::<u32, _>((5, 6)).unwrap();
    launch!(count_cells[3, 64](&points, &mut cells)).unwrap();
    assert_eq!(cells.to_host().unwrap(), expected);
}

/// How many elements each way of going through the view finds.
#[kernel]
fn visits(x: ArrayView2<u32>, y: ArrayView2<u32, Strided>, mut out: DisjointSlice<[usize; 6]>) {
    if let Some(out) = out.get_mut(thread::index_1d()) {
        *out = [
            x.iter().count(),
            x.rows().map(|row| row.iter().count()).sum(),
            x.columns().map(|column| column.len()).sum(),
            y.rows().map(|row| row.iter().count()).sum(),
            y.t().columns().flatten().count(),
            x.nrows() * 100 + y.invert_axis(0).slice((.., 0..0)).nrows(),
        ];
    }
}

#[test]
fn no_elements_are_no_trips() {
    let gpu = Gpu::new().unwrap();
    for (rows, cols) in [(0, 0), (0, 5), (5, 0), (3, 4)] {
        let x = gpu.zeros_nd::<u32, _>((rows, cols)).unwrap();
        let mut out = gpu.full(1, [9usize; 6]).unwrap();
        launch!(visits[1, 1](&x, x.view().slice(s![..;-1, ..]), &mut out)).unwrap();
        let all = rows * cols;
        let expected = [all, all, all, all, all, rows * 101];
        assert_eq!(out.to_vec().unwrap(), [expected], "{rows} {cols}");
        assert_eq!(
            x.view().t().to_host().unwrap(),
            Array2::<u32>::zeros((cols, rows))
        );
    }
    let none = gpu.zeros::<u32>(0).unwrap();
    let mut out = gpu.zeros::<u32>(0).unwrap();
    launch!(copy1[1, 32](&none, &mut out)).unwrap();
    assert_eq!(out.to_host().unwrap(), Array1::<u32>::zeros(0));
}

/// Elements without bytes still have a shape.
#[kernel]
fn units(x: ArrayView2<(), Strided>, mut out: DisjointSlice<usize>) {
    if let Some(out) = out.get_mut(thread::index_1d()) {
        let () = x[(2, 1)];
        *out = x.len() + x.row(1).iter().count();
    }
}

#[test]
fn elements_without_bytes() {
    let gpu = Gpu::new().unwrap();
    let x = gpu.full((3, 2), ()).unwrap();
    let mut out = gpu.zeros::<usize>(1).unwrap();
    launch!(units[1, 1](&x, &mut out)).unwrap();
    assert_eq!(out.to_vec().unwrap(), [8]);
    assert_eq!(x.view().to_host().unwrap().len(), 6);
}

macro_rules! panics {
    ($($name:ident(|$x:ident| $body:expr) => $message:literal;)*) => {$(
        #[test]
        fn $name() {
            #[kernel]
            fn kernel($x: ArrayView2<u32>, mut out: DisjointSlice<u32>) {
                let i = thread::index_1d();
                if let Some(out) = out.get_mut(i) {
                    *out = $body;
                }
            }
            let gpu = Gpu::new().unwrap();
            let x = gpu.to_device(&numbers((3, 5))).unwrap();
            let mut out = gpu.zeros::<u32>(1).unwrap();
            launch!(kernel[1, 1](&x, &mut out)).unwrap();
            let Err(Error::KernelPanic(panic)) = out.to_vec() else { panic!("no panic") };
            let KernelPanic { message, file, line, .. } = &*panic;
            assert_eq!(message, $message);
            assert!(file.ends_with("tests/views.rs"), "{file}");
            assert!((FIRST..LAST).contains(line), "{line}");
        }
    )*};
}

const FIRST: u32 = line!();
panics! {
    a_row_beyond_the_last(|x| x[(3, 0)]) => "index out of bounds: the len is 3 but the index is 3";
    a_column_beyond_the_last(|x| x[(0, 5)]) => "index out of bounds: the len is 5 but the index is 5";
    an_index_inside_the_memory_but_not_the_row(|x| x.t()[(0, 3)]) => "index out of bounds: the len is 3 but the index is 3";
    a_row_that_is_not_there(|x| x.row(4)[0]) => "index out of bounds: the len is 3 but the index is 4";
    a_column_that_is_not_there(|x| x.column(7)[0]) => "index out of bounds: the len is 5 but the index is 7";
    an_axis_that_is_not_there(|x| x.index_axis(2, 0)[0]) => "index out of bounds: the len is 2 but the index is 2";
    an_element_beyond_a_column(|x| x.column(1)[3]) => "index out of bounds: the len is 3 but the index is 3";
    a_slice_beyond_the_end(|x| x.slice((..4, ..))[(0, 0)]) => "range out of bounds of the view";
    a_slice_that_ends_before_it_starts(|x| { let (a, b) = (2, 1); x.slice((.., a..b)).len() as u32 }) => "range out of bounds of the view";
    an_index_beyond_a_slice(|x| x.slice((1..3, 1..3))[(0, 2)]) => "index out of bounds: the len is 2 but the index is 2";
    a_shape_that_does_not_fit(|x| ArrayView2::from_shape((4, 4), x.as_slice()).unwrap()[(0, 0)]) => "called `Result::unwrap()` on an `Err` value: ShapeError { len: 15 }";
    a_shape_that_overflows(|x| ArrayView2::from_shape((1 << 63, 30), &x.as_slice()[..0]).unwrap()[(0, 0)]) => "called `Result::unwrap()` on an `Err` value: ShapeError { len: 0 }";
}
const LAST: u32 = line!();

/// Any element type and number of dimensions, known from the argument.
#[kernel]
fn reverse<T: Copy, const N: usize>(x: ArrayView<T, N>, mut out: DisjointSlice<T>) {
    let i = thread::index_1d();
    if let (Some(&x), Some(out)) = (x.iter().rev().nth(*i), out.get_mut(i)) {
        *out = x;
    }
}

#[test]
fn kernels_that_are_generic_in_type_and_dimensions() {
    let gpu = Gpu::new().unwrap();
    let mut out = gpu.zeros::<u32>(12).unwrap();
    let x = gpu.to_device(&numbers((3, 4))).unwrap();
    launch!(reverse[1, 16](&x, &mut out)).unwrap();
    assert_eq!(out.to_vec().unwrap(), (0..12).rev().collect::<Vec<u32>>());
    let mut out = gpu.zeros::<f64>(2).unwrap();
    let x = gpu.to_device(&array![[[1.5]], [[2.5]]]).unwrap();
    launch!(reverse[1, 16](&x, &mut out)).unwrap();
    assert_eq!(out.to_vec().unwrap(), [2.5, 1.5]);
}

#[kernel]
fn takes_two(x: ArrayView2<u32>, mut out: DisjointSlice<u32>) {
    let i = thread::index_1d();
    if let Some(out) = out.get_mut(i) {
        *out = x[(*i, 0)];
    }
}

#[kernel]
fn takes_slice(x: &[u32], mut out: DisjointSlice<u32>) {
    let i = thread::index_1d();
    if let Some(out) = out.get_mut(i) {
        *out = x[*i];
    }
}

#[test]
fn shapes_that_a_parameter_does_not_take_are_errors() {
    let gpu = Gpu::new().unwrap();
    let x = gpu.to_device(&numbers((3, 4))).unwrap();
    let mut out = gpu.zeros::<u32>(3).unwrap();

    let text = launch!(takes_two[1, 4](x.view().t(), &mut out))
        .unwrap_err()
        .to_string();
    for part in ["[4, 3]", "[1, 4]", "standard", "Strided"] {
        assert!(text.contains(part), "{text}");
    }
    assert!(matches!(
        launch!(takes_slice[1, 4](x.view().slice(s![..;2, 0]), &mut out)),
        Err(Error::NotStandardLayout { .. })
    ));
    // A part that is in standard layout is taken.
    launch!(takes_two[1, 2](x.view().slice(s![1.., ..]), &mut out)).unwrap();
    assert_eq!(out.to_vec().unwrap(), [4, 8, 0]);
    launch!(takes_slice[1, 3](x.view().slice(s![1, 1..]), &mut out)).unwrap();
    assert_eq!(out.to_vec().unwrap(), [5, 6, 7]);

    // The number of dimensions is known only when it runs.
    let two = gpu.to_device(&ArrayD::<u32>::ones(IxDyn(&[3, 1]))).unwrap();
    launch!(takes_two[1, 3](&two, &mut out)).unwrap();
    assert_eq!(out.to_vec().unwrap(), [1; 3]);
    let three = gpu
        .to_device(&ArrayD::<u32>::ones(IxDyn(&[3, 1, 1])))
        .unwrap();
    let text = launch!(takes_two[1, 3](&three, &mut out))
        .unwrap_err()
        .to_string();
    assert!(
        text.contains("2 dimension(s)") && text.contains("[3, 1, 1]"),
        "{text}"
    );

    // An array whose length does not fit the shape is not made in the first place.
    let text = gpu
        .zeros::<u32>(12)
        .unwrap()
        .into_shape((5, 3))
        .unwrap_err()
        .to_string();
    assert!(text.contains("12 elements with shape [5, 3]"), "{text}");
}

#[test]
fn views_of_two_arrays_in_one_launch_borrow_them() {
    let gpu = Gpu::new().unwrap();
    let x = gpu.to_device(&array![[1u32, 2], [3, 4]]).unwrap();
    let (left, right) = (x.view(), x.view().t());
    assert_eq!(copied2(&gpu, left), array![[1, 2], [3, 4]]);
    assert_eq!(copied2(&gpu, right), array![[1, 3], [2, 4]]);
    assert!(format!("{right:?}").contains("[1, 2]"), "{right:?}");
}

/// What the PTX of kernels below must look like.
mod code {
    use super::*;

    /// Wrapping, so that a debug build checks no arithmetic in the loop.
    #[kernel]
    fn product_of_slices(a: &[f32], b: &[f32], n: usize, mut c: DisjointSlice<f32, ThreadIndex2d>) {
        let i = thread::index_2d();
        if let Some(c) = c.get_mut(i) {
            let (row, col) = *i;
            let mut sum = 0.0;
            for k in 0..n {
                let of_a = row.wrapping_mul(n).wrapping_add(k);
                let of_b = k.wrapping_mul(n).wrapping_add(col);
                sum += a[of_a] * b[of_b];
            }
            *c = sum;
        }
    }

    #[kernel]
    fn stencil(a: ArrayView2<f32>, mut c: DisjointSlice<f32, ThreadIndex2d>) {
        let i = thread::index_2d();
        let (row, col) = *i;
        let (rows, cols) = a.dim();
        if let Some(c) = c.get_mut(i)
            && row > 0
            && col > 0
            && row + 1 < rows
            && col + 1 < cols
        {
            let around = [
                a[(row - 1, col)],
                a[(row + 1, col)],
                a[(row, col - 1)],
                a[(row, col + 1)],
            ];
            *c = 0.25 * (around[0] + around[1] + around[2] + around[3]);
        }
    }

    /// The factor is the same at every trip, though the loop writes.
    #[kernel]
    fn scale(x: ArrayView2<f32>, factors: ArrayView2<f32>, mut c: DisjointRows<f32>) {
        let i = thread::index_1d();
        if let Some(c) = c.get_mut(i) {
            for (c, x) in c.iter_mut().zip(x.row(*i)) {
                *c = x * factors[(0, 0)];
            }
        }
    }

    fn count(code: &str, wanted: &str) -> usize {
        code.matches(wanted).count()
    }

    #[test]
    fn a_product_of_views_is_as_good_as_one_of_slices() {
        let (views, slices) = (
            device_code::of("matmul"),
            device_code::of("product_of_slices"),
        );
        // The copy of the loop without checks, the rest of its unrolling, and the copy with checks.
        let through_cache = |code: &str| count(code, "ld.global.nc.b32");
        assert_eq!(through_cache(&views), through_cache(&slices), "{views}");
        assert_eq!(
            count(&views, "fma.rn.f32"),
            count(&slices, "fma.rn.f32"),
            "{views}"
        );
        assert_eq!(count(&views, "ld.global.b32"), 0, "{views}");
        // Nothing is multiplied by an inner stride.
        assert!(
            count(&views, "mul.lo.s64") <= count(&slices, "mul.lo.s64"),
            "{views}"
        );
    }

    #[test]
    fn comparisons_with_the_extents_take_the_checks_away() {
        let code = device_code::of("stencil");
        assert_eq!(count(&code, "ld.global.nc.b32"), 4, "{code}");
        assert_eq!(count(&code, "oxwarp_panic"), 0, "{code}");
    }

    #[test]
    fn what_does_not_change_is_loaded_before_the_loop() {
        let code = device_code::of("scale");
        // One load of the factor, and one of `x` for each trip that is written out.
        let (loads, stores) = (
            count(&code, "ld.global.nc.b32"),
            count(&code, "st.global.b32"),
        );
        assert_eq!(loads, stores + 1, "{code}");
    }

    #[test]
    fn strided_views_are_read_through_the_cache() {
        let code = device_code::of("copy3");
        assert_eq!(count(&code, "ld.global.nc.b32"), 1, "{code}");
    }

    #[test]
    fn views_of_atomics_are_not_read_through_the_cache() {
        let code = device_code::of("count_cells");
        assert!(count(&code, ".add.u32") > 0, "{code}");
        assert_eq!(count(&code, "ld.global.nc.b32"), 2, "{code}");
    }

    #[test]
    fn ptxas_takes_it() {
        device_code::assembles();
    }
}
