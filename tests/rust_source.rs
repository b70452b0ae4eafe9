//! Kernels whose Rust source is compiled when the program runs. Where the compiler of this program is not there, the tests
//! say so and pass.
#![allow(missing_docs)]

mod common;

use common::Random;
use oxwarp::prelude::*;
use oxwarp::report::{Direction, Space};
use oxwarp::{Checks, Error, Out, RustKernel, RustSource, RustSourceError, rust_kernel};

rust_kernel! {
    /// `y[i] = f(x[i])`
    fn apply(x: &[f32], y: DisjointSlice<f32>);
    pub fn sums(scale: f64, x: &[f64], mut partial: DisjointSlice<f64, BlockIndex>);
    unsafe fn write(first: *mut f32);
    fn count(counts: &[std::sync::atomic::AtomicU32]);
    fn hand_over(is_set: bool, flags: &[std::sync::atomic::AtomicU32]);
}

/// `y[i] = f(x[i])`, in lines of which the third is the formula.
fn formula(formula: &str) -> RustSource {
    RustSource::new(format!(
        "fn apply(x: &[f32], mut y: DisjointSlice<f32>) {{
             let (i, at) = (thread::index_1d(), |i: usize| x[i]);
             let f = |x: f32, i: usize| {formula};
             if let Some(y) = y.get_mut(i) {{ *y = f(at(*i), *i) }}
         }}"
    ))
    .file_name("formula.rs")
}

/// Whether this program was carried to another machine than the one that built it.
fn is_elsewhere(error: &RustSourceError) -> bool {
    match error {
        RustSourceError::NoCompiler { .. } => true,
        RustSourceError::Rebuilt { library, .. } => !library.exists(),
        _ => false,
    }
}

/// The kernel, or `None` where there is no compiler.
fn kernel<K: RustKernel>(source: &RustSource, gpu: &Gpu) -> Option<K> {
    match source.kernel(gpu) {
        Err(Error::RustSource(error)) if is_elsewhere(&error) => {
            eprintln!("skipped: {error}");
            None
        }
        other => Some(other.unwrap()),
    }
}

/// The error of a source, and its text; `None` where there is no compiler.
fn failure<K: RustKernel>(source: &RustSource) -> Option<(RustSourceError, String)> {
    let gpu = Gpu::new().unwrap();
    kernel::<apply>(&formula("x"), &gpu)?;
    match source.kernel::<K>(&gpu).map(drop).unwrap_err() {
        Error::RustSource(error) => {
            let text = error.to_string();
            Some((*error, text))
        }
        other => panic!("{other}"),
    }
}

macro_rules! check {
    ($kernel:ty: $source:expr, $pattern:pat, $($text:expr),*) => {
        if let Some((error, text)) = failure::<$kernel>(&$source) {
            assert!(matches!(error, $pattern), "{text}");
            $(assert!(text.contains($text), "no `{}` in: {text}", $text);)*
        }
    };
}

#[test]
fn a_formula_becomes_a_kernel() {
    let gpu = Gpu::new().unwrap();
    let x = Random::new(7).floats(1000, -3.0, 3.0);
    let device_x = gpu.to_device(&x).unwrap();
    type Function = fn(f32) -> f32;
    let formulas: [(&str, Function); 2] = [
        ("x.abs().max(1.0) * 2.0", |x| x.abs().max(1.0) * 2.0),
        ("if x > 0.0 { -x } else { 0.25 }", |x| {
            if x > 0.0 { -x } else { 0.25 }
        }),
    ];
    let mut kernels = Vec::new();
    for (text, function) in formulas {
        let Some(apply) = kernel::<apply>(&formula(text), &gpu) else {
            return;
        };
        kernels.push((apply, function));
    }
    for (apply, _) in &kernels {
        let report = apply.explain().unwrap();
        let stored = report.code().bytes(Direction::Store, Space::Global);
        assert_eq!((report.name(), stored), ("apply", 4), "{report}");
        let info = apply.inspect(&gpu).unwrap();
        assert!(info.ptx().starts_with(".visible .entry apply_"), "{info}");
    }
    let stream = gpu.new_stream().unwrap();
    // Both stay what they are.
    for (apply, function) in kernels {
        let expected: Vec<_> = x.iter().map(|&x| function(x)).collect();
        for shaped in [
            apply.for_each(1000),
            apply.block(100).grid(10),
            apply.grid(4).block(256).on(&stream),
        ] {
            let mut y = gpu.zeros::<f32>(1000).unwrap();
            shaped.launch(&device_x, &mut y).unwrap();
            assert_eq!(y.to_vec().unwrap(), expected);
        }
        let mut y = gpu.zeros::<f32>(1000).unwrap();
        let profile = gpu
            .profile(|| apply.for_each(3).launch(&device_x, &mut y))
            .unwrap();
        assert_eq!(profile.records()[0].name, "apply");
        launch!(apply[4, 256](&device_x, &mut y)).unwrap();
        assert_eq!(y.to_vec().unwrap(), expected);
        let mut z = vec![0f32; 1000];
        let each = apply.for_each(1000);
        each.launch(&device_x, Out(&mut z)).unwrap();
        assert_eq!(z, expected);
    }
}

