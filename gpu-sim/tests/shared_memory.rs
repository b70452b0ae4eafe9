//! Shared arrays: one for each block and source place, within the limit.

mod common;

use common::{SHARED_LIMIT, dim, launch, launch_1d};
use gpu_sim::Fault;
use gpu_std::{block, shared_array, sync_threads, thread};

#[test]
fn arrays_of_one_kernel_do_not_alias() {
    launch_1d(10, 32, || {
        let (a, b) = (shared_array![u32; 32], shared_array![u32; 32]);
        let t = thread::index_in_block();
        a.set(t, t as u32);
        b.set(t, 100 + t as u32);
        sync_threads();
        assert_eq!(
            (a.get(31 - t), b.get(31 - t)),
            (31 - t as u32, 131 - t as u32)
        );
    })
    .unwrap();
}

#[test]
fn instances_of_a_generic_function_have_their_own() {
    fn array<T: 'static>(_of: T, value: u32) -> u32 {
        let one = shared_array![u32; 1];
        one.set(0, value);
        sync_threads();
        one.get(0)
    }
    launch_1d(1, 1, || {
        let both = shared_array![u32; 1];
        both.set(0, 7);
        assert_eq!((array(0_u8, 1), array(0_u16, 2), both.get(0)), (1, 2, 7));
    })
    .unwrap();
}

#[test]
fn every_block_has_its_own() {
    launch_1d(1000, 16, || {
        let owner = shared_array![u64; 1];
        let number = *block::index() as u64;
        if thread::index_in_block() == 0 {
            owner.set(0, number);
        }
        sync_threads();
        assert_eq!(owner.get(0), number);
        sync_threads();
    })
    .unwrap();
}

#[test]
fn nothing_is_left_from_the_block_before() {
    launch_1d(1000, 1, || {
        let value = shared_array![u32; 1];
        assert_ne!(value.get(0), 42);
        value.set(0, 42);
    })
    .unwrap();
}

#[test]
fn rows_and_columns() {
    launch(dim(3, 3, 1), dim(8, 4, 1), || {
        let tile = shared_array![u32; 4, 8];
        let at = thread::thread_idx();
        tile.set((at.y as usize, at.x as usize), at.y * 8 + at.x);
        sync_threads();
        for row in 0..4 {
            for col in 0..8 {
                assert_eq!(tile.get((row, col)), (row * 8 + col) as u32);
            }
        }
    })
    .unwrap();
}

#[test]
fn all_of_the_limit_can_be_used() {
    launch_1d(2, 2, || {
        let bytes = shared_array![u8; SHARED_LIMIT];
        bytes.set(SHARED_LIMIT - 1, 1);
    })
    .unwrap();
}

#[test]
fn too_much_is_a_fault_with_the_numbers() {
    let result = launch_1d(2, 64, || {
        let _first = shared_array![u32; 8192];
        sync_threads();
        let _second = shared_array![u32; 8192];
    });
    let fault = Fault::SharedMemory {
        wanted: 64 << 10,
        limit: 48 << 10,
    };
    assert!(fault.to_string().contains("65536 bytes"));
    assert!(fault.to_string().contains("49152"));
    assert_eq!(result, Err(fault));
}
