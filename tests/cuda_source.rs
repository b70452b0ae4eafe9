//! Kernels of CUDA C: compiled by NVRTC or loaded from PTX, cubins and fatbins, launched with declared signatures. What needs
//! a CUDA device or NVRTC says so and passes where there is none; on the simulator it is an error.
#![allow(missing_docs)]

mod common;

use std::path::Path;
use std::process::Command;

use common::Random;
use ndarray::{Array2, s};
use oxwarp::half::F16;
use oxwarp::prelude::*;
use oxwarp::vector::Float4;
use oxwarp::{
    CudaImage, CudaModule, CudaSource, CudaSourceError, DeviceCopy, Error, In, InOut, Out,
    SignatureMismatch, cuda_kernel,
};

const SAXPY: &str = r#"
extern "C" __global__ void saxpy(int n, float a, const float *x, float *y) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = a * x[i] + y[i];
}
"#;

cuda_kernel! {
    /// `y = a * x + y`
    unsafe fn saxpy(n: i32, a: f32, x: &[f32], y: &mut [f32]);
    /// The same with one parameter too few.
    unsafe fn too_few(n: i32, a: f32, x: &[f32]);
    unsafe fn too_many(n: i32, a: f32, x: &[f32], y: &mut [f32], m: i32);
    unsafe fn too_wide(n: i32, a: f64, x: &[f32], y: &mut [f32]);
    unsafe fn not_a_float(n: i32, a: u32, x: &[f32], y: &mut [f32]);
    unsafe fn swapped(a: f32, n: i32, x: &[f32], y: &mut [f32]);
    unsafe fn nothing();
}

/// The CUDA device, or `None` on the simulator.
fn device() -> Option<Gpu> {
    let gpu = Gpu::new().unwrap();
    if gpu.is_simulator() {
        eprintln!("skipped: there is no CUDA device");
        return None;
    }
    Some(gpu)
}

/// Whether CUDA C can be compiled here.
fn compiler() -> bool {
    match CudaSource::new("").compile("compute_90") {
        Err(Error::CudaSource(error)) if matches!(*error, CudaSourceError::NoCompiler(_)) => {
            eprintln!("skipped: {error}");
            false
        }
        _ => true,
    }
}

/// The source on the CUDA device; without a device it is only compiled.
fn module(source: &CudaSource) -> Option<CudaModule> {
    if !compiler() {
        return None;
    }
    let Some(gpu) = device() else {
        source.compile("sm_90").unwrap();
        return None;
    };
    Some(source.load(&gpu).unwrap())
}

/// An error of CUDA C and its text.
fn failure<T>(result: oxwarp::Result<T>) -> (CudaSourceError, String) {
    match result.map(drop).unwrap_err() {
        Error::CudaSource(error) => {
            let text = error.to_string();
            (*error, text)
        }
        other => panic!("{other}"),
    }
}

macro_rules! check {
    ($result:expr, $pattern:pat, $($text:expr),+) => {
        let (error, text) = failure($result);
        assert!(matches!(error, $pattern), "{text}");
        $(assert!(text.contains($text), "no `{}` in: {text}", $text);)+
    };
}