#[test]
fn threads_of_a_block_work_together() {
    let source = RustSource::new(
        "oxwarp::prelude::constant! {
             static OFFSET: [f64; 2] = [0.5, 1.5];
         }
         use oxwarp::constant;
         fn sums(scale: f64, x: &[f64], mut partial: DisjointSlice<f64, BlockIndex>) {
             let temp = shared_array![f64; 64];
             let (i, t) = (thread::index_1d(), thread::index_in_block());
             temp.set(t, if *i < x.len() { scale * x[*i] + OFFSET[1] } else { 0.0 });
             sync_threads();
             let mut stride = block::len() / 2;
             while stride > 0 {
                 if t < stride {
                     temp.set(t, temp.get(t) + temp.get(t + stride));
                 }
                 sync_threads();
                 stride /= 2;
             }
             if let Some(sum) = partial.get_mut(block::index()) {
                 *sum = temp.get(0);
             }
         }",
    );
    let gpu = Gpu::new().unwrap();
    let Some(sums) = kernel::<sums>(&source, &gpu) else {
        return;
    };
    let x: Vec<_> = (0..200).map(f64::from).collect();
    let device_x = gpu.to_device(&x).unwrap();
    let mut partial = gpu.zeros::<f64>(4).unwrap();
    sums.grid(4)
        .block(64)
        .launch(2.0, &device_x, &mut partial)
        .unwrap();
    let expected: Vec<f64> = x
        .chunks(64)
        .map(|chunk| chunk.iter().map(|x| 2.0 * x + 1.5).sum())
        .collect();
    assert_eq!(partial.to_vec().unwrap(), expected);

    let mut refused = |kernel: &sums, text: &str| {
        let error = kernel.launch(1.0, &device_x, &mut partial).unwrap_err();
        assert!(error.to_string().contains(text), "{error}");
    };
    refused(&sums.grid(1).block(1025), "kernel `sums`");
    refused(&sums.block(1), "without a grid size");
    refused(
        &sums.grid(1).block(1).shared_bytes(1 << 20),
        "1048576 bytes of dynamic",
    );
}

#[test]
fn a_panic_names_the_line_of_the_source() {
    let gpu = Gpu::new().unwrap();
    let Some(apply) = kernel::<apply>(&formula("[x, 1.0][i + i]"), &gpu) else {
        return;
    };
    let x = gpu.to_device(&[5.0f32, 6.0]).unwrap();
    let mut y = gpu.zeros::<f32>(2).unwrap();
    apply.grid(1).block(1).launch(&x, &mut y).unwrap();
    assert_eq!(y.to_vec().unwrap(), [5.0, 0.0]);
    apply.grid(1).block(2).launch(&x, &mut y).unwrap();
    match gpu.synchronize() {
        Err(Error::KernelPanic(panic)) => {
            assert_eq!(panic.kernel, Some("apply"));
            assert_eq!(
                (panic.file.as_str(), panic.line),
                ("formula.rs", 3),
                "{panic}"
            );
            assert!(
                panic.message.contains("len is 2 but the index is 2"),
                "{panic}"
            );
            assert_eq!(panic.thread.x, 1);
        }
        other => panic!("{other:?}"),
    }
    // The device works on.
    apply.grid(1).block(1).launch(&x, &mut y).unwrap();
    assert_eq!(y.to_vec().unwrap()[0], 5.0);
}

