//! Device functions from PTX and LLVM bitcode: `#[device_link]`.

use oxwarp::device_link;
use oxwarp::prelude::*;

mod common;
mod device_code;

use common::Random;

#[device_link("tests/linked/ops.ptx")]
unsafe extern "C" {
    /// `a * b`
    safe fn mul_f32_f32(a: f32, b: f32) -> f32 {
        a * b
    }

    /// The sum of `n` numbers.
    fn sum_reduce(x: *const f64, n: i64) -> f64 {
        // SAFETY: as the caller of the C function promises.
        unsafe { std::slice::from_raw_parts(x, n as usize) }
            .iter()
            .sum()
    }

    safe fn with_helper(a: f32) -> f32 {
        a * 3.0 + 4.0
    }

    #[link_name = "_Z6times2i"]
    safe fn times2(x: i32) -> i32 {
        x.wrapping_mul(2)
    }

    fn store(p: *mut u32, v: u16) {
        // SAFETY: as the caller of the C function promises.
        unsafe { *p = u32::from(v) + 1 };
    }
}

#[device_link("tests/linked/more.ptx")]
unsafe extern "C" {
    safe fn times3(x: i32) -> i32;
}

mod bitcode {
    use super::device_link;

    #[device_link("tests/linked/ops.bc")]
    unsafe extern "C" {
        pub fn longest_collatz(x: *const u32, n: u64) -> u32 {
            // SAFETY: as the caller of the C function promises.
            let x = unsafe { std::slice::from_raw_parts(x, n as usize) };
            x.iter().map(|&x| steps(x)).max().unwrap_or(0)
        }

        pub safe fn axpy(a: f32, x: f32, y: f32) -> f32 {
            a * x + y
        }
    }

    pub fn steps(mut x: u32) -> u32 {
        let mut n = 0;
        while x > 1 {
            x = if x & 1 == 1 { 3 * x + 1 } else { x / 2 };
            n += 1;
        }
        n
    }
}

#[kernel]
fn multiplies(a: &[f32], b: &[f32], mut y: DisjointSlice<f32>) {
    let i = thread::index_1d();
    if let Some(y) = y.get_mut(i) {
        *y = mul_f32_f32(a[*i], b[*i]) + with_helper(1.0);
    }
}

#[kernel]
fn doubles(x: &[i32], mut y: DisjointSlice<i32>) {
    let i = thread::index_1d();
    if let Some(y) = y.get_mut(i) {
        *y = times2(x[*i]);
    }
}

#[kernel]
fn triples(x: &[i32], mut y: DisjointSlice<i32>) {
    let i = thread::index_1d();
    if let Some(y) = y.get_mut(i) {
        *y = times3(x[*i]);
    }
}

#[kernel]
fn sums_rows(x: &[f64], columns: usize, mut y: DisjointSlice<f64>) {
    let i = thread::index_1d();
    if let Some(y) = y.get_mut(i) {
        let row = &x[*i * columns..][..columns];
        // SAFETY: pointer and length are of one slice.
        *y = unsafe { sum_reduce(row.as_ptr(), columns as i64) };
    }
}

#[kernel]
fn stores(mut y: DisjointSlice<u32>) {
    let i = thread::index_1d();
    if let Some(y) = y.get_mut(i) {
        // SAFETY: the address is that of this thread's element.
        unsafe { store(y, *i as u16) };
    }
}

#[kernel]
fn longest(x: &[u32], columns: usize, mut y: DisjointSlice<u32>) {
    let i = thread::index_1d();
    if let Some(y) = y.get_mut(i) {
        let row = &x[*i * columns..][..columns];
        // SAFETY: pointer and length are of one slice.
        *y = unsafe { bitcode::longest_collatz(row.as_ptr(), columns as u64) };
    }
}

#[kernel]
fn linear(a: f32, x: &[f32], mut y: DisjointSlice<f32>) {
    let i = thread::index_1d();
    if let Some(y) = y.get_mut(i) {
        *y = bitcode::axpy(a, x[*i], *y);
    }
}