#[test]
fn a_kernel_is_launched_like_one_in_rust() {
    let Some(module) = module(&CudaSource::new(SAXPY)) else {
        return;
    };
    let saxpy = module.function::<saxpy>("saxpy").unwrap();
    let n = 10_007;
    let mut random = Random::new(1);
    let (x, y) = (random.floats(n, -1.0, 1.0), random.floats(n, -1.0, 1.0));
    let gpu = module.gpu();
    let (device_x, mut device_y) = (gpu.to_device(&x).unwrap(), gpu.to_device(&y).unwrap());
    drop(module.clone());
    let count = n as i32;
    let other = gpu.new_stream().unwrap();
    // SAFETY: both arrays have `n` elements, and the kernel leaves out threads beyond.
    unsafe {
        launch!(saxpy[40, 256](count, 0.5, &device_x, &mut device_y)).unwrap();
        let forty = saxpy.block(256).grid((40, 1));
        forty.launch(count, 1.5, &device_x, &mut device_y).unwrap();
        let each = saxpy.for_each(n);
        each.launch(count, 2.0, &device_x, &mut device_y).unwrap();
        // On another stream, which waits for the one before.
        let elsewhere = saxpy.for_each(n).on(&other);
        elsewhere
            .launch(count, 3.0, &device_x, &mut device_y)
            .unwrap();
        let none = saxpy.for_each(0);
        none.launch(count, 2.0, &device_x, &mut device_y).unwrap();
    }
    // Host data is copied there and back.
    let (mut z, mut zeros) = (y.clone(), vec![1f32; n]);
    // SAFETY: as above.
    unsafe {
        let each = saxpy.for_each(n);
        each.launch(count, 0.5, In(&x), InOut(&mut z)).unwrap();
        each.launch(count, 0.5, In(&x), Out(&mut zeros)).unwrap();
    }
    assert!((0..n).all(|i| z[i] == 0.5f32.mul_add(x[i], y[i]) && zeros[i] == 0.5 * x[i]));
    // The kernel outlives the handle of its module, and work in the queue outlives both.
    drop((module, saxpy));
    let fused = |y: f32, x: f32| {
        [0.5f32, 1.5, 2.0, 3.0]
            .iter()
            .fold(y, |y, a| a.mul_add(x, y))
    };
    let expected: Vec<_> = y.iter().zip(&x).map(|(&y, &x)| fused(y, x)).collect();
    assert_eq!(device_y.to_vec().unwrap(), expected);
}

#[derive(Clone, Copy, DeviceCopy)]
#[repr(C)]
struct Point {
    x: f32,
    y: f32,
    z: f32,
}

#[derive(Clone, Copy, DeviceCopy)]
#[repr(C, align(16))]
struct Wide {
    number: f64,
    letter: u8,
}

cuda_kernel! {
    pub unsafe fn everything(
        flag: bool, byte: i8, short: u16, int: i32, long: u64, size: usize, single: f32, double: f64, half: F16,
        point: Point, wide: Wide, four: Float4, array: [i32; 3], none: *const f32, address: *mut f64,
        rows: &[f32], out: &mut [f64],
    );
}

#[test]
fn parameters_of_every_kind() {
    let source = CudaSource::new(
        r#"
        struct Point { float x, y, z; };
        struct __align__(16) Wide { double number; unsigned char letter; };
        struct Array { int elements[3]; };
        struct __align__(2) Half { unsigned short bits; };
        extern "C" __global__ void everything(
            bool flag, signed char byte, unsigned short s, int i, unsigned long long l, size_t size, float f, double d,
            Half half, Point point, Wide wide, float4 four, Array array, const float *none, double *address,
            const float *rows, double *out
        ) {
            out[0] = flag;
            out[1] = byte;
            out[2] = s;
            out[3] = i;
            out[4] = l;
            out[5] = size;
            out[6] = f;
            out[7] = d;
            out[8] = half.bits;
            out[9] = point.x + 10 * point.y + 100 * point.z;
            out[10] = wide.number + wide.letter;
            out[11] = four.x + 10 * four.y + 100 * four.z + 1000 * four.w;
            out[12] = array.elements[0] + 10 * array.elements[1] + 100 * array.elements[2];
            out[13] = none == nullptr;
            out[14] = rows[4];
            address[15] = 15;
        }
        "#,
    );
    let Some(module) = module(&source) else {
        return;
    };
    let kernel = module.function::<everything>("everything").unwrap();
    // The same code without its PTX: the driver knows the parameters.
    let bare = CudaImage::from_bytes("everything.cubin", module.image().bytes()).unwrap();
    assert_eq!(bare.ptx(), None);
    let bare = module.gpu().load_cuda(&bare).unwrap();
    let bare = bare.function::<everything>("everything").unwrap();

    let rows = Array2::from_shape_fn((3, 4), |(row, column)| (4 * row + column) as f32);
    let rows = module.gpu().to_device(&rows).unwrap();
    let point = Point {
        x: 1.0,
        y: 2.0,
        z: 3.0,
    };
    let wide = Wide {
        number: 0.5,
        letter: 200,
    };
    for kernel in [kernel, bare] {
        let mut out = module.gpu().zeros::<f64>(16).unwrap();
        let (none, address) = (std::ptr::null(), out.device_ptr() as *mut f64);
        let below = rows.view().slice(s![1.., ..]);
        let one = kernel.grid(1).block(1);
        // SAFETY: the kernel reads an element of the view and writes 16 of `out`.
        unsafe {
            one.launch(
                true,
                -3,
                65535,
                -70000,
                1 << 40,
                1 << 41,
                0.25,
                1e300,
                F16::from_f32(1.0),
                point,
                wide,
                Float4::new(1.0, 2.0, 3.0, 4.0),
                [1, 2, 3],
                none,
                address,
                below,
                &mut out,
            )
        }
        .unwrap();
        let long = (1u64 << 40) as f64;
        let expected = [
            1.0,
            -3.0,
            65535.0,
            -70000.0,
            long,
            2.0 * long,
            0.25,
            1e300,
            f64::from(0x3c00),
            321.0,
            200.5,
            4321.0,
            321.0,
            1.0,
            8.0,
            15.0,
        ];
        assert_eq!(out.to_vec().unwrap(), expected);
    }
}