#[test]
fn what_the_source_gets_wrong_is_in_the_error_with_its_line() {
    use RustSourceError::Compilation;
    check!(apply: formula("x + unknown"), Compilation { .. }, "formula.rs does not compile", "formula.rs:3:", "unknown");
    check!(apply: formula("x +"), Compilation { .. }, "formula.rs:");
    check!(sums: formula("x"), Compilation { .. }, "`sums`");
    let swapped = "fn apply(mut y: DisjointSlice<f32>, x: &[f32]) { let _ = (x, y.get_mut(thread::index_1d())); }";
    check!(apply: RustSource::new(swapped), Compilation { .. }, "source.rs:1:", "&[f32]");
    let file = "{ let _ = std::fs::read(\"file\"); x }";
    check!(apply: formula(file), Compilation { .. }, "no device code", "formula.rs:3:");
}

#[test]
fn unsafe_code_is_refused_unless_it_is_allowed() {
    let text = "unsafe fn write(first: *mut f32) { unsafe { *first = 3.0 } }";
    let source = RustSource::new(text);
    check!(write: source, RustSourceError::Compilation { .. }, "unsafe");
    check!(
        apply: formula("unsafe { f32::from_bits(std::mem::transmute::<f32, u32>(x)) }"),
        RustSourceError::Compilation { .. },
        "formula.rs:3:", "unsafe"
    );
    let gpu = Gpu::new().unwrap();
    // SAFETY: the function writes where its caller says.
    let allowed = unsafe { source.with_unsafe_code() };
    let Some(write) = kernel::<write>(&allowed, &gpu) else {
        return;
    };
    let mut x = gpu.zeros::<f32>(2).unwrap();
    let address = x.device_ptr() as *mut f32;
    // SAFETY: the array has an element there, and one thread writes it.
    unsafe { write.on(&gpu).grid(1).block(1).launch(address) }.unwrap();
    gpu.synchronize().unwrap();
    assert_eq!(x.to_vec().unwrap(), [3.0, 0.0]);
    x.fill(1.0).unwrap();
}

/// Lines of `write`, which the caller's pointer does not allow.
fn faulty(lines: &str) -> RustSource {
    let source = RustSource::new(format!("unsafe fn write(first: *mut f32) {{\n{lines}\n}}"));
    // SAFETY: none: the accesses are what is to be found, and the simulator's checks stop them.
    unsafe { source.file_name("faulty.rs").with_unsafe_code() }
}

#[test]
#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
fn the_simulator_finds_accesses_that_it_must_not_make() {
    let gpu = Gpu::cpu_with(Checks::on());
    let element = "let i = *thread::index_1d();\nunsafe { *first.add(i) = 3.0 }";
    let sum = "unsafe { *first += 1.0 }";
    let (Some(element), Some(sum)) = (
        kernel::<write>(&faulty(element), &gpu),
        kernel::<write>(&faulty(sum), &gpu),
    ) else {
        return;
    };
    let ends_with = |kernel: &write, address: u64, blocks: u32, parts: &[&str]| {
        let launch = kernel.on(&gpu).grid(blocks).block(256);
        // SAFETY: none, as above.
        let launched = unsafe { launch.launch(address as *mut f32) };
        let error = launched.and_then(|()| gpu.synchronize()).unwrap_err();
        assert!(matches!(error, Error::Check { .. }), "{error:?}");
        let text = error.to_string();
        for part in parts {
            assert!(text.contains(part), "no `{part}` in: {text}");
        }
    };
    let x = gpu.zeros::<f32>(64 * 256).unwrap();
    let outside = [
        "kernel `write`: byte 65536 from the start of an array of 65536 bytes is accessed: beyond its end",
        "block (64, 0, 0), thread (0, 0, 0) writes it in `",
        "at faulty.rs:3:",
        "`bounds`",
    ];
    ends_with(&element, x.device_ptr(), 65, &outside);
    let fills = |blocks: u32, address: u64| {
        let launch = element.on(&gpu).grid(blocks).block(256);
        // SAFETY: each thread writes its own element.
        unsafe { launch.launch(address as *mut f32) }.unwrap();
    };
    // The device works on.
    fills(64, x.device_ptr());
    assert!(x.to_vec().unwrap().iter().all(|&x| x == 3.0));

    let address = x.device_ptr();
    drop(x);
    let freed = ["of an array of 65536 bytes is accessed, which was freed"];
    ends_with(&element, address, 1, &freed);

    // SAFETY: none: nothing writes the elements, which is what is to be found.
    let unwritten = unsafe { gpu.uninit::<f32, _>(256) }.unwrap();
    let read = [
        "byte 0 of an array of 1024 bytes is read, but nothing has written it",
        "`init`",
    ];
    ends_with(&sum, unwritten.device_ptr(), 1, &read);
    // A write is no mistake.
    fills(1, unwritten.device_ptr());
    assert_eq!(unwritten.to_vec().unwrap(), [3.0; 256]);
}

