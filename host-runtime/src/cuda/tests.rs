//! The CUDA back end on a device, with PTX written by hand. Without a device these tests say so and pass.

use std::any::TypeId;
use std::ffi::CStr;

use gpu_std::Dim3;
use gpu_std::DisjointSlice;
use gpu_std::kernel::{KERNEL_MAGIC, KernelParam, KernelRecord};
use gpu_std::runtime::{PanicRecord, RUNTIME};

use super::CudaStream;
use super::device::present;
use crate::argument::Arguments;
use crate::error::{Error, Result};
use crate::gpu::Gpu;
use crate::limits::Extents;
use crate::registry::{CompiledKernel, DeviceCode, Found, Image, id_of};
use crate::stream::Backend;

/// `scale(x: view of f32, factor: f32)`, `fail()`, which records an index panic, and `spin(x, factor)`, which takes
/// its time before it does what `scale` does.
const PTX: &CStr = cr#"
.version 6.3
.target sm_75
.address_size 64
.visible .global .align 8 .u64 oxwarp_panic_slot;
.global .align 4 .u32 file_name = 0x73722e61;

.visible .entry scale(.param .align 8 .b8 p[24]) {
    .reg .b64 %rd<6>; .reg .b32 %r<6>; .reg .f32 %f<4>; .reg .pred %q;
    ld.param.u64 %rd1, [p];
    ld.param.u64 %rd2, [p+8];
    ld.param.f32 %f1, [p+16];
    mov.u32 %r1, %ctaid.x;
    mov.u32 %r2, %ntid.x;
    mov.u32 %r3, %tid.x;
    mad.lo.u32 %r4, %r1, %r2, %r3;
    cvt.u64.u32 %rd3, %r4;
    setp.ge.u64 %q, %rd3, %rd2;
    @%q ret;
    shl.b64 %rd4, %rd3, 2;
    add.u64 %rd5, %rd1, %rd4;
    ld.f32 %f2, [%rd5];
    mul.f32 %f3, %f2, %f1;
    st.f32 [%rd5], %f3;
    ret;
}

.visible .entry spin(.param .align 8 .b8 p[24]) {
    .reg .b64 %rd<9>; .reg .b32 %r<6>; .reg .f32 %f<4>; .reg .pred %q;
    ld.param.u64 %rd1, [p];
    ld.param.u64 %rd2, [p+8];
    ld.param.f32 %f1, [p+16];
    mov.u64 %rd6, %clock64;
again:
    mov.u64 %rd7, %clock64;
    sub.u64 %rd8, %rd7, %rd6;
    setp.lt.u64 %q, %rd8, 20000000;
    @%q bra again;
    mov.u32 %r1, %ctaid.x;
    mov.u32 %r2, %ntid.x;
    mov.u32 %r3, %tid.x;
    mad.lo.u32 %r4, %r1, %r2, %r3;
    cvt.u64.u32 %rd3, %r4;
    setp.ge.u64 %q, %rd3, %rd2;
    @%q ret;
    shl.b64 %rd4, %rd3, 2;
    add.u64 %rd5, %rd1, %rd4;
    ld.f32 %f2, [%rd5];
    mul.f32 %f3, %f2, %f1;
    st.f32 [%rd5], %f3;
    ret;
}

.visible .entry fail() {
    .reg .b64 %rd<4>; .reg .b32 %r<4>; .reg .pred %q;
    ld.global.u64 %rd3, [oxwarp_panic_slot];
    atom.exch.b64 %rd1, [%rd3], 0;
    setp.eq.u64 %q, %rd1, 0;
    @%q exit;
    mov.u32 %r2, %ctaid.x;
    mov.u32 %r3, %tid.x;
    st.u32 [%rd1+KIND], 1;
    st.u32 [%rd1+LINE], 7;
    st.u32 [%rd1+COLUMN], 16;
    st.u32 [%rd1+BLOCK], %r2;
    st.u32 [%rd1+THREAD], %r3;
    mov.u64 %rd2, 9;
    st.u64 [%rd1+OPERANDS], %rd2;
    mov.u64 %rd2, 5;
    st.u64 [%rd1+OPERANDS_1], %rd2;
    mov.u64 %rd2, file_name;
    cvta.global.u64 %rd2, %rd2;
    st.u64 [%rd1+FILE], %rd2;
    mov.u64 %rd2, 4;
    st.u64 [%rd1+FILE_LEN], %rd2;
    membar.sys;
    mov.u64 %rd2, 2;
    st.u64 [%rd1], %rd2;
    exit;
}
"#;

