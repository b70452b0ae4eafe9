//! Occupancy: how many blocks of a kernel run on a multiprocessor at once.
//!
//! In: what a block needs and what a multiprocessor has. Out: the blocks and what limits them. Registers are given to
//! whole warps in units of 256, and each quarter of a multiprocessor has a quarter of them; shared memory is given to
//! blocks. A driver's `cuOccupancyMaxActiveBlocksPerMultiprocessor` gives the same number, but not what limits it.

use std::fmt;

use crate::multiprocessor::Multiprocessor;

/// Registers are given to a warp in units of so many.
const REGISTER_UNIT: u32 = 256;
/// A multiprocessor's warps are spread over so many parts, each with its share of the registers.
const PARTS: u32 = 4;

/// What keeps more blocks from running at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Limiter {
    /// All threads that a multiprocessor can have are there: nothing to gain.
    Threads,
    /// Registers.
    Registers,
    /// Static and dynamic shared memory.
    SharedMemory,
    /// How many blocks a multiprocessor can have: larger blocks would fill it.
    Blocks,
}

impl fmt::Display for Limiter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Limiter::Threads => "threads",
            Limiter::Registers => "registers",
            Limiter::SharedMemory => "shared memory",
            Limiter::Blocks => "blocks",
        })
    }
}

/// How far a kernel fills a multiprocessor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Occupancy {
    /// Threads of a block.
    pub block: u32,
    /// Blocks that run on a multiprocessor at once.
    pub blocks: u32,
    /// Warps that run on a multiprocessor at once.
    pub warps: u32,
    /// The most warps that it can have.
    pub max_warps: u32,
    /// What keeps more blocks from running.
    pub limiter: Limiter,
}

impl Occupancy {
    /// The occupancy of blocks of so many threads, whose threads have so many registers, and which have so many bytes of
    /// static and dynamic shared memory.
    ///
    /// ```
    /// use ptx_report::{Limiter, Multiprocessor, Occupancy};
    ///
    /// let h100 = Multiprocessor::of(90).unwrap();
    /// let occupancy = Occupancy::of(&h100, 256, 64, 0);
    /// assert_eq!((occupancy.blocks, occupancy.limiter), (4, Limiter::Registers));
    /// assert_eq!(occupancy.share(), 0.5);
    /// ```
    pub fn of(
        multiprocessor: &Multiprocessor,
        block: u32,
        registers: u32,
        shared_bytes: u32,
    ) -> Self {
        let warps = block.div_ceil(Multiprocessor::WARP).max(1);
        let limits = [
            (multiprocessor.warps() / warps, Limiter::Threads),
            (
                by_registers(multiprocessor, warps, registers),
                Limiter::Registers,
            ),
            (
                by_shared(multiprocessor, shared_bytes),
                Limiter::SharedMemory,
            ),
            (multiprocessor.blocks, Limiter::Blocks),
        ];
        let (blocks, limiter) = limits
            .into_iter()
            .min_by_key(|(blocks, _)| *blocks)
            .expect("there are four");
        Self {
            block,
            blocks,
            warps: blocks * warps,
            max_warps: multiprocessor.warps(),
            limiter,
        }
    }

    /// The share of a multiprocessor's warps, from 0 to 1.
    pub fn share(&self) -> f64 {
        f64::from(self.warps) / f64::from(self.max_warps)
    }
}

fn by_registers(multiprocessor: &Multiprocessor, warps: u32, registers: u32) -> u32 {
    let of_a_warp = (registers * Multiprocessor::WARP).next_multiple_of(REGISTER_UNIT);
    match (multiprocessor.registers / PARTS).checked_div(of_a_warp) {
        Some(of_a_part) => of_a_part * PARTS / warps,
        None => u32::MAX,
    }
}

fn by_shared(multiprocessor: &Multiprocessor, bytes: u32) -> u32 {
    let with_reserved = bytes.saturating_add(multiprocessor.reserved_shared_bytes);
    let of_a_block = with_reserved
        .checked_next_multiple_of(multiprocessor.shared_unit)
        .unwrap_or(u32::MAX);
    multiprocessor
        .shared_bytes
        .checked_div(of_a_block)
        .unwrap_or(u32::MAX)
}

impl fmt::Display for Occupancy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            block,
            blocks,
            warps,
            max_warps,
            limiter,
        } = self;
        let share = self.share() * 100.0;
        write!(
            f,
            "{share:.0} %: {blocks} blocks of {block} threads are {warps} of {max_warps} warps; limited by {limiter}"
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn on_h100(block: u32, registers: u32, shared_bytes: u32) -> (u32, Limiter) {
        let occupancy = Occupancy::of(
            &Multiprocessor::of(90).unwrap(),
            block,
            registers,
            shared_bytes,
        );
        (occupancy.blocks, occupancy.limiter)
    }

    #[test]
    fn what_is_scarce_limits() {
        assert_eq!(on_h100(256, 32, 0), (8, Limiter::Threads));
        assert_eq!(on_h100(32, 32, 0), (32, Limiter::Blocks));
        assert_eq!(on_h100(256, 33, 0), (6, Limiter::Registers));
        // A block has 1 KiB more than it asks for.
        assert_eq!(on_h100(128, 16, 56 << 10), (4, Limiter::SharedMemory));
        assert_eq!(on_h100(128, 16, (56 << 10) + 1), (3, Limiter::SharedMemory));
        assert_eq!(on_h100(1024, 255, 0), (0, Limiter::Registers));
        // A quarter's registers hold 7 warps of 72: 28 in all, which are 3 blocks of 9 warps.
        assert_eq!(on_h100(288, 72, 0), (3, Limiter::Registers));
    }

    #[test]
    fn part_of_a_warp_is_a_warp() {
        let occupancy = Occupancy::of(&Multiprocessor::of(75).unwrap(), 33, 16, 0);
        assert_eq!(
            (occupancy.blocks, occupancy.warps, occupancy.max_warps),
            (16, 32, 32)
        );
        assert_eq!(
            occupancy.to_string(),
            "100 %: 16 blocks of 33 threads are 32 of 32 warps; limited by threads"
        );
    }
}
