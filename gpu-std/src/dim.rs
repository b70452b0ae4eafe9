//! The triple that CUDA calls `dim3`/`uint3`: positions and extents in three dimensions.

/// A position in, or the extent of, a block or a grid. CUDA C: `dim3`, `uint3`.
///
/// ```
/// let block = gpu_std::Dim3 { x: 32, y: 8, z: 1 };
/// assert_eq!(block.count(), 256);
/// assert_eq!(block.to_string(), "(32, 8, 1)");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(C)]
pub struct Dim3 {
    /// Along x, the dimension whose neighbours are neighbours in a warp.
    pub x: u32,
    /// Along y.
    pub y: u32,
    /// Along z.
    pub z: u32,
}

impl Dim3 {
    /// How many positions an extent has: `x * y * z`.
    ///
    /// ```
    /// assert_eq!(gpu_std::Dim3 { x: 4, y: 3, z: 2 }.count(), 24);
    /// ```
    #[inline]
    pub const fn count(self) -> u64 {
        self.x as u64 * self.y as u64 * self.z as u64
    }

    /// The row-major place of `self` in `extent`: x runs fastest.
    ///
    /// ```
    /// let extent = gpu_std::Dim3 { x: 4, y: 3, z: 2 };
    /// assert_eq!(gpu_std::Dim3 { x: 1, y: 2, z: 1 }.linear_in(extent), 1 + 4 * (2 + 3));
    /// ```
    #[inline]
    pub const fn linear_in(self, extent: Dim3) -> u64 {
        self.x as u64 + extent.x as u64 * (self.y as u64 + extent.y as u64 * self.z as u64)
    }
}

impl core::fmt::Display for Dim3 {
    #[inline]
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        write!(f, "({}, {}, {})", self.x, self.y, self.z)
    }
}