cuda_kernel! {
    unsafe fn scale_f32(n: i32, factor: f32, x: &mut [f32]);
    unsafe fn scale_f64(n: i32, factor: f64, x: &mut [f64]);
    unsafe fn look_up(y: &mut [f32]);
}

#[test]
fn templates_headers_and_macros() {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("cuda source");
    let source = CudaSource::new(
        "#include \"twice.h\"
         #include \"file.h\"
         namespace linalg {
         template <class T> __global__ void scale(int n, T factor, T *x) {
             int i = blockIdx.x * BLOCK + threadIdx.x;
             if (i < n) x[i] *= twice(factor) * THREE;
         }
         template <class T> __constant__ T table[2] = {T(1.5), T(2.5)};
         }
         extern \"C\" __global__ void look_up(float *y) { y[threadIdx.x] = linalg::table<float>[threadIdx.x]; }",
    )
    .header("twice.h", "template <class T> __device__ T twice(T x) { return x + x; }")
    .define("BLOCK", 32)
    .include_path(&folder)
    .option("--fmad=false")
    .name_expression("linalg::scale<float>")
    .name_expression("linalg::scale<double>")
    .name_expression("&linalg::table<float>");
    if !compiler() {
        return;
    }
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::write(folder.join("file.h"), "#define THREE 3\n").unwrap();
    let image = source.compile("compute_75").unwrap();
    let symbol = image.symbol("linalg::scale<float>");
    assert!(symbol.starts_with("_ZN6linalg5scaleIfEE"), "{symbol}");
    assert!(image.kernels().unwrap().contains(&symbol.to_owned()));
    assert_eq!(image.kernels().unwrap().len(), 3);
    assert_eq!(image.symbol("other"), "other");

    let Some(module) = module(&source) else {
        return;
    };
    let gpu = module.gpu();
    let single = module
        .function::<scale_f32>("linalg::scale<float>")
        .unwrap();
    let double = module
        .function::<scale_f64>("linalg::scale<double>")
        .unwrap();
    let mut x = gpu.to_device(&[1.0f32, 2.0, 3.0]).unwrap();
    let mut y = gpu.to_device(&[1.0f64, 2.0, 3.0]).unwrap();
    // SAFETY: the kernels write the first `n` elements.
    unsafe {
        launch!(single[1, 32](2, 0.5, &mut x)).unwrap();
        launch!(double[1, 32](3, -1.0, y.view_mut())).unwrap();
    }
    assert_eq!(x.to_vec().unwrap(), [3.0, 6.0, 3.0]);
    assert_eq!(y.to_vec().unwrap(), [-6.0, -12.0, -18.0]);

    let table = module.get_global::<f32>("&linalg::table<float>").unwrap();
    assert_eq!((table.len(), table.to_vec().unwrap()), (2, vec![1.5, 2.5]));
    table.copy_from(&[7.0, 8.0]).unwrap();
    let look_up = module.function::<look_up>("look_up").unwrap();
    // SAFETY: two threads write an element each.
    unsafe { look_up.grid(1).block(2).launch(&mut x) }.unwrap();
    assert_eq!(x.to_vec().unwrap(), [7.0, 8.0, 3.0]);
    check!(
        module.function::<scale_f32>("linalg::scale<int>"),
        CudaSourceError::NoKernel { .. },
        "no kernel `linalg::scale<int>`",
        "it has: ",
        symbol
    );
}

