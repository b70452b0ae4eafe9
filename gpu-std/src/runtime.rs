//! The device's own runtime: what core's panics, alloc's heap calls and std's printing become in device code.
//!
//! [`RUNTIME`] is a table of functions and the names of the functions of core, alloc and std that they replace. Every
//! [`KernelRecord`](crate::kernel::KernelRecord) points to it, so that it stands in the bitcode of every crate with
//! kernels, and the device compiler needs to know no more of Rust's runtime than to follow the table.
//!
//! A panic claims the context's [`PanicSlot`], writes a [`PanicRecord`] into host memory that the device can reach, and
//! ends the thread. The frequent panics (index, overflow, `unwrap`) are replaced one by one, so that `core::fmt` is linked
//! only into kernels that format a message of their own. Where their message and place are constants, the device compiler
//! lets kernels do the same in fewer registers, with the [`site`](PanicRecord::site) of the panic in the record.
//!
//! Code that records a panic must not panic in turn: it goes through `NonNull`, whose code is core's, where a debug
//! build adds no checks of pointers.
//!
//! The functions are `#[inline]` so that each crate with kernels has their code; the device compiler keeps those that
//! panic out of line.

use core::fmt::{self, Write};
use core::panic::{Location, PanicInfo};
use core::ptr::{self, NonNull};
use core::sync::atomic::{AtomicU64, Ordering, fence};

use crate::dim::Dim3;
use crate::intrinsics as gpu;
use crate::print::{eprint, print};
use crate::thread;

/// The first bytes of [`Runtime`], by which the device compiler finds it in the bitcode.
pub const RUNTIME_MAGIC: [u8; 16] = *b"oxwarp runtime01";

/// The table of replacements.
#[repr(C)]
pub struct Runtime {
    /// [`RUNTIME_MAGIC`].
    pub magic: [u8; 16],
    /// How many of `replacements`.
    pub count: usize,
    /// The replacements.
    pub replacements: [Replacement; COUNT],
}

/// One function of core, alloc or std, and what takes its place on the device.
#[repr(C)]
pub struct Replacement {
    /// The path that the function's symbol demangles to.
    pub path: &'static str,
    /// A function of the same Rust signature; `#[track_caller]`'s location is its last parameter.
    pub function: *const (),
}

// SAFETY: the table is constant.
unsafe impl Sync for Runtime {}

/// The most bytes of a formatted message that are kept.
pub const TEXT_CAPACITY: usize = 4096;

/// Where a panicking thread claims the context's record. It lies in the device's own memory: not every bus makes atomic
/// operations on host memory atomic.
#[repr(C)]
pub struct PanicSlot {
    /// The address of the record, in host memory that the device can write. A thread claims the record by putting 0
    /// there, where it stays until the host has read the record.
    pub record: AtomicU64,
    /// The low half of the id of the kernel whose panic is recorded, and of a later one. The device compiler lets kernels
    /// write them before they panic without a [`site`](PanicRecord::site): `kernels[usize::from(record == 0)]`.
    pub kernels: [u64; 2],
}

/// What a panicking thread leaves for the host. The first of a context wins; later ones only end their thread.
#[repr(C)]
pub struct PanicRecord {
    /// [`EMPTY`], [`BEING_WRITTEN`], [`COMPLETE`], or the address of the variable `oxwarp_panic_slot` of a module, at one
    /// of whose sites a thread panicked. Then block, thread, `site` and perhaps `operands` are written, in any order, once
    /// the kernel has ended.
    pub state: AtomicU64,
    /// Line in the file, from 1; 0 where the place is not known.
    pub line: u32,
    /// Column in the line, from 1.
    pub column: u32,
    /// The block's index in the grid.
    pub block: Dim3,
    /// The thread's index in the block.
    pub thread: Dim3,
    /// The file's name, in device memory that lives as long as the module.
    pub file: DeviceText,
    /// A constant message, likewise.
    pub message: DeviceText,
    /// Index and length of an index out of bounds; bytes wanted and there of a [`SharedShortage`]; bytes
    /// wanted of the heap.
    pub operands: [u64; 2],
    /// [`MESSAGE`], [`TEXT`], [`INDEX_OUT_OF_BOUNDS`], [`SHARED_SHORTAGE`] or [`HEAP_FULL`].
    pub kind: u32,
    /// The number that the module's PTX gives to place and message.
    pub site: u32,
    /// Bytes of the message, of which `text` has as many as fit.
    pub text_len: u64,
    /// A message that was formatted.
    pub text: [u8; TEXT_CAPACITY],
}

