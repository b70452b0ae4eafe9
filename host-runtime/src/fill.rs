//! Filling device memory with one value.
//!
//! A value whose bytes repeat every one, two or four is what the device can set by itself. Others are copied from the
//! host a few times, and what is filled is then doubled by copies inside the device.

use ndarray::Dimension;

use crate::DeviceCopy;
use crate::array::DeviceArray;
use crate::bytes::Pattern;
use crate::error::Result;
use crate::memory::Memory;
use crate::ordering::Access;
use crate::view::DeviceViewMut;

/// Bytes of the host copy that a fill by doubling starts from.
const SEED_BYTES: usize = 16 << 10;

impl<T: DeviceCopy, D: Dimension> DeviceArray<T, D> {
    /// Sets all elements to `value`. CUDA C: `cudaMemset`, but for whole elements; CuPy: `a.fill(x)`.
    ///
    /// # Errors
    ///
    /// If the device fails, or a kernel is known to have panicked.
    ///
    /// ```
    /// # let gpu = host_runtime::Gpu::cpu();
    /// let mut x = gpu.zeros::<f64>(3)?;
    /// x.fill(0.1)?;
    /// assert_eq!(x.to_vec()?, [0.1; 3]);
    /// # Ok::<(), host_runtime::Error>(())
    /// ```
    pub fn fill(&mut self, value: T) -> Result<()> {
        // SAFETY: these are the array's elements, borrowed mutably.
        unsafe { fill(self.memory(), self.memory().address(), self.len(), value) }
    }
}

impl<T: DeviceCopy, D: Dimension> DeviceViewMut<'_, T, D> {
    /// Sets the view's elements to `value`. A view with gaps is copied from a filled array.
    ///
    /// # Errors
    ///
    /// If memory runs out, the device fails, or a kernel is known to have panicked.
    ///
    /// ```
    /// use ndarray::{array, s};
    ///
    /// # let gpu = host_runtime::Gpu::cpu();
    /// let mut m = gpu.zeros_nd::<i32, _>((2, 3))?;
    /// m.view_mut().slice(s![.., 1]).fill(5)?;
    /// assert_eq!(m.to_host()?, array![[0, 5, 0], [0, 5, 0]]);
    /// # Ok::<(), host_runtime::Error>(())
    /// ```
    pub fn fill(&mut self, value: T) -> Result<()> {
        if self.is_standard_layout() {
            let first = self.address().addr() as u64;
            // SAFETY: without gaps, these are the view's elements, borrowed mutably.
            return unsafe { fill(self.memory(), first, self.len(), value) };
        }
        let filled = self.gpu().full(self.raw_shape(), value)?;
        self.copy_from_device(&filled)
    }
}

/// Fills elements one behind the other.
///
/// # Safety
///
/// From `first` on, `memory` has `len` elements of `T`, which are the caller's to write.
unsafe fn fill<T: DeviceCopy>(memory: &Memory, first: u64, len: usize, value: T) -> Result<()> {
    if len == 0 || size_of::<T>() == 0 {
        return Ok(());
    }
    memory.access(Access::Write, |backend| {
        if let Some((pattern, times)) = pattern(&value) {
            // SAFETY: as the caller promises; an element's place is a multiple of its size, and so of the pattern's.
            return unsafe { backend.fill(first, pattern, len * times) };
        }
        let bytes = |elements: usize| elements * size_of::<T>();
        let mut filled = len.min((SEED_BYTES / size_of::<T>()).max(1));
        let seed = vec![value; filled];
        // SAFETY: the first `filled` elements are the caller's to write.
        unsafe { backend.upload(first, seed.as_ptr().cast(), bytes(filled), false) }?;
        while filled < len {
            let count = filled.min(len - filled);
            // SAFETY: the first `filled` elements are written and `count` is at most that, so that both ranges are the
            // caller's and do not overlap.
            unsafe { backend.copy(first + bytes(filled) as u64, first, bytes(count)) }?;
            filled += count;
        }
        Ok(())
    })
}

/// The value as a repeated pattern, if it is one, and how often.
fn pattern<T: DeviceCopy>(value: &T) -> Option<(Pattern, usize)> {
    if !T::NO_PADDING {
        return None;
    }
    let size = size_of::<T>();
    // SAFETY: all bytes of the value are initialised.
    let bytes = unsafe { std::slice::from_raw_parts((&raw const *value).cast::<u8>(), size) };
    if bytes.iter().all(|byte| *byte == bytes[0]) {
        return Some((Pattern::Byte(bytes[0]), size));
    }
    if let &[low, high] = bytes {
        return Some((Pattern::Short(u16::from_ne_bytes([low, high])), 1));
    }
    let (words, rest) = bytes.as_chunks::<4>();
    let repeats = rest.is_empty() && words.iter().all(|word| *word == words[0]);
    repeats.then(|| (Pattern::Word(u32::from_ne_bytes(words[0])), words.len()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_that_repeat_are_patterns() {
        assert_eq!(pattern(&7u8), Some((Pattern::Byte(7), 1)));
        assert_eq!(pattern(&0.0f64), Some((Pattern::Byte(0), 8)));
        assert_eq!(pattern(&0x1234u16), Some((Pattern::Short(0x1234), 1)));
        let bits = 1.5f32.to_bits();
        assert_eq!(pattern(&1.5f32), Some((Pattern::Word(bits), 1)));
        assert_eq!(pattern(&[1.5f32; 4]), Some((Pattern::Word(bits), 4)));
        assert_eq!(pattern(&0.1f64), None);
        assert_eq!(pattern(&[1u16, 2, 3]), None);
        assert_eq!(pattern(&(1u8, 1u32)), None);
    }
}
