//! `#[kernel]` and `device_code!`, and the device pass that the first of them in a crate starts.
//!
//! - `kernel`: from an ordinary function to a launchable kernel: parse, check, expand.
//! - `device_pass`: runs the same rustc on the same crate once more for its LLVM bitcode, and `gpu-compiler` on that.
//! - `run_time`: signatures of kernels whose source is compiled when the program runs.
//! - `device_link`: functions of PTX or bitcode.
//! - `device_copy`: the derive for elements of device memory.
//! - `test_attribute`: tests that run on the simulator and on a GPU.
//! - `embed`: the PTX as a literal that the program registers at start, and the compiler's errors at the user's own
//!   tokens.

mod device_copy;
mod device_errors;
mod device_link;
mod device_pass;
mod embed;
#[path = "kernel/mod.rs"]
mod kernel_macro;
mod run_time;
mod test_attribute;

use proc_macro::TokenStream;

/// Makes a function a kernel: the host can launch it on a grid of threads, on a GPU or on the CPU simulator.
///
/// ```ignore
/// use oxwarp::prelude::*;
///
/// #[kernel]
/// fn add(a: &[f32], b: &[f32], mut c: DisjointSlice<f32>) {
///     let i = thread::index_1d();
///     if let Some(c) = c.get_mut(i) {
///         *c = a[i] + b[i];
///     }
/// }
///
/// fn main() -> oxwarp::Result<()> {
///     let gpu = Gpu::new()?;
///     let a = gpu.to_device(&vec![1.0f32; 1000])?;
///     let b = gpu.to_device(&vec![2.0f32; 1000])?;
///     let mut c = gpu.zeros::<f32>(1000)?;
///     launch!(add[4, 256](&a, &b, &mut c))?;
///     assert_eq!(c.to_vec()?, vec![3.0; 1000]);
///     Ok(())
/// }
/// ```
///
/// # Parameters
///
/// | in the kernel | at the launch | meaning |
/// | --- | --- | --- |
/// | `&[T]` | `&DeviceArray<T>` | read by all threads |
/// | `DisjointSlice<T>` | `&mut DeviceArray<T>` | each thread writes its own elements |
/// | `&[AtomicU32]`, `&[AtomicF32]`... | `&mut DeviceArray<u32>`... | written by all threads, atomically |
/// | any `Copy` type without references | the value | copied to every thread |
///
/// Closures and generic types work as in any function; the type parameters are chosen by the launch.
///
/// # Options
///
/// In parentheses, with commas between: `#[kernel(launch_bounds(256), fast_math)]`. What an option changes, it changes in
/// this kernel and in what it calls, not in other kernels that call the same functions.
///
/// | option | meaning | CUDA C |
/// | --- | --- | --- |
/// | `block(x)`, `block(x, y)`, `block(x, y, z)` | every block has exactly these threads, which the compiler counts on: a launch with another block is `Error::BlockShape`, one that names no block gets this one | `__block_size__((x, y, z))` |
/// | `cluster(x)`, `cluster(x, y)`, `cluster(x, y, z)` | every cluster has exactly these blocks, at most 8: a launch with other clusters is `Error::ClusterShape`, one that names none gets these, on GPUs of compute capability 9.0 or newer | `__cluster_dims__(x, y, z)` |
/// | `launch_bounds(threads)` | no block has more threads: a launch with more is `Error::LaunchBounds`, and the compiler may use more registers | `__launch_bounds__(threads)` |
/// | `launch_bounds(threads, blocks)` | and a multiprocessor is to hold so many blocks at once, so the compiler must use fewer | `__launch_bounds__(threads, blocks)` |
/// | `max_registers = n` | a thread has at most `n` registers; what does not fit is kept in memory | `__maxnreg__(n)` |
/// | `fast_math` | `f32` only: approximate division, square root, `sin`, `cos`, `tan`, `tanh`, `exp`, `exp2`, `ln`, `log2`, `log10`, `powf`; subnormal numbers count as 0. NaN, infinities and the order of sums keep their meaning. The simulator stays accurate | `--use_fast_math` |
/// | `fma = false` | multiplications and additions stay apart, where they would be contracted to a fused multiply-add | `-fmad=false` |
/// | `unsafe(unchecked)` | see below | |
///
/// The numbers are constant expressions, also of the kernel's const parameters.
///
/// ## `unsafe(unchecked)`
///
/// On a GPU nothing in this kernel is checked any more: not an index, an overflow, an `unwrap`, an `assert!`. Whoever
/// writes it promises that **no thread of any launch of the kernel panics**, whatever the arguments; if one would, the
/// behaviour is undefined. For a promise that only some launches keep, make the kernel an `unsafe fn` too. The simulator
/// keeps all checks, so run the kernel there first.
///
/// # Text
///
/// `print!`, `println!`, `eprint!`, `eprintln!` and `dbg!` work in kernels as everywhere, with all of std's formatting.
/// On a GPU the text appears on the host when the next wait returns, in whole lines and in order for each thread; the
/// lines of different threads come in any order. `Gpu::set_print_capacity` sets how much is kept until then. The
/// simulator prints at once, and runs a kernel that can print block by block on the caller's thread, so its text comes in
/// the order of the grid. What formats is code that the driver compiles on the first launch of a kernel that does, and then
/// keeps. CUDA C: `printf`.
///
/// # Errors
///
/// What cannot be a kernel is a compile error at the user's own token: a `&mut [T]` parameter, a parameter that is not
/// `Copy` or holds a reference, an `async`, variadic, `self` or returning function, and a call of anything that has no
/// device code.
#[proc_macro_attribute]
pub fn kernel(options: TokenStream, item: TokenStream) -> TokenStream {
    kernel_macro::expand(options.into(), item.into()).into()
}

