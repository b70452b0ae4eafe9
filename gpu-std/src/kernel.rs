//! What a kernel's macro expansion leaves for the device compiler and the host runtime: the record of an instance and
//! the raw form of its parameters.

use core::any::TypeId;

use crate::live::live;
use crate::runtime::Runtime;

/// The first bytes of a [`KernelRecord`], by which the device compiler finds it in the bitcode.
pub const KERNEL_MAGIC: [u8; 16] = *b"oxwarp kernel 01";

/// One kernel instance: a kernel with its type parameters (and so its closures) chosen.
///
/// It stands in the bitcode as a constant, because the instance's launch refers to it. The device compiler makes
/// `entry` a `ptx_kernel` that takes the parameter struct by value and is named after `id`; the host asks for it by the
/// same `id`, and the simulator calls `entry` itself. `gpu-compiler` reads the fields by their offsets.
#[repr(C)]
pub struct KernelRecord {
    /// [`KERNEL_MAGIC`].
    pub magic: [u8; 16],
    /// The type that stands for the instance; equal in the host pass and the device pass.
    pub id: TypeId,
    /// Runs one thread: reads the parameter struct behind the pointer and calls the user's function.
    pub entry: unsafe fn(*const u8),
    /// The device's own panic and heap functions.
    pub runtime: &'static Runtime,
    /// The kernel's name as in the source, for messages.
    pub name: &'static str,
    /// Crate and module of the kernel.
    pub module: &'static str,
    /// The source file, as rustc names it.
    pub file: &'static str,
    /// The line of the kernel's name.
    pub line: u32,
    /// [`NO_FMA`], [`TAKES_POINTERS`], [`FAST_MATH`], [`unchecked`], [`TAKES_ATOMICS`].
    pub flags: u32,
    /// Bytes of the parameter struct.
    pub params_size: usize,
    /// Its alignment in bytes.
    pub params_align: usize,
    /// Where in it the views of device memory are, in bytes.
    pub views: &'static [usize],
    /// The most threads of a block; 0 if the kernel does not say.
    pub max_threads: u32,
    /// The least blocks that a multiprocessor is to hold at once; 0 if the kernel does not say.
    pub min_blocks: u32,
    /// The most registers of a thread; 0 if the kernel does not say.
    pub max_registers: u32,
    /// The threads of every block along x, y and z; zeros if the kernel does not say.
    pub block: [u32; 3],
    /// The blocks of every cluster along x, y and z; zeros if the kernel does not say.
    pub cluster: [u32; 3],
}

/// [`KernelRecord::flags`]: multiplications and additions of the kernel are not contracted to `fma`.
pub const NO_FMA: u32 = 1;

/// [`KernelRecord::flags`]: the kernel is an `unsafe fn`, whose caller answers for raw pointers among its parameters.
pub const TAKES_POINTERS: u32 = 2;

/// [`KernelRecord::flags`]: atomics may be among the parameters, so that an operation of `core::sync::atomic`, which the
/// simulator does not see, may order the threads' accesses.
pub const TAKES_ATOMICS: u32 = 16;

/// [`KernelRecord::flags`]: `f32` arithmetic of the kernel may be approximate.
pub const FAST_MATH: u32 = 4;

/// [`KernelRecord::flags`]: nothing in the kernel panics, by its author's word.
///
/// # Safety
///
/// No thread of any launch of the kernel panics.
pub const unsafe fn unchecked() -> u32 {
    8
}

/// The numbers of `#[kernel(block(...), cluster(...), launch_bounds(...), max_registers = ...)]`, checked where the record is computed.
pub mod bounds {
    const fn within(given: i128, last: i128) -> bool {
        1 <= given && given <= last
    }

    /// [`KernelRecord::max_threads`](super::KernelRecord::max_threads).
    pub const fn max_threads(given: i128) -> u32 {
        assert!(
            within(given, 1024),
            "`launch_bounds`: a block has 1 to 1024 threads"
        );
        given as u32
    }

    /// [`KernelRecord::min_blocks`](super::KernelRecord::min_blocks).
    pub const fn min_blocks(given: i128) -> u32 {
        assert!(
            within(given, 32),
            "`launch_bounds`: a multiprocessor holds 1 to 32 blocks at once"
        );
        given as u32
    }

