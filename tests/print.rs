//! `print!`, `println!`, `eprintln!` and `dbg!` in kernels: the text that std would print, whole lines, in order per
//! thread, on the host when a wait returns.
//!
//! What a program prints is seen from outside: each test runs itself in a process of its own and reads its output. What
//! each type reads as is in `print_formats.rs`: a kernel that prints and has indirect calls takes the driver as long as all
//! such code of its module.
#![allow(
    missing_docs,
    unused_braces,
    clippy::approx_constant,
    clippy::print_literal
)]

mod common;
mod device_code;

use common::{in_own_process, printed, run_again};
use oxwarp::prelude::*;

#[track_caller]
fn assert_printed(printed: [String; 2], expected: &str) {
    assert_eq!(printed, [expected, ""]);
}

#[test]
fn errors_and_values_go_to_standard_error() {
    #[kernel]
    fn kernel(x: i32) {
        eprintln!("careful: {x}");
        print!("out");
        eprint!("err");
        let y = dbg!(x * 2) + 1;
        println!(" {y}");
    }
    let [stdout, stderr] = printed(|gpu| {
        kernel.on(gpu).grid(1).block(1).launch(4).unwrap();
        gpu.synchronize().unwrap();
    });
    assert_eq!(stdout, "out 9\n");
    let file = file!();
    let line = line!() - 9;
    assert_eq!(
        stderr,
        format!("careful: 4\nerr[{file}:{line}:17] x * 2 = 8\n")
    );
}

/// Each thread counts, in parts of a line, with a barrier between.
#[kernel]
fn count(rounds: u32) {
    let (block, thread) = (thread::block_idx(), thread::thread_idx());
    for round in 0..rounds {
        print!("{} {} ", block.x, thread.x);
        if round % 2 == 0 {
            sync_threads();
        }
        println!("{round}");
    }
}

#[test]
fn every_thread_prints_whole_lines_in_order() {
    let [stdout, stderr] = printed(|gpu| {
        count.on(gpu).grid(20).block(50).launch(1).unwrap();
        gpu.synchronize().unwrap();
    });
    // On the simulator a line is whole if one macro prints it; here the barrier comes between the parts.
    if Gpu::new().unwrap().is_simulator() {
        assert_eq!(stdout.lines().count(), 1000);
    } else {
        let mut lines: Vec<&str> = stdout.lines().collect();
        lines.sort_unstable();
        let mut expected: Vec<String> = (0..20)
            .flat_map(|block| (0..50).map(move |thread| format!("{block} {thread} 0")))
            .collect();
        expected.sort_unstable();
        assert_eq!(lines, expected);
    }
    assert_eq!(stderr, "");
}

#[kernel]
fn lines(rounds: u32, seed: u32) {
    let i = *thread::index_1d() as u32;
    for round in 0..rounds {
        // The number of 1 to 40 digits has every length that a record can have, modulo its alignment.
        println!("{i} {round} {:0>1$}", 7, ((i + seed) % 40) as usize);
    }
}

#[test]
fn lines_of_all_threads_are_there_in_order_per_thread() {
    let [stdout, _] = printed(|gpu| {
        lines.on(gpu).grid(10).block(64).launch(8, 3).unwrap();
        gpu.synchronize().unwrap();
    });
    let mut next = vec![0; 640];
    for line in stdout.lines() {
        let numbers: Vec<&str> = line.split(' ').collect();
        let [i, round, padded] = numbers[..] else {
            panic!("{line}")
        };
        let i: usize = i.parse().unwrap();
        assert_eq!(round.parse(), Ok(next[i]), "{line}");
        assert_eq!(padded, format!("{:0>1$}", 7, (i + 3) % 40), "{line}");
        next[i] += 1;
    }
    assert!(next.iter().all(|&rounds| rounds == 8));
}

#[inline(never)]
fn helper(x: u32) -> u32 {
    if x == 2 {
        println!("helper of {x}");
    }
    x
}

#[kernel]
fn through_helpers<F: Fn(u32) + Copy>(f: F, mut y: DisjointSlice<u32>) {
    let i = thread::index_1d();
    if let Some(y) = y.get_mut(i) {
        *y = helper(*i as u32);
        f(*y);
    }
}

#[kernel]
fn hello() {
    println!("hello");
}

#[test]
fn text_comes_with_every_kind_of_wait_and_in_the_order_of_launches() {
    let printed = printed(|gpu| {
        let mut y = gpu.zeros::<u32>(4).unwrap();
        let base = 10;
        launch!(through_helpers[1, 4](
            move |x| {
                if x == 3 {
                    println!("closure {}", x + base);
                }
            },
            &mut y
        ))
        .unwrap();
        hello.on(gpu).grid(1).block(1).launch().unwrap();
        assert_eq!(y.to_vec().unwrap(), [0, 1, 2, 3]);
        println!("after the read");
        hello.on(gpu).grid(1).block(2).launch().unwrap();
        y.copy_from(&[1; 4]).unwrap();
        gpu.stream().synchronize().unwrap();
        println!("after the wait");
        let other = Gpu::new().unwrap();
        hello.on(&other).grid(1).block(1).launch().unwrap();
        drop(other);
        println!("after the drop");
    });
    assert_printed(
        printed,
        "helper of 2\nclosure 13\nhello\nafter the read\nhello\nhello\nafter the wait\nhello\nafter the drop\n",
    );
}

