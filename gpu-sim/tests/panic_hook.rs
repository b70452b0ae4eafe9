//! Panics outside of kernels still go to the program's own hook; panics in kernels do not. A file of its own, because
//! the hook belongs to the process.

mod common;

use std::panic;
use std::sync::Mutex;

use common::{launch_1d, panic_of};

static SEEN: Mutex<Vec<String>> = Mutex::new(Vec::new());

#[test]
fn only_panics_outside_of_kernels_reach_the_hook() {
    panic::set_hook(Box::new(|info| {
        let message = info.payload_as_str().unwrap_or_default().to_owned();
        SEEN.lock().unwrap().push(message);
    }));
    let kernel = panic_of(launch_1d(1, 1, || panic!("in a kernel")));
    let outside = panic::catch_unwind(|| panic!("outside"));
    let again = panic_of(launch_1d(1, 1, || panic!("in a kernel again")));
    // A program that sets a hook after the first launch loses the location, not the error.
    let ours = panic::take_hook();
    let unlocated = panic_of(launch_1d(1, 2, || {
        assert!(gpu_std::thread::thread_idx_x() == 0, "without our hook");
    }));
    panic::set_hook(ours);
    assert!(outside.is_err());
    assert_eq!(kernel.message, "in a kernel");
    assert_eq!(again.message, "in a kernel again");
    assert_eq!(unlocated.message, "without our hook");
    assert_eq!((unlocated.thread.x, unlocated.line), (1, 0));
    assert_eq!(*SEEN.lock().unwrap(), ["outside"]);
}