cuda_kernel! {
    unsafe fn count(times: i32);
}

#[test]
fn variables_are_read_and_written() {
    let source = CudaSource::new(
        "struct Settings { int step; float scale[2]; };
         __constant__ Settings settings = {2, {0.5f, 4.0f}};
         __device__ int counter;
         extern \"C\" __global__ void count(int times) { atomicAdd(&counter, times * settings.step); }",
    );
    let Some(module) = module(&source) else {
        return;
    };
    #[derive(Clone, Copy, Debug, PartialEq, DeviceCopy)]
    #[repr(C)]
    struct Settings {
        step: i32,
        scale: [f32; 2],
    }
    // SAFETY: it holds numbers only, without padding, and zeros are numbers.
    unsafe impl bytemuck::Zeroable for Settings {}
    // SAFETY: as above.
    unsafe impl bytemuck::Pod for Settings {}

    let count = module.function::<count>("count").unwrap();
    let counter = module.get_global::<i32>("counter").unwrap();
    let settings = module.get_global::<Settings>("settings").unwrap();
    assert_eq!(counter.to_vec().unwrap(), [0]);
    assert_eq!((settings.len(), settings.is_empty()), (1, false));
    let first = Settings {
        step: 2,
        scale: [0.5, 4.0],
    };
    assert_eq!(settings.to_vec().unwrap(), [first]);
    counter.copy_from(&[100]).unwrap();
    // SAFETY: the kernel has no array.
    unsafe { count.grid(3).block(32).launch(5) }.unwrap();
    assert_eq!(counter.to_vec().unwrap(), [100 + 96 * 10]);
    settings
        .copy_from(&[Settings { step: -1, ..first }])
        .unwrap();
    // SAFETY: as above.
    unsafe { count.grid(1).block(1).launch(60) }.unwrap();
    assert_eq!(counter.to_vec().unwrap(), [1000]);
    assert_ne!(counter.device_ptr(), 0);

    check!(
        settings.copy_from(&[first, first]),
        CudaSourceError::GlobalLength { .. },
        "`settings`",
        "1 elements, but 2"
    );
    check!(
        module.get_global::<f64>("settings"),
        CudaSourceError::GlobalType { .. },
        "`settings`",
        "12 bytes",
        "`f64`, of 8 bytes"
    );
    check!(
        module.get_global::<()>("counter"),
        CudaSourceError::GlobalType { .. },
        "0 bytes"
    );
    check!(
        module.get_global::<i32>("conter"),
        CudaSourceError::NoGlobal { .. },
        "`conter`",
        "extern \"C\""
    );
}

cuda_kernel! {
    unsafe fn reverse(n: i32, x: &mut [i32]);
    unsafe fn bounded();
    unsafe fn all_meet(arrived: &mut [u32], seen: &mut [u32]);
}

