//! `glam`, with the feature `scalar-math`: its other code is for the host's own vector instructions.

use glam::{DVec2, IVec3, Mat2, Mat3, Mat4, Quat, UVec2, Vec2, Vec3, Vec3A, Vec4, vec3};

agree!(
    two_dimensions,
    three_dimensions,
    four_dimensions,
    integers,
    swizzled_and_compared,
    matrices,
    transforms,
    rotations within 8 ulp,
);

/// Not too large, so that nothing overflows to infinity on one side of a tie.
fn tame<const N: usize>(x: [f32; N]) -> [f32; N] {
    x.map(|x| if x.abs() < 1e6 { x } else { 1.5 })
}

fn two_dimensions((a, b): ([f32; 2], [f32; 2])) -> ([f32; 4], [f64; 2]) {
    let (a, b) = (Vec2::from(tame(a)), Vec2::from(tame(b)));
    let reflected = a.perp() - b * 2.0;
    let wide = DVec2::new(a.x.into(), b.y.into()).lerp(DVec2::ONE, 0.25);
    (
        [a.dot(b), a.perp_dot(b), reflected.x, reflected.length()],
        wide.to_array(),
    )
}

fn three_dimensions((a, b): ([f32; 3], [f32; 3])) -> ([f32; 3], [f32; 3], f32) {
    let (a, b) = (Vec3::from_array(tame(a)), Vec3::from_array(tame(b)));
    let cross = a.cross(b).normalize_or_zero();
    let aligned = Vec3A::from(a).max(Vec3A::from(b)) + Vec3A::splat(1.0);
    (cross.to_array(), aligned.to_array(), a.distance_squared(b))
}

fn four_dimensions((a, n): ([f32; 4], u8)) -> ([f32; 4], f32) {
    let a = Vec4::from(tame(a));
    let mut clamped = a.clamp(Vec4::splat(-10.0), Vec4::splat(10.0)) / 3.0;
    clamped[usize::from(n) % 4] += 1.0;
    (clamped.to_array(), (a * clamped).element_sum())
}

fn integers((a, b, c): ([i16; 3], [i16; 3], [u32; 2])) -> ([i32; 3], i32, [u32; 2]) {
    let (a, b) = (IVec3::from(a.map(i32::from)), IVec3::from(b.map(i32::from)));
    let masked = UVec2::from(c) & UVec2::splat(0xff00) | UVec2::new(1, 2);
    (
        (a - b).abs().to_array(),
        a.min(b).dot(IVec3::ONE),
        masked.to_array(),
    )
}

fn swizzled_and_compared((a, b): ([f32; 3], [f32; 3])) -> ([f32; 3], [bool; 3], u32) {
    use glam::Vec3Swizzles;
    let (a, b) = (Vec3::from(tame(a)), Vec3::from(tame(b)));
    let less = a.cmplt(b);
    (
        Vec3::select(less, a.zxy(), b.yyx()).to_array(),
        less.into(),
        a.cmpeq(a.xxz()).bitmask(),
    )
}

fn matrices((a, x): ([f32; 9], [f32; 3])) -> ([f32; 3], [f32; 4], f32) {
    let a = Mat3::from_cols_array(&tame(a).map(|x| x / 64.0));
    let small = Mat2::from_mat3(a);
    let product = (a.transpose() * a) * Vec3::from(tame(x));
    (
        product.to_array(),
        (small * small + Mat2::IDENTITY).to_cols_array(),
        a.determinant(),
    )
}

fn transforms((a, x): ([f32; 3], [f32; 3])) -> ([f32; 3], [f32; 3]) {
    let (a, x) = (Vec3::from(tame(a)), Vec3::from(tame(x)));
    let moved = Mat4::from_translation(a) * Mat4::from_scale(vec3(2.0, 0.5, -1.0));
    let back = moved.inverse();
    (
        moved.transform_point3(x).to_array(),
        back.transform_vector3(x).to_array(),
    )
}

/// Signs that do not cancel, so that the result is near the right one in ULP.
fn rotations([angle, x]: [u8; 2]) -> [f32; 3] {
    let turn = Quat::from_rotation_z(f32::from(angle) / 255.0 + 0.1);
    let x = f32::from(x) / 16.0 + 1.0;
    let turned = turn * vec3(x, 0.0, 2.0);
    [turn.w, turned.y, turned.z]
}
