//! A variable that each thread of the host has for itself.
use std::cell::Cell;

use oxwarp::prelude::*;

thread_local! {
    static COUNT: Cell<u32> = const { Cell::new(0) };
}

#[kernel]
fn counts(mut out: DisjointSlice<u32>) {
    if let Some(out) = out.get_mut(thread::index_1d()) {
        COUNT.set(*out); //~ is a thread-local variable, which threads of a GPU do not have
    }
}

fn main() {}
