//! The matrix units: products of random matrices in every type, from and to every kind of memory.
#![allow(missing_docs)]

#[path = "../../common/mod.rs"]
mod common;
#[path = "../../device_code/mod.rs"]
mod device_code;

use common::Random;
use ndarray::Array2;
use oxwarp::half::{Bf16, F16};
use oxwarp::matrix::{DisjointFragments, FragmentA, FragmentB, FragmentC, Matrix, Tf32, mma};
use oxwarp::prelude::*;

/// Where the kernel's fragments come from.
const GLOBAL: u32 = 0;
const GLOBAL_TRANSPOSED: u32 = 1;
const SHARED: u32 = 2;
const SHARED_TRANSPOSED: u32 = 3;

/// A slice as rows and columns.
fn rows<T>(elements: &[T], shape: (usize, usize)) -> ArrayView2<'_, T> {
    ArrayView2::from_shape(shape, elements).unwrap()
}

macro_rules! products {
    ($($name:ident: $element:ident in $stored:ident, sum $sum:ident, $rows:literal by $depth:literal,
        $random:expr, $value:expr, error $error:expr, $ptx:literal;)*) => {$(
        mod $name {
            use super::*;

            const ROWS: usize = $rows;
            const DEPTH: usize = $depth;
            const OF_LANE: usize = ROWS * 8 / 32;

            /// One tile of `a * b` for each block of a warp. The first row and column of both matrices are left out, so that
            /// rows start anywhere if they have an odd number of elements.
            #[kernel]
            fn product(a: &[$stored], b: &[$stored], shape: [usize; 3], from: u32, mut out: DisjointSlice<[$sum; OF_LANE]>) {
                let [m, n, k] = shape;
                let (row, col) = (*block::index() / (n / 8) * ROWS, *block::index() % (n / 8) * 8);
                let mut c = FragmentC::fill(0 as $sum);
                for depth in (0..k).step_by(DEPTH) {
                    let (at_a, at_b) = ((1 + row, 1 + depth), (1 + depth, 1 + col));
                    let (a_tile, b_tile) = match from {
                        GLOBAL => {
                            let (a, b) = (rows(a, (m + 1, k + 1)), rows(b, (k + 1, n + 1)));
                            (FragmentA::<$element>::load(a, at_a), FragmentB::<$element>::load(b, at_b))
                        }
                        GLOBAL_TRANSPOSED => {
                            let (a, b) = (rows(a, (k + 1, m + 1)), rows(b, (n + 1, k + 1)));
                            (FragmentA::load(a.t(), at_a), FragmentB::load(b.t(), at_b))
                        }
                        SHARED => {
                            let to_a = shared_array![$stored; ROWS, DEPTH];
                            let to_b = shared_array![$stored; DEPTH, 8];
                            sync_threads();
                            for i in (thread::index_in_block()..ROWS * DEPTH).step_by(32) {
                                let (row, col) = (i / DEPTH, i % DEPTH);
                                to_a.set((row, col), a[(at_a.0 + row) * (k + 1) + at_a.1 + col]);
                            }
                            for i in (thread::index_in_block()..8 * DEPTH).step_by(32) {
                                let (row, col) = (i / 8, i % 8);
                                to_b.set((row, col), b[(at_b.0 + row) * (n + 1) + at_b.1 + col]);
                            }
                            sync_threads();
                            (FragmentA::load(to_a, (0, 0)), FragmentB::load(to_b, (0, 0)))
                        }
                        _ => {
                            let to_a = shared_array![$stored; DEPTH, ROWS];
                            let to_b = shared_array![$stored; 8, DEPTH];
                            sync_threads();
                            for i in (thread::index_in_block()..ROWS * DEPTH).step_by(32) {
                                let (row, col) = (i / DEPTH, i % DEPTH);
                                to_a.set((col, row), a[(at_a.1 + col) * (m + 1) + at_a.0 + row]);
                            }
                            for i in (thread::index_in_block()..8 * DEPTH).step_by(32) {
                                let (row, col) = (i / 8, i % 8);
                                to_b.set((col, row), b[(at_b.1 + col) * (k + 1) + at_b.0 + row]);
                            }
                            sync_threads();
                            (FragmentA::load(to_a.t(), (0, 0)), FragmentB::load(to_b.t(), (0, 0)))
                        }
                    };
                    c = mma(&a_tile, &b_tile, c);
                }
                let tile = shared_array![$sum; ROWS, 8];
                c.store(tile, (0, 0));
                sync_threads();
                let lane = thread::index_in_block();
                if let Some(out) = out.get_mut(thread::index_1d()) {
                    *out = std::array::from_fn(|i| {
                        let i = lane * OF_LANE + i;
                        tile.get((i / 8, i % 8))
                    });
                }
            }

            fn transposed(matrix: &[$stored], [rows, cols]: [usize; 2]) -> Vec<$stored> {
                (0..rows * cols).map(|i| matrix[i % rows * cols + i / rows]).collect()
            }

            #[test]
            fn random_matrices() {
                let gpu = Gpu::new().unwrap();
                let mut random = Random::new(17);
                // Rows of an odd and of an even number of elements.
                for [m, n, k] in [[3 * ROWS, 24, 4 * DEPTH], [ROWS, 8, DEPTH], [2 * ROWS, 16, 3 * DEPTH]] {
                    let mut numbers = |count: usize| -> Vec<$stored> {
                        let number: fn(&mut Random) -> $stored = $random;
                        (0..count).map(|_| number(&mut random)).collect()
                    };
                    let (a, b) = (numbers((m + 1) * (k + 1)), numbers((k + 1) * (n + 1)));
                    let (a_t, b_t) = (transposed(&a, [m + 1, k + 1]), transposed(&b, [k + 1, n + 1]));
                    let plain = [gpu.to_device(&a).unwrap(), gpu.to_device(&b).unwrap()];
                    let turned = [gpu.to_device(&a_t).unwrap(), gpu.to_device(&b_t).unwrap()];
                    let tiles = m / ROWS * (n / 8);
                    for from in [GLOBAL, GLOBAL_TRANSPOSED, SHARED, SHARED_TRANSPOSED] {
                        let mut out = gpu.zeros::<[$sum; OF_LANE]>(tiles * 32).unwrap();
                        let [a_device, b_device] = if from % 2 == 0 { &plain } else { &turned };
                        launch!(product[tiles as u32, 32](a_device, b_device, [m, n, k], from, &mut out)).unwrap();
                        let out: Vec<$sum> = out.to_vec().unwrap().into_iter().flatten().collect();
                        for (i, &got) in out.iter().enumerate() {
                            let (tile, row, col) = (i / (ROWS * 8), i / 8 % ROWS, i % 8);
                            let (row, col) = (tile / (n / 8) * ROWS + row, tile % (n / 8) * 8 + col);
                            let value: fn($stored) -> f64 = $value;
                            let products = (0..k).map(|depth| {
                                value(a[(1 + row) * (k + 1) + 1 + depth]) * value(b[(1 + depth) * (n + 1) + 1 + col])
                            });
                            let (sum, size) = products.fold((0.0, 0.0), |(sum, size), x| (sum + x, size + x.abs()));
                            let error = (got as f64 - sum).abs();
                            assert!(error <= $error * size, "{m} {n} {k} {from}: {got} and not {sum} at {row}, {col}");
                        }
                    }
                }
                device_code::contains(&device_code::of("product"), &["mma.sync.aligned"]);
            }

            #[kernel]
            fn $name(a: &[$stored], b: &[$stored], mut out: DisjointSlice<[$sum; OF_LANE]>) {
                let (a, b) = (rows(a, (ROWS, DEPTH)), rows(b, (8, DEPTH)));
                let (a, b) = (FragmentA::<$element>::load(a, (0, 0)), FragmentB::load(b.t(), (0, 0)));
                let c = mma(&a, &b, FragmentC::fill(1 as $sum));
                if let Some(out) = out.get_mut(thread::index_1d()) {
                    out.copy_from_slice(c.elements());
                }
            }

            #[test]
            fn the_instruction() {
                device_code::contains(&device_code::of(stringify!($name)), &[$ptx]);
            }
        }
    )*};
}

