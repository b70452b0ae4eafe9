//! A kernel whose index is unique in one or two dimensions does not run in more.

mod common;

use std::sync::atomic::{AtomicU32, Ordering};

use common::{dim, launch};
use gpu_sim::Fault;
use gpu_std::thread;

#[test]
fn one_dimension() {
    for (grid, block) in [
        (dim(2, 2, 1), dim(4, 1, 1)),
        (dim(2, 1, 2), dim(4, 1, 1)),
        (dim(2, 1, 1), dim(4, 2, 1)),
        (dim(1, 1, 1), dim(1, 1, 2)),
    ] {
        let passed = AtomicU32::new(0);
        let result = launch(grid, block, || {
            thread::index_1d();
            passed.fetch_add(1, Ordering::Relaxed);
        });
        let fault = Fault::Dimensions {
            kernel: 1,
            grid,
            block,
        };
        assert_eq!(result, Err(fault));
        assert_eq!(passed.load(Ordering::Relaxed), 0);
    }
    launch(dim(2, 1, 1), dim(4, 1, 1), || {
        thread::index_1d();
    })
    .unwrap();
}

#[test]
fn two_dimensions() {
    let (grid, block) = (dim(2, 2, 1), dim(2, 2, 2));
    let result = launch(grid, block, || {
        thread::index_2d();
    });
    let fault = Fault::Dimensions {
        kernel: 2,
        grid,
        block,
    };
    assert_eq!(
        fault.to_string(),
        "the kernel indexes its threads in 2 dimension(s), but the launch has more (grid (2, 2, 1), block \
         (2, 2, 2)): launch it with 1 in the other dimensions"
    );
    assert_eq!(result, Err(fault));
    launch(grid, dim(2, 2, 1), || {
        thread::index_2d();
    })
    .unwrap();
}
