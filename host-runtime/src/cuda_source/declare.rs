//! `cuda_kernel!`: the signature of a kernel as a type.
//!
//! In: a signature. Out: a struct of its name with the shape's methods and a `launch` of these parameters. The parameters are
//! taken one by one, because an array crosses as an address and the rest as it is.

/// Declares the signatures of kernels in CUDA C, each as a type of its name.
///
/// [`CudaModule::function`](crate::CudaModule::function) gives the kernel of a module, after it has compared the parameters
/// with those of the compiled code. It is launched like a kernel in Rust, and can be launched many times:
/// `saxpy.grid(g).block(b).launch(...)`, `saxpy.for_each(n).launch(...)` or `launch!(saxpy[g, b](...))`. A launch is `unsafe`,
/// because nobody checks what CUDA C does with its arguments.
///
/// | in the declaration | in CUDA C | at the launch |
/// | --- | --- | --- |
/// | `&[T]` | `const T *` | `&DeviceArray<T, D>` or a view of it, of any shape in standard layout |
/// | `&mut [T]` | `T *` | `&mut DeviceArray<T, D>` or a mutable view of it |
/// | `i32`, `u32`, `i64`, `u64`, `f32`, `f64`, `bool`, `usize` | `int`, `unsigned`, `long long`, `unsigned long long`, `float`, `double`, `bool`, `size_t` | the value |
/// | a `#[repr(C)]` struct that is [`DeviceCopy`](crate::DeviceCopy) | the same struct | the value |
/// | `*const T`, `*mut T` | `const T *`, `T *` | an address on the device, or null |
///
/// CUDA C gets no length with an array: pass it as a parameter of its own. The vector types of CUDA C are
/// `oxwarp::vector::Float4` and the like, with the same alignment, and `__half` is `oxwarp::half::F16`.
///
/// The methods of a declared kernel, besides `launch`: `grid`, `block`, `for_each`, `shared_bytes` and `on` as for kernels in Rust,
/// `cooperative` for kernels that wait for their whole grid (`cooperative_groups::this_grid().sync()`), and
/// `max_cooperative_blocks`, which says how large that grid may be.
///
/// CuPy: `RawKernel`; PyCUDA: `Function.prepare("if PP")`.
///
/// ```no_run
/// use host_runtime::{Gpu, cuda_kernel, launch};
///
/// cuda_kernel! {
///     /// `y = a * x + y`
///     unsafe fn saxpy(n: i32, a: f32, x: &[f32], y: &mut [f32]);
/// }
///
/// let gpu = Gpu::cuda(0)?;
/// let module = gpu.compile_cuda(
///     r#"
///     extern "C" __global__ void saxpy(int n, float a, const float *x, float *y) {
///         int i = blockIdx.x * blockDim.x + threadIdx.x;
///         if (i < n) y[i] += a * x[i];
///     }"#,
/// )?;
/// let saxpy = module.function::<saxpy>("saxpy")?;
///
/// let x = gpu.to_device(&[1.0f32, 2.0, 3.0])?;
/// let mut y = gpu.to_device(&[10.0f32, 20.0, 30.0])?;
/// // SAFETY: the kernel reads and writes the first 3 elements, and there are 3.
/// unsafe { launch!(saxpy[1, 256](3, 2.0, &x, &mut y))? };
/// assert_eq!(y.to_vec()?, [12.0, 24.0, 36.0]);
/// # Ok::<(), host_runtime::Error>(())
/// ```
///
/// The number and the types of the arguments are checked when the program is compiled:
///
/// ```compile_fail
/// # use host_runtime::{DeviceArray, cuda_kernel};
/// cuda_kernel! {
///     unsafe fn fill(n: i32, x: &mut [f32]);
/// }
///
/// fn wrong(fill: &fill, x: &mut DeviceArray<f64>) {
///     let _ = unsafe { fill.grid(1).block(32).launch(32, x) }; // of f64, not of f32
/// }
/// ```
#[macro_export]
macro_rules! cuda_kernel {
    ($($(#[$attribute:meta])* $visibility:vis unsafe fn $name:ident($($parameters:tt)*);)+) => {$(
        $crate::cuda_kernel! {
            @parameters __arguments
            [$(#[$attribute])* $visibility $name
                concat!("unsafe fn ", stringify!($name), "(", stringify!($($parameters)*), ")")] []
            $($parameters)*
        }
    )+};

    // Each step takes one parameter: its name, the type of its argument, what crosses, and its description.
    (@parameters $arguments:ident $head:tt [$($done:tt)*] $name:ident: &mut [$element:ty] $(, $($rest:tt)*)?) => {
        $crate::cuda_kernel! {
            @parameters $arguments $head [$($done)* {
                $name: impl $crate::__private::CudaArrayMut<$element>,
                $crate::__private::CudaArrayMut::<$element>::address($name, &mut $arguments),
                $crate::__private::Parameter::pointer(stringify!($name), stringify!(&mut [$element]))
            }] $($($rest)*)?
        }
    };
    (@parameters $arguments:ident $head:tt [$($done:tt)*] $name:ident: &[$element:ty] $(, $($rest:tt)*)?) => {
        $crate::cuda_kernel! {
            @parameters $arguments $head [$($done)* {
                $name: impl $crate::__private::CudaArray<$element>,
                $crate::__private::CudaArray::<$element>::address($name, &mut $arguments),
                $crate::__private::Parameter::pointer(stringify!($name), stringify!(&[$element]))
            }] $($($rest)*)?
        }
    };
    (@parameters $arguments:ident $head:tt [$($done:tt)*] $name:ident: *mut $target:ty $(, $($rest:tt)*)?) => {
        $crate::cuda_kernel! {
            @parameters $arguments $head [$($done)* {
                $name: *mut $target,
                $name,
                $crate::__private::Parameter::pointer(stringify!($name), stringify!(*mut $target))
            }] $($($rest)*)?
        }
    };
    (@parameters $arguments:ident $head:tt [$($done:tt)*] $name:ident: *const $target:ty $(, $($rest:tt)*)?) => {
        $crate::cuda_kernel! {
            @parameters $arguments $head [$($done)* {
                $name: *const $target,
                $name,
                $crate::__private::Parameter::pointer(stringify!($name), stringify!(*const $target))
            }] $($($rest)*)?
        }
    };
    (@parameters $arguments:ident $head:tt [$($done:tt)*] $name:ident: $value:ty $(, $($rest:tt)*)?) => {
        $crate::cuda_kernel! {
            @parameters $arguments $head [$($done)* {
                $name: $value,
                $name,
                $crate::__private::Parameter::value::<$value>(stringify!($name), stringify!($value))
            }] $($($rest)*)?
        }
    };

    (@parameters $arguments:ident [$(#[$attribute:meta])* $visibility:vis $name:ident $declaration:expr] [$({
        $parameter:ident: $argument:ty, $crosses:expr, $description:expr
    })*]) => {
        $(#[$attribute])*
        ///
        #[doc = concat!("A kernel of CUDA C: `", $declaration, "`.")]
        #[allow(non_camel_case_types)]
        #[derive(Clone, Debug)]
        $visibility struct $name {
            function: $crate::__private::CudaFunction,
        }

        impl $crate::CudaKernel for $name {
            const NAME: &'static str = stringify!($name);
            const DECLARATION: &'static str = $declaration;

            fn parameters() -> ::std::vec::Vec<$crate::__private::Parameter> {
                ::std::vec![$($description),*]
            }

            fn of(function: $crate::__private::CudaFunction) -> Self {
                Self { function }
            }
        }

        #[allow(dead_code)]
        impl $name {
            $crate::launch_shape! { function }

            /// Asks for all blocks to run at once, for a kernel that waits for its whole grid. CUDA C:
            /// `cudaLaunchCooperativeKernel`.
            #[must_use = "a kernel runs when it is launched"]
            pub fn cooperative(&self) -> Self {
                Self { function: self.function.cooperative() }
            }

            /// Registers, static shared, local and constant bytes, and the most threads of a block. CuPy:
            /// `RawKernel.attributes`; PyCUDA: `Function.num_regs`...
            ///
            /// # Errors
            ///
            /// If the device fails.
            pub fn attributes(&self) -> $crate::Result<$crate::KernelAttributes> {
                self.function.attributes()
            }

            /// How many blocks of so many threads, with so many bytes of dynamic shared memory each, run on a multiprocessor
            /// at once. CUDA C: `cudaOccupancyMaxActiveBlocksPerMultiprocessor`.
            ///
            /// # Errors
            ///
            /// If such a block cannot be launched.
            pub fn occupancy(&self, block: u32, shared_bytes: u32) -> $crate::Result<$crate::Occupancy> {
                self.function.occupancy(block, shared_bytes)
            }

            /// The block size with which most threads run at once. CUDA C: `cudaOccupancyMaxPotentialBlockSize`.
            ///
            /// # Errors
            ///
            /// If a block cannot have so much dynamic shared memory.
            pub fn suggested_block(&self, shared_bytes: u32) -> $crate::Result<$crate::SuggestedBlock> {
                self.function.suggested_block(shared_bytes)
            }

            /// Queues the launch and returns.
            ///
            /// # Errors
            ///
            /// If the shape is over a limit of the device or the kernel, or an array is of another device.
            ///
            /// # Safety
            ///
            /// The kernel reads what an `&[T]` points to and writes only what a `&mut [T]` points to, within the arrays and
            /// without races, in every thread of the launch; pointers among the arguments are valid for what it does.
            #[allow(clippy::too_many_arguments)]
            pub unsafe fn launch(&self $(, $parameter: $argument)*) -> $crate::Result<()> {
                #[allow(unused_mut)]
                let mut $arguments = self.function.arguments();
                $(let $parameter = $crosses;)*
                // SAFETY: the values are of the declared types, which were compared with the kernel's; the caller sees to what
                // it does with them.
                unsafe {
                    self.function.launch(
                        $arguments,
                        &mut [$((&raw const $parameter).cast_mut().cast::<::std::ffi::c_void>()),*],
                    )
                }
            }
        }
    };
}
