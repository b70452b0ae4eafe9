//! Linked device functions that are not as they are declared.
use oxwarp::device_link;

#[device_link("no/such.ptx")]
unsafe extern "C" {
    safe fn anything();
}

#[device_link("../../../../tests/linked/ops.cu")]
unsafe extern "C" {
    safe fn source(a: f32, b: f32) -> f32;
}

#[device_link("../../../../tests/linked/ops.ptx")]
unsafe extern "C" {
    safe fn mul_f32_f32(a: f32, b: f32) -> f32;
    safe fn times2(x: i32) -> i32;
}

#[device_link("../../../../tests/linked/ops.bc")]
unsafe extern "C" {
    safe fn longest_collats(x: *const u32, n: u64) -> u32;
}

#[device_link("../../../../tests/linked/ops.ptx")]
unsafe extern "C" {
    fn sum_reduce(x: *const f64, n: i32) -> f64;
}

#[device_link("../../../../tests/linked/ops.ptx")]
unsafe extern "C" {
    #[link_name = "mul_f32_f32"]
    fn pairs(a: (f32, f32), b: bool) -> f32;
}

#[device_link("../../../../tests/linked/ops.ptx")]
fn not_a_block() {}

#[device_link]
unsafe extern "C" {}

fn main() {}
