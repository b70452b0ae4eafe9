//! Copies and fills, queued on the stream.
//!
//! The driver may read the source of an asynchronous copy for as long as the copy runs; that it has put pageable memory
//! aside before it returns is not promised. So pageable memory goes through pinned memory of our own
//! ([`staging`](super::staging)), after which the caller may change it, and the host does not wait for the queue. What
//! is larger than that memory holds goes through the driver's, and is waited for.

use std::ffi::{c_uint, c_void};
use std::ptr::null_mut;

use super::CudaStream;
use super::staging::Staging;
use crate::bytes::{Pattern, Rows, TakeRun};
use crate::error::Result;

/// `CU_MEMORYTYPE_UNIFIED`: the driver looks where an address is.
const UNIFIED: c_uint = 4;

/// `CUDA_MEMCPY2D_v2`.
#[repr(C)]
struct Copy2d {
    source_x: usize,
    source_y: usize,
    source_kind: c_uint,
    source_host: *const c_void,
    source: u64,
    source_array: *mut c_void,
    source_pitch: usize,
    x: usize,
    y: usize,
    kind: c_uint,
    host: *mut c_void,
    address: u64,
    array: *mut c_void,
    pitch: usize,
    width: usize,
    height: usize,
}

impl CudaStream {
    /// Queues filling.
    ///
    /// # Safety
    ///
    /// The memory is this device's and the caller's to write, for `count` times the pattern, whose alignment it has.
    pub unsafe fn fill(&self, address: u64, pattern: Pattern, count: usize) -> Result<()> {
        self.make_current()?;
        let (driver, stream) = (self.driver, self.handle());
        // SAFETY: as the caller promises.
        unsafe {
            match pattern {
                Pattern::Byte(byte) => driver.cuMemsetD8Async(address, byte, count, stream),
                Pattern::Short(short) => driver.cuMemsetD16Async(address, short, count, stream),
                Pattern::Word(word) => driver.cuMemsetD32Async(address, word, count, stream),
            }
        }?;
        Ok(())
    }

    /// Queues a copy inside the device.
    ///
    /// # Safety
    ///
    /// Both ranges are this device's and do not overlap, and `address` is the caller's to write.
    pub unsafe fn copy(&self, address: u64, source: u64, bytes: usize) -> Result<()> {
        self.make_current()?;
        // SAFETY: as the caller promises.
        unsafe {
            self.driver
                .cuMemcpyDtoDAsync_v2(address, source, bytes, self.handle())
        }?;
        Ok(())
    }

    /// Queues a copy of memory of another device's context.
    ///
    /// # Safety
    ///
    /// `address` is this device's and the caller's to write, and `source` the other's, for so many bytes.
    pub unsafe fn copy_from_peer(
        &self,
        address: u64,
        other: &Self,
        source: u64,
        bytes: usize,
    ) -> Result<()> {
        self.make_current()?;
        let context = |stream: &Self| stream.device.context.context.as_raw().cast();
        // SAFETY: as the caller promises.
        unsafe {
            self.driver.cuMemcpyPeerAsync(
                address,
                context(self),
                source,
                context(other),
                bytes,
                self.handle(),
            )
        }?;
        Ok(())
    }

    /// Queues a copy of pieces at equal distances, inside the device or between it and the host.
    ///
    /// # Safety
    ///
    /// Each piece is the caller's to read or write; host memory stays until the copy is done.
    pub unsafe fn copy_rows(&self, rows: &Rows) -> Result<()> {
        self.make_current()?;
        let mut copy = Copy2d {
            source_x: 0,
            source_y: 0,
            source_kind: UNIFIED,
            source_host: null_mut(),
            source: rows.source,
            source_array: null_mut(),
            source_pitch: rows.source_pitch,
            x: 0,
            y: 0,
            kind: UNIFIED,
            host: null_mut(),
            address: rows.address,
            array: null_mut(),
            pitch: rows.pitch,
            width: rows.width,
            height: rows.height,
        };
        // SAFETY: as the caller promises; the driver reads the struct before it returns.
        unsafe {
            self.driver
                .cuMemcpy2DAsync_v2((&raw mut copy).cast(), self.handle())
        }?;
        Ok(())
    }

    /// Bytes that pass through pinned memory of our own without a wait.
    pub fn most_staged(&self) -> usize {
        Staging::BYTES
    }

    /// Copies to the device the runs that `source` hands over, one behind the other, up to `bytes`. They may change
    /// when this returns.
    ///
    /// # Safety
    ///
    /// Each run is readable, and `address` this device's and the caller's to write, for so many bytes.
    pub unsafe fn upload_runs(
        &self,
        address: u64,
        bytes: usize,
        source: &mut dyn FnMut(&mut TakeRun<'_>),
    ) -> Result<()> {
        self.make_current()?;
        self.refuse_after_panic()?;
        // SAFETY: as the caller promises.
        unsafe { self.staging.upload(self, address, bytes, source) }
    }

    /// Queues a copy to the device.
    ///
    /// # Safety
    ///
    /// `source` stays readable and unchanged until the copy is done, and `address` is this device's and the caller's to
    /// write.
    pub unsafe fn upload_pinned(
        &self,
        address: u64,
        source: *const u8,
        bytes: usize,
    ) -> Result<()> {
        self.make_current()?;
        self.refuse_after_panic()?;
        // SAFETY: as the caller promises.
        unsafe {
            self.driver.cuMemcpyHtoDAsync_v2(
                address,
                source.cast_mut().cast(),
                bytes,
                self.handle(),
            )
        }?;
        Ok(())
    }

    /// Queues a copy to the host.
    ///
    /// # Safety
    ///
    /// `address` is this device's, and `destination` the caller's to write until the copy is done.
    pub unsafe fn download(&self, destination: *mut u8, address: u64, bytes: usize) -> Result<()> {
        self.make_current()?;
        self.refuse_after_panic()?;
        // SAFETY: as the caller promises.
        unsafe {
            self.driver
                .cuMemcpyDtoHAsync_v2(destination.cast(), address, bytes, self.handle())
        }?;
        Ok(())
    }
}