/// Compiles the device code of a crate that launches other crates' generic kernels and has no `#[kernel]` of its own.
/// Once in a crate, at any place where an item may stand; in a crate with kernels it does nothing.
///
/// ```ignore
/// oxwarp::device_code!();
/// ```
#[proc_macro]
pub fn device_code(_input: TokenStream) -> TokenStream {
    embed::module_of_this_crate().into()
}

/// Links device functions from PTX or LLVM bitcode, such as nvcc or clang make of CUDA C.
///
/// ```ignore
/// #[oxwarp::device_link("kernels/ops.ptx")]
/// unsafe extern "C" {
///     /// `a * b`.
///     safe fn mul_f32_f32(a: f32, b: f32) -> f32 {
///         a * b
///     }
///     #[link_name = "_Z9last_wordPKi"]
///     fn last_word(text: *const i32) -> i32;
/// }
/// ```
///
/// The functions can be called in kernels, of this crate or others. A body is what the simulator computes; a call of a
/// function without one is a panic there. As in any `extern` block, a function is `unsafe` unless it says `safe`.
///
/// - The file is named relative to the folder of `Cargo.toml`. A change of it compiles the crate anew.
/// - `.ptx`: as from `nvcc -ptx -rdc=true -arch=compute_75`. Its text becomes a part of the module's, whose `.version` is at
///   least that of the file. Its `.target` must not be newer than the crate's targets.
/// - `.bc`: as from `clang --target=nvptx64 -O2 -emit-llvm -c`, of an LLVM that is not newer than rustc's. LLVM inlines it.
/// - Parameters and results are `u16` to `u64`, `i16` to `i64`, `usize`, `isize`, `f32`, `f64` and raw pointers.
///
/// CUDA C: a declaration `extern "C" __device__`, and `nvlink`. Numba: `cuda.declare_device` with `link=`.
///
/// # Safety
///
/// The functions are what their declarations say; a `safe` one can be called with any arguments. Bodies compute the same.
///
/// # Errors
///
/// A file that cannot be read, a function that is not in it, and a signature that is not that of the PTX are compile errors
/// at the declaration.
#[proc_macro_attribute]
pub fn device_link(file: TokenStream, item: TokenStream) -> TokenStream {
    device_link::expand(file.into(), item.into()).into()
}