#[test]
fn shapes_and_shared_memory_are_checked_as_for_rust() {
    let source = CudaSource::new(
        r#"
        extern "C" __global__ void reverse(int n, int *x) {
            extern __shared__ int kept[];
            for (int i = threadIdx.x; i < n; i += blockDim.x) kept[i] = x[i];
            __syncthreads();
            for (int i = threadIdx.x; i < n; i += blockDim.x) x[i] = kept[n - 1 - i];
        }
        extern "C" __global__ void __launch_bounds__(64) bounded() {}
        extern "C" __global__ void all_meet(unsigned *arrived, unsigned *seen) {
            if (threadIdx.x == 0) {
                atomicAdd(arrived, 1);
                while (*(volatile unsigned *)arrived < gridDim.x) {}
                seen[blockIdx.x] = *(volatile unsigned *)arrived;
            }
        }
        "#,
    );
    let Some(module) = module(&source) else {
        return;
    };
    let gpu = module.gpu();
    let n = 50_000 / 4;
    let mut x = gpu.to_device(&Vec::from_iter(0..n)).unwrap();
    let reverse = module.function::<reverse>("reverse").unwrap();
    // More than the 48 KiB that need no permission.
    let shaped = reverse.grid(1).block(256).shared_bytes(4 * n);
    // SAFETY: the kernel has as much shared memory as elements.
    unsafe { shaped.launch(n, &mut x) }.unwrap();
    assert_eq!(x.to_vec().unwrap(), Vec::from_iter((0..n).rev()));

    let mut refused = |kernel: &reverse, texts: &[&str]| {
        // SAFETY: nothing is launched.
        let error = unsafe { kernel.launch(n, &mut x) }.unwrap_err().to_string();
        for text in texts {
            assert!(error.contains(text), "no `{text}` in: {error}");
        }
    };
    let texts = ["kernel `reverse`", "1025 threads along x", "1 to 1024"];
    refused(&reverse.grid(1).block(1025), &texts);
    refused(&reverse.grid(0).block(32), &["0 blocks along x"]);
    refused(&reverse.block(32), &["without a grid size"]);
    refused(&reverse.for_each(-1), &["for_each(-1)"]);
    let much = reverse.grid(1).block(32).shared_bytes(1 << 20);
    refused(&much, &["1048576 bytes of dynamic shared memory", "cuda:0"]);
    let bounded = module.function::<bounded>("bounded").unwrap();
    // SAFETY: the kernel does nothing.
    let error = unsafe { launch!(bounded[1, 65]()) }.unwrap_err();
    assert!(
        matches!(error, Error::TooManyThreads { limit: 64, .. }),
        "{error}"
    );
    // SAFETY: as above.
    unsafe { launch!(bounded[1, 64]()) }.unwrap();

    let all_meet = module
        .function::<all_meet>("all_meet")
        .unwrap()
        .cooperative();
    let most = all_meet.max_cooperative_blocks(64).unwrap();
    let mut arrived = gpu.zeros::<u32>(1).unwrap();
    let mut seen = gpu.zeros::<u32>(most as usize + 1).unwrap();
    let too_many = all_meet.grid(most + 1).block(64);
    // SAFETY: a block writes an element.
    let error = unsafe { too_many.launch(&mut arrived, &mut seen) }.unwrap_err();
    assert!(
        matches!(error, Error::CooperativeGrid { limit, .. } if limit == most),
        "{error}"
    );
    // SAFETY: as above.
    unsafe { launch!(all_meet[most, 64](&mut arrived, &mut seen)) }.unwrap();
    let seen = seen.to_vec().unwrap();
    assert!(
        seen[..most as usize]
            .iter()
            .all(|&seen| seen == most as u32)
    );
}

#[test]
fn a_wrong_signature_is_an_error_that_names_the_parameter() {
    let Some(module) = module(&CudaSource::new(SAXPY)) else {
        return;
    };
    let bare = CudaImage::from_bytes("saxpy.cubin", module.image().bytes()).unwrap();
    let bare = module.gpu().load_cuda(&bare).unwrap();
    for module in [&module, &bare] {
        check!(
            module.function::<too_few>("saxpy"),
            CudaSourceError::Signature {
                mismatch: SignatureMismatch::ParameterCount { .. },
                ..
            },
            "kernel `saxpy`",
            "`unsafe fn too_few(n: i32, a: f32, x: &[f32])`",
            "3 parameters are declared, but the kernel has 4"
        );
        check!(
            module.function::<too_many>("saxpy"),
            CudaSourceError::Signature { .. },
            "5 parameters are declared, but the kernel has 4"
        );
        check!(
            module.function::<nothing>("saxpy"),
            CudaSourceError::Signature { .. },
            "0 parameters are declared, but the kernel has 4"
        );
        check!(
            module.function::<too_wide>("saxpy"),
            CudaSourceError::Signature {
                mismatch: SignatureMismatch::Layout { number: 2, .. },
                ..
            },
            "parameter 2, `a: f64`, has 8 bytes, but the kernel's has 4"
        );
        check!(
            module.function::<saxpy>("saxpi"),
            CudaSourceError::NoKernel { .. },
            "no kernel `saxpi`; it has: saxpy"
        );
    }
    // The PTX tells numbers of the same size apart.
    check!(
        module.function::<not_a_float>("saxpy"),
        CudaSourceError::Signature { .. },
        "parameter 2, `a: u32`, is a floating-point number"
    );
    check!(
        module.function::<swapped>("saxpy"),
        CudaSourceError::Signature { .. },
        "parameter 1, `a: f32`, is an integer"
    );
    assert!(module.function::<saxpy>("saxpy").is_ok());
}

