//! The values of constant memory that a device's host has set.
//!
//! A value's storage is made once and never freed, and a new value is copied over the old: a kernel sees it as `'static`.

use std::alloc::{Layout, alloc, handle_alloc_error};
use std::any::TypeId;
use std::ptr::NonNull;

/// Constant memory of one simulated device.
#[derive(Debug, Default)]
pub struct Constants {
    values: Vec<(TypeId, NonNull<u8>)>,
}

// SAFETY: the storage is written through `&mut self` only.
unsafe impl Send for Constants {}

// SAFETY: as for `Send`.
unsafe impl Sync for Constants {}

impl Constants {
    /// Sets the value of the constant `key`.
    ///
    /// # Safety
    ///
    /// `value` has the bytes of a value of the constant's type, whose layout is `layout`.
    pub unsafe fn set(&mut self, key: TypeId, value: *const u8, layout: Layout) {
        let storage = self.get(key).unwrap_or_else(|| {
            let storage = allocate(layout);
            self.values.push((key, storage));
            storage
        });
        // SAFETY: the storage has the value's size, and the caller's value is apart from it.
        unsafe {
            storage
                .as_ptr()
                .copy_from_nonoverlapping(value, layout.size())
        };
    }

    /// The value's storage, once one was set.
    #[inline]
    pub(crate) fn get(&self, key: TypeId) -> Option<NonNull<u8>> {
        let found = self.values.iter().find(|(other, _)| *other == key)?;
        Some(found.1)
    }
}

fn allocate(layout: Layout) -> NonNull<u8> {
    if layout.size() == 0 {
        return layout.dangling_ptr();
    }
    // SAFETY: the size is not zero.
    let storage = unsafe { alloc(layout) };
    NonNull::new(storage).unwrap_or_else(|| handle_alloc_error(layout))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn set(constants: &mut Constants, key: TypeId, value: &[u32; 2]) {
        // SAFETY: the value has the layout of its type.
        unsafe { constants.set(key, value.as_ptr().cast(), Layout::new::<[u32; 2]>()) };
    }

    #[test]
    fn a_value_keeps_its_place() {
        let mut constants = Constants::default();
        let (a, b) = (TypeId::of::<u8>(), TypeId::of::<u16>());
        assert_eq!(constants.get(a), None);
        set(&mut constants, a, &[1, 2]);
        let first = constants.get(a).unwrap();
        set(&mut constants, b, &[3, 4]);
        set(&mut constants, a, &[5, 6]);
        assert_eq!(constants.get(a), Some(first));
        let read = |key| {
            // SAFETY: a value was set, which nothing writes now.
            unsafe { constants.get(key).unwrap().cast::<[u32; 2]>().read() }
        };
        assert_eq!((read(a), read(b)), ([5, 6], [3, 4]));
    }
}
