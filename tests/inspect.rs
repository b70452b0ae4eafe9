//! Looking into kernels: `explain` without a GPU, `inspect` on a device, and launches whose block the driver chooses.
//!
//! What `explain` says is checked against what the source of each kernel must lead to. What a GPU says is checked against
//! the kernel's own limits and against the arithmetic of occupancy.

use std::process::Command;

use oxwarp::kernels::map;
use oxwarp::prelude::*;
use oxwarp::report::{Access, Direction, Multiprocessor, Position, Space, ToolError};
use oxwarp::{CudaImage, Error, KernelInfo, KernelReport, Limiter, Occupancy, cuda_kernel};

mod common;

use common::Random;

/// The check of `a` needs an index from memory, so it stays in the loop.
#[kernel]
fn gather(a: &[f32], indices: ArrayView2<u32>, mut sums: DisjointSlice<f32>) {
    let row = thread::index_1d();
    if let Some(sum) = sums.get_mut(row) {
        for column in 0..indices.ncols() {
            *sum += a[indices[(*row, column)] as usize];
        }
    }
}

/// The line of `a[...]` above.
const GATHER: u32 = line!() - 6;

/// One load of 16 bytes and an `fma` each of its four numbers.
#[kernel]
fn vectors(x: &[oxwarp::vector::Float4], a: f32, b: f32, mut y: DisjointSlice<[f32; 4]>) {
    let i = thread::index_1d();
    if let Some(y) = y.get_mut(i) {
        let x = x[*i];
        *y = [x.x, x.y, x.z, x.w].map(|x| a.mul_add(x, b));
    }
}

/// 4 KiB of static shared memory.
#[kernel]
fn reverse(mut x: DisjointSlice<f32>) {
    let shared = shared_array![f32; 1024];
    let t = thread::index_in_block();
    let value = x.get_mut(thread::index_1d()).map(|x| *x);
    shared.set(t, value.unwrap_or(0.0));
    sync_threads();
    if let Some(x) = x.get_mut(thread::index_1d()) {
        *x = shared.get(block::len() - 1 - t);
    }
}

/// Forty running sums do not fit into 24 registers.
#[kernel(max_registers = 24)]
fn capped(x: &[f32], rounds: u32, mut y: DisjointSlice<f32>) {
    let i = thread::index_1d();
    if let Some(y) = y.get_mut(i) {
        let mut sums = [x[*i]; 40];
        for _ in 0..rounds {
            let first = sums[0];
            for k in 0..40 {
                let next = if k < 39 { sums[k + 1] } else { first };
                sums[k] = sums[k] * 1.5 + next;
            }
        }
        *y = sums.iter().sum();
    }
}

/// Writes its block's size.
#[kernel]
fn block_size(mut out: DisjointSlice<u32>) {
    if let Some(out) = out.get_mut(thread::index_1d()) {
        *out = block::len() as u32;
    }
}

#[kernel(launch_bounds(96))]
fn bounded_block_size(mut out: DisjointSlice<u32>) {
    if let Some(out) = out.get_mut(thread::index_1d()) {
        *out = block::len() as u32;
    }
}

#[kernel]
fn block_size_2d(mut out: DisjointSlice<u32, ThreadIndex2d>) {
    if let Some(out) = out.get_mut(thread::index_2d()) {
        *out = block::len() as u32;
    }
}

#[kernel]
fn scale<T: Copy + std::ops::Mul<Output = T>>(factor: T, mut x: DisjointSlice<T>) {
    if let Some(x) = x.get_mut(thread::index_1d()) {
        *x = *x * factor;
    }
}

/// The report, or `None` on a machine without `ptxas`, where that must be what is missing.
fn with_ptxas(report: oxwarp::Result<KernelReport>) -> oxwarp::Result<Option<KernelReport>> {
    let report = report?;
    match report.assembled() {
        Ok(_) => return Ok(Some(report)),
        Err(ToolError::NotFound { tool, .. }) => assert_eq!(tool, "ptxas"),
        Err(error) => return Err(error.into()),
    }
    assert!(
        report
            .to_string()
            .contains("registers, spills and occupancy are unknown: no `ptxas`"),
        "{report}"
    );
    Ok(None)
}

