//! Which host arguments a kernel's parameters take.
//!
//! In: references to device arrays, views of parts of them, and host data ([`host_argument`](crate::host_argument)). Out:
//! their raw views, as they stand in the parameter struct, and which device the launch goes to. `&` gives what the whole grid
//! only reads; `&mut` what it writes.

use core::ptr::NonNull;
use core::sync::atomic::{
    AtomicBool, AtomicI8, AtomicI16, AtomicI32, AtomicI64, AtomicIsize, AtomicU8, AtomicU16,
    AtomicU32, AtomicU64, AtomicUsize,
};

use gpu_std::atomic::{
    AtomicBf16, AtomicBf16x2, AtomicF16, AtomicF16x2, AtomicF32, AtomicF64, AtomicU128,
};
use gpu_std::disjoint::{
    BlockIndex, BlockIndex2d, DisjointChunks, DisjointColumns, DisjointIndex, DisjointRows,
    DisjointSlice, DisjointTiles, ThreadIndex, ThreadIndex2d, ThreadIndex3d, WarpIndex,
};
use gpu_std::half::{Bf16, Bf16x2, F16, F16x2};
use gpu_std::kernel::{KernelParam, RawView};
use gpu_std::matrix::DisjointFragments;
use gpu_std::view::{ArrayView, Extents, Layout, Standard, UnsafeSlice};
use ndarray::{Dim, Dimension, Ix1, Ix2, IxDyn};
use smallvec::SmallVec;

use crate::DeviceCopy;
use crate::array::DeviceArray;
use crate::bound;
use crate::config::LaunchConfig;
use crate::error::{Error, Result};
use crate::gpu::Gpu;
use crate::host_argument::Held;
use crate::launch::default_gpu;
use crate::memory::{self, Memory};
use crate::ordering::{Access, Turn, ticket};
use crate::view::{DeviceView, DeviceViewMut};

/// What the arguments of a launch have in common: the device and stream, the memory that it reads and writes, and the
/// first error.
#[derive(Default)]
pub struct Arguments {
    /// Where host data goes: the device that was chosen, or that of an argument.
    gpu: Option<Gpu>,
    /// The device of the kernel's module, for host data.
    own: Option<Gpu>,
    uses: SmallVec<[Use; 16]>,
    /// Device arrays in place of host data.
    held: Vec<Box<dyn Held>>,
    error: Option<Error>,
}

/// Memory behind an argument.
struct Use {
    memory: NonNull<Memory>,
    access: Access,
}

impl Arguments {
    /// No arguments yet.
    #[inline]
    pub fn new() -> Self {
        Self::default()
    }

    /// No arguments yet, of a launch with this shape and device.
    #[inline]
    pub fn of(config: &LaunchConfig) -> Self {
        Self {
            gpu: config.gpu.clone(),
            ..Self::default()
        }
    }

    /// The same, of a kernel that lives on one device.
    pub(crate) fn or_on(mut self, gpu: &Gpu) -> Self {
        self.own = Some(gpu.clone());
        self
    }

    /// Takes the device of an argument that lies on one, if none was chosen.
    #[inline]
    pub fn prefers(&mut self, argument: &impl OnDevice) {
        if self.gpu.is_none() {
            self.gpu = argument.device().cloned();
        }
    }

    /// The device for host data: the one chosen, or that of an argument or of the kernel, or the process's first.
    pub(crate) fn gpu_of_host_data(&mut self) -> Result<Gpu> {
        let gpu = match self.gpu.as_ref().or(self.own.as_ref()) {
            Some(gpu) => gpu.clone(),
            None => default_gpu()?.clone(),
        };
        self.gpu = Some(gpu.clone());
        Ok(gpu)
    }

