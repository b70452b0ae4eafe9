//! The buffer that kernels of a stream print to, and how its text comes to the host.
//!
//! The records lie in pinned host memory that the device writes, so that the text is there after the wait without a copy,
//! and also after a fault that ended the context. They are claimed in a [`PrintBuffer`] in the device's own memory. Both are
//! made when the first module with a kernel that prints is loaded.
//!
//! The buffer is emptied only while no kernel that prints is queued: launches of such kernels hold a lock shared, and who
//! takes out the text holds it exclusively and waits for what is queued.

use std::ffi::c_uint;
use std::ptr::{NonNull, null_mut};
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{PoisonError, RwLock, RwLockReadGuard};

use cuda_loader::{Driver, DriverError};
use gpu_std::print::PrintBuffer;

use super::CudaStream;
use crate::error::Result;
use crate::printed;

/// Bytes of a buffer whose size the user did not set.
const CAPACITY: usize = 4 << 20;
/// `CU_MEMHOSTALLOC_PORTABLE | CU_MEMHOSTALLOC_DEVICEMAP`.
const PORTABLE_MAPPED: c_uint = 1 | 2;

/// How many bytes the streams of a device begin with.
#[derive(Debug)]
pub(super) struct PrintCapacity(AtomicUsize);

impl Default for PrintCapacity {
    fn default() -> Self {
        Self(AtomicUsize::new(CAPACITY))
    }
}

impl PrintCapacity {
    pub fn get(&self) -> usize {
        self.0.load(Ordering::Relaxed)
    }
}

/// What the kernels of a stream print.
pub(super) struct Printing {
    inbox: RwLock<Inbox>,
    /// Whether a kernel that prints was launched since the text was taken out.
    launched: AtomicBool,
}

/// The lock that is held while a kernel that prints is queued.
pub(super) struct Queueing<'a>(
    #[expect(dead_code, reason = "held, not read")] RwLockReadGuard<'a, Inbox>,
);

struct Inbox {
    /// The [`PrintBuffer`], in device memory; 0 until there is one.
    buffer: u64,
    /// None until there is a buffer.
    records: Option<Records>,
    /// Bytes of the records, there or to be.
    capacity: usize,
}

/// Pinned host memory, in words.
struct Records {
    first: NonNull<u64>,
    words: usize,
}

// SAFETY: the records are written by the device and read by one host thread at a time, under the lock.
unsafe impl Send for Records {}

// SAFETY: as for `Send`.
unsafe impl Sync for Records {}

impl Printing {
    /// A buffer that will have so many bytes.
    pub fn new(capacity: usize) -> Self {
        Self {
            inbox: RwLock::new(Inbox {
                buffer: 0,
                records: None,
                capacity,
            }),
            launched: AtomicBool::new(false),
        }
    }

    /// To be held while a kernel that prints is queued.
    pub fn queueing(&self) -> Queueing<'_> {
        let inbox = self.inbox.read().unwrap_or_else(PoisonError::into_inner);
        self.launched.store(true, Ordering::Release);
        Queueing(inbox)
    }

    /// The address of the stream's buffer, which is made on the first call.
    pub fn buffer(&self, driver: &Driver) -> std::result::Result<u64, DriverError> {
        let mut inbox = self.inbox.write().unwrap_or_else(PoisonError::into_inner);
        if inbox.records.is_none() {
            inbox.allocate(driver)?;
        }
        Ok(inbox.buffer)
    }

    /// Frees the buffer. Nothing on the device may use it any more.
    pub fn free(&self, driver: &Driver) {
        let mut inbox = self.inbox.write().unwrap_or_else(PoisonError::into_inner);
        inbox.free_records(driver);
        // SAFETY: the buffer is from `cuMemAlloc`, which takes back 0 too. A failure means that the context is lost, and
        // the memory with it.
        let _ = unsafe { driver.cuMemFree_v2(inbox.buffer) };
        inbox.buffer = 0;
    }
}

impl CudaStream {
    /// Prints what kernels have printed since the last call. To be called after a wait for the queue.
    pub(super) fn print(&self) -> Result<()> {
        if !self.printing.launched.load(Ordering::Acquire) {
            return Ok(());
        }
        let mut inbox = self
            .printing
            .inbox
            .write()
            .unwrap_or_else(PoisonError::into_inner);
        self.empty(&mut inbox)
    }

