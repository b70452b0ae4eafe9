//! Inline PTX, and the Rust expression that stands for it on the simulator.

use oxwarp::half::F16;
use oxwarp::prelude::*;
use oxwarp::ptx;

mod common;
mod device_code;

use common::Random;

#[kernel]
fn operands(x: &[u32], mut out: DisjointSlice<u64>) {
    let i = thread::index_1d();
    let Some(out) = out.get_mut(i) else { return };
    let (a, b) = (x[*i], 3u32);
    // SAFETY: the instructions read their inputs and write their outputs.
    let (low, high, wide) = unsafe {
        let low =
            ptx!(pure, "mul.lo.u32 {0}, {1}, {2};", out(u32), in a, in b; else a.wrapping_mul(b));
        let (sum, difference) = ptx!(
            "{{ .reg .u32 t; add.u32 t, {2}, {3}; mov.u32 {0}, t; sub.u32 {1}, {2}, {3}; }}",
            out(u32, u32), in a, in b;
            else (a.wrapping_add(b), a.wrapping_sub(b)));
        ptx!("membar.cta;"; else ());
        (low, sum, difference)
    };
    *out = u64::from(low) ^ u64::from(high) << 32 ^ u64::from(wide) << 16;
}

#[test]
fn operands_and_outputs_are_typed() -> oxwarp::Result<()> {
    let gpu = Gpu::new()?;
    let x: Vec<u32> = (0..1000u32)
        .map(|i| i.wrapping_mul(2_654_435_761))
        .collect();
    let device = gpu.to_device(&x)?;
    let mut out = gpu.zeros::<u64>(x.len())?;
    operands.for_each(x.len()).launch(&device, &mut out)?;
    let expected: Vec<u64> = x
        .iter()
        .map(|&a| {
            u64::from(a.wrapping_mul(3))
                ^ u64::from(a.wrapping_add(3)) << 32
                ^ u64::from(a.wrapping_sub(3)) << 16
        })
        .collect();
    assert_eq!(out.to_vec()?, expected);
    Ok(())
}

#[test]
fn the_template_is_in_the_ptx() {
    let code = device_code::of("operands");
    device_code::contains(&code, &["mul.lo.u32", "membar.cta", "add.u32 t,"]);
    device_code::assembles();
}

/// Each class of registers, in and out.
#[kernel]
fn classes(x: &[u64], mut out: DisjointSlice<[u64; 2]>) {
    let i = thread::index_1d();
    let Some(out) = out.get_mut(i) else { return };
    let x = x[*i];
    let (short, word, single, double) = (x as u16, x as u32, x as u32 as f32, x as u32 as f64);
    let half = F16::from_f32(f32::from(x as u16 & 0xff));
    let odd = x & 1 == 1;
    // SAFETY: the instructions read their inputs and write their outputs.
    let (short, word, long, single, double, half, even, wide) = unsafe {
        let short = ptx!(pure, "add.u16 {0}, {1}, {1};", out(u16), in short; else short.wrapping_add(short));
        let (word, even) = ptx!(
            pure, "selp.u32 {0}, {2}, 7, {3}; not.pred {1}, {3};",
            out(u32, bool), in word, in odd; else (if odd { word } else { 7 }, !odd));
        let long = ptx!(pure, "shl.b64 {0}, {1}, 3;", out(u64), in x; else x << 3);
        let single = ptx!(pure, "neg.f32 {0}, {1};", out(f32), in single; else -single);
        let double = ptx!(pure, "neg.f64 {0}, {1};", out(f64), in double; else -double);
        let half = ptx!(pure, "add.f16 {0}, {1}, {1};", out(F16), in half; else half + half);
        let wide = ptx!(pure, "mov.b128 {0}, {1};", out(u128), in u128::from(x) << 40; else u128::from(x) << 40);
        (short, word, long, single, double, half, even, wide)
    };
    let bits =
        u64::from(short) ^ u64::from(word) << 7 ^ long ^ double.to_bits() ^ u64::from(even) << 60;
    let rest = u64::from(single.to_bits()) ^ u64::from(half.to_f32().to_bits()) << 13;
    *out = [bits ^ (wide >> 64) as u64, rest ^ wide as u64];
}

#[test]
fn every_class_of_registers_goes_in_and_out() -> oxwarp::Result<()> {
    let gpu = Gpu::new()?;
    let mut random = Random::new(17);
    let x: Vec<u64> = (0..1000).map(|_| random.bits()).collect();
    let mut out = gpu.zeros::<[u64; 2]>(x.len())?;
    classes
        .for_each(x.len())
        .launch(&gpu.to_device(&x)?, &mut out)?;
    let expected: Vec<[u64; 2]> = x
        .iter()
        .map(|&x| {
            let word = x as u32;
            let chosen = if x & 1 == 1 { word } else { 7 };
            let bits = u64::from((x as u16).wrapping_mul(2))
                ^ u64::from(chosen) << 7
                ^ x << 3
                ^ (-f64::from(word)).to_bits()
                ^ (x & 1 ^ 1) << 60;
            let half = 2.0 * (x & 0xff) as f32;
            let rest = u64::from((-(word as f32)).to_bits()) ^ u64::from(half.to_bits()) << 13;
            [bits ^ x >> 24, rest ^ x << 40]
        })
        .collect();
    assert_eq!(out.to_vec()?, expected);
    Ok(())
}

