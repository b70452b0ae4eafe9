//! A kernel with the host's vector instructions.
use core::arch::x86_64::{_mm_add_ps, _mm_cvtss_f32, _mm_rcp_ps, _mm_set1_ps};

use oxwarp::prelude::*;

#[kernel]
fn vectors(x: &[f32], mut c: DisjointSlice<f32>) {
    let i = thread::index_1d();
    if let Some(c) = c.get_mut(i) {
        // SAFETY: every x86-64 has SSE.
        *c = unsafe {
            let x = _mm_set1_ps(x[*i]);
            _mm_cvtss_f32(_mm_add_ps(x, _mm_rcp_ps(x))) //~ x86.sse.rcp.ps
        };
    }
}

fn main() {}