products! {
    half: F16 in F16, sum f32, 16 by 16, |random| F16::from_f64(random.between(-2.0, 2.0)), F16::to_f64, error 1e-6,
        "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32";
    half_exact: F16 in F16, sum f32, 16 by 16, |random| F16::from_f64(random.between(-9.0, 9.0).round()), F16::to_f64, error 0.0,
        "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32";
    bf16: Bf16 in Bf16, sum f32, 16 by 16, |random| Bf16::from_f64(random.between(-2.0, 2.0)), Bf16::to_f64, error 1e-6,
        "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32";
    // 11 bits of each factor, rounded.
    tf32: Tf32 in f32, sum f32, 16 by 8, |random| random.between(-2.0, 2.0) as f32, f64::from, error 1e-3,
        "mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32";
    tf32_exact: Tf32 in f32, sum f32, 16 by 8, |random| random.between(-99.0, 99.0).round() as f32, f64::from, error 0.0,
        "mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32";
    double: f64 in f64, sum f64, 8 by 4, |random| random.between(-2.0, 2.0), |x| x, error 1e-15,
        "mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64";
    signed: i8 in i8, sum i32, 16 by 32, |random| random.bits() as i8, f64::from, error 0.0,
        "mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32";
    unsigned: u8 in u8, sum i32, 16 by 32, |random| random.bits() as u8, f64::from, error 0.0,
        "mma.sync.aligned.m16n8k32.row.col.s32.u8.u8.s32";
}

