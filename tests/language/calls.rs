//! Functions of other ABIs and target features, large values through calls, symbols with names of their own, the place
//! of the caller.

use std::panic::Location;

agree!(
    of_c,
    pointers_to_c,
    other_abis,
    large_values,
    exported,
    not_ascii,
    keywords,
    words_of_ptx,
    sections,
    features,
    callers,
    never_inlined,
);

#[repr(C)]
#[derive(Clone, Copy)]
struct Pair {
    x: f32,
    y: f32,
}

#[repr(C)]
#[derive(Clone, Copy)]
struct Mixed {
    x: u8,
    y: u64,
    z: [u16; 5],
}

#[inline(never)]
extern "C" fn mix(a: u32, pair: Pair, mixed: Mixed) -> Mixed {
    Mixed {
        x: mixed.x ^ a as u8,
        y: mixed.y ^ u64::from(pair.x.to_bits()),
        z: [pair.y.to_bits() as u16; 5],
    }
}

fn of_c((a, b, y): (u32, u32, u64)) -> (u8, u64, u16) {
    let pair = Pair {
        x: f32::from_bits(b & 0xffff),
        y: f32::from_bits(a & 0xffff),
    };
    let mixed = mix(a, pair, Mixed { x: 1, y, z: [2; 5] });
    (mixed.x, mixed.y, mixed.z[3])
}

extern "C" fn increment(x: u32) -> u32 {
    x.wrapping_add(1)
}
extern "C" fn decrement(x: u32) -> u32 {
    x.wrapping_sub(1)
}
static STEPS: [extern "C" fn(u32) -> u32; 2] = [increment, decrement];

fn pointers_to_c(x: u32) -> u32 {
    STEPS[x as usize / 3 % 2](x)
}

#[repr(C)]
struct Both(u64, Pair);

macro_rules! of_abis {
    ($($name:ident $abi:literal)*) => {
        $(#[inline(never)]
        extern $abi fn $name(a: u64, pair: Pair) -> Both {
            Both(a ^ 1, Pair { x: pair.y, y: a as f32 })
        })*

        fn other_abis((a, x): (u64, f32)) -> [u64; 3] {
            let pair = Pair { x, y: 2.5 };
            [$({
                let Both(a, pair) = $name(a, pair);
                a ^ u64::from(pair.x.to_bits()) ^ u64::from(pair.y.to_bits())
            }),*]
        }
    };
}

#[cfg(target_arch = "x86_64")]
of_abis! { of_the_system "system" of_unix "sysv64" of_windows "win64" }
#[cfg(not(target_arch = "x86_64"))]
of_abis! { of_the_system "system" of_rust "Rust" of_arm "C" }

#[inline(never)]
fn reversed(mut x: [u64; 40], (mark, y): (u8, [f32; 20])) -> ([u64; 40], u8) {
    x.reverse();
    x[3] ^= u64::from(y[4].to_bits());
    (x, mark)
}

fn large_values(x: u64) -> (u64, u64, u8) {
    let mut all = [x; 40];
    all[5] = 3;
    let (all, mark) = reversed(all, (4, [x as f32; 20]));
    (all[34], all[3], mark)
}

#[unsafe(no_mangle)]
#[inline(never)]
pub extern "C" fn oxwarp_language_exported(x: u32) -> u32 {
    x ^ 9
}
#[unsafe(export_name = "oxwarp.language$odd-name")]
#[inline(never)]
pub fn oddly_named(x: u32) -> u32 {
    x ^ 10
}

fn exported(x: u32) -> u32 {
    oxwarp_language_exported(x) ^ oddly_named(x).rotate_left(3)
}

mod größen {
    pub static 表: [u32; 4] = [1, 5, 7, 9];

    #[inline(never)]
    pub fn 加(x: u32) -> u32 {
        x ^ 表[x as usize % 4]
    }

    pub struct Ящик(pub u32);

    impl Ящик {
        #[inline(never)]
        pub fn удвоить(&self) -> u32 {
            self.0 * 2
        }
    }
}

fn not_ascii(x: u32) -> u32 {
    größen::加(x) ^ größen::Ящик(x % 9).удвоить()
}

fn keywords(x: u32) -> u32 {
    #[inline(never)]
    fn r#match(r#type: u32) -> u32 {
        let r#fn = r#type ^ 5;
        r#fn
    }
    r#match(x)
}

mod ptx {
    #[unsafe(no_mangle)]
    #[inline(never)]
    pub extern "C" fn mov(x: u32) -> u32 {
        x ^ 3
    }
    #[unsafe(no_mangle)]
    #[inline(never)]
    pub extern "C" fn reg(x: u32) -> u32 {
        x ^ 31
    }
}

fn words_of_ptx(x: u32) -> u32 {
    ptx::mov(x) ^ ptx::reg(x).rotate_left(9)
}

#[unsafe(link_section = ".rodata.oxwarp")]
static IN_A_SECTION: [u32; 3] = [4, 5, 6];

#[unsafe(link_section = ".text.oxwarp")]
#[inline(never)]
fn in_a_section(x: u32) -> u32 {
    IN_A_SECTION[x as usize % 3]
}

fn sections(x: u32) -> u32 {
    in_a_section(x)
}

#[cfg_attr(target_arch = "x86_64", target_feature(enable = "sse4.1,popcnt"))]
#[inline(never)]
unsafe fn with_features(x: [u64; 4]) -> u32 {
    x.iter().map(|x| x.count_ones() + x.leading_zeros()).sum()
}

/// The features are the host's; the code is the same.
fn features(x: [u64; 4]) -> u32 {
    #[cfg(target_arch = "x86_64")]
    if !std::is_x86_feature_detected!("popcnt") && x[0] > 5 {}
    unsafe { with_features(x) }
}

#[track_caller]
#[inline(never)]
fn line() -> u32 {
    Location::caller().line()
}

fn callers(x: u8) -> (u32, usize) {
    let here = Location::caller();
    let lines = if x > 128 {
        line()
    } else {
        line() * 1000 + line()
    };
    (lines, here.file().len())
}

#[inline(never)]
fn collatz(x: u64) -> u64 {
    if x % 2 == 0 {
        x / 2
    } else {
        x.wrapping_mul(3).wrapping_add(1)
    }
}

fn never_inlined(x: u64) -> u32 {
    let steps = std::iter::successors(Some(x | 1), |&x| (x != 1).then(|| collatz(x)));
    steps
        .take(50)
        .fold(0, |sum, x| sum.rotate_left(3) ^ x as u32)
}
