//! Where kernels of a stream leave their panics, and how the host takes them out.
//!
//! The record lies in pinned host memory that the device can write, so that it is there after the wait without a copy
//! and survives whatever happens on the device. The first panicking thread claims it, with an atomic operation on a slot
//! in the device's own memory; the host reads it after a wait and makes it empty for the next.

use std::ffi::c_uint;
use std::mem::offset_of;
use std::ptr::{NonNull, null_mut};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

use cuda_loader::{Driver, DriverError};
use gpu_std::runtime::{
    BEING_WRITTEN, COMPLETE, DeviceText, EMPTY, HEAP_FULL, INDEX_OUT_OF_BOUNDS, PanicRecord,
    PanicSlot, SHARED_SHORTAGE, SharedShortage, TEXT,
};

use super::limits::heap_size;
use crate::error::{Error, KernelPanic, Result};

/// `CU_MEMHOSTALLOC_PORTABLE | CU_MEMHOSTALLOC_DEVICEMAP`.
const PORTABLE_MAPPED: c_uint = 1 | 2;

/// Where a thread panicked that recorded a number.
#[derive(Debug)]
pub(super) struct Site {
    pub kernel: Option<&'static str>,
    pub file: String,
    pub line: u32,
    pub column: u32,
    /// `None` for an index out of bounds.
    pub message: Option<String>,
}

/// The record of one stream.
pub(super) struct PanicInbox {
    record: NonNull<PanicRecord>,
    /// The record's address on the device.
    address: u64,
    /// The slot, in device memory.
    pub slot: u64,
    /// Held by the host thread that reads the record.
    reader: Mutex<()>,
}

// SAFETY: the record is written by the device and read by one host thread at a time, under the lock.
unsafe impl Send for PanicInbox {}

// SAFETY: as for `Send`.
unsafe impl Sync for PanicInbox {}

impl PanicInbox {
    /// A record for the current context.
    pub fn new(driver: &Driver) -> Result<Self> {
        let mut host: *mut PanicRecord = null_mut();
        // SAFETY: the pointer is valid for a write of a pointer.
        unsafe {
            driver.cuMemHostAlloc(
                (&raw mut host).cast(),
                size_of::<PanicRecord>(),
                PORTABLE_MAPPED,
            )
        }?;
        let Some(record) = NonNull::new(host) else {
            return Err(DriverError {
                call: "cuMemHostAlloc",
                code: cuda_loader::OUT_OF_MEMORY,
            }
            .into());
        };
        // SAFETY: the memory is new, page-aligned and of the record's size; all fields are integers, and zero in
        // `state` means empty.
        unsafe { record.write_bytes(0, 1) };
        let mut inbox = Self {
            record,
            address: 0,
            slot: 0,
            reader: Mutex::new(()),
        };
        match inbox.allocate_slot(driver) {
            Ok(()) => Ok(inbox),
            Err(error) => {
                inbox.free(driver);
                Err(error.into())
            }
        }
    }

    fn allocate_slot(&mut self, driver: &Driver) -> std::result::Result<(), DriverError> {
        // SAFETY: the record was allocated as mapped, and the pointer is valid for a write of an address.
        unsafe {
            let address = (&raw mut self.address).cast();
            driver.cuMemHostGetDevicePointer_v2(address, self.record.as_ptr().cast(), 0)
        }?;
        let mut slot = PanicSlot {
            record: AtomicU64::new(self.address),
            kernels: [0; 2],
        };
        // SAFETY: the pointer is valid for a write of an address, and the new device memory has the slot's size.
        unsafe {
            driver.cuMemAlloc_v2((&raw mut self.slot).cast(), size_of::<PanicSlot>())?;
            driver.cuMemcpyHtoD_v2(self.slot, (&raw mut slot).cast(), size_of::<PanicSlot>())
        }
    }

    /// Whether a panic was recorded that was not taken, or is being recorded.
    #[inline]
    pub fn has_one(&self) -> bool {
        // SAFETY: the record lives as long as `self`, and its state is only accessed atomically.
        let state = unsafe { &(*self.record.as_ptr()).state };
        state.load(Ordering::Relaxed) != EMPTY
    }