/// Every load that can be is an `ldmatrix`, and costs nothing else but addresses.
#[kernel]
fn from_shared(x: &[F16], mut out: DisjointSlice<[f32; 4]>) {
    let a = shared_array![F16; 16, 24];
    let b = shared_array![F16; 16, 8];
    let lane = thread::index_in_block();
    for i in (lane..256).step_by(32) {
        a.set((i / 16, i % 16), x[i]);
    }
    for i in (lane..128).step_by(32) {
        b.set((i / 8, i % 8), x[i]);
    }
    sync_threads();
    let c = mma(
        &FragmentA::<F16>::load(a, (0, 0)),
        &FragmentB::load(b, (0, 0)),
        FragmentC::fill(0.0),
    );
    if let Some(out) = out.get_mut(thread::index_1d()) {
        out.copy_from_slice(c.elements());
    }
}

#[test]
fn shared_loads_are_ldmatrix() {
    let code = device_code::of("from_shared");
    device_code::contains(
        &code,
        &[
            "ldmatrix.sync.aligned.m8n8.x4.shared.b16",
            "ldmatrix.sync.aligned.m8n8.x2.trans.shared.b16",
        ],
    );
    assert!(!code.contains("ld.shared"), "{code}");
}

/// What only some lanes use is computed by all of them.
#[kernel]
fn for_some_lanes(x: ArrayView2<f64>, mut out: DisjointSlice<f64>) {
    let a = FragmentA::<f64>::load(x, (0, 0));
    let c = mma(&a, &FragmentB::fill(2.0), FragmentC::fill(1.0));
    let i = thread::index_1d();
    if x[(0, *i % 4)] > 0.5
        && let Some(out) = out.get_mut(i)
    {
        *out = c.elements()[0];
    }
}

#[test]
fn a_product_does_not_move_into_a_branch() {
    let gpu = Gpu::new().unwrap();
    let x = gpu.to_device(&[0.0, 1.0].repeat(16)).unwrap();
    let mut out = gpu.zeros::<f64>(32).unwrap();
    launch!(for_some_lanes[1, 32](&x.into_shape([8, 4]).unwrap(), &mut out)).unwrap();
    assert_eq!(out.to_vec().unwrap(), [0.0, 5.0].repeat(16));
    let code = device_code::of("for_some_lanes");
    let (product, branch) = (
        code.find("mma.sync"),
        code.find("setp.gt.f64").or(code.find("setp.leu.f64")),
    );
    assert!(product.unwrap() < branch.unwrap(), "{code}");
}

/// Elements from a function, and where each is.
#[kernel]
fn positions(mut out: DisjointSlice<[u32; 12]>) {
    let a = FragmentA::<u8>::from_fn(|row, col| (row * 2 + col) as u8);
    let mut all = [0; 12];
    let mut next = 0;
    a.for_each(|row, col, value| {
        if next < 12 {
            all[next] = (value as usize == row * 2 + col) as u32 * (1 + row * 100 + col) as u32;
        }
        next += 1;
    });
    if let Some(out) = out.get_mut(thread::index_1d()) {
        *out = all;
    }
}

#[test]
fn elements_know_their_position() {
    let gpu = Gpu::new().unwrap();
    let mut out = gpu.zeros::<[u32; 12]>(32).unwrap();
    launch!(positions[1, 32](&mut out)).unwrap();
    for (lane, out) in out.to_vec().unwrap().into_iter().enumerate() {
        // PTX ISA, "Matrix Fragments for mma.m16n8k32".
        let expected = (0..12).map(|i| {
            let row = lane / 4 + if (4..8).contains(&i) { 8 } else { 0 };
            let col = lane % 4 * 4 + i % 4 + if i < 8 { 0 } else { 16 };
            1 + (row * 100 + col) as u32
        });
        assert_eq!(out.to_vec(), expected.collect::<Vec<_>>(), "lane {lane}");
    }
}

