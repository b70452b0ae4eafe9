//! `#[oxwarp::test]`: on the simulator with checks, then on a GPU.

use oxwarp::prelude::*;

#[kernel]
fn last_is_missing(len: usize, mut out: DisjointSlice<u32>) {
    let array = shared_array![u32; 64];
    let t = thread::index_in_block();
    if t < len {
        array.set(t, 1);
    }
    sync_threads();
    if let Some(out) = out.get_mut(thread::index_1d()) {
        *out = array.get(t);
    }
}

#[oxwarp::test]
fn takes_a_reference_and_returns_a_result(gpu: &Gpu) -> oxwarp::Result<()> {
    let mut out = gpu.zeros::<u32>(64)?;
    launch!(last_is_missing[1, 64](64, &mut out))?;
    assert_eq!(out.to_vec()?, [1; 64]);
    Ok(())
}

#[oxwarp::test]
fn takes_a_device(gpu: Gpu) {
    assert_eq!(gpu.to_device(&[1u8]).unwrap().to_vec().unwrap(), [1]);
}

/// Nothing waits for the kernel. The checks are on in a release build too, and the simulator comes first.
#[oxwarp::test]
#[should_panic = "element 63 (of 4 bytes) of a shared array of 256 bytes is read, but nothing in this block has written it"]
fn a_mistake_that_nothing_waited_for_fails_the_test(gpu: &Gpu) {
    launch!(last_is_missing[1, 64](63, &mut gpu.zeros::<u32>(64).unwrap())).unwrap();
}

#[oxwarp::test]
#[should_panic = "out of memory"]
fn an_error_fails_the_test(gpu: &Gpu) -> oxwarp::Result<()> {
    gpu.zeros::<u8>(isize::MAX as usize)?;
    Ok(())
}