#[test]
fn text_before_a_panic_is_printed() {
    #[kernel]
    fn kernel(x: &[u32]) {
        println!("about to fail");
        println!("{}", x[7]);
    }
    let printed = printed(|gpu| {
        let x = gpu.to_device(&[1u32, 2, 3]).unwrap();
        launch!(kernel[1, 1](&x)).unwrap();
        let error = gpu.synchronize().unwrap_err();
        println!("{}", error.to_string().lines().last().unwrap());
        hello.on(gpu).grid(1).block(1).launch().unwrap();
        gpu.synchronize().unwrap();
    });
    assert_printed(
        printed,
        "about to fail\nindex out of bounds: the len is 3 but the index is 7\nhello\n",
    );
}

#[test]
fn a_message_whose_display_panics_does_not_spoil_the_next() {
    struct Bad;
    impl std::fmt::Display for Bad {
        fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
            write!(f, "{:>300}", 1)?;
            panic!("no text")
        }
    }
    #[kernel]
    fn kernel(bad: bool) {
        if bad {
            println!("lost {Bad}");
        }
        println!("good");
    }
    let [stdout, _] = printed(|gpu| {
        kernel.on(gpu).grid(1).block(1).launch(true).unwrap();
        let error = gpu.synchronize().unwrap_err();
        println!("{}", error.to_string().lines().last().unwrap());
        kernel.on(gpu).grid(1).block(1).launch(false).unwrap();
        gpu.synchronize().unwrap();
    });
    assert!(stdout.ends_with("no text\ngood\n"), "{stdout}");
}

#[test]
fn what_does_not_fit_is_counted() {
    let [stdout, stderr] = printed(|gpu| {
        gpu.set_print_capacity(40 * 10).unwrap();
        hello.on(gpu).grid(5).block(3).launch().unwrap();
        gpu.synchronize().unwrap();
        hello.on(gpu).grid(1).block(1).launch().unwrap();
        gpu.set_print_capacity(40 * 20).unwrap();
        println!("larger");
        hello.on(gpu).grid(5).block(3).launch().unwrap();
        gpu.synchronize().unwrap();
    });
    if Gpu::new().unwrap().is_simulator() {
        assert_eq!(
            stdout,
            format!("{}larger\n{}", "hello\n".repeat(16), "hello\n".repeat(15))
        );
        assert_eq!(stderr, "");
    } else {
        assert_eq!(
            stdout,
            format!("{}larger\n{}", "hello\n".repeat(11), "hello\n".repeat(15))
        );
        let lost = "oxwarp: 5 message(s) that kernels printed are lost: the buffer of 400 bytes was full \
                    (`Gpu::set_print_capacity` makes it larger)\n";
        assert_eq!(stderr, lost);
    }
}

#[test]
fn host_threads_print_at_the_same_time() {
    let [stdout, _] = printed(|gpu| {
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    for _ in 0..25 {
                        hello.on(gpu).grid(2).block(5).launch().unwrap();
                        gpu.synchronize().unwrap();
                    }
                });
            }
        });
    });
    assert_eq!(stdout, "hello\n".repeat(1000));
}

#[test]
fn a_tests_output_is_captured() {
    if in_own_process() {
        let gpu = Gpu::new().unwrap();
        hello.on(&gpu).grid(100).block(10).launch().unwrap();
        gpu.synchronize().unwrap();
        return;
    }
    let [stdout, _] = run_again(&[]);
    assert!(stdout.contains("1 passed"), "{stdout}");
    assert!(!stdout.contains("hello"), "{stdout}");
}

#[kernel]
fn rare(x: &[i32], mut y: DisjointSlice<i32>) {
    let i = thread::index_1d();
    if let Some(y) = y.get_mut(i) {
        if x[*i] < 0 {
            println!("{i:?} is negative: {}", x[*i]);
        }
        *y = x[*i].wrapping_abs();
    }
}

#[kernel]
fn silent(x: &[i32], mut y: DisjointSlice<i32>) {
    let i = thread::index_1d();
    if let Some(y) = y.get_mut(i) {
        *y = x[*i].wrapping_abs();
    }
}

#[test]
fn only_kernels_that_print_have_the_code() {
    let silent = device_code::of("silent");
    assert!(
        !silent.contains("print_") && !silent.contains("3fmt"),
        "{silent}"
    );
    device_code::contains(&device_code::of("rare"), &["print_formatted"]);
    device_code::contains(&device_code::of("hello"), &["print_text"]);
}

#[test]
fn ptxas_takes_it() {
    // The oldest target only: formatting is much code.
    device_code::assembles_for_its_target();
}