#[test]
fn functions_of_ptx_run() -> oxwarp::Result<()> {
    let gpu = Gpu::new()?;
    let mut random = Random::new(3);
    let (a, b) = (
        random.floats(1000, -4.0, 4.0),
        random.floats(1000, -4.0, 4.0),
    );
    let mut y = gpu.zeros::<f32>(1000)?;
    multiplies
        .for_each(1000usize)
        .launch(&gpu.to_device(&a)?, &gpu.to_device(&b)?, &mut y)?;
    for ((y, a), b) in y.to_vec()?.iter().zip(&a).zip(&b) {
        // The linked function may be inlined and its product contracted.
        assert!((y - (a * b + 7.0)).abs() < 1e-5, "{a} {b}: {y}");
    }

    let x: Vec<i32> = (0..1000).map(|_| random.bits() as i32).collect();
    let mut y = gpu.zeros::<i32>(1000)?;
    doubles
        .for_each(1000usize)
        .launch(&gpu.to_device(&x)?, &mut y)?;
    let expected: Vec<i32> = x.iter().map(|x| x.wrapping_mul(2)).collect();
    assert_eq!(y.to_vec()?, expected);

    let x: Vec<f64> = (0..64 * 33).map(|_| random.between(-1.0, 1.0)).collect();
    let mut sums = gpu.zeros::<f64>(64)?;
    sums_rows
        .for_each(64usize)
        .launch(&gpu.to_device(&x)?, 33, &mut sums)?;
    for (sum, row) in sums.to_vec()?.iter().zip(x.chunks(33)) {
        assert!((sum - row.iter().sum::<f64>()).abs() < 1e-12);
    }

    let mut y = gpu.zeros::<u32>(500)?;
    stores.for_each(500usize).launch(&mut y)?;
    assert_eq!(y.to_vec()?, (1..=500).collect::<Vec<u32>>());
    Ok(())
}

#[test]
fn functions_of_bitcode_run() -> oxwarp::Result<()> {
    let gpu = Gpu::new()?;
    let mut random = Random::new(4);
    let x: Vec<u32> = random.below(100 * 7, 10000);
    let mut y = gpu.zeros::<u32>(100)?;
    longest
        .for_each(100usize)
        .launch(&gpu.to_device(&x)?, 7, &mut y)?;
    let longest_of = |row: &[u32]| row.iter().map(|&x| bitcode::steps(x)).max().unwrap();
    let expected: Vec<u32> = x.chunks(7).map(longest_of).collect();
    assert_eq!(y.to_vec()?, expected);

    let (x, y) = (random.floats(300, -1.0, 1.0), random.floats(300, -1.0, 1.0));
    let mut out = gpu.to_device(&y)?;
    linear
        .for_each(300usize)
        .launch(3.5, &gpu.to_device(&x)?, &mut out)?;
    for ((out, x), y) in out.to_vec()?.iter().zip(&x).zip(&y) {
        assert!((out - (3.5 * x + y)).abs() < 1e-6);
    }
    Ok(())
}

#[test]
fn a_function_without_a_body_is_a_panic_on_the_simulator() -> oxwarp::Result<()> {
    let gpu = Gpu::cpu();
    let mut y = gpu.zeros::<i32>(3)?;
    triples
        .for_each(3usize)
        .launch(&gpu.to_device(&vec![1, 2, 3])?, &mut y)?;
    let error = y.to_vec().unwrap_err().to_string();
    let text = "`times3` is device code, of tests/linked/more.ptx: to run on the simulator its declaration needs a body";
    assert!(error.contains(text), "{error}");
    Ok(())
}

#[test]
fn a_function_without_a_body_runs_on_a_gpu() -> oxwarp::Result<()> {
    let gpu = Gpu::new()?;
    if gpu.is_simulator() {
        return Ok(());
    }
    let mut y = gpu.zeros::<i32>(3)?;
    triples
        .for_each(3usize)
        .launch(&gpu.to_device(&vec![1, 2, -3])?, &mut y)?;
    assert_eq!(y.to_vec()?, [3, 6, -9]);
    Ok(())
}

#[test]
fn linked_code_is_in_the_ptx() {
    let ptx = device_code::all();
    for function in ["mul_f32_f32", "sum_reduce", "_Z6times2i", "times3"] {
        let definition = ptx
            .find(&format!(" {function}("))
            .unwrap_or_else(|| panic!("no {function} in\n{ptx}"));
        let call = ptx[definition..].find(&format!("{function},"));
        assert!(call.is_some(), "no call of {function} after its definition");
        assert!(!ptx.contains(&format!(".extern .func {function}")));
    }
    // LLVM inlines bitcode.
    device_code::contains(&device_code::of("linear"), &["fma.rn.f32"]);
    assert!(
        !device_code::of("linear").contains("axpy"),
        "{}",
        device_code::of("linear")
    );
    device_code::assembles();
}
