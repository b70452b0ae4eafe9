//! The instruction of each function that stands for one: what CUDA C's function of that name compiles to.
//!
//! What the functions compute is tested elsewhere; the instructions of warps and barriers are in `ptx_warp.rs`, those of
//! newer targets in `newer-targets`. Here nothing is launched.
#![allow(missing_docs)]

mod device_code;

use std::sync::atomic::{
    AtomicI32, AtomicI64, AtomicU32, AtomicU64,
    Ordering::{AcqRel, Acquire, Relaxed, Release, SeqCst},
};

use oxwarp::atomic::{AtomicScope, Block, Device, System};
use oxwarp::half::{Bf16, F16};
use oxwarp::math;
use oxwarp::prelude::*;

/// Kernels, each with the instructions that it must have.
macro_rules! instructions {
    ($($name:ident($($parameter:ident: $type:ty),*) $body:block => [$($wanted:literal),+];)*) => {
        $(#[kernel]
        fn $name($($parameter: $type),*) $body)*

        #[test]
        fn each_function_is_its_instruction() {
            let mut missing = Vec::new();
            $({
                let code = device_code::of(stringify!($name));
                for wanted in [$($wanted),+] {
                    if !code.contains(wanted) {
                        missing.push(format!("no `{wanted}` in\n{code}"));
                    }
                }
            })*
            assert!(missing.is_empty(), "{}", missing.join("\n\n"));
        }
    };
}

/// Writes to the thread's own element.
fn put<T>(mut out: DisjointSlice<T>, value: T) {
    if let Some(out) = out.get_mut(thread::index_1d()) {
        *out = value;
    }
}