/// A text in device memory. Small code: the host copies it, not the panicking thread.
#[derive(Clone, Copy)]
#[repr(C)]
pub struct DeviceText {
    /// The address of its first byte.
    pub address: u64,
    /// Its bytes.
    pub len: u64,
}

impl DeviceText {
    #[inline(always)]
    fn of(text: &str) -> Self {
        Self {
            address: text.as_ptr().addr() as u64,
            len: text.len() as u64,
        }
    }
}

/// [`PanicRecord::state`]: no panic.
pub const EMPTY: u64 = 0;
/// [`PanicRecord::state`]: a thread is writing.
pub const BEING_WRITTEN: u64 = 1;
/// [`PanicRecord::state`]: the record is whole.
pub const COMPLETE: u64 = 2;
/// [`PanicRecord::kind`]: `message` says where the text is.
pub const MESSAGE: u32 = 0;
/// [`PanicRecord::kind`]: the text is in `text`.
pub const TEXT: u32 = 2;
/// [`PanicRecord::kind`]: index and length are in `operands`; the host makes the text.
pub const INDEX_OUT_OF_BOUNDS: u32 = 1;
/// [`PanicRecord::kind`]: a [`SharedShortage`], whose numbers are in `operands`.
pub const SHARED_SHORTAGE: u32 = 3;
/// [`PanicRecord::kind`]: the heap is full; the bytes that it lacked are the first of `operands`.
pub const HEAP_FULL: u32 = 4;

/// The message of a kernel whose parts of dynamic shared memory are larger than what it was launched with.
#[derive(Clone, Copy, Debug)]
pub struct SharedShortage {
    /// Bytes of the parts.
    pub wanted: u64,
    /// Bytes of the launch.
    pub available: u64,
}

impl fmt::Display for SharedShortage {
    #[inline]
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { wanted, available } = self;
        write!(
            f,
            "the parts of dynamic shared memory need {wanted} bytes, but the launch has {available}: launch with \
             `.shared_bytes({wanted})` or more"
        )
    }
}

type Caller = &'static Location<'static>;

/// Records a panic, if it is the context's first, and ends the thread.
#[inline(always)]
fn record(location: Option<&Location<'_>>, fill: impl FnOnce(&mut PanicRecord)) -> ! {
    // SAFETY: the host sets the pointer to a slot that outlives the context's modules.
    let slot = unsafe { NonNull::new_unchecked(gpu::panic_slot()).as_ref() };
    let claimed = slot.record.swap(0, Ordering::Relaxed);
    if claimed != 0 {
        let record = ptr::with_exposed_provenance_mut(claimed as usize);
        // SAFETY: the exchange lets one thread come here until the host has read the record.
        let record: &mut PanicRecord = unsafe { NonNull::new_unchecked(record).as_mut() };
        record.state.store(BEING_WRITTEN, Ordering::Relaxed);
        let (line, column, file) = match location {
            Some(location) => (location.line(), location.column(), location.file()),
            None => (0, 0, ""),
        };
        record.line = line;
        record.column = column;
        record.file = DeviceText::of(file);
        record.block = thread::block_idx();
        record.thread = thread::thread_idx();
        fill(record);
        fence(Ordering::SeqCst);
        record.state.store(COMPLETE, Ordering::Relaxed);
    }
    gpu::grid_leave();
    gpu::exit()
}

/// A panic whose message is a constant.
#[inline]
fn panic_str(message: &'static str, location: Caller) -> ! {
    record(Some(location), |record| {
        record.kind = MESSAGE;
        record.message = DeviceText::of(message);
    })
}

#[inline]
fn panic_bounds_check(index: usize, len: usize, location: Caller) -> ! {
    record(Some(location), |record| {
        record.kind = INDEX_OUT_OF_BOUNDS;
        record.operands = [index as u64, len as u64];
    })
}

/// Panics with a [`SharedShortage`]. On a device the host makes the text.
#[inline]
#[track_caller]
pub(crate) fn shared_shortage(wanted: usize, available: usize) -> ! {
    let (wanted, available) = (wanted as u64, available as u64);
    if !gpu::on_device() {
        panic!("{}", SharedShortage { wanted, available });
    }
    record(Some(Location::caller()), |record| {
        record.kind = SHARED_SHORTAGE;
        record.operands = [wanted, available];
    })
}

