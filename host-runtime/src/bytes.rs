//! What both back ends do with untyped memory.
//!
//! An address is one that [`Backend::allocate`] gave for at least so many bytes, or lies inside such an allocation.
//! Work is queued on the stream and returns, unless it says that it waits. The simulator does it at once: its device
//! memory is host memory. Inside a capture what can be a node of a graph becomes one, and the rest is an error.

use std::ptr::NonNull;
use std::sync::Arc;

use crate::error::Result;
use crate::graph::capture;
use crate::graph::draft::Work;
use crate::memory_kind::MemoryKind;
use crate::profile::WorkKind;
use crate::stream::Backend;

/// What memory is filled with, over and over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Pattern {
    Byte(u8),
    Short(u16),
    Word(u32),
}

impl Pattern {
    /// Its size.
    pub fn bytes(self) -> usize {
        match self {
            Self::Byte(_) => 1,
            Self::Short(_) => 2,
            Self::Word(_) => 4,
        }
    }
}

/// A copy of pieces of the same size that lie at equal distances, in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Rows {
    pub address: u64,
    pub pitch: usize,
    pub source: u64,
    pub source_pitch: usize,
    pub width: usize,
    pub height: usize,
}

impl Rows {
    /// A copy without gaps.
    pub fn one(address: u64, source: u64, bytes: usize) -> Self {
        Self {
            address,
            pitch: bytes,
            source,
            source_pitch: bytes,
            width: bytes,
            height: 1,
        }
    }
}

/// What a capture calls a copy to the host.
const READING_BACK: &str = "reading an array back";
/// What it says to do instead.
const READ_LATER: &str = "read it after the graph was launched";

/// Takes a piece of host memory, its start and its bytes.
pub(crate) type TakeRun<'a> = dyn FnMut(*const u8, usize) + 'a;

impl Backend {
    /// Memory of so many bytes, not zero, aligned to at least 256.
    pub fn allocate(&self, kind: MemoryKind, bytes: usize) -> Result<u64> {
        capture::refuse(
            "an allocation",
            "make the array before the capture, and fill it inside",
        )?;
        match self {
            Self::Cuda(stream) => stream.allocate(kind, bytes),
            Self::Simulator(stream) => stream.device.allocate(kind, bytes),
        }
    }

    /// Frees memory, in queue order.
    ///
    /// # Safety
    ///
    /// `address` is from `allocate` of the same kind and number of bytes, and nothing queued later uses it.
    pub unsafe fn free(&self, kind: MemoryKind, address: u64, bytes: usize) {
        match self {
            // SAFETY: as the caller promises.
            Self::Cuda(stream) => unsafe { stream.free(kind, address) },
            // SAFETY: as the caller promises.
            Self::Simulator(stream) => unsafe { stream.device.free(kind, address, bytes) },
        }
    }

    /// Pinned host memory of so many bytes, not zero, aligned to at least 256.
    pub fn allocate_pinned(&self, bytes: usize) -> Result<NonNull<u8>> {
        match self {
            Self::Cuda(stream) => stream.allocate_pinned(bytes),
            Self::Simulator(stream) => stream.device.allocate_host(bytes),
        }
    }

    /// Frees pinned host memory.
    ///
    /// # Safety
    ///
    /// It is from `allocate_pinned` of the same number of bytes, and nothing uses it any more.
    pub unsafe fn free_pinned(&self, first: NonNull<u8>, bytes: usize) {
        match self {
            // SAFETY: as the caller promises.
            Self::Cuda(stream) => unsafe { stream.free_pinned(first) },
            // SAFETY: as the caller promises.
            Self::Simulator(stream) => unsafe { stream.device.free_host(first, bytes) },
        }
    }

    /// Fills with `count` times the pattern.
    ///
    /// # Safety
    ///
    /// The memory is the caller's to write, and aligned for the pattern.
    pub unsafe fn fill(&self, address: u64, pattern: Pattern, count: usize) -> Result<()> {
        if !capture::is_ordinary() {
            return capture::record_copy(Work::Fill {
                to: address,
                pattern,
                count,
            });
        }
        let name = match pattern {
            Pattern::Byte(0) => "zeros",
            _ => "fill",
        };
        self.measure(
            name,
            WorkKind::Fill,
            pattern.bytes() * count,
            || match self {
                // SAFETY: as the caller promises.
                Self::Cuda(stream) => unsafe { stream.fill(address, pattern, count) },
                Self::Simulator(_) => {
                    // SAFETY: as the caller promises; an address of the simulator is one of the host.
                    unsafe { fill_on_host(address, pattern, count) };
                    Ok(())
                }
            },
        )
    }

