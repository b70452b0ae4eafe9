//! Inline PTX, and the Rust expression that stands for it on the simulator.

use oxwarp::prelude::*;
use oxwarp::ptx;

mod device_code;

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