/// `panic!` with arguments. A constant message needs no formatting, and where this is inlined LLVM sees that.
#[inline(always)]
fn panic_fmt(arguments: fmt::Arguments<'_>, location: Caller) -> ! {
    match arguments.as_str() {
        Some(message) => panic_str(message, location),
        None => panic_formatted(&arguments, location),
    }
}

#[cold]
#[inline]
fn panic_formatted(arguments: &fmt::Arguments<'_>, location: Caller) -> ! {
    record(Some(location), |record| format(record, arguments))
}

/// A panic whose message may be anywhere, in the thread's own memory too.
#[inline]
fn expect_failed(message: &str, location: Caller) -> ! {
    record(Some(location), |record| {
        // It never fails: what does not fit is counted.
        let _ = TextWriter::new(record).write_str(message);
    })
}

/// Every other panic of core, through its panic handler.
#[inline]
fn begin_unwind(info: &PanicInfo<'_>) -> ! {
    record(info.location(), |record| {
        format(record, &format_args!("{}", info.message()))
    })
}

#[inline(always)]
fn format(record: &mut PanicRecord, arguments: &fmt::Arguments<'_>) {
    // An error means that a `Display` failed: what is there is kept.
    let _ = TextWriter::new(record).write_fmt(*arguments);
}

struct TextWriter<'a>(&'a mut PanicRecord);

impl<'a> TextWriter<'a> {
    #[inline]
    fn new(record: &'a mut PanicRecord) -> Self {
        record.kind = TEXT;
        record.text_len = 0;
        Self(record)
    }
}

impl Write for TextWriter<'_> {
    #[inline]
    fn write_str(&mut self, text: &str) -> fmt::Result {
        for byte in text.bytes() {
            if let Some(place) = self.0.text.get_mut(self.0.text_len as usize) {
                *place = byte;
            }
            self.0.text_len += 1;
        }
        Ok(())
    }
}

macro_rules! panics_with {
    ($($name:ident: $message:literal;)*) => {$(
        #[inline(always)]
        fn $name(location: Caller) -> ! {
            panic_str($message, location)
        }
    )*};
}

panics_with! {
    add_overflow: "attempt to add with overflow";
    sub_overflow: "attempt to subtract with overflow";
    mul_overflow: "attempt to multiply with overflow";
    div_overflow: "attempt to divide with overflow";
    rem_overflow: "attempt to calculate the remainder with overflow";
    neg_overflow: "attempt to negate with overflow";
    shl_overflow: "attempt to shift left with overflow";
    shr_overflow: "attempt to shift right with overflow";
    div_by_zero: "attempt to divide by zero";
    rem_by_zero: "attempt to calculate the remainder with a divisor of zero";
    null_pointer: "null pointer dereference occurred";
    unwrap_none: "called `Option::unwrap()` on a `None` value";
}

/// What `Vec` and its like call when `alloc` gave null. They do not say where that was.
#[inline]
fn alloc_error(size: usize, _align: usize) -> ! {
    record(None, |record| {
        record.kind = HEAP_FULL;
        record.operands = [size as u64, 0];
    })
}

/// What the device compiler puts in the place of a method that cannot run here.
#[cold]
#[inline]
fn no_device_code(message: &'static str) -> ! {
    record(None, |record| {
        record.kind = MESSAGE;
        record.message = DeviceText::of(message);
    })
}

/// A debug build's check of a pointer.
#[inline(always)]
fn misaligned_pointer(_required: usize, _found: usize, location: Caller) -> ! {
    panic_str("misaligned pointer dereference", location)
}

/// The smallest alignment that CUDA's `malloc` guarantees.
const MALLOC_ALIGN: usize = 16;

#[inline]
unsafe fn alloc(size: usize, align: usize) -> *mut u8 {
    if align <= MALLOC_ALIGN {
        return gpu::malloc(size);
    }
    // The block's own start is kept in the word before the aligned address.
    let whole = gpu::malloc(size + align);
    if whole.is_null() {
        return whole;
    }
    // SAFETY: the block has `align` spare bytes, at least 16 of them before the aligned address.
    unsafe {
        let aligned = whole.add(align - whole.addr() % align);
        aligned.cast::<*mut u8>().sub(1).write(whole);
        aligned
    }
}

