//! What only kernels may call ends the process with a message elsewhere: it can return nothing that would be right.

mod common;

use std::process::Command;

const CHILD: &str = "GPU_SIM_TEST_CHILD";

#[test]
fn a_special_register_read_outside_of_a_kernel_says_so() {
    if std::env::var_os(CHILD).is_some() {
        gpu_std::thread::thread_idx_x();
        return;
    }
    let child = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "--nocapture"])
        .arg("a_special_register_read_outside_of_a_kernel_says_so")
        .env(CHILD, "1")
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&child.stderr);
    assert!(!child.status.success());
    assert!(
        text.contains("`gpu_std::thread::thread_idx` was called outside of a kernel"),
        "{text}"
    );
}