    /// Keeps what stands for host data until the arguments are dropped.
    ///
    /// # Safety
    ///
    /// But for [`Held::finish`], `held` does not touch what is borrowed for `'a`.
    pub(crate) unsafe fn hold<'a>(&mut self, held: Box<dyn Held + 'a>) {
        // SAFETY: only the lifetime changes, and what it bounds is touched in `finish` alone, whose caller promises that the
        // borrow is not over.
        let held = unsafe { std::mem::transmute::<Box<dyn Held + 'a>, Box<dyn Held>>(held) };
        self.held.push(held);
    }

    /// Waits and copies back to host data what the launch wrote for it; after an error nothing more.
    ///
    /// # Safety
    ///
    /// The host data that the arguments were made of is still borrowed.
    #[inline]
    pub(crate) unsafe fn finish(&mut self) -> Result<()> {
        for held in &mut self.held {
            // SAFETY: as the caller promises.
            unsafe { held.finish() }?;
        }
        Ok(())
    }

    /// Notes that the launch uses this memory, which stays borrowed until it is queued.
    #[inline]
    pub(crate) fn uses(&mut self, memory: &Memory, access: Access) {
        let memory = NonNull::from(memory);
        self.uses.push(Use { memory, access });
    }

    /// Notes that an argument cannot be passed; the launch gives the first such error.
    #[cold]
    pub(crate) fn fails(&mut self, error: Error) {
        self.error.get_or_insert(error);
    }

    /// The device and stream that was chosen, or that of the first argument; `None` where neither is.
    ///
    /// # Safety
    ///
    /// The arrays and views that the arguments were made of are still borrowed for `'a`.
    #[inline]
    pub(crate) unsafe fn device<'a>(&mut self, chosen: Option<&'a Gpu>) -> Result<Option<&'a Gpu>> {
        if let Some(error) = self.error.take() {
            return Err(error);
        }
        Ok(match chosen {
            Some(chosen) => Some(chosen),
            // SAFETY: as the caller promises.
            None => (self.uses.first()).map(|used| unsafe { used.memory.as_ref() }.gpu()),
        })
    }

    /// Checks that the launch's device can use the memory, and makes `gpu`'s stream wait for what the launch must come after
    /// on other streams. What is returned is to be held until [`end`](Self::end).
    ///
    /// # Safety
    ///
    /// The arrays and views that the arguments were made of are still borrowed.
    #[inline]
    pub(crate) unsafe fn begin(&self, gpu: &Gpu) -> Result<Option<Turn>> {
        // SAFETY: as the caller promises.
        let memory = |used: &Use| unsafe { &*used.memory.as_ptr() };
        if self.uses.iter().all(|used| memory(used).is_simple_on(gpu)) {
            return Ok(None);
        }
        let is_kept = self.uses.iter().any(|used| memory(used).is_kept());
        let turn = is_kept.then(Turn::borrowed);
        for used in &self.uses {
            let memory = memory(used);
            check_reach(gpu, memory)?;
            memory.begin_on(gpu, used.access)?;
        }
        Ok(turn)
    }

    /// Checks that the launch's device can use the memory, and gives it for use without a borrow.
    ///
    /// # Safety
    ///
    /// As for [`begin`](Self::begin).
    pub(crate) unsafe fn keep(&self, gpu: &Gpu) -> Result<Vec<bound::Use>> {
        if !self.held.is_empty() {
            return Err(Error::HostDataInPlan);
        }
        let kept = self.uses.iter().map(|used| {
            // SAFETY: as the caller promises.
            let memory = unsafe { used.memory.as_ref() };
            check_reach(gpu, memory)?;
            Ok(bound::Use {
                memory: memory.keep(),
                access: used.access,
            })
        });
        kept.collect()
    }

    /// Bytes of the memory behind the arguments, that of each array once.
    ///
    /// # Safety
    ///
    /// As for [`begin`](Self::begin).
    pub(crate) unsafe fn bytes(&self) -> u64 {
        let mut memories: Vec<_> = self.uses.iter().map(|used| used.memory).collect();
        memories.sort();
        memories.dedup();
        // SAFETY: as the caller promises.
        let bytes = |memory: &NonNull<Memory>| unsafe { memory.as_ref() }.bytes() as u64;
        memories.iter().map(bytes).sum()
    }

    /// Notes that the launch was queued on `gpu`'s stream.
    ///
    /// # Safety
    ///
    /// As for [`begin`](Self::begin).
    #[inline]
    pub(crate) unsafe fn end(&self, gpu: &Gpu) {
        let ticket = ticket(gpu.stream().queue());
        for used in &self.uses {
            // SAFETY: as the caller promises.
            unsafe { used.memory.as_ref() }.end_on(gpu, used.access, &ticket);
        }
    }
}