#[test]
fn the_simulator_runs_others_while_a_thread_spins() {
    let gpu = Gpu::cpu();
    let source = RustSource::new(
        "use std::sync::atomic::{AtomicU32, Ordering::*};
         fn hand_over(is_set: bool, flags: &[AtomicU32]) {
             if thread::thread_idx_x() == 31 {
                 flags[0].store(is_set as u32, Release);
             } else {
                 while flags[0].load(Acquire) == 0 {}
                 flags[1].fetch_add(1, Relaxed);
             }
         }",
    );
    let Some(hand_over) = kernel::<hand_over>(&source, &gpu) else {
        return;
    };
    let mut flags = gpu.zeros::<u32>(2).unwrap();
    hand_over
        .grid(1)
        .block(32)
        .launch(true, &mut flags)
        .unwrap();
    assert_eq!(flags.to_vec().unwrap(), [1, 31]);
    let mut flags = gpu.zeros::<u32>(2).unwrap();
    hand_over
        .grid(1)
        .block(32)
        .launch(false, &mut flags)
        .unwrap();
    let error = gpu.synchronize().unwrap_err().to_string();
    assert!(error.contains("wait in a loop"), "{error}");
}

mod other_types {
    pub type Real = f64;

    oxwarp::rust_kernel! {
        pub fn copy(x: Real);
    }
}

#[test]
fn types_of_one_name_are_told_apart() {
    let source = RustSource::new("type Real = f32;\nfn copy(x: Real) { let _ = x; }");
    check!(other_types::copy: source, RustSourceError::Types { .. }, "`copy`", "not those of the declaration");
}

#[test]
fn host_threads_compile_one_source_once() {
    let gpu = Gpu::new().unwrap();
    let source = RustSource::new(
        "use std::sync::atomic::Ordering::Relaxed;
         fn count(counts: &[std::sync::atomic::AtomicU32]) { counts[thread::block_idx_x() as usize].fetch_add(1, Relaxed); }"
    );
    if kernel::<count>(&source, &gpu).is_none() {
        return;
    }
    std::thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| {
                let count = source.kernel::<count>(&gpu).unwrap();
                let mut counts = gpu.zeros::<u32>(3).unwrap();
                count.grid(3).block(70).launch(&mut counts).unwrap();
                assert_eq!(counts.to_vec().unwrap(), [70; 3]);
            });
        }
    });
}

#[test]
fn files_are_read_or_the_error_names_them() {
    let gpu = Gpu::new().unwrap();
    let folder = std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join("rust source");
    std::fs::create_dir_all(&folder).unwrap();
    let file = folder.join("a file.rs");
    std::fs::write(
        &file,
        "fn apply(x: &[f32], y: DisjointSlice<f32>) { let _ = (x, y, here); }",
    )
    .unwrap();
    let source = RustSource::from_file(&file).unwrap();
    check!(apply: source, RustSourceError::Compilation { .. }, "a_file.rs:1:", "here");
    let error = RustSource::from_file("/no/such/file.rs")
        .unwrap_err()
        .to_string();
    assert!(error.contains("/no/such/file.rs"), "{error}");
    drop(gpu);
}
