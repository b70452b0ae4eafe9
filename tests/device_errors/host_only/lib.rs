//! A crate whose function has no device code: not generic, not `#[inline]`, and too large for rustc to inline unasked.

/// Steps of the Collatz sequence from `x` to 1.
#[inline(never)]
pub fn collatz(mut x: u64) -> u64 {
    let mut steps = 0;
    while x > 1 {
        x = if x % 2 == 0 { x / 2 } else { 3 * x + 1 };
        steps += 1;
    }
    steps
}

/// Has a vector of such pairs grow.
pub fn pairs(n: u8) -> Vec<(u8, u64)> {
    let mut pairs = Vec::new();
    pairs.push((n, 1));
    pairs
}