    /// Copies to the device. The source may change when this returns. From pinned memory it waits, and does not make a
    /// copy on the host.
    ///
    /// # Safety
    ///
    /// `source` is readable and `address` the caller's to write, for so many bytes.
    pub unsafe fn upload(
        &self,
        address: u64,
        source: *const u8,
        bytes: usize,
        pinned: bool,
    ) -> Result<()> {
        if !capture::is_ordinary() {
            let mut whole = |take: &mut TakeRun<'_>| take(source, bytes);
            // SAFETY: as the caller promises.
            return unsafe { record_upload(address, bytes, &mut whole) };
        }
        self.listening().copy(bytes, |offset, bytes| {
            let (address, source) = (address + offset as u64, source.wrapping_add(offset));
            match self {
                Self::Cuda(stream) if !pinned && bytes <= stream.most_staged() => {
                    let mut whole = |take: &mut TakeRun<'_>| take(source, bytes);
                    // SAFETY: as the caller promises.
                    unsafe { self.upload_runs(address, bytes, &mut whole) }
                }
                _ => {
                    self.wait_before_copy()?;
                    // SAFETY: as the caller promises; `synchronize` returns only when the copy is done.
                    unsafe { self.upload_pinned(address, source, bytes) }?;
                    self.synchronize()
                }
            }
        })
    }