#[test]
fn the_compilers_log_is_in_the_error_with_the_line() {
    if !compiler() {
        return;
    }
    let wrong = SAXPY.replace("y[i];", "z[i];");
    check!(
        CudaSource::new(wrong)
            .file_name("saxpy.cu")
            .compile("sm_90"),
        CudaSourceError::Compilation { .. },
        "saxpy.cu does not compile",
        "saxpy.cu(4): error: identifier \"z\" is undefined"
    );
    check!(
        CudaSource::new("__global__ void f() {}")
            .name_expression("g<int>")
            .compile("sm_90"),
        CudaSourceError::Compilation { .. },
        "g<int>"
    );
    check!(
        CudaSource::new(SAXPY).option("--no-such").compile("sm_90"),
        CudaSourceError::Compiler { .. },
        "cuda_source.cu",
        "--no-such"
    );
    check!(
        CudaSource::new(SAXPY).compile("sm_11"),
        CudaSourceError::Compiler { .. },
        "sm_11"
    );
    check!(
        CudaSource::new("a\0b").compile("sm_90"),
        CudaSourceError::Compiler { .. },
        "zero byte"
    );
    let warned = CudaSource::new("__global__ void f() {\n    int unused;\n}").compile("sm_90");
    let log = warned.unwrap().log().to_owned();
    assert!(log.contains("cuda_source.cu(2): warning"), "{log}");

    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("cuda file");
    std::fs::create_dir_all(&folder).unwrap();
    let file = folder.join("wrong.cu");
    std::fs::write(folder.join("beside.h"), "#define VALUE here\n").unwrap();
    std::fs::write(&file, "#include \"beside.h\"\n__device__ int x = VALUE;\n").unwrap();
    check!(
        CudaSource::from_file(&file).unwrap().compile("sm_90"),
        CudaSourceError::Compilation { .. },
        "wrong.cu(2): error: identifier \"here\""
    );
}

#[test]
fn without_nvrtc_the_error_says_where_it_was_looked_for() {
    const CHILD: &str = "OXWARP_TEST_NVRTC_MISSING";
    if std::env::var_os(CHILD).is_some() {
        check!(
            CudaSource::new(SAXPY).compile("sm_90"),
            CudaSourceError::NoCompiler(_),
            "/no/such/libnvrtc.so",
            "nvidia-cuda-nvrtc",
            "OXWARP_NVRTC"
        );
        return;
    }
    let test = std::thread::current();
    let output = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", test.name().unwrap()])
        .env(CHILD, "1")
        .env("OXWARP_NVRTC", "/no/such/libnvrtc.so")
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(text.contains("1 passed"), "{text}");
}

#[test]
fn the_simulator_says_that_it_does_not_run_cuda_c() {
    let gpu = Gpu::cpu();
    check!(
        gpu.compile_cuda(SAXPY),
        CudaSourceError::Simulator { .. },
        "`cuda_source.cu`",
        "CPU simulator",
        "OXWARP_DEVICE=cuda",
        "#[kernel]"
    );
    let image = CudaImage::from_bytes("fill.ptx", FILL).unwrap();
    check!(
        gpu.load_cuda(&image),
        CudaSourceError::Simulator { .. },
        "`fill.ptx`"
    );
}

/// As nvcc makes it of `void fill(int *x) { x[threadIdx.x] = 7; }`.
const FILL: &str = "\
.version 7.0
.target sm_75
.address_size 64
.visible .entry fill(.param .u64 fill_param_0) {
    .reg .b64 %rd<4>; .reg .b32 %r<3>;
    ld.param.u64 %rd1, [fill_param_0];
    mov.u32 %r1, %tid.x;
    mul.wide.u32 %rd2, %r1, 4;
    add.u64 %rd3, %rd1, %rd2;
    mov.u32 %r2, 7;
    st.u32 [%rd3], %r2;
    ret;
}
";