    /// [`KernelRecord::max_registers`](super::KernelRecord::max_registers).
    pub const fn max_registers(given: i128) -> u32 {
        assert!(
            within(given, 255),
            "`max_registers`: a thread has 1 to 255 registers"
        );
        given as u32
    }

    /// [`KernelRecord::block`](super::KernelRecord::block).
    pub const fn block(given: [i128; 3]) -> [u32; 3] {
        let [x, y, z] = given;
        assert!(
            within(x, 1024) && within(y, 1024) && within(z, 64) && x * y * z <= 1024,
            "`block`: a block has 1 to 1024 threads, and along z at most 64"
        );
        [x as u32, y as u32, z as u32]
    }

    /// [`KernelRecord::cluster`](super::KernelRecord::cluster).
    pub const fn cluster(given: [i128; 3]) -> [u32; 3] {
        let [x, y, z] = given;
        assert!(
            within(x, 8) && within(y, 8) && within(z, 8) && x * y * z <= 8,
            "`cluster`: a cluster has 1 to 8 blocks"
        );
        [x as u32, y as u32, z as u32]
    }
}

/// A type that stands for one kernel instance.
///
/// # Safety
///
/// `RECORD.entry` reads a parameter struct of `RECORD.params_size` bytes, and `RECORD.id` is the `TypeId` of `Self`.
pub unsafe trait KernelInstance: 'static {
    /// The instance's record.
    const RECORD: &'static KernelRecord;
}

/// A view of device memory as it crosses the launch: a pointer and a shape, no reference.
#[derive(Debug)]
#[repr(C)]
pub struct RawView<T, S> {
    /// The first element, in device memory; aligned and not null, also where there are no elements.
    pub pointer: *mut T,
    /// Length, or extents, with strides where the parameter has them.
    pub shape: S,
}

impl<T, S: Copy> Clone for RawView<T, S> {
    #[inline]
    fn clone(&self) -> Self {
        *self
    }
}

impl<T, S: Copy> Copy for RawView<T, S> {}

/// A kernel parameter that is a view of device memory.
///
/// It is `#[kernel]` that takes a parameter for a view, by its name; so another crate's type of that name is refused here.
///
/// # Safety
///
/// `Raw` must have the same layout in the host pass and the device pass.
#[diagnostic::on_unimplemented(
    message = "a kernel cannot take `{Self}`",
    label = "not a view of device memory",
    note = "take oxwarp's own types: `oxwarp::view::ArrayView2<T>` (not `ndarray`'s), `oxwarp::DisjointSlice<T>`, or a \
            slice `&[T]`"
)]
pub unsafe trait KernelParam {
    /// How it crosses the launch.
    type Raw: Copy + 'static;

    /// The parameter as the kernel sees it.
    ///
    /// # Safety
    ///
    /// `raw` is a live view for the whole launch, exclusive if `Self` can write, of the shape and alignment that `Raw`
    /// says.
    unsafe fn from_raw(raw: Self::Raw) -> Self;
}

// SAFETY: `RawView` is `repr(C)`.
unsafe impl<T: 'static> KernelParam for &[T] {
    type Raw = RawView<T, usize>;

    #[inline]
    unsafe fn from_raw(view: Self::Raw) -> Self {
        // SAFETY: the caller gives a live view of `shape` elements.
        let slice = unsafe { core::slice::from_raw_parts(live(view.pointer).as_ptr(), view.shape) };
        // Through a pointer, so that rustc does not inline the call's MIR into this function of an optimised crate.
        let mark: fn(&[T]) = read_only_parameter::<T>;
        mark(slice);
        slice
    }
}

/// Tells the device compiler that `slice` is read-only for the whole launch, if rustc says so of this function's own
/// parameter (it does not for `&[AtomicU32]`). The compiler finds the function by name, reads the attribute, and
/// removes the call. `#[inline]`, so that every crate has its own instance; the device pass does not inline MIR.
#[inline]
pub fn read_only_parameter<T>(_slice: &[T]) {}

/// Where a kernel's parameter that is no view is checked: it is copied to the device as it is.
pub fn parameter_is_copied_to_the_device<T: Copy + 'static>() {}