#[test]
fn explain_counts_loads_stores_and_fma() -> oxwarp::Result<()> {
    let report = vectors.explain()?;
    let code = report.code();
    let access = |direction, space, bytes| Access {
        direction,
        space,
        bytes,
    };
    assert_eq!(
        code.accesses[&access(Direction::Load, Space::ReadOnly, 16)],
        1,
        "{report}"
    );
    assert_eq!(code.bytes(Direction::Load, Space::ReadOnly), 16, "{report}");
    assert_eq!(code.bytes(Direction::Store, Space::Global), 16, "{report}");
    assert_eq!((code.fma, code.barriers, code.loops), (4, 0, 0), "{report}");

    let report = reverse.explain()?;
    let code = report.code();
    assert_eq!(code.barriers, 1, "{report}");
    assert_eq!(
        code.accesses[&access(Direction::Store, Space::Shared, 4)],
        1,
        "{report}"
    );
    assert_eq!(
        code.accesses[&access(Direction::Load, Space::Shared, 4)],
        1,
        "{report}"
    );
    assert!(
        report.ptx().contains("bar.sync") && report.ptx().contains(report.symbol()),
        "{}",
        report.ptx()
    );
    Ok(())
}

#[test]
fn explain_names_the_line_of_each_check_that_is_left_in_a_loop() -> oxwarp::Result<()> {
    let report = gather.explain()?;
    let checks: Vec<_> = report.code().checks_at(Position::Loop).collect();
    assert_eq!(checks.len(), 1, "{report}");
    let (place, what) = checks[0].panics.first().unwrap();
    let place = place.as_ref().unwrap();
    assert_eq!(
        (place.file.as_str(), place.line),
        (file!(), GATHER),
        "{report}"
    );
    assert_eq!(what, "index out of bounds");
    assert!(
        report
            .to_string()
            .contains(&format!("{}:{GATHER}:21: index out of bounds", file!())),
        "{report}"
    );
    // The check of the row is none of them: it holds for all columns.
    assert_eq!(
        vectors.explain()?.code().checks_at(Position::Loop).count(),
        0
    );
    Ok(())
}

#[test]
fn explain_tells_registers_spills_and_occupancy_where_there_is_ptxas() -> oxwarp::Result<()> {
    let Some(report) = with_ptxas(capped.explain_for(90))? else {
        return Ok(());
    };
    let assembled = report.assembled()?;
    assert!((1..=24).contains(&assembled.registers), "{report}");
    assert!(assembled.spills() && assembled.stack_bytes > 0, "{report}");
    assert!(report.to_string().contains("SPILLS"), "{report}");

    let report = reverse.explain_for(90)?;
    let assembled = report.assembled()?;
    assert_eq!(
        (
            report.architecture(),
            assembled.shared_bytes,
            assembled.spills()
        ),
        (90, 4096, false),
        "{report}"
    );
    // 228 KiB for blocks of 4 KiB, 20 KiB of dynamic shared memory and 1 KiB of the system.
    let occupancy = report.occupancy(32, 20 << 10)?.unwrap();
    assert_eq!(
        (occupancy.blocks, occupancy.limiter),
        (9, Limiter::SharedMemory)
    );
    match report.sass() {
        Ok(sass) => assert!(sass.contains("EXIT") && sass.contains("BAR.SYNC"), "{sass}"),
        Err(ToolError::NotFound { tool, .. }) => assert_eq!(tool, "nvdisasm"),
        Err(error) => return Err(error.into()),
    }
    Ok(())
}

#[test]
fn explain_refuses_a_gpu_that_there_is_no_code_for() {
    let error = gather.explain_for(50).unwrap_err().to_string();
    assert!(
        error.contains("sm_50") && error.contains("sm_75"),
        "{error}"
    );
}

/// A closure has no name, but a function that is generic over it has one.
fn report_of<F: Fn(f32) -> f32 + Copy + 'static>(_: F) -> oxwarp::Result<KernelReport> {
    map().explain::<f32, f32, F>()
}