#[kernel]
fn outside(x: &[f64], at: usize, mut out: DisjointSlice<f64>) {
    let x = rows(x, (8, 8));
    let a = FragmentA::<f64>::load(x, (0, at));
    if let Some(out) = out.get_mut(thread::index_1d()) {
        *out = a.elements()[0];
    }
}

#[test]
fn a_fragment_outside_of_its_matrix_panics() {
    let gpu = Gpu::new().unwrap();
    let x = gpu
        .to_device(&(0..64).map(f64::from).collect::<Vec<_>>())
        .unwrap();
    let mut out = gpu.zeros::<f64>(32).unwrap();
    launch!(outside[1, 32](&x, 4, &mut out)).unwrap();
    assert_eq!(out.to_vec().unwrap()[31], 7.0 * 8.0 + 7.0);
    let launched = launch!(outside[1, 32](&x, 5, &mut out)).and_then(|()| gpu.synchronize());
    let error = launched.unwrap_err().to_string();
    assert!(
        error.contains("a fragment is not inside of its matrix"),
        "{error}"
    );
    assert!(error.contains("mma.rs"), "{error}");
}

#[kernel]
fn parted(halves: bool, mut out: DisjointSlice<f64>) {
    let i = thread::index_1d();
    let (a, b) = (FragmentA::fill(1.0), FragmentB::fill(1.0));
    let mut c = FragmentC::fill(0.0);
    if !halves || *i % 32 < 16 {
        c = mma(&a, &b, c);
    } else {
        c = mma(&a, &b, c);
        c.elements_mut()[0] += 1.0;
    }
    if let Some(out) = out.get_mut(i) {
        *out = c.elements()[0];
    }
}

/// On the simulator: a GPU gives unspecified values.
#[test]
fn lanes_that_are_missing_or_elsewhere_are_an_error() {
    let gpu = Gpu::cpu();
    let mut out = gpu.zeros::<f64>(64).unwrap();
    launch!(parted[1, 64](false, &mut out)).unwrap();
    assert_eq!(out.to_vec().unwrap(), [4.0; 64]);
    let few = launch!(parted[1, 40](false, &mut out)).and_then(|()| gpu.synchronize());
    let few = few.unwrap_err();
    assert!(few.to_string().contains("only 8"), "{few}");
    let parted = launch!(parted[1, 32](true, &mut out)).and_then(|()| gpu.synchronize());
    let parted = parted.unwrap_err();
    assert!(parted.to_string().contains("mma of f64"), "{parted}");
}

/// `c = a * b + c` of any shape, where `b` may be a part of a larger matrix, or transposed: two fragments of A for one of B.
#[kernel]
fn product_of_any_shape(
    a: ArrayView2<F16>,
    b: ArrayView2<F16, Strided>,
    mut c: DisjointFragments<f32, 32, 24>,
) {
    let Some(mut tile) = c.get_mut(block::index_2d()) else {
        return;
    };
    for mut place in tile.fragments() {
        let (row, col) = place.at();
        let mut sum = place.load();
        for k in (0..a.ncols()).step_by(16) {
            let whole = row + 16 <= a.nrows() && k + 16 <= a.ncols() && col + 8 <= b.ncols();
            let (a, b) = if whole {
                (FragmentA::load(a, (row, k)), FragmentB::load(b, (k, col)))
            } else {
                (
                    FragmentA::from_fn(|i, j| {
                        a.get((row + i, k + j)).copied().unwrap_or(F16::ZERO)
                    }),
                    FragmentB::from_fn(|i, j| {
                        b.get((k + i, col + j)).copied().unwrap_or(F16::ZERO)
                    }),
                )
            };
            sum = mma(&a, &b, sum);
        }
        place.store(&sum);
    }
}

#[test]
fn a_product_of_any_shape_is_stored_in_place() {
    let gpu = Gpu::new().unwrap();
    let mut random = Random::new(18);
    for [m, n, k] in [
        [64, 48, 32],
        [70, 50, 40],
        [1, 1, 1],
        [33, 25, 17],
        [32, 23, 16],
    ] {
        let mut numbers = |count: usize| -> Vec<f32> {
            random
                .below(count, 9)
                .iter()
                .map(|&x| x as f32 - 4.0)
                .collect()
        };
        let (a, b, c) = (numbers(m * k), numbers(n * k), numbers(m * n));
        let halves = |x: &[f32], shape: [usize; 2]| {
            let halves: Vec<F16> = x.iter().map(|&x| F16::from_f32(x)).collect();
            gpu.to_device(&halves).unwrap().into_shape(shape).unwrap()
        };
        // `b` lies column by column.
        let (a_device, b_device) = (halves(&a, [m, k]), halves(&b, [n, k]));
        let mut c_device = gpu.to_device(&c).unwrap().into_shape([m, n]).unwrap();
        let grid = (n.div_ceil(24) as u32, m.div_ceil(32) as u32);
        product_of_any_shape
            .grid(grid)
            .block(if n == 50 { 96 } else { 64 })
            .launch(&a_device, b_device.view().t(), &mut c_device)
            .unwrap();
        let expected: Vec<f32> = (0..m * n)
            .map(|i| {
                (0..k)
                    .map(|l| a[i / n * k + l] * b[i % n * k + l])
                    .sum::<f32>()
                    + c[i]
            })
            .collect();
        assert_eq!(c_device.to_vec().unwrap(), expected, "{m} {n} {k}");
    }
}