    /// Waits for the kernels that may print into `inbox`, and empties it.
    fn empty(&self, inbox: &mut Inbox) -> Result<()> {
        if !self.printing.launched.swap(false, Ordering::AcqRel) {
            return Ok(());
        }
        let waited = self.wait();
        if let Some(records) = &mut inbox.records {
            records.print();
        }
        // After a fault of the device the text is there, but the counts are not.
        waited?;
        let lost = inbox.start_again(self.driver)?;
        if lost > 0 {
            eprintln!(
                "oxwarp: {lost} message(s) that kernels printed are lost: the buffer of {} bytes was full \
                 (`Gpu::set_print_capacity` makes it larger)",
                inbox.capacity
            );
        }
        Ok(())
    }

    /// Changes the size of the buffer, in bytes, and that of streams to come.
    pub fn set_print_capacity(&self, bytes: usize) -> Result<()> {
        self.make_current()?;
        let shared = &self.device.print_capacity.0;
        shared.store(bytes, Ordering::Relaxed);
        let mut inbox = self
            .printing
            .inbox
            .write()
            .unwrap_or_else(PoisonError::into_inner);
        self.empty(&mut inbox)?;
        inbox.capacity = bytes;
        if inbox.records.is_some() {
            inbox.free_records(self.driver);
            inbox.allocate(self.driver)?;
        }
        Ok(())
    }
}

impl Inbox {
    /// Makes records of `capacity` bytes, and the buffer if there is none.
    fn allocate(&mut self, driver: &Driver) -> std::result::Result<(), DriverError> {
        if self.buffer == 0 {
            // SAFETY: the pointer is valid for a write of an address.
            unsafe {
                driver.cuMemAlloc_v2((&raw mut self.buffer).cast(), size_of::<PrintBuffer>())
            }?;
        }
        let records = Records::new(driver, self.capacity / 8)?;
        let mut buffer = PrintBuffer {
            claimed: AtomicU64::new(0),
            lost: AtomicU64::new(0),
            records: null_mut(),
            capacity: records.words as u64 * 8,
        };
        let host = self.records.insert(records).first.as_ptr();
        // SAFETY: the records were allocated as mapped, the pointer is valid for a write of an address, and the device
        // memory has the buffer's size.
        unsafe {
            driver.cuMemHostGetDevicePointer_v2(
                (&raw mut buffer.records).cast(),
                host.cast(),
                0,
            )?;
            driver.cuMemcpyHtoD_v2(
                self.buffer,
                (&raw mut buffer).cast(),
                size_of::<PrintBuffer>(),
            )
        }
    }

    /// Lets threads claim records from the first on, and returns how many messages were lost. The records are zero.
    fn start_again(&mut self, driver: &Driver) -> std::result::Result<u64, DriverError> {
        let mut counts = [0u64; 2];
        let bytes = size_of_val(&counts);
        // SAFETY: the buffer begins with the two counts.
        unsafe {
            driver.cuMemcpyDtoH_v2(counts.as_mut_ptr().cast(), self.buffer, bytes)?;
            driver.cuMemsetD8_v2(self.buffer, 0, bytes)?;
        }
        Ok(counts[1])
    }

    fn free_records(&mut self, driver: &Driver) {
        if let Some(records) = self.records.take() {
            // SAFETY: the memory is from `cuMemHostAlloc`. A failure means that the context is lost, and the memory with
            // it.
            let _ = unsafe { driver.cuMemFreeHost(records.first.as_ptr().cast()) };
        }
    }
}

impl Records {
    fn new(driver: &Driver, words: usize) -> std::result::Result<Self, DriverError> {
        let mut host: *mut u64 = null_mut();
        // The driver gives no memory of no bytes.
        let bytes = words.max(1).saturating_mul(8);
        // SAFETY: the pointer is valid for a write of a pointer.
        unsafe { driver.cuMemHostAlloc((&raw mut host).cast(), bytes, PORTABLE_MAPPED) }?;
        let first = NonNull::new(host).ok_or(DriverError {
            call: "cuMemHostAlloc",
            code: cuda_loader::OUT_OF_MEMORY,
        })?;
        // SAFETY: the memory is new, page-aligned and of that size.
        unsafe { first.write_bytes(0, words) };
        Ok(Self { first, words })
    }

    /// Prints the text of the records, and makes them zero.
    fn print(&mut self) {
        // SAFETY: the memory has so many words, and no kernel that prints is running.
        let words = unsafe { std::slice::from_raw_parts_mut(self.first.as_ptr(), self.words) };
        let (text, read) = printed::read(words);
        words[..read].fill(0);
        for printed in text {
            printed.print();
        }
    }
}
