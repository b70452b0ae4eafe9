//! Only for tests: crates from the registry in kernels. Run them in this folder, where `.cargo/config.toml` asks for the
//! bitcode of all crates.

use oxwarp::prelude::*;
use rand_pcg::Pcg32;
use rand_pcg::rand_core::RngCore;

/// The first number of each thread's own stream.
///
/// Cargo begins to compile a library, and so this kernel, before the code of its dependencies is there.
#[kernel]
pub fn draw(seed: u64, mut out: DisjointSlice<u32>) {
    let i = thread::index_1d();
    if let Some(out) = out.get_mut(i) {
        *out = Pcg32::new(seed, *i as u64).next_u32();
    }
}
