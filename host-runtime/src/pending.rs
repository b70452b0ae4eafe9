//! Copies that run while the host goes on.
//!
//! In: a device array, and a pinned buffer that is given away. Out: a [`PendingCopy`] that owns the buffer until the
//! copy is done, and gives it back then: no buffer can be dropped, read or written while the device uses it. The device
//! array needs no such care, since its later uses and its end come after the copy in the order of streams.

use ndarray::Dimension;

use crate::DeviceCopy;
use crate::array::DeviceArray;
use crate::error::{Error, Result};
use crate::event::Event;
use crate::ordering::Access;
use crate::pinned::PinnedArray;
use crate::stream::{Backend, Stream};

/// A copy that was queued, with the host memory that it reads or writes.
///
/// Dropping it waits for the copy.
#[must_use = "dropping it waits for the copy: keep it, and call `wait` when the buffer is needed again"]
#[derive(Debug)]
pub struct PendingCopy<T: DeviceCopy> {
    /// There until `wait` takes it.
    buffer: Option<PinnedArray<T>>,
    done: Event,
    stream: Stream,
}

impl<T: DeviceCopy> PendingCopy<T> {
    /// Waits for the copy, and gives the buffer back; after a copy from the device it holds the elements.
    ///
    /// # Errors
    ///
    /// If a kernel of the array's stream panicked since the last wait, or the device failed. The buffer is dropped
    /// then.
    pub fn wait(mut self) -> Result<PinnedArray<T>> {
        self.done.synchronize()?;
        self.stream.backend().check()?;
        match self.buffer.take() {
            Some(buffer) => Ok(buffer),
            None => unreachable!("only this takes the buffer, and it ends the copy"),
        }
    }

    /// Whether the copy is done. It does not wait.
    ///
    /// # Errors
    ///
    /// If the device failed.
    pub fn is_done(&self) -> Result<bool> {
        self.done.is_done()
    }

    /// The copy's end, for other streams to wait for.
    pub fn event(&self) -> &Event {
        &self.done
    }
}

impl<T: DeviceCopy> Drop for PendingCopy<T> {
    fn drop(&mut self) {
        if let Some(buffer) = self.buffer.take()
            && self.done.wait_on_host().is_err()
        {
            // Nobody knows whether the device still uses it.
            std::mem::forget(buffer);
        }
    }
}

impl<T: DeviceCopy, D: Dimension> DeviceArray<T, D> {
    /// Queues a copy of the elements of `source` into this array, on the array's stream, and returns. Kernels on other
    /// streams run meanwhile; one that uses this array waits for the copy.
    /// CUDA C: `cudaMemcpyAsync`; PyCUDA: `memcpy_htod_async`; Numba: `copy_to_device(..., stream=)`.
    ///
    /// # Errors
    ///
    /// If the lengths differ, or a kernel of the stream panicked, or the device fails. `source` is dropped then.
    ///
    /// ```
    /// # let gpu = host_runtime::Gpu::cpu();
    /// let copies = gpu.new_stream()?;
    /// let mut x = copies.gpu().zeros::<f32>(3)?;
    /// let copy = x.copy_from_async(gpu.to_pinned(&[1.0, 2.0, 3.0])?)?;
    /// // Launches here overlap with the copy, unless they use `x`.
    /// let buffer = copy.wait()?;
    /// assert_eq!((&buffer[..], x.to_vec()?), (&[1.0, 2.0, 3.0][..], vec![1.0, 2.0, 3.0]));
    /// # Ok::<(), host_runtime::Error>(())
    /// ```
    pub fn copy_from_async(&mut self, source: PinnedArray<T>) -> Result<PendingCopy<T>> {
        self.check_len(source.len())?;
        let (address, from) = (self.memory().address(), source.as_ptr().cast());
        self.begin(source, Access::Write, |backend, bytes| {
            // SAFETY: both have so many bytes, and `begin` keeps the buffer until the copy is done.
            unsafe { backend.upload_pinned(address, from, bytes) }
        })
    }

    /// Queues a copy of the elements, in standard order, into `target`, on the array's stream, and returns.
    /// [`wait`](PendingCopy::wait) gives the buffer back.
    /// CUDA C: `cudaMemcpyAsync`; PyCUDA: `memcpy_dtoh_async`; Numba: `copy_to_host(..., stream=)`.
    ///
    /// # Errors
    ///
    /// If the lengths differ, or a kernel of the stream panicked, or the device fails. `target` is dropped then.
    ///
    /// ```
    /// # let gpu = host_runtime::Gpu::cpu();
    /// let x = gpu.full(3, 7u32)?;
    /// let copy = x.copy_to_async(gpu.pinned(3)?)?;
    /// assert_eq!(copy.wait()?[..], [7, 7, 7]);
    /// # Ok::<(), host_runtime::Error>(())
    /// ```
    pub fn copy_to_async(&self, mut target: PinnedArray<T>) -> Result<PendingCopy<T>> {
        self.check_len(target.len())?;
        let (address, to) = (self.memory().address(), target.as_mut_ptr().cast());
        self.begin(target, Access::Read, |backend, bytes| {
            // SAFETY: both have so many bytes, and `begin` keeps the buffer until the copy is done.
            unsafe { backend.download_pinned(to, address, bytes) }
        })
    }

    /// Queues a copy between the array and the buffer, and binds the buffer to its end.
    fn begin(
        &self,
        buffer: PinnedArray<T>,
        access: Access,
        copy: impl FnOnce(&Backend, usize) -> Result<()>,
    ) -> Result<PendingCopy<T>> {
        let stream = self.gpu().stream().clone();
        let bytes = self.memory().bytes();
        let queued = match bytes {
            0 => Ok(()),
            _ => self.memory().access(access, |backend| copy(backend, bytes)),
        };
        match queued.and_then(|()| stream.record()) {
            Ok(done) => Ok(PendingCopy {
                buffer: Some(buffer),
                done,
                stream,
            }),
            Err(error) => {
                // The copy may have been queued. After a kernel's panic the wait is over, too.
                if matches!(stream.synchronize(), Err(Error::Driver { .. })) {
                    std::mem::forget(buffer);
                }
                Err(error)
            }
        }
    }
}
