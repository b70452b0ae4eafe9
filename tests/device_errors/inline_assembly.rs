//! A kernel with the host's assembly.
use oxwarp::prelude::*;

#[kernel]
fn assembly(mut c: DisjointSlice<u64>) {
    let i = thread::index_1d();
    if let Some(c) = c.get_mut(i) {
        let ticks: u64;
        // SAFETY: it reads a counter.
        unsafe {
            core::arch::asm!("rdtsc", "shl rdx, 32", "or rax, rdx", out("rax") ticks, out("rdx") _); //~ inline assembly
        }
        *c = ticks;
    }
}

fn main() {}