struct Scale;
struct Spin;
struct Fail;
struct Absent;

unsafe fn never(_params: *const u8) {}

const fn record(id: TypeId, name: &'static str) -> KernelRecord {
    KernelRecord {
        magic: KERNEL_MAGIC,
        id,
        entry: never,
        runtime: RUNTIME,
        name,
        module: "host_runtime::cuda::tests",
        file: file!(),
        line: line!(),
        flags: 0,
        params_size: 24,
        params_align: 8,
        views: &[],
        max_threads: 0,
        min_blocks: 0,
        max_registers: 0,
        block: [0; 3],
        cluster: [0; 3],
    }
}

const SCALE: &KernelRecord = &record(TypeId::of::<Scale>(), "scale");
const SPIN: &KernelRecord = &record(TypeId::of::<Spin>(), "spin");
const FAIL: &KernelRecord = &record(TypeId::of::<Fail>(), "fail");
const ABSENT: &KernelRecord = &record(TypeId::of::<Absent>(), "absent");

/// The first CUDA device, or `None`, and a line that says so.
fn gpu() -> Option<Gpu> {
    match Gpu::cuda(0) {
        Ok(gpu) => Some(gpu),
        Err(error) => {
            eprintln!("skipped: {error}");
            None
        }
    }
}

fn stream(gpu: &Gpu) -> &CudaStream {
    match gpu.backend() {
        Backend::Cuda(stream) => stream,
        Backend::Simulator(_) => unreachable!("the device was opened as CUDA"),
    }
}

/// The PTX with the offsets of the panic record in it.
fn ptx() -> &'static CStr {
    let mut text = PTX.to_str().unwrap().to_owned();
    let operands = std::mem::offset_of!(PanicRecord, operands);
    for (name, offset) in [
        ("KIND", std::mem::offset_of!(PanicRecord, kind)),
        ("LINE", std::mem::offset_of!(PanicRecord, line)),
        ("COLUMN", std::mem::offset_of!(PanicRecord, column)),
        ("BLOCK", std::mem::offset_of!(PanicRecord, block)),
        ("THREAD", std::mem::offset_of!(PanicRecord, thread)),
        ("OPERANDS_1", operands + 8),
        ("OPERANDS", operands),
        ("FILE_LEN", std::mem::offset_of!(PanicRecord, file) + 8),
        ("FILE", std::mem::offset_of!(PanicRecord, file)),
    ] {
        text = text.replace(&format!("+{name}]"), &format!("+{offset}]"));
    }
    Box::leak(std::ffi::CString::new(text).unwrap().into_boxed_c_str())
}

/// Device code with one image, leaked.
fn code(target: u32, ptx: &'static CStr) -> &'static DeviceCode {
    Box::leak(Box::new(DeviceCode {
        crate_name: "tests",
        images: Vec::leak(vec![Image { target, ptx }]),
        kernels: &[],
        skipped: None,
    }))
}

/// Loads a kernel of `code` as if it were registered.
fn load(
    gpu: &Gpu,
    record: &'static KernelRecord,
    code: &'static DeviceCode,
    shared_bytes: u32,
) -> Result<()> {
    let name: &'static CStr = Box::leak(
        std::ffi::CString::new(record.name)
            .unwrap()
            .into_boxed_c_str(),
    );
    let kernel = Box::leak(Box::new(CompiledKernel {
        id: id_of(record),
        symbol: name,
        dimensions: 1,
        cooperative: false,
        shared_bytes,
        stack_bytes: 4096,
        prints: false,
        allocates: false,
    }));
    let stream = stream(gpu);
    stream.make_current()?;
    let loaded = stream.load_found(record, Found { code, kernel })?;
    stream
        .kernels
        .write()
        .unwrap()
        .insert(id_of(record), loaded);
    Ok(())
}