#[test]
fn instances_of_generic_kernels_are_explained_each() -> oxwarp::Result<()> {
    let (single, double) = (scale().explain::<f32>()?, scale().explain::<f64>()?);
    assert_ne!(single.symbol(), double.symbol());
    assert_eq!(
        single.code().bytes(Direction::Store, Space::Global),
        4,
        "{single}"
    );
    assert_eq!(
        double.code().bytes(Direction::Store, Space::Global),
        8,
        "{double}"
    );
    let report = report_of(|x| x.mul_add(2.0, 1.0).mul_add(x, 3.0))?;
    assert!(report.code().fma >= 2, "{report}");
    assert_eq!(report.name(), "map");
    Ok(())
}

#[test]
fn a_program_explains_itself_when_it_is_asked_to() -> oxwarp::Result<()> {
    if common::in_own_process() {
        let gpu = Gpu::new()?;
        let mut out = gpu.zeros::<u32>(10)?;
        block_size.for_each(10).launch(&mut out)?;
        return gpu.synchronize();
    }
    let output = Command::new(std::env::current_exe().unwrap())
        .args([
            "--exact",
            std::thread::current().name().unwrap(),
            "--nocapture",
        ])
        .env("OXWARP_TEST_OWN_PROCESS", "1")
        .env("OXWARP_EXPLAIN", "gather, vectors,nothing")
        .env("OXWARP_EXPLAIN_TARGET", "sm_80")
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{said}");
    assert!(said.contains("kernel `gather`, PTX for sm_75"), "{said}");
    assert!(
        said.contains("kernel `vectors`") && said.contains("ptxas sm_80"),
        "{said}"
    );
    assert!(
        said.contains("there is no kernel `nothing`; there are") && said.contains("scale"),
        "{said}"
    );
    assert!(!said.contains("kernel `reverse`"), "{said}");
    Ok(())
}

#[test]
fn inspect_knows_the_ptx_and_shared_memory_on_every_device() -> oxwarp::Result<()> {
    let gpu = Gpu::new()?;
    let info = reverse.inspect(&gpu)?;
    assert_eq!((info.name(), info.shared_bytes()), ("reverse", 4096));
    assert!(
        info.ptx().starts_with(".visible .entry reverse_") && info.ptx().contains("bar.sync"),
        "{}",
        info.ptx()
    );
    assert!(
        info.to_string()
            .contains("kernel `reverse` at tests/inspect.rs:"),
        "{info}"
    );
    assert_ne!(
        scale().inspect::<f32>(&gpu)?.symbol(),
        scale().inspect::<f64>(&gpu)?.symbol()
    );
    Ok(())
}

#[test]
fn what_needs_a_gpu_is_an_error_on_the_simulator() -> oxwarp::Result<()> {
    let info = reverse.inspect(&Gpu::cpu())?;
    let errors = [
        info.registers().unwrap_err(),
        info.local_bytes().unwrap_err(),
        info.constant_bytes().unwrap_err(),
        info.max_threads().unwrap_err(),
        info.assembled().unwrap_err(),
        info.sass().unwrap_err(),
        info.occupancy(256, 0).unwrap_err(),
        info.suggested_block(0).unwrap_err(),
    ];
    for error in errors {
        assert!(
            matches!(
                error,
                Error::NeedsGpu {
                    kernel: "reverse",
                    ..
                }
            ),
            "{error}"
        );
        assert!(
            error.to_string().contains("CPU simulator; `explain`"),
            "{error}"
        );
    }
    assert!(
        info.to_string()
            .contains("registers, spills and occupancy need a GPU"),
        "{info}"
    );
    Ok(())
}

