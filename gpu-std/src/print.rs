//! What `print!`, `println!`, `eprint!` and `eprintln!` become in device code.
//!
//! The macros are std's own. They call `std::io::_print` with the text to be formatted; the device compiler replaces that
//! function by [`print()`] ([`RUNTIME`](crate::runtime::RUNTIME)), which formats through `core::fmt` and leaves the text
//! for the host in the context's [`PrintBuffer`]. On the simulator std's function itself runs.
//!
//! Why not CUDA's `vprintf`: its text goes to C's `stdout`, past Rust's own buffer and past the capture of tests, it has no
//! second stream for `eprintln!`, and what does not fit is lost without a word.
//!
//! A message is formatted piece by piece into a small `Piece` in the thread's own memory, and each full piece becomes a
//! record of the buffer, so a message of any length is formatted once and needs little stack. A thread's records are in
//! the order of its messages. A message of which a record did not fit counts as lost.
//!
//! Code here must not panic: it goes through `NonNull`, whose code is core's, where a debug build adds no checks of
//! pointers. It is out of line, so a kernel that prints in a rare case pays for it only there.

use core::fmt::{self, Write};
use core::ptr::NonNull;
use core::sync::atomic::{AtomicU32, AtomicU64, Ordering, fence};

use crate::dim::Dim3;
use crate::intrinsics as gpu;
use crate::thread;

/// Where a context's kernels print to. It lies in the device's own memory: not every bus makes atomic operations on host
/// memory atomic.
#[repr(C)]
pub struct PrintBuffer {
    /// Bytes that records have claimed. Above `capacity` once one did not fit.
    pub claimed: AtomicU64,
    /// Messages that did not fit.
    pub lost: AtomicU64,
    /// The first record, in host memory that the device can write, so that it outlives a fault of the device. Zero where
    /// nothing is written.
    pub records: *mut PrintRecord,
    /// Bytes that there are for records.
    pub capacity: u64,
}

/// The head of a record. Its text follows, and fills up to the next multiple of 8 bytes.
#[derive(Debug)]
#[repr(C)]
pub struct PrintRecord {
    /// 0 until the record is whole, then [`WRITTEN`] with [`FIRST`], [`LAST`] and [`TO_STDERR`].
    pub state: AtomicU32,
    /// Bytes of its text.
    pub len: u32,
    /// The block's index in the grid.
    pub block: Dim3,
    /// The thread's index in the block.
    pub thread: Dim3,
}

/// [`PrintRecord::state`]: the record is whole.
pub const WRITTEN: u32 = 1;
/// [`PrintRecord::state`]: a message begins with it.
pub const FIRST: u32 = 2;
/// [`PrintRecord::state`]: a message ends with it.
pub const LAST: u32 = 4;
/// [`PrintRecord::state`]: the text is for standard error.
pub const TO_STDERR: u32 = 8;

/// `std::io::_print`. A constant text needs no formatting, and where this is inlined LLVM sees that.
#[inline(always)]
pub fn print(arguments: fmt::Arguments<'_>) {
    print_to(0, arguments);
}

/// `std::io::_eprint`.
#[inline(always)]
pub fn eprint(arguments: fmt::Arguments<'_>) {
    print_to(TO_STDERR, arguments);
}

#[inline(always)]
fn print_to(stream: u32, arguments: fmt::Arguments<'_>) {
    match arguments.as_str() {
        Some(text) => print_text(stream, text),
        None => print_formatted(stream, &arguments),
    }
}

/// Prints a constant.
#[cold]
#[inline]
pub(crate) fn print_text(stream: u32, text: &'static str) {
    let mut message = Message::new(buffer(), stream);
    // Writing to a message never fails.
    let _ = message.write_str(text);
    message.finish();
}

/// Prints through `core::fmt`.
#[cold]
#[inline]
pub(crate) fn print_formatted(stream: u32, arguments: &fmt::Arguments<'_>) {
    print_into(buffer(), stream, arguments);
}

/// Formats into `buffer`, for a stream that is 0 or [`TO_STDERR`].
#[inline(always)]
pub fn print_into(buffer: &PrintBuffer, stream: u32, arguments: &fmt::Arguments<'_>) {
    let mut message = Message::new(buffer, stream);
    // An error is one of a `Display`: what is there is printed.
    let _ = message.write_fmt(*arguments);
    message.finish();
}

/// Bytes of a piece.
const PIECE: usize = 256;

/// Text that is not in a record yet.
#[repr(C, align(8))]
struct Piece([u8; PIECE]);

/// A message that is being formatted.
struct Message<'a> {
    buffer: &'a PrintBuffer,
    piece: Piece,
    used: usize,
    /// [`FIRST`] until a record was written, and [`TO_STDERR`].
    state: u32,
    lost: bool,
}

impl<'a> Message<'a> {
    #[inline(always)]
    fn new(buffer: &'a PrintBuffer, stream: u32) -> Self {
        Self {
            buffer,
            piece: Piece([0; PIECE]),
            used: 0,
            state: stream | FIRST,
            lost: false,
        }
    }

    /// Writes what is left, and the end.
    #[inline(always)]
    fn finish(mut self) {
        if self.used > 0 || self.state & FIRST == 0 {
            self.flush(LAST);
        }
        if self.lost {
            self.buffer.lost.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// Makes the piece a record, if there is place for it.
    #[cold]
    #[inline]
    fn flush(&mut self, last: u32) {
        if !self.lost {
            match claim(self.buffer, self.used) {
                Some(record) => self.write(record, last),
                None => self.lost = true,
            }
        }
        self.used = 0;
        self.state &= !FIRST;
    }

    #[inline(always)]
    fn write(&self, mut record: NonNull<PrintRecord>, last: u32) {
        let words: NonNull<u64> = NonNull::from(&self.piece).cast();
        // SAFETY: the record is this thread's, and has place for the text up to the next multiple of 8 bytes, which the
        // piece has too.
        let record = unsafe {
            let text = record.add(1).cast::<u64>();
            for word in 0..self.used.div_ceil(8) {
                text.add(word).write(words.add(word).read());
            }
            record.as_mut()
        };
        record.len = self.used as u32;
        record.block = thread::block_idx();
        record.thread = thread::thread_idx();
        fence(Ordering::SeqCst);
        let state = self.state | last | WRITTEN;
        record.state.store(state, Ordering::Relaxed);
    }
}

#[inline(always)]
fn buffer() -> &'static PrintBuffer {
    // SAFETY: the host sets the pointer to a buffer that outlives the context's modules.
    unsafe { NonNull::new_unchecked(gpu::print_buffer()).as_ref() }
}

/// Place for a record with so many bytes of text. Once one does not fit, none does: nothing is written behind a gap.
#[inline(always)]
fn claim(buffer: &PrintBuffer, len: usize) -> Option<NonNull<PrintRecord>> {
    let size = (size_of::<PrintRecord>() + len.next_multiple_of(8)) as u64;
    let start = buffer.claimed.fetch_add(size, Ordering::Relaxed);
    let fits = start.wrapping_add(size) <= buffer.capacity;
    // SAFETY: the records have `capacity` bytes.
    fits.then(|| unsafe { NonNull::new_unchecked(buffer.records).byte_add(start as usize) })
}

impl Write for Message<'_> {
    #[inline]
    fn write_str(&mut self, text: &str) -> fmt::Result {
        for byte in text.bytes() {
            if self.used == PIECE {
                self.flush(0);
            }
            if let Some(place) = self.piece.0.get_mut(self.used) {
                *place = byte;
            }
            self.used += 1;
        }
        Ok(())
    }
}