    /// The panic that was recorded, if there is one, as an error. To be called after a wait for the queue; `wait` waits
    /// once more, which is needed if another host thread has queued a kernel since that is just recording a panic.
    /// `site` knows a module's variable and a number in it, `name` a kernel by the low half of its id.
    pub fn take(
        &self,
        driver: &Driver,
        wait: impl FnOnce() -> Result<()>,
        site: impl FnOnce(u64, u32) -> Option<Site>,
        name: impl FnOnce(u64) -> Option<&'static str>,
    ) -> Result<()> {
        let mut kernel = 0u64;
        let release = || {
            let place = self.slot + offset_of!(PanicSlot, kernels) as u64;
            let mut address = self.address;
            // SAFETY: the place begins with 64 bits, and the slot with the record's address.
            unsafe {
                driver.cuMemcpyDtoH_v2((&raw mut kernel).cast(), place, size_of::<u64>())?;
                driver.cuMemsetD8_v2(place, 0, size_of::<u64>())?;
                driver.cuMemcpyHtoD_v2(self.slot, (&raw mut address).cast(), size_of::<u64>())
            }
        };
        let mut taken = self.take_and(wait, release, site, |text| device_text(driver, text));
        if let Err(Error::KernelPanic(panic)) = &mut taken {
            panic.kernel = panic.kernel.or_else(|| name(kernel));
        }
        taken
    }

    /// As `take`; `release` lets the device's threads claim the record again, `fetch` reads a text of the device.
    fn take_and(
        &self,
        wait: impl FnOnce() -> Result<()>,
        release: impl FnOnce() -> std::result::Result<(), DriverError>,
        site: impl FnOnce(u64, u32) -> Option<Site>,
        fetch: impl Fn(DeviceText) -> String,
    ) -> Result<()> {
        let record = self.record.as_ptr();
        // SAFETY: the record lives as long as `self`, and its state is only accessed atomically.
        let state = unsafe { &(*record).state };
        if state.load(Ordering::Acquire) == EMPTY {
            return Ok(());
        }
        let _reader = self.reader.lock().unwrap_or_else(PoisonError::into_inner);
        if state.load(Ordering::Acquire) != COMPLETE {
            // The writer has ended after this. If the record is still being written, the writer panicked again while it
            // formatted its message; what it wrote before is all there is.
            wait()?;
        }
        if state.load(Ordering::Acquire) == EMPTY {
            return Ok(());
        }
        // SAFETY: the claim keeps every thread of the device from writing until it is released below, and the lock
        // keeps other host threads out.
        let panic = unsafe { panic_of(&*record, site, fetch) };
        state.store(EMPTY, Ordering::Release);
        release()?;
        Err(Error::KernelPanic(Box::new(panic)))
    }

    /// Frees the record. Nothing on the device may use it any more.
    pub fn free(&self, driver: &Driver) {
        // A failure means that the context is lost, and the memory with it.
        // SAFETY: the memory is from `cuMemHostAlloc`, and nothing uses it any more.
        let _ = unsafe { driver.cuMemFreeHost(self.record.as_ptr().cast()) };
        // SAFETY: the slot is from `cuMemAlloc`, or 0, which is taken back too; nothing uses it any more.
        let _ = unsafe { driver.cuMemFree_v2(self.slot) };
    }
}

/// Reads a record that nothing writes.
fn panic_of(
    record: &PanicRecord,
    site: impl FnOnce(u64, u32) -> Option<Site>,
    fetch: impl Fn(DeviceText) -> String,
) -> KernelPanic {
    match record.state.load(Ordering::Acquire) {
        BEING_WRITTEN | COMPLETE => whole(record, fetch),
        module => at_site(record, site(module, record.site)),
    }
}

/// The panic of a thread that recorded a number. Of a number that its module does not list only the thread is known.
fn at_site(record: &PanicRecord, site: Option<Site>) -> KernelPanic {
    let site = site.unwrap_or_else(|| Site {
        kernel: None,
        file: String::new(),
        line: 0,
        column: 0,
        message: Some("a panic that the kernel's module does not describe".into()),
    });
    KernelPanic {
        kernel: site.kernel,
        message: site.message.unwrap_or_else(|| out_of_bounds(record)),
        file: site.file,
        line: site.line,
        column: site.column,
        block: record.block,
        thread: record.thread,
    }
}