cuda_kernel! {
    unsafe fn fill(x: &mut [i32]);
    unsafe fn fill_wrong(x: i32);
}

/// Launches `fill` of a module.
fn filled(module: &CudaModule) -> Vec<i32> {
    let mut x = module.gpu().zeros::<i32>(6).unwrap();
    let fill = module.function::<fill>("fill").unwrap();
    // SAFETY: four threads write an element each.
    unsafe { fill.grid(1).block(4).launch(&mut x) }.unwrap();
    x.to_vec().unwrap()
}

#[test]
fn ptx_cubins_and_fatbins_are_loaded_from_memory_and_files() {
    // PTX for sm_75 and a cubin for sm_80.
    const FATBIN: &[u8] = include_bytes!("cuda_source/fill.fatbin");
    let file = Path::new(env!("CARGO_TARGET_TMPDIR")).join("fill.ptx");
    std::fs::create_dir_all(file.parent().unwrap()).unwrap();
    std::fs::write(&file, FILL).unwrap();
    let mut images = vec![
        CudaImage::from_bytes("fill.ptx", FILL).unwrap(),
        CudaImage::from_bytes("terminated.ptx", format!("{FILL}\0")).unwrap(),
        CudaImage::from_file(&file).unwrap(),
        CudaImage::from_bytes("fill.fatbin", FATBIN).unwrap(),
    ];
    assert_eq!(images[0].bytes(), FILL.as_bytes());
    assert_eq!(images[1].ptx(), Some(FILL));
    assert_eq!(images[2].kernels().unwrap(), ["fill"]);
    assert_eq!(images[2].name(), file.to_str().unwrap());
    assert_eq!(images[3].bytes(), FATBIN);
    assert!(images[3].kernels().is_none());
    let Some(gpu) = device() else {
        return;
    };
    if compiler() {
        let source = "extern \"C\" __global__ void fill(int *x) { x[threadIdx.x] = 7; }";
        let image = gpu.compile_cuda(source).unwrap().image().clone();
        images.push(CudaImage::from_bytes("fill.cubin", image.bytes()).unwrap());
    }
    for image in &images {
        let module = gpu.load_cuda(image).unwrap();
        assert_eq!(filled(&module), [7, 7, 7, 7, 0, 0], "{image:?}");
        assert_eq!(module.kernels().unwrap(), ["fill"], "{image:?}");
        check!(
            module.function::<fill_wrong>("fill"),
            CudaSourceError::Signature { .. },
            "has 4 bytes, but the kernel's has 8"
        );
    }
}

#[test]
fn what_is_no_whole_image_is_refused() {
    let no_image = |bytes: &[u8], texts: &[&str]| {
        let (error, text) = failure(CudaImage::from_bytes("x.bin", bytes));
        assert!(
            matches!(error, CudaSourceError::NotAnImage { .. }),
            "{text}"
        );
        for wanted in texts.iter().chain(&["`x.bin`"]) {
            assert!(text.contains(wanted), "no `{wanted}` in: {text}");
        }
    };
    no_image(b"", &["it is empty"]);
    no_image(b"hello, world", &["begins with `hello, w`"]);
    no_image(&[0xff; 100], &["\\xff"]);
    no_image(&FILL.as_bytes()[..3], &[".version"]);
    no_image(&[FILL.as_bytes(), b"\0", b"x"].concat(), &[]);
    let host = std::fs::read("/proc/self/exe").unwrap();
    no_image(&host, &["ELF file, but not of 64-bit code for a GPU"]);
    let fatbin: &[u8] = include_bytes!("cuda_source/fill.fatbin");
    for len in [4, 10, fatbin.len() - 1] {
        no_image(&fatbin[..len], &["a fatbin", "cut off"]);
    }
    check!(
        CudaImage::from_file("/no/such/file.cubin"),
        CudaSourceError::Unreadable { .. },
        "/no/such/file.cubin"
    );
    check!(
        CudaSource::from_file("/no/such/file.cu"),
        CudaSourceError::Unreadable { .. },
        "/no/such/file.cu"
    );
    if !compiler() {
        return;
    }
    let cubin = CudaSource::new(SAXPY).compile("sm_90").unwrap();
    let cubin = cubin.bytes();
    for len in [5, 63, 64, 1000, cubin.len() / 2, cubin.len() - 1] {
        no_image(&cubin[..len], &["cut off after"]);
    }
}