/// Makes a `Copy` struct, enum or union an element of device arrays, if all its fields can be.
///
/// ```ignore
/// use oxwarp::prelude::*;
///
/// #[derive(Clone, Copy, DeviceCopy)]
/// struct Particle {
///     position: [f32; 3],
///     mass: f32,
///     kind: Option<u8>,
/// }
///
/// #[kernel]
/// fn masses(particles: &[Particle], mut out: DisjointSlice<f32>) {
///     let i = thread::index_1d();
///     if let Some(out) = out.get_mut(i) {
///         *out = particles[i].mass;
///     }
/// }
/// ```
///
/// Generic types get the bound `T: DeviceCopy` on each type parameter. The layout is that of the host; padding, enums with
/// data and `repr` attributes all work. Numba: a structured `dtype`; PyCUDA: `tools.match_dtype_to_c_struct`.
///
/// # Errors
///
/// A type that is not `Copy`, and a field that is not `DeviceCopy`, are compile errors at the type or field.
#[proc_macro_derive(DeviceCopy)]
pub fn device_copy(item: TokenStream) -> TokenStream {
    device_copy::expand(item.into()).into()
}

/// Declares the signatures of kernels whose Rust source is compiled when the program runs, each as a type of its name.
///
/// ```ignore
/// use oxwarp::{RustSource, prelude::*, rust_kernel};
///
/// rust_kernel! {
///     /// `y[i] = f(x[i])`
///     fn apply(x: &[f32], y: DisjointSlice<f32>);
/// }
///
/// let formula = "x * x + 1.0"; // from the user
/// let source = format!(
///     "fn apply(x: &[f32], mut y: DisjointSlice<f32>) {{
///          let i = thread::index_1d();
///          if let Some(y) = y.get_mut(i) {{
///              let x = x[i];
///              *y = {formula};
///          }}
///      }}"
/// );
/// let gpu = Gpu::new()?;
/// let apply = RustSource::new(source).kernel::<apply>(&gpu)?;
/// apply.for_each(y.len()).launch(&x, &mut y)?;
/// ```
///
/// `RustSource` documents the source, and what a compilation takes. The parameters are those of `#[kernel]`, without type
/// parameters; the source has a function of the same name and parameters. An `unsafe fn` is launched in `unsafe`.
///
/// The types of the parameters are named in the source too, so they are std's, those of oxwarp and of libraries that this
/// crate depends on: those of this crate itself the source does not see.
#[proc_macro]
pub fn rust_kernel(input: TokenStream) -> TokenStream {
    run_time::expand(input.into()).into()
}

/// Makes a function a test that runs on the CPU simulator with its checks, and then on the GPU where there is one.
///
/// ```ignore
/// use oxwarp::prelude::*;
///
/// #[oxwarp::test]
/// fn doubles(gpu: &Gpu) -> oxwarp::Result<()> {
///     let x = gpu.to_device(&[1.0f32, 2.0])?;
///     let mut y = gpu.zeros::<f32>(2)?;
///     launch!(double[1, 2](&x, &mut y))?;
///     assert_eq!(y.to_vec()?, [2.0, 4.0]);
///     Ok(())
/// }
/// ```
///
/// The function takes the device, as `&Gpu` or `Gpu`, and may return a `Result`. What a kernel did wrong and nothing waited for
/// fails the test too. The checks are those of `OXWARP_CHECK`, or if that is not set those that are on in a debug build, in a
/// release build as well. `OXWARP_DEVICE=cpu` keeps it off a GPU. Other attributes, such as `#[should_panic]`, stand as they would
/// on a plain `#[test]`.
///
/// # Errors
///
/// A function without a device among its parameters, or with more, is a compile error.
#[proc_macro_attribute]
pub fn test(options: TokenStream, item: TokenStream) -> TokenStream {
    test_attribute::expand(options.into(), item.into()).into()
}