/// Checks that launches of a device can use the memory.
#[inline]
fn check_reach(gpu: &Gpu, memory: &Memory) -> Result<()> {
    let owner = memory.gpu();
    if owner.stream().is(gpu.stream()) || gpu.backend().may_use_memory_of(owner.backend()) {
        return Ok(());
    }
    Err(different_devices(gpu, owner))
}

#[cold]
pub(crate) fn different_devices(first: &Gpu, second: &Gpu) -> Error {
    Error::DifferentDevices {
        first: first.label(),
        second: second.label(),
    }
}

/// A host value that may be passed for the kernel parameter `P`.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be passed for the kernel parameter `{P}`",
    label = "not an argument for `{P}`",
    note = "for `&[T]` pass `&DeviceArray<T>`; for `DisjointSlice<T>` and for atomics such as `&[AtomicU32]` pass \
            `&mut DeviceArray<T>`; for a parameter of several dimensions, such as `ArrayView2<T>` or \
            `DisjointSlice<T, ThreadIndex2d>`, the array must have as many: `&DeviceArray<T, Ix2>` (see \
            `DeviceArray::into_shape`)",
    note = "host data must be on the device first: `let x = gpu.to_device(&x)?;`; or let the launch copy it: `In(&x)`, \
            `InOut(&mut x)`, `Out(&mut x)`"
)]
pub trait KernelArg<P: KernelParam>: OnDevice {
    /// The argument as it crosses the launch.
    fn raw(self, arguments: &mut Arguments) -> P::Raw;
}

/// What an argument of a launch says of where it lies.
pub trait OnDevice {
    /// Whether it is host data, whose device others say.
    const IS_HOST_DATA: bool = false;

    /// The device, if it is on one.
    fn device(&self) -> Option<&Gpu>;
}

/// Whether an argument is host data. Where none is, a launch need not ask for their device.
#[inline]
pub const fn is_host_data<A: OnDevice>(_argument: &A) -> bool {
    A::IS_HOST_DATA
}

macro_rules! on_device {
    ($($argument:ty),*) => {$(
        impl<T: DeviceCopy, D: Dimension> OnDevice for $argument {
            #[inline]
            fn device(&self) -> Option<&Gpu> {
                Some(self.gpu())
            }
        }
    )*};
}

on_device!(&DeviceArray<T, D>, &mut DeviceArray<T, D>, DeviceView<'_, T, D>, DeviceViewMut<'_, T, D>);

#[diagnostic::do_not_recommend]
impl<T: DeviceCopy + 'static, D: Dimension> KernelArg<&'static [T]> for &DeviceArray<T, D> {
    #[inline]
    fn raw(self, arguments: &mut Arguments) -> RawView<T, usize> {
        flat(self, Access::Read, arguments)
    }
}

#[diagnostic::do_not_recommend]
impl<T: DeviceCopy + 'static, D: Dimension> KernelArg<&'static [T]> for DeviceView<'_, T, D> {
    #[inline]
    fn raw(self, arguments: &mut Arguments) -> RawView<T, usize> {
        arguments.uses(self.memory(), Access::Read);
        if !self.is_standard_layout() {
            arguments.fails(not_standard(self.shape(), self.strides()));
        }
        RawView {
            pointer: self.address(),
            shape: self.len(),
        }
    }
}

#[diagnostic::do_not_recommend]
impl<T: DeviceCopy + 'static, const N: usize, L: Layout> KernelArg<ArrayView<'static, T, N, L>>
    for &DeviceArray<T, Dim<[usize; N]>>