#[repr(C)]
struct Parameters {
    x: <DisjointSlice<f32> as KernelParam>::Raw,
    factor: f32,
}

fn extents(grid: [u32; 2], block: u32) -> Extents {
    Extents {
        grid: Dim3 {
            x: grid[0],
            y: grid[1],
            z: 1,
        },
        block: Dim3 {
            x: block,
            y: 1,
            z: 1,
        },
        cluster: crate::cluster::NONE,
        shared_bytes: 0,
    }
}

/// Launches `scale` or `spin` on all of `x`.
fn launch(
    record: &'static KernelRecord,
    x: &mut crate::DeviceArray<f32>,
    factor: f32,
) -> Result<()> {
    use crate::__private::KernelArg;
    let gpu = x.gpu().clone();
    let blocks = x.len().div_ceil(256) as u32;
    let view = KernelArg::<DisjointSlice<f32>>::raw(x, &mut Arguments::new());
    let parameters = Parameters { x: view, factor };
    // SAFETY: the parameters are those of the PTX, and the view is of a live array.
    unsafe {
        stream(&gpu).launch(
            record,
            &extents([blocks, 1], 256),
            (&raw const parameters).cast(),
        )
    }
}

fn launch_fail(gpu: &Gpu, grid: [u32; 2], block: u32) -> Result<()> {
    let none = [0u64; 3];
    // SAFETY: the kernel has no parameters, so that none are read.
    unsafe { stream(gpu).launch(FAIL, &extents(grid, block), none.as_ptr().cast()) }
}

#[test]
fn messages_say_which_devices_there_are() {
    assert_eq!(present(0), "there is no CUDA device");
    assert_eq!(present(1), "there is only cuda:0");
    assert_eq!(present(4), "there are cuda:0 to cuda:3");
}

#[test]
fn launches_panics_and_the_launch_after_one() -> Result<()> {
    let Some(gpu) = gpu() else { return Ok(()) };
    let code = code(75, ptx());
    load(&gpu, SCALE, code, 0)?;
    load(&gpu, FAIL, code, 0)?;
    let mut x = gpu.full(1000, 1.5f32)?;
    launch(SCALE, &mut x, 2.0)?;
    assert_eq!(x.to_vec()?, [3.0; 1000]);

    launch_fail(&gpu, [4, 1], 64)?;
    let error = x.to_vec().unwrap_err();
    let Error::KernelPanic(panic) = &error else {
        panic!("{error}")
    };
    assert_eq!(
        (panic.file.as_str(), panic.line, panic.column),
        ("a.rs", 7, 16)
    );
    assert!(panic.block.x < 4 && panic.thread.x < 64);
    assert_eq!(
        panic.message,
        "index out of bounds: the len is 5 but the index is 9"
    );
    launch(SCALE, &mut x, 2.0)?;
    assert_eq!(x.to_vec()?, [6.0; 1000]);
    Ok(())
}

#[test]
fn arrays_in_use_may_be_dropped() -> Result<()> {
    let Some(gpu) = gpu() else { return Ok(()) };
    load(&gpu, SPIN, code(75, ptx()), 0)?;
    let mut kept = gpu.full(512, 1.0f32)?;
    for _ in 0..20 {
        let mut x = gpu.zeros::<f32>(1 << 20)?;
        launch(SPIN, &mut x, 2.0)?;
    }
    launch(SPIN, &mut kept, 2.0)?;
    assert_eq!(kept.to_vec()?, [2.0; 512]);
    Ok(())
}

