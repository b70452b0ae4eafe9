//! The parts of an image that are loaded apart: each when one of its kernels is first launched.
//!
//! The driver compiles a whole module when it is loaded. So that a launch waits for nothing but what it needs, a module is
//! made for each kernel, out of the text of the crate's ([`Parts`]); kernels that share a variable are in one. In the program
//! the text is whole, and what kernels share in it once. It is divided when the first kernel of an image is loaded.
//!
//! What a kernel has from its own module and another must not take for its own: an address of a function. One that a kernel
//! leaves in memory is good for the kernels of its module; a static that they would leave it in makes it the same module.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

use ptx_report::{Module, Parts};

use crate::cuda::OWN_VARIABLES;
use crate::explain::text;
use crate::registry::Image;

impl Image {
    /// Its parts.
    pub fn parts(&'static self) -> &'static Parts<'static> {
        static KNOWN: Mutex<BTreeMap<usize, &Parts>> = Mutex::new(BTreeMap::new());
        let mut known = KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
        known
            .entry(std::ptr::from_ref(self).addr())
            // They live as long as the image.
            .or_insert_with(|| Box::leak(Box::new(divided(self))))
    }
}

fn divided(image: &'static Image) -> Parts<'static> {
    let own = OWN_VARIABLES.map(|name| name.to_str().unwrap_or_default());
    Module::parse(text(image)).parts(&own)
}