where
    Dim<[usize; N]>: Dimension,
{
    #[inline]
    fn raw(self, arguments: &mut Arguments) -> Shaped<T, N, L> {
        arguments.uses(self.memory(), Access::Read);
        of_array::<T, N, L>(self.address(), self.shape(), arguments)
    }
}

#[diagnostic::do_not_recommend]
impl<T: DeviceCopy + 'static, const N: usize, L: Layout> KernelArg<ArrayView<'static, T, N, L>>
    for &DeviceArray<T, IxDyn>
{
    #[inline]
    fn raw(self, arguments: &mut Arguments) -> Shaped<T, N, L> {
        arguments.uses(self.memory(), Access::Read);
        of_array::<T, N, L>(self.address(), self.shape(), arguments)
    }
}

#[diagnostic::do_not_recommend]
impl<T: DeviceCopy + 'static, const N: usize, L: Layout> KernelArg<ArrayView<'static, T, N, L>>
    for DeviceView<'_, T, Dim<[usize; N]>>
where
    Dim<[usize; N]>: Dimension,
{
    #[inline]
    fn raw(self, arguments: &mut Arguments) -> Shaped<T, N, L> {
        arguments.uses(self.memory(), Access::Read);
        of_view::<T, N, L>(self.address(), self.shape(), self.strides(), arguments)
    }
}

/// One number counts the parts: they are the elements in order, whatever the array's shape.
macro_rules! in_one_dimension {
    ($($index:ident)*) => {$(
        #[diagnostic::do_not_recommend]
        impl<T: DeviceCopy + 'static, D: Dimension, L: Layout> KernelArg<DisjointSlice<T, $index, L>>
            for &mut DeviceArray<T, D>
        {
            #[inline]
            fn raw(self, arguments: &mut Arguments) -> RawView<T, Extents<usize, L::Strides<1>>> {
                let RawView { pointer, shape } = flat(self, Access::Write, arguments);
                one_dimension(of_array::<T, 1, L>(pointer, &[shape], arguments))
            }
        }

        #[diagnostic::do_not_recommend]
        impl<T: DeviceCopy + 'static, L: Layout> KernelArg<DisjointSlice<T, $index, L>>
            for DeviceViewMut<'_, T, Ix1>
        {
            #[inline]
            fn raw(self, arguments: &mut Arguments) -> RawView<T, Extents<usize, L::Strides<1>>> {
                arguments.uses(self.memory(), Access::Write);
                one_dimension(of_view::<T, 1, L>(self.address(), self.shape(), self.strides(), arguments))
            }
        }

        #[diagnostic::do_not_recommend]
        impl<T: DeviceCopy + 'static, D: Dimension, const K: usize> KernelArg<DisjointChunks<T, K, $index>>
            for &mut DeviceArray<T, D>
        {
            #[inline]
            fn raw(self, arguments: &mut Arguments) -> RawView<T, usize> {
                const { assert!(DisjointChunks::<T, K, $index>::ALIGN <= memory::ALIGN) };
                let RawView { pointer, shape: len } = flat(self, Access::Write, arguments);
                if !len.is_multiple_of(K) {
                    arguments.fails(Error::NotInChunks { len, chunk: K });
                }
                RawView { pointer, shape: len / K }
            }
        }
    )*};
}

in_one_dimension!(ThreadIndex WarpIndex BlockIndex);