instructions! {
    special_registers(out: DisjointSlice<[oxwarp::Dim3; 4]>) {
        let mut out = out;
        if let Some(out) = out.get_mut(thread::index()) {
            *out = [thread::thread_idx(), thread::block_idx(), thread::block_dim(), thread::grid_dim()];
        }
    } => ["%tid.x", "%tid.y", "%tid.z", "%ctaid.x", "%ctaid.y", "%ctaid.z", "%ntid.x", "%ntid.y", "%ntid.z",
        "%nctaid.x", "%nctaid.y", "%nctaid.z"];

    atom_u32(x: &[AtomicU32], v: u32, out: DisjointSlice<[u32; 8]>) {
        let x = x[0].scoped(Device);
        put(out, [
            x.fetch_add(v, Relaxed),
            x.fetch_and(v, Relaxed),
            x.fetch_or(v, Relaxed),
            x.fetch_xor(v, Relaxed),
            x.fetch_min(v, Relaxed),
            x.fetch_max(v, Relaxed),
            x.swap(v, Relaxed),
            x.compare_exchange(v, 7, Relaxed, Relaxed).unwrap_or_else(|seen| seen),
        ]);
    } => ["atom.global.add.u32", "atom.global.and.b32", "atom.global.or.b32", "atom.global.xor.b32",
        "atom.global.min.u32", "atom.global.max.u32", "atom.global.exch.b32", "atom.relaxed.gpu.global.cas.b32"];

    atom_i64(x: &[AtomicI64], v: i64, out: DisjointSlice<[i64; 8]>) {
        let x = x[0].scoped(Device);
        put(out, [
            x.fetch_add(v, Relaxed),
            x.fetch_and(v, Relaxed),
            x.fetch_or(v, Relaxed),
            x.fetch_xor(v, Relaxed),
            x.fetch_min(v, Relaxed),
            x.fetch_max(v, Relaxed),
            x.swap(v, Relaxed),
            x.compare_exchange(v, 7, Relaxed, Relaxed).unwrap_or_else(|seen| seen),
        ]);
    } => ["atom.global.add.u64", "atom.global.and.b64", "atom.global.or.b64", "atom.global.xor.b64",
        "atom.global.min.s64", "atom.global.max.s64", "atom.global.exch.b64", "atom.relaxed.gpu.global.cas.b64"];

    red_i32(x: &[AtomicI32], v: i32) {
        let x = x[0].scoped(Device);
        x.fetch_add(v, Relaxed);
        x.fetch_and(v, Relaxed);
        x.fetch_or(v, Relaxed);
        x.fetch_xor(v, Relaxed);
        x.fetch_min(v, Relaxed);
        x.fetch_max(v, Relaxed);
    } => ["red.global.add.u32", "red.global.and.b32", "red.global.or.b32", "red.global.xor.b32",
        "red.global.min.s32", "red.global.max.s32"];

    red_u64(x: &[AtomicU64], v: u64) {
        let x = x[0].scoped(Device);
        x.fetch_add(v, Relaxed);
        x.fetch_min(v, Relaxed);
        x.fetch_max(v, Relaxed);
    } => ["red.global.add.u64", "red.global.min.u64", "red.global.max.u64"];

    scopes(x: &[AtomicU32], v: u32, out: DisjointSlice<[u32; 3]>) {
        put(out, [
            x[0].scoped(Block).fetch_add(v, Relaxed),
            x[1].scoped(System).fetch_add(v, Relaxed),
            x[2].fetch_add(v, Relaxed),
        ]);
    } => ["atom.relaxed.cta.global.add.u32", "atom.relaxed.sys.global.add.u32"];

    orders(x: &[AtomicU32], v: u32, out: DisjointSlice<[u32; 5]>) {
        let x = x[0].scoped(Device);
        put(out, [
            x.fetch_add(v, Acquire),
            x.fetch_add(v, Release),
            x.fetch_add(v, AcqRel),
            x.fetch_add(v, SeqCst),
            x.load(Acquire),
        ]);
        x.store(v, Release);
    } => ["atom.acquire.gpu.global.add.u32", "atom.release.gpu.global.add.u32", "atom.acq_rel.gpu.global.add.u32",
        "fence.sc.gpu", "ld.acquire.gpu.global.b32", "st.release.gpu.global.b32"];

    shared_atomics(v: u32, out: DisjointSlice<[u32; 2]>) {
        let bins = shared_atomics![AtomicU32; 32];
        bins.fill(0);
        sync_threads();
        let bin = bins.at(3);
        bins.at(4).fetch_max(v, Relaxed);
        put(out, [bin.fetch_add(v, Relaxed), bin.compare_exchange(v, 7, Relaxed, Relaxed).unwrap_or_else(|seen| seen)]);
    } => ["red.relaxed.cta.shared.max.u32", "atom.relaxed.cta.shared.add.u32", "atom.relaxed.cta.shared.cas.b32"];

    floats(x: &[[f32; 3]], out: DisjointSlice<[f32; 6]>) {
        let [a, b, c] = x[0];
        put(out, [a.mul_add(b, c), a.sqrt(), a / b, a.abs(), a.min(b), a.copysign(b)]);
    } => ["fma.rn.f32", "sqrt.rn.f32", "div.rn.f32", "abs.f32", "min.f32", "copysign.f32"];

    doubles(x: &[[f64; 3]], out: DisjointSlice<[f64; 6]>) {
        let [a, b, c] = x[0];
        put(out, [a.mul_add(b, c), a.sqrt(), a / b, a.abs(), a.max(b), 1.0 / c]);
    } => ["fma.rn.f64", "sqrt.rn.f64", "div.rn.f64", "abs.f64", "max.f64", "rcp.rn.f64"];

    rounding(x: &[f32], out: DisjointSlice<[f32; 4]>) {
        let x = x[0];
        put(out, [x.floor(), x.ceil(), x.trunc(), x.round_ties_even()]);
    } => ["cvt.rmi.f32.f32", "cvt.rpi.f32.f32", "cvt.rzi.f32.f32", "cvt.rni.f32.f32"];

    casts(x: &[f32], n: &[i32], out: DisjointSlice<(i32, u64, f32, f64)>) {
        put(out, (x[0] as i32, x[1] as u64, n[0] as f32, f64::from(x[2])));
    } => ["cvt.rzi.s32.f32", "cvt.rzi.u64.f32", "cvt.rn.f32.s32", "cvt.f64.f32"];

    halves(x: &[f32], y: &[f64], h: &[F16], b: &[Bf16], out: DisjointSlice<(F16, F16, f32, Bf16, f32, F16)>) {
        put(out, (
            F16::from_f32(x[0]),
            F16::from_f64(y[0]),
            h[0].to_f32(),
            Bf16::from_f32(x[1]),
            b[0].to_f32(),
            h[1].floor(),
        ));
    } => ["cvt.rn.f16.f32", "cvt.rn.f16.f64", "cvt.f32.f16", "cvt.rmi.f16.f16"];

    integers(x: &[u32], y: &[u64], out: DisjointSlice<(u32, u32, u32, u64, u32, u32)>) {
        let (a, b) = (x[0], y[0]);
        put(out, (a.rotate_left(7), a.swap_bytes(), b.count_ones(), b.reverse_bits(), b.leading_zeros(), a.trailing_zeros()));
    } => ["shf.l.wrap.b32", "prmt.b32", "popc.b64", "brev.b64", "clz.b64", "popc.b32"];

    reciprocal_roots(x: &[f32], out: DisjointSlice<[f32; 2]>) {
        put(out, [math::rsqrt(x[0]), oxwarp::fast::rsqrt(x[1])]);
    } => ["sqrt.rn.f32", "rcp.rn.f32", "rsqrt.approx.ftz.f32"];
}

#[test]
fn ptxas_takes_it() {
    device_code::assembles();
}