#[test]
fn what_a_device_refuses() -> Result<()> {
    let Some(gpu) = gpu() else { return Ok(()) };
    let good = code(75, ptx());
    let text = |result: Result<()>| result.unwrap_err().to_string();

    let error = text(load(&gpu, ABSENT, good, 0));
    assert!(
        error.contains("no kernel `absent`") && error.contains("crate `tests`"),
        "{error}"
    );
    let error = text(load(&gpu, FAIL, good, 1 << 20));
    assert!(
        error.contains("1048576 bytes of static shared") && error.contains("49152"),
        "{error}"
    );
    let error = text(load(&gpu, FAIL, code(999, ptx()), 0));
    assert!(
        error.contains("sm_999") && error.contains("compute capability"),
        "{error}"
    );
    let error = text(load(
        &gpu,
        FAIL,
        code(75, c".version 99.0\n.target sm_75\n.address_size 64\n"),
        0,
    ));
    assert!(
        error.contains("PTX ISA 99.0") && error.contains("supports CUDA"),
        "{error}"
    );
    let broken =
        c".version 6.3\n.target sm_75\n.address_size 64\n.visible .entry fail() { nonsense; }\n";
    let error = text(load(&gpu, FAIL, code(75, broken), 0));
    assert!(
        error.contains("sm_75 did not load") && error.contains("line 4"),
        "{error}"
    );

    load(&gpu, FAIL, good, 0)?;
    let error = text(launch_fail(&gpu, [1, 2], 32));
    assert!(error.contains("1 dimension,"), "{error}");
    // SAFETY: the launch stops before the parameters are looked at.
    let error = text(unsafe { stream(&gpu).launch(ABSENT, &extents([1, 1], 1), std::ptr::null()) });
    assert!(error.contains("oxwarp::device_code!();"), "{error}");
    gpu.synchronize()
}

#[test]
fn many_threads_and_many_handles() -> Result<()> {
    let Some(gpu) = gpu() else { return Ok(()) };
    load(&gpu, SCALE, code(75, ptx()), 0)?;
    std::thread::scope(|scope| {
        for number in 0..8 {
            let gpu = gpu.clone();
            scope.spawn(move || {
                for _ in 0..50 {
                    let mut x = gpu.full(1000, number as f32).unwrap();
                    launch(SCALE, &mut x, 3.0).unwrap();
                    assert_eq!(x.to_vec().unwrap(), vec![3.0 * number as f32; 1000]);
                }
            });
        }
    });
    for _ in 0..10 {
        let gpu = Gpu::cuda(0)?;
        load(&gpu, SCALE, code(75, ptx()), 0)?;
        let mut x = gpu.full(10, 1.0f32)?;
        launch(SCALE, &mut x, 3.0)?;
        drop(gpu);
        assert_eq!(x.to_vec()?, [3.0; 10]);
    }
    Ok(())
}

#[test]
fn a_full_device_is_an_error_and_stays_usable() -> Result<()> {
    let Some(gpu) = gpu() else { return Ok(()) };
    let error = gpu.zeros::<u8>(1 << 44).unwrap_err();
    assert!(
        matches!(
            error,
            Error::OutOfMemory {
                wanted: 0x1000_0000_0000,
                free: 1..,
                total: 1..,
                ..
            }
        ),
        "{error}"
    );
    assert_eq!(gpu.full(3, 2u8)?.to_vec()?, [2; 3]);
    Ok(())
}

#[test]
fn the_ptx_is_well_formed() {
    // `ptxas` is not needed to build; where it is on the path it checks the text that the other tests load.
    let file = std::env::temp_dir().join(format!("oxwarp-host-runtime-{}.ptx", std::process::id()));
    std::fs::write(&file, ptx().to_bytes()).unwrap();
    let out = file.with_extension("cubin");
    match std::process::Command::new("ptxas")
        .arg("-arch=sm_75")
        .arg(&file)
        .arg("-o")
        .arg(&out)
        .output()
    {
        Ok(output) => assert!(
            output.status.success(),
            "{}",
            String::from_utf8_lossy(&output.stderr)
        ),
        Err(error) => eprintln!("skipped: ptxas: {error}"),
    }
    let _ = std::fs::remove_file(&file);
    let _ = std::fs::remove_file(&out);
}