#[inline]
unsafe fn alloc_zeroed(size: usize, align: usize) -> *mut u8 {
    // SAFETY: the caller's layout is valid, and a block that is not null has `size` bytes.
    unsafe {
        let block = alloc(size, align);
        if !block.is_null() {
            block.write_bytes(0, size);
        }
        block
    }
}

#[inline]
unsafe fn dealloc(block: *mut u8, _size: usize, align: usize) {
    // SAFETY: the block came from `alloc` with the same alignment.
    unsafe {
        let whole = if align <= MALLOC_ALIGN {
            block
        } else {
            block.cast::<*mut u8>().sub(1).read()
        };
        gpu::free(whole);
    }
}

#[inline]
unsafe fn realloc(block: *mut u8, old: usize, align: usize, new: usize) -> *mut u8 {
    // SAFETY: both blocks are as large as their sizes say.
    unsafe {
        let moved = alloc(new, align);
        if !moved.is_null() {
            moved.copy_from_nonoverlapping(block, old.min(new));
            dealloc(block, old, align);
        }
        moved
    }
}

/// Comparisons of slices of bytes are calls of C's `memcmp`.
#[inline]
unsafe extern "C" fn memcmp(a: *const u8, b: *const u8, len: usize) -> i32 {
    for i in 0..len {
        // SAFETY: both have `len` bytes, as C demands of its callers.
        let (a, b) = unsafe { (*a.add(i), *b.add(i)) };
        if a != b {
            return i32::from(a) - i32::from(b);
        }
    }
    0
}

/// A thread that has panicked has ended.
#[inline(always)]
fn not_panicking() -> bool {
    true
}

/// There is nothing to see here on a device: rustc's check that a program has an allocator.
#[inline]
fn no_alloc_shim() {}

macro_rules! runtime {
    ($($path:literal => $function:ident,)*) => {
        /// Entries of [`RUNTIME`].
        pub const COUNT: usize = [$($path),*].len();

        /// The table, as a constant: each crate that refers to it has its own copy, with the functions behind it.
        pub const RUNTIME: &Runtime = &Runtime {
            magic: RUNTIME_MAGIC,
            count: COUNT,
            replacements: [$(Replacement { path: $path, function: $function as *const () }),*],
        };
    };
}

runtime! {
    "core::panicking::panic" => panic_str,
    "core::panicking::panic_fmt" => panic_fmt,
    "core::panicking::panic_bounds_check" => panic_bounds_check,
    "core::panicking::panic_const::panic_const_add_overflow" => add_overflow,
    "core::panicking::panic_const::panic_const_sub_overflow" => sub_overflow,
    "core::panicking::panic_const::panic_const_mul_overflow" => mul_overflow,
    "core::panicking::panic_const::panic_const_div_overflow" => div_overflow,
    "core::panicking::panic_const::panic_const_rem_overflow" => rem_overflow,
    "core::panicking::panic_const::panic_const_neg_overflow" => neg_overflow,
    "core::panicking::panic_const::panic_const_shl_overflow" => shl_overflow,
    "core::panicking::panic_const::panic_const_shr_overflow" => shr_overflow,
    "core::panicking::panic_const::panic_const_div_by_zero" => div_by_zero,
    "core::panicking::panic_const::panic_const_rem_by_zero" => rem_by_zero,
    "core::panicking::panic_nounwind" => panic_str,
    "core::panicking::panic_null_pointer_dereference" => null_pointer,
    "core::panicking::panic_misaligned_pointer_dereference" => misaligned_pointer,
    "core::option::unwrap_failed" => unwrap_none,
    "core::option::expect_failed" => expect_failed,
    "std::io::stdio::_print" => print,
    "std::io::stdio::_eprint" => eprint,
    "__rustc::__rust_alloc_error_handler" => alloc_error,
    "__rustc::rust_begin_unwind" => begin_unwind,
    "oxwarp.no_device_code" => no_device_code,
    "memcmp" => memcmp,
    "bcmp" => memcmp,
    "__rustc::__rust_alloc" => alloc,
    "__rustc::__rust_alloc_zeroed" => alloc_zeroed,
    "__rustc::__rust_realloc" => realloc,
    "__rustc::__rust_dealloc" => dealloc,
    "__rustc::__rust_no_alloc_shim_is_unstable_v2" => no_alloc_shim,
    "std::panicking::panic_count::is_zero_slow_path" => not_panicking,
}