#[test]
fn what_the_device_does_not_run_is_refused_and_the_next_works() {
    let Some(gpu) = device() else {
        return;
    };
    let load = |name: &str, code: &[u8]| gpu.load_cuda(&CudaImage::from_bytes(name, code)?);
    let newer = FILL.replace("7.0", "99.1");
    check!(
        load("newer.ptx", newer.as_bytes()),
        CudaSourceError::DriverTooOld { .. },
        "PTX ISA 99.1 of `newer.ptx`",
        "supports CUDA"
    );
    let wrong = FILL.replace("st.u32", "st.nothing");
    check!(
        load("wrong.ptx", wrong.as_bytes()),
        CudaSourceError::Load { .. },
        "`wrong.ptx`",
        "cuModuleLoadDataEx",
        "line 11"
    );
    if compiler() {
        let (major, _) = gpu.compute_capability().unwrap();
        let other = if major == 8 { "sm_90" } else { "sm_80" };
        let image = CudaSource::new(SAXPY).compile(other).unwrap();
        check!(
            load("other.cubin", image.bytes()),
            CudaSourceError::OtherArchitecture { .. },
            "`other.cubin` is machine code for",
            other,
            "cuda:0"
        );
        // Whole by its headers, but with wrong contents.
        let right = gpu.compile_cuda(SAXPY).unwrap();
        let mut bytes = right.image().bytes().to_vec();
        let end = bytes.len();
        bytes[64..end / 2].fill(0x5a);
        let (error, text) = failure(load("damaged.cubin", &bytes));
        assert!(
            matches!(
                error,
                CudaSourceError::Load { .. } | CudaSourceError::NotAnImage { .. }
            ),
            "{text}"
        );
        assert!(text.contains("`damaged.cubin`"), "{text}");
    }
    assert_eq!(
        filled(&load("fill.ptx", FILL.as_bytes()).unwrap())[..2],
        [7, 7]
    );
}

#[test]
fn arrays_of_other_devices_and_views_with_gaps_are_refused() {
    let Some(gpu) = device() else {
        return;
    };
    let image = CudaImage::from_bytes("fill.ptx", FILL).unwrap();
    let module = gpu.load_cuda(&image).unwrap();
    let fill = module.function::<fill>("fill").unwrap().grid(1).block(4);
    let mut elsewhere = Gpu::cpu().zeros::<i32>(4).unwrap();
    // SAFETY: nothing is launched.
    let error = unsafe { fill.launch(&mut elsewhere) }.unwrap_err();
    assert!(matches!(error, Error::DifferentDevices { .. }), "{error}");
    let text = error.to_string();
    assert!(
        text.contains("CPU simulator") && text.contains("cuda:0"),
        "{text}"
    );

    let mut x = gpu.zeros_nd::<i32, _>((4, 4)).unwrap();
    // SAFETY: as above.
    let refused = unsafe { fill.launch(x.view_mut().slice(s![.., 1..])) };
    check!(
        refused,
        CudaSourceError::NotStandardLayout { .. },
        "[4, 3]",
        "[4, 1]"
    );
    // SAFETY: four threads write the four elements of a row.
    unsafe { fill.launch(x.view_mut().slice(s![2..3, ..])) }.unwrap();
    assert_eq!(x.to_vec().unwrap().iter().sum::<i32>(), 28);
    assert_eq!(x.to_host().unwrap()[(2, 3)], 7);
}

#[test]
fn host_threads_share_a_kernel() {
    let Some(gpu) = device() else {
        return;
    };
    let image = CudaImage::from_bytes("fill.ptx", FILL).unwrap();
    let module = gpu.load_cuda(&image).unwrap();
    std::thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| {
                for _ in 0..20 {
                    assert_eq!(filled(&module), [7, 7, 7, 7, 0, 0]);
                }
            });
        }
    });
}