    /// Copies to the device the runs that `source` hands over, one behind the other, up to `bytes`.
    ///
    /// # Safety
    ///
    /// Each run is readable, and `address` the caller's to write, for so many bytes.
    pub unsafe fn upload_runs(
        &self,
        address: u64,
        bytes: usize,
        source: &mut dyn FnMut(&mut TakeRun<'_>),
    ) -> Result<()> {
        if !capture::is_ordinary() {
            // SAFETY: as the caller promises.
            return unsafe { record_upload(address, bytes, source) };
        }
        self.measure("copy to device", WorkKind::ToDevice, bytes, || match self {
            // SAFETY: as the caller promises.
            Self::Cuda(stream) => unsafe { stream.upload_runs(address, bytes, source) },
            Self::Simulator(stream) => {
                stream.take_fault()?;
                let mut done = 0;
                source(&mut |run, len| {
                    let len = len.min(bytes - done);
                    // SAFETY: as the caller promises; host memory given to the caller and device memory never overlap.
                    unsafe { host(address).add(done).copy_from_nonoverlapping(run, len) };
                    done += len;
                });
                Ok(())
            }
        })
    }

    /// Queues a copy to the device from pinned memory.
    ///
    /// # Safety
    ///
    /// `source` is readable, and stays so and unchanged until the copy is done; `address` is the caller's to write.
    pub unsafe fn upload_pinned(
        &self,
        address: u64,
        source: *const u8,
        bytes: usize,
    ) -> Result<()> {
        capture::refuse(
            "a copy that owns its buffer",
            "use `copy_from`, whose values the graph keeps",
        )?;
        self.measure("copy to device", WorkKind::ToDevice, bytes, || match self {
            // SAFETY: as the caller promises.
            Self::Cuda(stream) => unsafe { stream.upload_pinned(address, source, bytes) },
            Self::Simulator(stream) => {
                stream.take_fault()?;
                // SAFETY: as the caller promises; host memory given to the caller and device memory never overlap.
                unsafe { host(address).copy_from_nonoverlapping(source, bytes) };
                Ok(())
            }
        })
    }

    /// Waits and copies to the host.
    ///
    /// # Safety
    ///
    /// `address` is readable and `destination` the caller's to write, for so many bytes.
    pub unsafe fn download(&self, destination: *mut u8, address: u64, bytes: usize) -> Result<()> {
        self.listening().copy(bytes, |offset, bytes| {
            let (address, to) = (address + offset as u64, destination.wrapping_add(offset));
            self.wait_before_copy()?;
            // SAFETY: as the caller promises, also until the copy is done: `synchronize` returns only then.
            unsafe { self.download_pinned(to, address, bytes) }?;
            self.synchronize()
        })
    }

    /// Queues a copy to the host.
    ///
    /// # Safety
    ///
    /// `address` is readable, and `destination` is the caller's to write until the copy is done.
    pub unsafe fn download_pinned(
        &self,
        destination: *mut u8,
        address: u64,
        bytes: usize,
    ) -> Result<()> {
        capture::refuse(READING_BACK, READ_LATER)?;
        self.measure("copy to host", WorkKind::ToHost, bytes, || match self {
            // SAFETY: as the caller promises.
            Self::Cuda(stream) => unsafe { stream.download(destination, address, bytes) },
            Self::Simulator(stream) => {
                stream.take_fault()?;
                // SAFETY: as the caller promises; host memory given to the caller and device memory never overlap.
                unsafe { destination.copy_from_nonoverlapping(host(address), bytes) };
                Ok(())
            }
        })
    }

    /// Copies inside the device, between memory that does not overlap.
    ///
    /// # Safety
    ///
    /// `source` is readable and `address` the caller's to write, for so many bytes.
    pub unsafe fn copy(&self, address: u64, source: u64, bytes: usize) -> Result<()> {
        if !capture::is_ordinary() {
            return capture::record_copy(Work::Copy(Rows::one(address, source, bytes)));
        }
        self.measure("copy on device", WorkKind::OnDevice, bytes, || match self {
            // SAFETY: as the caller promises.
            Self::Cuda(stream) => unsafe { stream.copy(address, source, bytes) },
            Self::Simulator(_) => {
                // SAFETY: as the caller promises.
                unsafe { host(address).copy_from_nonoverlapping(host(source), bytes) };
                Ok(())
            }
        })
    }

    /// Copies pieces at equal distances, inside the device or between it and the host. It may return before the copy is
    /// done.
    ///
    /// # Safety
    ///
    /// As for [`copy`](Self::copy), for each piece; host memory stays until the copy is done.
    pub unsafe fn copy_rows(&self, rows: &Rows, kind: WorkKind) -> Result<()> {
        if kind != WorkKind::OnDevice {
            capture::refuse(READING_BACK, READ_LATER)?;
        } else if !capture::is_ordinary() {
            return capture::record_copy(Work::Copy(*rows));
        }
        if kind != WorkKind::OnDevice {
            self.wait_before_copy()?;
        }
        let bytes = rows.width * rows.height;
        self.measure("copy of rows", kind, bytes, || match self {
            // SAFETY: as the caller promises.
            Self::Cuda(stream) => unsafe { stream.copy_rows(rows) },
            Self::Simulator(_) => {
                // SAFETY: as the caller promises.
                unsafe { copy_on_host(rows) };
                Ok(())
            }
        })
    }

    /// Waits for the queue where waits have a limit, before a copy that waits without one.
    fn wait_before_copy(&self) -> Result<()> {
        match self {
            Self::Cuda(stream) => stream.wait_before_copy(),
            Self::Simulator(_) => Ok(()),
        }
    }

    /// The error of a kernel that is known to have panicked; it waits only where there is one.
    pub fn check(&self) -> Result<()> {
        match self {
            Self::Cuda(stream) => stream.refuse_after_panic(),
            Self::Simulator(stream) => stream.take_fault(),
        }
    }
}

/// The host's pointer to memory of the simulator.
fn host(address: u64) -> *mut u8 {
    std::ptr::with_exposed_provenance_mut(address as usize)
}

/// Records a copy of what `source` hands over, as it is at this moment.
///
/// # Safety
///
/// As for [`Backend::upload_runs`].
unsafe fn record_upload(
    to: u64,
    bytes: usize,
    source: &mut dyn FnMut(&mut TakeRun<'_>),
) -> Result<()> {
    let mut all = Vec::with_capacity(bytes);
    source(&mut |run, len| {
        let len = len.min(bytes - all.len());
        // SAFETY: as the caller promises; a byte that is not initialised may be copied as such.
        all.extend_from_slice(unsafe { std::slice::from_raw_parts(run.cast(), len) });
    });
    let bytes = Arc::from(all);
    capture::record_copy(Work::Upload { to, bytes })
}

/// [`Backend::fill`] of the simulator.
///
/// # Safety
///
/// As for it.
pub(crate) unsafe fn fill_on_host(address: u64, pattern: Pattern, count: usize) {
    let first = host(address);
    // SAFETY: as the caller promises.
    unsafe {
        match pattern {
            Pattern::Byte(byte) => first.write_bytes(byte, count),
            Pattern::Short(short) => fill(first.cast(), short, count),
            Pattern::Word(word) => fill(first.cast(), word, count),
        }
    }
}

/// [`Backend::copy_rows`] of the simulator.
///
/// # Safety
///
/// As for it.
pub(crate) unsafe fn copy_on_host(rows: &Rows) {
    for row in 0..rows.height {
        let to = host(rows.address).wrapping_add(row * rows.pitch);
        let from = host(rows.source).wrapping_add(row * rows.source_pitch);
        // SAFETY: as the caller promises.
        unsafe { to.copy_from_nonoverlapping(from, rows.width) };
    }
}

/// # Safety
///
/// `first` points to `count` places that are the caller's to write.
unsafe fn fill<T: Copy>(first: *mut T, value: T, count: usize) {
    for index in 0..count {
        // SAFETY: as the caller promises.
        unsafe { first.add(index).write(value) };
    }
}