/// From a part of dynamic shared memory, and back to another.
#[kernel]
fn through_dynamic_memory(x: ArrayView2<f64>, mut out: DisjointFragments<f64, 8, 8>) {
    let mut parts = shared::dynamic();
    let (factors, sums) = (parts.array_2d::<f64>(8, 4), parts.array_2d::<f64>(8, 10));
    let lane = thread::index_in_block();
    factors.set((lane / 4, lane % 4), x[(lane / 4 % 4, lane % 4)]);
    sync_threads();
    let b = FragmentB::from_fn(|row, col| if row == col { 2.0 } else { 0.0 });
    let a = FragmentA::load(factors, (0, 0));
    let mut c = mma(&a, &b, FragmentC::fill(1.0));
    c.store(sums, (0, 2));
    sync_threads();
    c = FragmentC::load(sums, (0, 2));
    if let Some(mut tile) = out.get_mut(block::index_2d()) {
        for mut place in tile.fragments() {
            place.store(&c);
        }
    }
}

#[test]
fn dynamic_shared_memory_holds_matrices() {
    let gpu = Gpu::new().unwrap();
    let x: Vec<f64> = (0..16).map(f64::from).collect();
    let x = gpu.to_device(&x).unwrap().into_shape([4, 4]).unwrap();
    let mut out = gpu.zeros::<f64>(64).unwrap().into_shape([8, 8]).unwrap();
    through_dynamic_memory
        .grid((1, 1))
        .block(32)
        .shared_bytes((32 + 80) * 8)
        .launch(&x, &mut out)
        .unwrap();
    let expected: Vec<f64> = (0..64)
        .map(|i| {
            1.0 + if i % 8 < 4 {
                2.0 * (i / 8 % 4 * 4 + i % 8) as f64
            } else {
                0.0
            }
        })
        .collect();
    assert_eq!(out.to_vec().unwrap(), expected);
}

#[test]
fn ptxas_takes_it() {
    device_code::assembles();
}

/// Views are matrices too: B is the transpose of what lies in memory.
#[kernel]
fn product_of_views(
    a: ArrayView2<F16>,
    b: ArrayView2<F16, Strided>,
    mut out: DisjointTiles<f32, 16, 8>,
) {
    let (row, col) = *block::index_2d();
    let mut c = FragmentC::fill(0.0);
    for k in (0..a.ncols()).step_by(16) {
        let a = FragmentA::<F16>::load(a, (16 * row, k));
        c = mma(&a, &FragmentB::load(b, (k, 8 * col)), c);
    }
    let tile = shared_array![f32; 16, 8];
    c.store(tile, (0, 0));
    sync_threads();
    if let Some(mut out) = out.get_mut(block::index_2d()) {
        for (place, out) in out.indexed_iter_mut() {
            *out = tile.get(place);
        }
    }
}

#[test]
fn fragments_of_views() {
    let gpu = Gpu::new().unwrap();
    let mut random = Random::new(5);
    let mut matrix = |rows: usize, cols: usize| {
        let numbers = random.below(rows * cols, 9);
        let numbers = numbers.iter().map(|&x| x as f32 - 4.0).collect();
        Array2::from_shape_vec((rows, cols), numbers).unwrap()
    };
    let (a, b) = (matrix(32, 48), matrix(48, 24));
    let [device_a, transposed_b] =
        [a.view(), b.t()].map(|x| gpu.to_device(&x.mapv(F16::from_f32)).unwrap());
    let mut c = gpu.zeros_nd::<f32, _>((32, 24)).unwrap();
    launch!(product_of_views[(3, 2), 32](&device_a, transposed_b.view().t(), &mut c)).unwrap();
    assert_eq!(c.to_host().unwrap(), a.dot(&b));
}
