//! Pinned memory that pageable host data passes through on its way to the device.
//!
//! A ring of parts. Data is copied behind what is there; a part that is full is marked with an event, and is used again
//! once its event says that the device has read it. So the source is free as soon as it is copied, uploads smaller than
//! the ring do not wait for what the stream has queued before them, and the copying by the host overlaps with that by
//! the device.

use std::ptr::NonNull;
use std::sync::{Mutex, PoisonError};

use super::CudaStream;
use super::event::CudaEvent;
use crate::bytes::TakeRun;
use crate::error::Result;

/// Bytes of a part, which one event is for.
const PART: usize = 512 << 10;
/// Bytes that are sent at once, while the host copies the next.
const SEND: usize = 128 << 10;
/// Parts of the ring.
const PARTS: usize = 4;
/// Where data begins in a part, so that the device reads whole lines.
const ALIGN: usize = 256;

/// The ring of a stream, made when it is first used.
#[derive(Default)]
pub(super) struct Staging {
    ring: Mutex<Option<Box<Ring>>>,
}

struct Ring {
    first: NonNull<u8>,
    /// What was recorded after the last copy from each part, if the device may still read it.
    read: [Option<CudaEvent>; PARTS],
    /// The part that is filled now.
    current: usize,
    /// Bytes of it that are taken.
    filled: usize,
}

// SAFETY: the memory is the ring's alone, and may be used from any thread.
unsafe impl Send for Ring {}

/// An upload on its way through the ring.
struct Upload<'a> {
    stream: &'a CudaStream,
    ring: &'a mut Ring,
    /// Where on the device the next bytes go.
    address: u64,
    /// Bytes that may still come.
    left: usize,
    /// Bytes in the current part that are not yet on their way.
    waiting: usize,
}

impl Staging {
    /// Bytes that pass without a wait for the device.
    pub const BYTES: usize = PART * PARTS;

    /// Copies the runs that `source` hands over to the device.
    ///
    /// # Safety
    ///
    /// As for [`CudaStream::upload_runs`]; the stream is the one that this belongs to.
    pub unsafe fn upload(
        &self,
        stream: &CudaStream,
        address: u64,
        bytes: usize,
        source: &mut dyn FnMut(&mut TakeRun<'_>),
    ) -> Result<()> {
        let mut ring = self.ring.lock().unwrap_or_else(PoisonError::into_inner);
        let ring = match &mut *ring {
            Some(ring) => ring,
            none => none.insert(Box::new(Ring::new(stream)?)),
        };
        ring.filled = ring.filled.next_multiple_of(ALIGN);
        let mut upload = Upload {
            stream,
            ring,
            address,
            left: bytes,
            waiting: 0,
        };
        let mut result = Ok(());
        source(&mut |run, len| {
            if result.is_ok() {
                // SAFETY: as the caller promises.
                result = unsafe { upload.push(run, len) };
            }
        });
        result?;
        upload.send()
    }

    /// Frees the ring.
    ///
    /// # Safety
    ///
    /// The stream's queue is empty.
    pub unsafe fn free(&self, stream: &CudaStream) {
        let mut ring = self.ring.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(ring) = ring.take() {
            // SAFETY: the memory is from `allocate_pinned`, and the device has read it.
            unsafe { stream.free_pinned(ring.first) };
        }
    }
}

impl Ring {
    fn new(stream: &CudaStream) -> Result<Self> {
        Ok(Self {
            first: stream.allocate_pinned(Staging::BYTES)?,
            read: [const { None }; PARTS],
            current: 0,
            filled: 0,
        })
    }

    /// Goes on with the next part, when the device has read what was in it.
    fn next_part(&mut self, stream: &CudaStream) -> Result<()> {
        let event = CudaEvent::without_time(&stream.device)?;
        event.record_on(stream)?;
        self.read[self.current] = Some(event);
        self.current = (self.current + 1) % PARTS;
        if let Some(event) = self.read[self.current].take() {
            event.synchronize()?;
        }
        self.filled = 0;
        Ok(())
    }

    /// The next free byte.
    fn end(&self) -> *mut u8 {
        // SAFETY: `current` is a part of the memory, and at most all its bytes are taken.
        unsafe { self.first.add(self.current * PART + self.filled) }.as_ptr()
    }
}

impl Upload<'_> {
    /// Takes a run, and sends what is enough or fills a part.
    ///
    /// # Safety
    ///
    /// The run is readable.
    unsafe fn push(&mut self, mut run: *const u8, len: usize) -> Result<()> {
        let mut len = len.min(self.left);
        self.left -= len;
        while len > 0 {
            let room = PART - self.ring.filled;
            if room == 0 {
                self.send()?;
                self.ring.next_part(self.stream)?;
                continue;
            }
            let count = len.min(room).min(SEND - self.waiting);
            // SAFETY: the part has room for so many bytes, which the device does not read yet, and the run has them.
            unsafe {
                self.ring.end().copy_from_nonoverlapping(run, count);
                run = run.add(count);
            }
            self.ring.filled += count;
            self.waiting += count;
            len -= count;
            if self.waiting == SEND {
                self.send()?;
            }
        }
        Ok(())
    }

    /// Queues the copy of what is in the current part.
    fn send(&mut self) -> Result<()> {
        if self.waiting == 0 {
            return Ok(());
        }
        let source = self.ring.end().wrapping_sub(self.waiting);
        // SAFETY: the bytes stay until an event says that they are read; the caller of `upload` may write them there.
        unsafe {
            self.stream
                .upload_pinned(self.address, source, self.waiting)
        }?;
        self.address += self.waiting as u64;
        self.waiting = 0;
        Ok(())
    }
}