/// The parts are counted along each axis.
macro_rules! in_several_dimensions {
    ($($index:ident: $n:literal;)*) => {$(
        #[diagnostic::do_not_recommend]
        impl<T: DeviceCopy + 'static, L: Layout> KernelArg<DisjointSlice<T, $index, L>>
            for &mut DeviceArray<T, Dim<[usize; $n]>>
        {
            #[inline]
            fn raw(self, arguments: &mut Arguments) -> Shaped<T, $n, L> {
                arguments.uses(self.memory(), Access::Write);
                of_array::<T, $n, L>(self.address(), self.shape(), arguments)
            }
        }

        #[diagnostic::do_not_recommend]
        impl<T: DeviceCopy + 'static, L: Layout> KernelArg<DisjointSlice<T, $index, L>>
            for &mut DeviceArray<T, IxDyn>
        {
            #[inline]
            fn raw(self, arguments: &mut Arguments) -> Shaped<T, $n, L> {
                arguments.uses(self.memory(), Access::Write);
                of_array::<T, $n, L>(self.address(), self.shape(), arguments)
            }
        }

        #[diagnostic::do_not_recommend]
        impl<T: DeviceCopy + 'static, L: Layout> KernelArg<DisjointSlice<T, $index, L>>
            for DeviceViewMut<'_, T, Dim<[usize; $n]>>
        {
            #[inline]
            fn raw(self, arguments: &mut Arguments) -> Shaped<T, $n, L> {
                arguments.uses(self.memory(), Access::Write);
                of_view::<T, $n, L>(self.address(), self.shape(), self.strides(), arguments)
            }
        }
    )*};
}

in_several_dimensions! {
    ThreadIndex2d: 2;
    BlockIndex2d: 2;
    ThreadIndex3d: 3;
}

#[diagnostic::do_not_recommend]
impl<T: DeviceCopy + 'static, I: DisjointIndex<Shape = usize>> KernelArg<DisjointRows<T, I>>
    for &mut DeviceArray<T, Ix2>
{
    #[inline]
    fn raw(self, arguments: &mut Arguments) -> RawView<T, [usize; 2]> {
        rows_and_columns(self, arguments)
    }
}

#[diagnostic::do_not_recommend]
impl<T: DeviceCopy + 'static> KernelArg<DisjointColumns<T>> for &mut DeviceArray<T, Ix2> {
    #[inline]
    fn raw(self, arguments: &mut Arguments) -> RawView<T, [usize; 2]> {
        rows_and_columns(self, arguments)
    }
}

#[diagnostic::do_not_recommend]
impl<T, I, const R: usize, const C: usize> KernelArg<DisjointTiles<T, R, C, I>>
    for &mut DeviceArray<T, Ix2>
where
    T: DeviceCopy + 'static,
    I: DisjointIndex<Shape = [usize; 2]>,
{
    #[inline]
    fn raw(self, arguments: &mut Arguments) -> RawView<T, [usize; 2]> {
        rows_and_columns(self, arguments)
    }
}

#[diagnostic::do_not_recommend]
impl<T, const R: usize, const C: usize> KernelArg<DisjointFragments<T, R, C>>
    for &mut DeviceArray<T, Ix2>
where
    T: DeviceCopy + 'static,
{
    #[inline]
    fn raw(self, arguments: &mut Arguments) -> RawView<T, [usize; 2]> {
        rows_and_columns(self, arguments)
    }
}

#[diagnostic::do_not_recommend]
impl<T: DeviceCopy + 'static, D: Dimension> KernelArg<UnsafeSlice<T>> for &mut DeviceArray<T, D> {
    #[inline]
    fn raw(self, arguments: &mut Arguments) -> RawView<T, usize> {
        flat(self, Access::Write, arguments)
    }
}

/// An atomic type whose kernel parameter takes an array of plain elements.
///
/// # Safety
///
/// The atomic has the size, the alignment and the valid bytes of [`Element`](Self::Element).
pub unsafe trait AtomicElement: 'static {
    /// The plain type.
    type Element: DeviceCopy;
}

macro_rules! atomics {
    ($($atomic:ident: $element:ident),*) => {$(
        // SAFETY: the documentation of the atomic says that it has the representation of the plain type. The alignment
        // of 64-bit types is 8 on every host with 64-bit pointers.
        unsafe impl AtomicElement for $atomic {
            type Element = $element;
        }
        const _: () = assert!(align_of::<$atomic>() == align_of::<$element>());
    )*};
}

atomics!(AtomicU32: u32, AtomicI32: i32, AtomicU64: u64, AtomicI64: i64, AtomicF32: f32, AtomicF64: f64);
atomics!(AtomicF16: F16, AtomicBf16: Bf16, AtomicF16x2: F16x2, AtomicBf16x2: Bf16x2, AtomicU128: u128);
atomics!(AtomicBool: bool, AtomicU8: u8, AtomicI8: i8, AtomicU16: u16, AtomicI16: i16, AtomicUsize: usize, AtomicIsize: isize);