fn out_of_bounds(record: &PanicRecord) -> String {
    let [index, len] = record.operands;
    format!("index out of bounds: the len is {len} but the index is {index}")
}

/// A panic that says all of itself.
fn whole(record: &PanicRecord, fetch: impl Fn(DeviceText) -> String) -> KernelPanic {
    let message = match record.kind {
        INDEX_OUT_OF_BOUNDS => out_of_bounds(record),
        SHARED_SHORTAGE => {
            let [wanted, available] = record.operands;
            SharedShortage { wanted, available }.to_string()
        }
        HEAP_FULL => heap_full(record.operands[0]),
        TEXT => formatted(record),
        _ => fetch(record.message),
    };
    KernelPanic {
        kernel: None,
        message,
        file: fetch(record.file),
        line: record.line,
        column: record.column,
        block: record.block,
        thread: record.thread,
    }
}

fn heap_full(wanted: u64) -> String {
    format!(
        "the heap of the kernels is full: {wanted} bytes were wanted, and it has {} for all threads together; \
         `Gpu::set_heap_size` makes it larger",
        heap_size()
    )
}

/// The message that was formatted, and a word on what did not fit.
fn formatted(record: &PanicRecord) -> String {
    let mut message = text(&record.text, record.text_len);
    if record.text_len > record.text.len() as u64 {
        message.push_str(&format!("... ({} bytes in all)", record.text_len));
    }
    message
}

/// The most bytes of a constant text that are read.
const CONSTANT_CAPACITY: u64 = 4096;

/// A constant of a loaded module. What cannot be read is left out: the panic is reported all the same.
fn device_text(driver: &Driver, constant: DeviceText) -> String {
    let len = constant.len.min(CONSTANT_CAPACITY);
    if len == 0 {
        return String::new();
    }
    let mut bytes = vec![0u8; len as usize];
    let to = bytes.as_mut_ptr().cast();
    // SAFETY: the buffer has `len` bytes; the driver refuses an address that is not the device's.
    match unsafe { driver.cuMemcpyDtoH_v2(to, constant.address, bytes.len()) } {
        Ok(()) => text(&bytes, len),
        Err(_) => String::new(),
    }
}

/// The first `len` bytes as text; a character that was cut at the end is left out.
fn text(bytes: &[u8], len: u64) -> String {
    let bytes = bytes.get(..len as usize).unwrap_or(bytes);
    match std::str::from_utf8(bytes) {
        Ok(text) => text.to_owned(),
        Err(error) if error.error_len().is_none() => {
            String::from_utf8_lossy(&bytes[..error.valid_up_to()]).into_owned()
        }
        Err(_) => String::from_utf8_lossy(bytes).into_owned(),
    }
}

#[cfg(test)]
mod tests {
    use gpu_std::Dim3;
    use gpu_std::runtime::MESSAGE;

    use super::*;

    fn record() -> Box<PanicRecord> {
        // SAFETY: all fields are integers.
        let mut record: Box<PanicRecord> = unsafe { Box::new(std::mem::zeroed()) };
        record.line = 7;
        record.column = 16;
        record.block = Dim3 { x: 3, y: 0, z: 0 };
        record.thread = Dim3 { x: 7, y: 0, z: 0 };
        record.file = of("src/main.rs");
        record
    }

    fn of(text: &'static str) -> DeviceText {
        DeviceText {
            address: text.as_ptr().addr() as u64,
            len: text.len() as u64,
        }
    }

    /// Reads a text of this test as if it were the device's.
    fn fetch(constant: DeviceText) -> String {
        ["src/main.rs", "a constant"]
            .into_iter()
            .find(|text| text.len() as u64 == constant.len)
            .unwrap_or_default()
            .to_owned()
    }

    fn nowhere(_module: u64, _number: u32) -> Option<Site> {
        None
    }

    fn inbox(record: &mut PanicRecord) -> PanicInbox {
        PanicInbox {
            record: NonNull::from(record),
            address: 0,
            slot: 0,
            reader: Mutex::new(()),
        }
    }

