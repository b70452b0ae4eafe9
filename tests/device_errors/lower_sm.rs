//! A helper needs more than the lowest target has; that the other target has it does not help.
use oxwarp::prelude::*;
use oxwarp::target;

fn newer(x: u32) -> u32 {
    if target::sm() >= 75 {
        target::require_sm(80, "`newer`");
    }
    x + 1
}

#[kernel]
fn uses_it(x: &[u32], mut y: DisjointSlice<u32>) {
    let i = thread::index_1d();
    if let Some(y) = y.get_mut(i) {
        *y = if target::sm() >= 80 { newer(x[*i]) } else { 0 };
        *y += newer(x[*i]); //~ `newer` needs sm_80 or newer, and this crate is compiled for sm_75
    }
}

fn main() {}
