//! What the library prints: each case runs in a process of its own, because the environment and standard error are its.
#![allow(missing_docs)]

mod kernel;

use std::process::Command;

use gpu_std::thread;
use host_runtime::{Gpu, Kernel};
use kernel::kernel;

kernel! {
    fn fail() {
        if thread::thread_idx_x() == 0 {
            panic!("nobody waits for this");
        }
    }
}

/// Set in the processes that `errors_of` starts.
const CHILD: &str = "OXWARP_MESSAGES_CHILD";

/// Runs the test of that name in a new process, as a child, and returns what it wrote to standard error.
fn errors_of(test: &str, device: Option<&str>) -> String {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command
        .args(["--exact", test, "--nocapture"])
        .env(CHILD, "1");
    match device {
        Some(device) => command.env("OXWARP_DEVICE", device),
        None => command.env_remove("OXWARP_DEVICE"),
    };
    let output = command.output().unwrap();
    let text = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "{text}");
    text
}

#[test]
fn new_twice() {
    if std::env::var_os(CHILD).is_none() {
        return; // only of use to the tests that start it
    }
    for _ in 0..2 {
        let gpu = Gpu::new().unwrap();
        assert_eq!(gpu.full(2, 1u8).unwrap().to_vec().unwrap(), [1, 1]);
    }
}

#[test]
fn new_fails() {
    if std::env::var_os(CHILD).is_none() {
        return; // only of use to the tests that start it
    }
    if let Err(error) = Gpu::new() {
        eprintln!("{error}");
    }
}

#[test]
fn forget_a_panic() {
    if std::env::var_os(CHILD).is_none() {
        return; // only of use to the tests that start it
    }
    let gpu = Gpu::cpu();
    fail.grid(1).block(1).on(&gpu).launch().unwrap();
}

#[test]
fn the_simulator_is_announced_once_and_silently_chosen() {
    let text = errors_of("new_twice", None);
    let lines = text
        .lines()
        .filter(|line| line.contains("running on the CPU simulator"))
        .count();
    assert_eq!(lines, usize::from(Gpu::cuda(0).is_err()), "{text}");
    assert!(
        lines == 0 || text.contains("set OXWARP_DEVICE=cpu"),
        "{text}"
    );
    assert!(!errors_of("new_twice", Some("cpu")).contains("oxwarp"));
}

#[test]
fn the_variable_is_obeyed_or_refused() {
    let text = errors_of("new_fails", Some("cuda:4711"));
    assert!(
        text.contains("no device cuda:4711 (from OXWARP_DEVICE)"),
        "{text}"
    );
    let text = errors_of("new_fails", Some("fast"));
    assert!(
        text.contains("OXWARP_DEVICE is `fast`: set it to `cpu`, `cuda` or `cuda:N`"),
        "{text}"
    );
}

#[test]
fn a_panic_that_nobody_waited_for_is_printed_when_the_device_goes() {
    let text = errors_of("forget_a_panic", Some("cpu"));
    assert!(text.contains("nothing waited for: kernel `"), "{text}");
    assert!(text.contains("nobody waits for this"), "{text}");
}
