//! A crate whose users call its linked function in kernels.

#[oxwarp::device_link("scale.ptx")]
unsafe extern "C" {
    /// The product of `x` and the factor of the file, as it is first.
    pub safe fn scale(x: u32) -> u32 {
        x.wrapping_mul(3)
    }
}