    #[test]
    fn an_index_panic_reads_as_rusts_own_and_is_taken_once() {
        let mut record = record();
        record.kind = INDEX_OUT_OF_BOUNDS;
        record.operands = [7, 5];
        let inbox = inbox(&mut record);
        assert!(inbox.take_and(|| Ok(()), || Ok(()), nowhere, fetch).is_ok());
        // SAFETY: the record is alive.
        let state = unsafe { &inbox.record.as_ref().state };
        state.store(COMPLETE, Ordering::Release);
        assert_eq!(
            inbox
                .take_and(|| Ok(()), || Ok(()), nowhere, fetch)
                .unwrap_err()
                .to_string(),
            "kernel panicked at src/main.rs:7:16 in block (3, 0, 0), thread (7, 0, 0):\n\
             index out of bounds: the len is 5 but the index is 7"
        );
        assert!(inbox.take_and(|| Ok(()), || Ok(()), nowhere, fetch).is_ok());
    }

    /// `gpu-compiler` writes what kernels do at a site as text.
    #[test]
    fn slot_and_record_are_laid_out_as_exits_of_kernels_use_them() {
        assert_eq!(offset_of!(PanicSlot, record), 0);
        assert_eq!(offset_of!(PanicSlot, kernels), 8);
        assert_eq!(offset_of!(PanicRecord, state), 0);
        assert_eq!(offset_of!(PanicRecord, block), 16);
        assert_eq!(offset_of!(PanicRecord, thread), 28);
        assert_eq!(offset_of!(PanicRecord, operands), 72);
        assert_eq!(offset_of!(PanicRecord, site), 92);
    }

    #[test]
    fn a_constant_message_is_fetched() {
        let mut record = record();
        record.kind = MESSAGE;
        record.message = of("a constant");
        record.state.store(COMPLETE, Ordering::Release);
        let panic = panic_of(&record, nowhere, fetch);
        assert_eq!(
            (&*panic.file, &*panic.message),
            ("src/main.rs", "a constant")
        );
    }

    #[test]
    fn a_number_is_looked_up_once_the_kernel_has_ended() {
        let mut record = record();
        let inbox = inbox(&mut record);
        let write = |module: u64, number: u32| {
            // SAFETY: the record is alive, and nothing else writes it.
            let record = unsafe { &mut *inbox.record.as_ptr() };
            record.operands = [7, 5];
            record.site = number;
            record.state.store(module, Ordering::Release);
        };
        let site = |message: Option<&str>| Site {
            kernel: Some("k"),
            file: "a.rs".into(),
            line: 3,
            column: 4,
            message: message.map(String::from),
        };
        let taken = |wait: &dyn Fn(), message: Option<&str>| {
            let looked_up =
                |module, number| ((module, number) == (0x7000, 21)).then(|| site(message));
            let wait = || {
                wait();
                Ok(())
            };
            let taken = inbox.take_and(wait, || Ok(()), looked_up, fetch);
            taken.unwrap_err().to_string()
        };
        // All but the state may come late.
        write(0x7000, 0);
        assert_eq!(
            taken(&|| write(0x7000, 21), None),
            "kernel `k` panicked at a.rs:3:4 in block (3, 0, 0), thread (7, 0, 0):\n\
             index out of bounds: the len is 5 but the index is 7"
        );
        write(0x7000, 21);
        assert!(taken(&|| (), Some("full")).ends_with(":\nfull"));
        write(0x8000, 21);
        assert!(taken(&|| (), None).contains("does not describe"));
        assert!(!inbox.has_one());
    }

    #[test]
    fn a_panic_inside_a_panic_is_still_reported() {
        let mut record = record();
        record.kind = TEXT;
        record.text_len = 4;
        record.text[..4].copy_from_slice(b"half");
        let inbox = inbox(&mut record);
        // SAFETY: the record is alive.
        let state = unsafe { &inbox.record.as_ref().state };
        state.store(BEING_WRITTEN, Ordering::Release);
        let text = inbox
            .take_and(|| Ok(()), || Ok(()), nowhere, fetch)
            .unwrap_err()
            .to_string();
        assert!(text.ends_with(":\nhalf"), "{text}");
        assert_eq!(state.load(Ordering::Acquire), EMPTY);
    }

    #[test]
    fn a_cut_character_is_left_out() {
        assert_eq!(text("aß".as_bytes(), 2), "a");
        assert_eq!(text("aß".as_bytes(), 3), "aß");
        assert_eq!(text(b"abc", 99), "abc");
    }
}