/// What must hold of any kernel on any GPU.
fn check_attributes(gpu: &Gpu, info: &KernelInfo) -> oxwarp::Result<()> {
    let registers = info.registers()?;
    assert!((1..=255).contains(&registers), "{info}");
    assert!((1..=1024).contains(&info.max_threads()?), "{info}");
    let assembled = info.assembled()?;
    assert_eq!(assembled.registers, registers, "{info}");
    assert_eq!(assembled.shared_bytes, info.shared_bytes(), "{info}");
    assert!(
        assembled.spills() == (info.local_bytes()? > 0),
        "{info}\n{assembled}"
    );
    let (major, minor) = gpu.compute_capability().unwrap();
    let multiprocessor = Multiprocessor::of(major * 10 + minor);
    for block in [32, 33, 96, 128, 256, 512] {
        for dynamic in [0, 1000, 8 << 10, 40 << 10, 100 << 10] {
            if block > info.max_threads()? {
                continue;
            }
            let occupancy = info.occupancy(block, dynamic)?;
            assert!(
                (1..=occupancy.max_warps).contains(&occupancy.warps),
                "{occupancy}"
            );
            assert_eq!(occupancy.warps, occupancy.blocks * block.div_ceil(32));
            // The driver's number is that of the arithmetic.
            if let Some(multiprocessor) = multiprocessor {
                let all_shared = info.shared_bytes() + dynamic;
                assert_eq!(
                    occupancy,
                    Occupancy::of(&multiprocessor, block, registers, all_shared),
                    "{dynamic} {info}"
                );
            }
        }
    }
    let suggested = info.suggested_block(0)?;
    assert!(
        (1..=info.max_threads()?).contains(&suggested.threads) && suggested.min_blocks > 0,
        "{suggested:?}"
    );
    let best = info.occupancy(suggested.threads, 0)?.warps;
    for block in (32..=info.max_threads()?).step_by(32) {
        assert!(
            info.occupancy(block, 0)?.warps <= best,
            "{block} {suggested:?}"
        );
    }
    Ok(())
}

#[test]
fn a_gpu_tells_registers_memory_and_occupancy() -> oxwarp::Result<()> {
    let gpu = Gpu::new()?;
    if gpu.is_simulator() {
        return Ok(());
    }
    let infos = [
        gather.inspect(&gpu)?,
        vectors.inspect(&gpu)?,
        reverse.inspect(&gpu)?,
        capped.inspect(&gpu)?,
        bounded_block_size.inspect(&gpu)?,
        scale().inspect::<f64>(&gpu)?,
    ];
    for info in &infos {
        println!("{info}");
        check_attributes(&gpu, info)?;
    }
    let [_, _, reverse, capped, bounded, _] = infos;
    assert!(
        capped.registers()? <= 24 && capped.assembled()?.spills(),
        "{capped}"
    );
    assert!(capped.to_string().contains("SPILLS"), "{capped}");
    assert!(bounded.max_threads()? <= 96, "{bounded}");
    // One block of 1024 threads more than the device has, and more shared memory.
    assert!(matches!(
        reverse.occupancy(2048, 0),
        Err(Error::TooManyThreads { limit: 1024, .. })
    ));
    assert!(matches!(
        bounded.occupancy(128, 0),
        Err(Error::TooManyThreads { .. })
    ));
    assert!(matches!(
        reverse.occupancy(256, 1 << 20),
        Err(Error::DynamicSharedMemory {
            static_bytes: 4096,
            ..
        })
    ));
    match reverse.sass() {
        Ok(sass) => assert!(sass.contains("BAR.SYNC") && sass.contains("EXIT"), "{sass}"),
        Err(Error::Tool(ToolError::NotFound { tool, .. })) => assert_eq!(tool, "nvdisasm"),
        Err(error) => return Err(error),
    }
    Ok(())
}