#[diagnostic::do_not_recommend]
impl<A: AtomicElement, D: Dimension> KernelArg<&'static [A]> for &mut DeviceArray<A::Element, D> {
    #[inline]
    fn raw(self, arguments: &mut Arguments) -> RawView<A, usize> {
        let RawView { pointer, shape } = flat(self, Access::Write, arguments);
        RawView {
            pointer: pointer.cast(),
            shape,
        }
    }
}

#[diagnostic::do_not_recommend]
impl<A: AtomicElement, const N: usize, L: Layout> KernelArg<ArrayView<'static, A, N, L>>
    for &mut DeviceArray<A::Element, Dim<[usize; N]>>
where
    Dim<[usize; N]>: Dimension,
{
    #[inline]
    fn raw(self, arguments: &mut Arguments) -> Shaped<A, N, L> {
        arguments.uses(self.memory(), Access::Write);
        of_array::<A, N, L>(self.address().cast(), self.shape(), arguments)
    }
}

/// The raw form of a view of `N` dimensions.
type Shaped<T, const N: usize, L> = RawView<T, Extents<[usize; N], <L as Layout>::Strides<N>>>;

/// All elements, in order.
#[inline]
fn flat<T: DeviceCopy, D: Dimension>(
    array: &DeviceArray<T, D>,
    access: Access,
    arguments: &mut Arguments,
) -> RawView<T, usize> {
    arguments.uses(array.memory(), access);
    RawView {
        pointer: array.address(),
        shape: array.len(),
    }
}

#[inline]
fn rows_and_columns<T: DeviceCopy>(
    array: &DeviceArray<T, Ix2>,
    arguments: &mut Arguments,
) -> RawView<T, [usize; 2]> {
    arguments.uses(array.memory(), Access::Write);
    let (rows, cols) = array.dim();
    RawView {
        pointer: array.address(),
        shape: [rows, cols],
    }
}

/// A whole array, for a parameter of any layout.
#[inline]
fn of_array<T, const N: usize, L: Layout>(
    pointer: *mut T,
    shape: &[usize],
    arguments: &mut Arguments,
) -> Shaped<T, N, L> {
    let strides = match <[usize; N]>::try_from(shape) {
        Ok(shape) => Standard::strides(shape, ()),
        // Refused with the shape.
        Err(_) => [0; N],
    };
    of_view::<T, N, L>(pointer, shape, &strides, arguments)
}

/// A part of an array, if it has the parameter's dimensions and layout.
#[inline]
fn of_view<T, const N: usize, L: Layout>(
    pointer: *mut T,
    shape: &[usize],
    strides: &[isize],
    arguments: &mut Arguments,
) -> Shaped<T, N, L> {
    let of = |shape: [usize; N], strides| RawView {
        pointer,
        shape: Extents { shape, strides },
    };
    let (Ok(extents), Ok(distances)) = (shape.try_into(), strides.try_into()) else {
        arguments.fails(Error::DimensionMismatch {
            wanted: N,
            shape: shape.to_vec(),
        });
        return of([0; N], L::of_nothing());
    };
    match L::of_strides(extents, distances) {
        Some(strides) => of(extents, strides),
        None => {
            arguments.fails(not_standard(shape, strides));
            of([0; N], L::of_nothing())
        }
    }
}

#[inline]
fn one_dimension<T, R>(view: RawView<T, Extents<[usize; 1], R>>) -> RawView<T, Extents<usize, R>> {
    let Extents {
        shape: [len],
        strides,
    } = view.shape;
    RawView {
        pointer: view.pointer,
        shape: Extents {
            shape: len,
            strides,
        },
    }
}

#[cold]
fn not_standard(shape: &[usize], strides: &[isize]) -> Error {
    Error::NotStandardLayout {
        shape: shape.to_vec(),
        strides: strides.to_vec(),
    }
}