/// Eight outputs of twelve inputs.
#[kernel]
fn many(x: &[u32], mut out: DisjointSlice<[u32; 8]>) {
    let i = thread::index_1d();
    let Some(out) = out.get_mut(i) else { return };
    let x = |k: u32| x[*i].wrapping_add(k);
    // SAFETY: the instructions read their inputs and write their outputs.
    let (a, b, c, d, e, f, g, h) = unsafe {
        ptx!(
        "add.u32 {0}, {8}, {19}; add.u32 {1}, {9}, {18}; add.u32 {2}, {10}, {17}; add.u32 {3}, {11}, {16};
         add.u32 {4}, {12}, {15}; add.u32 {5}, {13}, {14}; mov.u32 {6}, {8}; mov.u32 {7}, {19};",
        out(u32, u32, u32, u32, u32, u32, u32, u32),
        in x(0), in x(1), in x(2), in x(3), in x(4), in x(5), in x(6), in x(7), in x(8), in x(9), in x(10), in x(11);
        else {
            let sum = |k| x(k).wrapping_add(x(11 - k));
            (sum(0), sum(1), sum(2), sum(3), sum(4), sum(5), x(0), x(11))
        })
    };
    *out = [a, b, c, d, e, f, g, h];
}

#[test]
fn there_may_be_many_operands() -> oxwarp::Result<()> {
    let gpu = Gpu::new()?;
    let x = Random::new(18).below(100, 1 << 31);
    let mut out = gpu.zeros::<[u32; 8]>(x.len())?;
    many.for_each(x.len())
        .launch(&gpu.to_device(&x)?, &mut out)?;
    let sum = |x: u32| x.wrapping_mul(2).wrapping_add(11);
    for (out, &x) in out.to_vec()?.iter().zip(&x) {
        assert_eq!(out[..6], [sum(x); 6]);
        assert_eq!(out[6..], [x, x.wrapping_add(11)]);
    }
    Ok(())
}

/// Assembly that is not pure may read and write any memory: values are stored before it and loaded anew after it.
#[kernel]
fn through_memory(mut y: DisjointSlice<u32>) {
    let i = thread::index_1d();
    let Some(y) = y.get_mut(i) else { return };
    *y = 5;
    let address: *mut u32 = y;
    // SAFETY: the address is that of this thread's element.
    unsafe {
        ptx!(
            "{{ .reg .u32 t; ld.u32 t, [{0}]; add.u32 t, t, 37; st.u32 [{0}], t; }}", in address;
            else *address += 37);
    }
    *y *= 2;
}

#[test]
fn assembly_that_is_not_pure_sees_memory() -> oxwarp::Result<()> {
    let gpu = Gpu::new()?;
    let mut y = gpu.zeros::<u32>(70)?;
    through_memory.for_each(70usize).launch(&mut y)?;
    assert_eq!(y.to_vec()?, [84; 70]);
    Ok(())
}

/// Of pure assembly, equal ones are one and unused ones none; of other, each is.
#[kernel]
fn merged(x: &[u32], mut y: DisjointSlice<u32>) {
    let i = thread::index_1d();
    let Some(y) = y.get_mut(i) else { return };
    let x = x[*i];
    // SAFETY: the instructions read their inputs and write their outputs.
    unsafe {
        let pure = || ptx!(pure, "mul24.lo.u32 {0}, {1}, 3;", out(u32), in x; else x * 3);
        let counted = || ptx!("sad.u32 {0}, {1}, 0, 1;", out(u32), in x; else x + 1);
        let _unused = pure();
        *y = pure() + pure() + counted() + counted();
    }
}

#[test]
fn pure_assembly_is_merged_and_other_is_not() -> oxwarp::Result<()> {
    let code = device_code::of("merged");
    assert_eq!(code.matches("mul24.lo.u32").count(), 1, "{code}");
    assert_eq!(code.matches("sad.u32").count(), 2, "{code}");
    let gpu = Gpu::new()?;
    let mut y = gpu.zeros::<u32>(50)?;
    let x: Vec<u32> = (0..50).collect();
    merged
        .for_each(50usize)
        .launch(&gpu.to_device(&x)?, &mut y)?;
    assert_eq!(y.to_vec()?, x.iter().map(|x| 8 * x + 2).collect::<Vec<_>>());
    Ok(())
}