#[test]
fn auto_block_launches_with_what_the_driver_suggests() -> oxwarp::Result<()> {
    let gpu = Gpu::new()?;
    let count = 5000usize;
    let mut out = gpu.zeros::<u32>(count)?;
    let suggested = |info: oxwarp::Result<KernelInfo>, otherwise| -> oxwarp::Result<u32> {
        match info?.suggested_block(0) {
            Ok(suggested) => Ok(suggested.threads),
            Err(Error::NeedsGpu { .. }) => Ok(otherwise),
            Err(error) => Err(error),
        }
    };
    let threads = suggested(block_size.inspect(&gpu), 256)?;
    for _ in 0..2 {
        out.fill(0)?;
        block_size.for_each(count).auto_block().launch(&mut out)?;
        assert_eq!(out.to_vec()?, vec![threads; count]);
    }
    // So many blocks of it, in one dimension.
    out.fill(0)?;
    block_size.grid(2).auto_block().launch(&mut out)?;
    let written = out
        .to_vec()?
        .iter()
        .filter(|&&size| size == threads)
        .count();
    assert_eq!(written, count.min(2 * threads as usize));
    // What is said later counts.
    block_size
        .for_each(count)
        .auto_block()
        .block(64)
        .launch(&mut out)?;
    assert_eq!(out.to_vec()?, vec![64; count]);
    block_size
        .for_each(count)
        .block(64)
        .auto_block()
        .launch(&mut out)?;
    assert_eq!(out.to_vec()?, vec![threads; count]);
    // The kernel's own bound goes before.
    let bounded = suggested(bounded_block_size.inspect(&gpu), 96)?;
    assert!(bounded <= 96);
    bounded_block_size
        .for_each(count)
        .auto_block()
        .launch(&mut out)?;
    assert_eq!(out.to_vec()?, vec![bounded; count]);
    // In two dimensions a block has rows of whole warps.
    let mut out = gpu.zeros::<u32>(50 * 70)?.into_shape((50, 70))?;
    let in_rows = suggested(block_size_2d.inspect(&gpu), 256)? / 32 * 32;
    block_size_2d
        .for_each(out.dim())
        .auto_block()
        .launch(&mut out)?;
    assert_eq!(out.to_vec()?, vec![in_rows; 50 * 70]);
    Ok(())
}

#[test]
fn the_kernels_compute_what_they_say() -> oxwarp::Result<()> {
    let gpu = Gpu::new()?;
    let mut random = Random::new(77);
    let x = random.floats(2000, -1.0, 1.0);
    let mut reversed = gpu.to_device(&x)?;
    reverse.for_each(2000).block(500).launch(&mut reversed)?;
    let expected: Vec<f32> = x
        .chunks(500)
        .flat_map(|block| block.iter().rev().copied())
        .collect();
    assert_eq!(reversed.to_vec()?, expected);

    let indices = random.below(30 * 8, 2000);
    let table = ndarray::Array2::from_shape_vec((30, 8), indices).unwrap();
    let sums: Vec<f32> = table
        .rows()
        .into_iter()
        .map(|row| row.iter().fold(0.0, |sum, &i| sum + x[i as usize]))
        .collect();
    let mut out = gpu.zeros::<f32>(30)?;
    gather
        .for_each(30)
        .launch(&gpu.to_device(&x)?, &gpu.to_device(&table)?, &mut out)?;
    assert_eq!(out.to_vec()?, sums);
    Ok(())
}

cuda_kernel! {
    unsafe fn foreign();
}

/// As `nvcc` might write it: 2 KiB of shared memory and at most 128 threads.
const FOREIGN: &str = "
.version 7.0
.target sm_75
.address_size 64
.visible .entry foreign()
.maxntid 128, 1, 1
{
    .shared .align 4 .b8 buffer[2048];
    .reg .b32 %r<3>;
    mov.u32 %r1, buffer;
    ld.shared.u32 %r2, [%r1+4];
    st.shared.u32 [%r1], %r2;
    ret;
}
";

#[test]
fn kernels_of_other_languages_are_looked_into_too() -> oxwarp::Result<()> {
    let gpu = Gpu::new()?;
    if gpu.is_simulator() {
        return Ok(());
    }
    let module = gpu.load_cuda(&CudaImage::from_bytes("foreign.ptx", FOREIGN)?)?;
    let foreign = module.function::<foreign>("foreign")?;
    let attributes = foreign.attributes()?;
    assert_eq!((attributes.shared_bytes, attributes.local_bytes), (2048, 0));
    assert_eq!(attributes.max_threads, 128);
    assert!((1..=255).contains(&attributes.registers), "{attributes:?}");
    let occupancy = foreign.occupancy(128, 30 << 10)?;
    let (major, minor) = gpu.compute_capability().unwrap();
    if let Some(multiprocessor) = Multiprocessor::of(major * 10 + minor) {
        let wanted = Occupancy::of(&multiprocessor, 128, attributes.registers, 32 << 10);
        assert_eq!(occupancy, wanted);
    }
    assert!(foreign.suggested_block(0)?.threads <= 128);
    assert!(matches!(
        foreign.occupancy(256, 0),
        Err(Error::TooManyThreads { limit: 128, .. })
    ));
    Ok(())
}
