//! Every kind of format in a kernel reads as std formats it on the host.
//!
//! All are cases of one kernel, because what formats all types is much code for the driver to compile.
#![allow(
    missing_docs,
    unused_braces,
    clippy::approx_constant,
    clippy::print_literal
)]

mod common;
mod device_code;

use common::printed;
use oxwarp::prelude::*;

#[derive(Clone, Copy, Debug)]
#[allow(dead_code)]
struct Particle {
    position: [f32; 2],
    charge: i8,
    name: Option<char>,
}

/// One kernel with one launch for each case: what formats all types is the same code, and the driver compiles it once.
macro_rules! formats {
    ($($number:literal: ($($value:ident: $ty:ty = $given:expr),*) $body:block => $expected:expr;)*) => {
        #[derive(Clone, Copy)]
        struct Values {
            $($($value: $ty,)*)*
        }

        #[kernel]
        fn formats(case: u32, values: Values) {
            match case {
                $($number => {
                    $(let $value = values.$value;)*
                    $body
                })*
                _ => {}
            }
        }

        #[test]
        fn every_format_reads_as_std_formats_it() {
            let [stdout, stderr] = printed(|gpu| {
                let values = Values { $($($value: $given,)*)* };
                $(
                    formats.on(gpu).grid(1).block(1).launch($number, values).unwrap();
                    gpu.synchronize().unwrap();
                    print!("{NEXT}");
                )*
            });
            let mut texts = stdout.split(NEXT);
            $(assert_eq!(texts.next(), Some(&*$expected), "case {}", $number);)*
            assert_eq!(texts.next(), Some(""));
            assert_eq!(stderr, "");
        }
    };
}

const NEXT: &str = "<next>";

formats! {
    0: () { println!("no arguments") } => "no arguments\n";
    1: () { print!(""); println!(); print!("{}", ""); println!() } => "\n\n";
    2: (a: i32 = -42, b: u64 = u64::MAX, c: i8 = -128, d: u128 = u128::MAX, e: usize = 7) {
        println!("{a} {b} {c} {d} {e}")
    } => "-42 18446744073709551615 -128 340282366920938463463374607431768211455 7\n";
    3: (i: usize = 999) { println!("i {i}") } => "i 999\n";
    4: (bits: i32 = -255) { println!("{bits:x} {bits:#X} {bits:o} {bits:#b} {:#010x}", 48879) }
        => "ffffff01 0xFFFFFF01 37777777401 0b11111111111111111111111100000001 0x0000beef\n";
    5: (f: f32 = 0.0, g: f64 = 23.0, h: f64 = 34.75, j: i32 = 321) { println!("{f} {g} {h:.6} {j}") }
        => "0 23 34.750000 321\n";
    6: (k: f32 = 0.1, l: f64 = 1.0 / 3.0, m: f32 = f32::MIN_POSITIVE, n: f64 = -1e300) {
        println!("{k} {l} {m:e} {n:e} {:?} {:?}", 1e20f32, 5.0f64)
    } => "0.1 0.3333333333333333 1.1754944e-38 -1e300 1e20 5.0\n";
    7: (nan: f32 = f32::NAN, infinity: f64 = f64::INFINITY) {
        println!("{nan} {infinity} {} {:?}", -infinity, -0.0f32)
    } => "NaN inf -inf -0.0\n";
    8: (x: f32 = 3.14159, o: i32 = 42) {
        println!("[{o:5}] [{o:<5}] [{o:^5}] [{o:+}] [{o:05}] [{x:8.3}] [{x:<8.1}] [{:*^9}] [{:>w$}]", "mid", o, w = 4)
    } => "[   42] [42   ] [ 42  ] [+42] [00042] [   3.142] [3.1     ] [***mid***] [  42]\n";
    9: (yes: bool = true, no: bool = false) { println!("{yes} {no:?} {no:>6}") } => "true false  false\n";
    10: (letter: char = 'ß') { println!("{letter}{letter:?} {} {:?} \u{1f980}{{}}", "wörter", "tab\t\"") }
        => "ß'ß' wörter \"tab\\t\\\"\" \u{1f980}{}\n";
    11: (tuple: (i32, f32, bool) = (1, 2.5, true)) { println!("{tuple:?} {:?}", ((), [1u8, 2])) }
        => "(1, 2.5, true) ((), [1, 2])\n";
    12: (p: Particle = Particle { position: [1.0, -0.5], charge: -1, name: Some('e') }) { println!("{p:?}\n{p:#?}") }
        => "Particle { position: [1.0, -0.5], charge: -1, name: Some('e') }\n\
            Particle {\n    position: [\n        1.0,\n        -0.5,\n    ],\n    charge: -1,\n    name: Some(\n        \
            'e',\n    ),\n}\n";
    13: () { println!("{} {:?}", thread::block_dim(), thread::thread_idx()) } => "(1, 1, 1) Dim3 { x: 0, y: 0, z: 0 }\n";
    14: (y: i32 = 1) {
        println!(
            "{} {} {} {} {} {} {} {} {} {} {} {} {} {} {} {} {} {} {} {} {} {} {} {} {} {} {} {} {} {} {} {} {} {} {} {}",
            y, y + 1, y + 2, y + 3, y + 4, y + 5, y + 6, y + 7, y + 8, y + 9, y + 10, y + 11, y + 12, y + 13, y + 14, y + 15,
            y + 16, y + 17, y + 18, y + 19, y + 20, y + 21, y + 22, y + 23, y + 24, y + 25, y + 26, y + 27, y + 28, y + 29,
            y + 30, y + 31, y + 32, y + 33, y + 34, y + 35
        )
    } => "1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25 26 27 28 29 30 31 32 33 34 35 36\n";
    15: (half: oxwarp::half::Bf16 = oxwarp::half::Bf16::from_f32(0.9375)) { println!("{half} {half:?}") }
        => "0.9375 0.9375\n";
    16: (width: usize = 100) {
        print!("{:>width$}|", 1);
        println!("{:>1$}|{2}", 2, 3 * width, "0123456789abcdef")
    } => format!("{:>100}|{:>300}|0123456789abcdef\n", 1, 2);
    17: (rounds: u32 = 3) {
        for i in 0..rounds {
            print!("{i}");
            print!(", ");
        }
        println!("end")
    } => "0, 1, 2, end\n";
    18: (last: u32 = 3) { println!("a"); print!("b{last}") } => "a\nb3";
}

#[test]
fn ptxas_takes_it() {
    device_code::assembles_for_its_target();
}
