//! What the lanes of a warp get from an operation that they do together, as the PTX ISA defines it.
//!
//! In goes what each lane puts in; out comes each lane's answer, or why there is none. Nothing here knows of threads
//! or of waiting.

use std::mem::MaybeUninit;

use crate::matrix;
use crate::wait::{Reduction, Request, Shuffle, Vote};

/// Lanes of a warp.
pub(crate) const LANES: u32 = 32;

/// A lane that takes part, and what it puts in.
#[derive(Clone, Copy)]
pub(crate) struct Part {
    pub(crate) lane: u32,
    pub(crate) request: Request,
}

/// A lane reads the value of one that does not take part.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct AbsentLane {
    pub(crate) reader: u32,
    pub(crate) source: u32,
}

/// The answer for `part`, one of `parts`, which all have the same operation.
pub(crate) fn answer(parts: &[Part], part: &Part) -> Result<MaybeUninit<u32>, AbsentLane> {
    Ok(MaybeUninit::new(match part.request {
        Request::Sync => 0,
        Request::Shuffle {
            mode,
            operand,
            clamp,
            ..
        } => return shuffled(parts, part.lane, source(mode, part.lane, operand, clamp)),
        Request::Vote { vote, .. } => voted(parts, vote),
        Request::Match { value, all, .. } => matched(parts, value, all),
        Request::Reduce { reduction, .. } => reduced(parts, reduction),
        Request::Matrix(operation) => {
            matrix::compute(parts, part.lane, operation);
            0
        }
    }))
}

fn shuffled(parts: &[Part], reader: u32, source: u32) -> Result<MaybeUninit<u32>, AbsentLane> {
    let part = parts.iter().find(|part| part.lane == source);
    match part.map(|part| part.request) {
        Some(Request::Shuffle { value, .. }) => Ok(value),
        _ => Err(AbsentLane { reader, source }),
    }
}

/// The lane that `lane` reads. PTX ISA, `shfl.sync`, with its names.
fn source(mode: Shuffle, lane: u32, operand: u32, clamp: u32) -> u32 {
    let (b, c, segment) = (operand & 31, clamp & 31, (clamp >> 8) & 31);
    let most = (lane & segment) | (c & !segment & 31);
    let (wanted, in_range) = match mode {
        Shuffle::Up => (lane.wrapping_sub(b), lane as i32 - b as i32 >= most as i32),
        Shuffle::Down => (lane + b, lane + b <= most),
        Shuffle::Xor => (lane ^ b, lane ^ b <= most),
        Shuffle::Index => {
            let wanted = (lane & segment) | (b & !segment & 31);
            (wanted, wanted <= most)
        }
    };
    if in_range { wanted } else { lane }
}

fn voted(parts: &[Part], vote: Vote) -> u32 {
    let (mut ballot, mut lanes) = (0, 0);
    for part in parts {
        lanes |= 1 << part.lane;
        if let Request::Vote {
            predicate: true, ..
        } = part.request
        {
            ballot |= 1 << part.lane;
        }
    }
    match vote {
        Vote::All => u32::from(ballot == lanes),
        Vote::Any => u32::from(ballot != 0),
        Vote::Uniform => u32::from(ballot == lanes || ballot == 0),
        Vote::Ballot => ballot,
    }
}

/// The lanes with the same value; with `all`, none unless these are all.
fn matched(parts: &[Part], wanted: u64, all: bool) -> u32 {
    let same = parts
        .iter()
        .filter(|part| matches!(part.request, Request::Match { value, .. } if value == wanted));
    let (lanes, count) = same.fold((0, 0), |(lanes, count), part| {
        (lanes | 1 << part.lane, count + 1)
    });
    if all && count < parts.len() { 0 } else { lanes }
}

fn reduced(parts: &[Part], reduction: Reduction) -> u32 {
    let signed = |choose: fn(i32, i32) -> i32, a: u32, b: u32| choose(a as i32, b as i32) as u32;
    let values = parts.iter().filter_map(|part| match part.request {
        Request::Reduce { value, .. } => Some(value),
        _ => None,
    });
    let combine = |a: u32, b: u32| match reduction {
        Reduction::Add => a.wrapping_add(b),
        Reduction::Min => a.min(b),
        Reduction::Max => a.max(b),
        Reduction::MinSigned => signed(i32::min, a, b),
        Reduction::MaxSigned => signed(i32::max, a, b),
        Reduction::And => a & b,
        Reduction::Or => a | b,
        Reduction::Xor => a ^ b,
    };
    values.reduce(combine).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// PTX's `c` for segments of `width` lanes, as CUDA C's headers compute it.
    fn clamp(mode: Shuffle, width: u32) -> u32 {
        ((LANES - width) << 8) | if mode == Shuffle::Up { 0 } else { 31 }
    }

    fn sources(mode: Shuffle, operand: u32, width: u32) -> Vec<u32> {
        (0..LANES)
            .map(|lane| source(mode, lane, operand, clamp(mode, width)))
            .collect()
    }

    #[test]
    fn sources_in_a_whole_warp() {
        let lanes = |f: fn(u32) -> u32| (0..LANES).map(f).collect::<Vec<_>>();
        assert_eq!(sources(Shuffle::Index, 4, 32), lanes(|_| 4));
        assert_eq!(sources(Shuffle::Index, 36, 32), lanes(|_| 4));
        assert_eq!(
            sources(Shuffle::Up, 4, 32),
            lanes(|i| if i < 4 { i } else { i - 4 })
        );
        assert_eq!(
            sources(Shuffle::Down, 4, 32),
            lanes(|i| if i > 27 { i } else { i + 4 })
        );
        assert_eq!(sources(Shuffle::Xor, 16, 32), lanes(|i| i ^ 16));
    }

    #[test]
    fn sources_stay_in_their_segment() {
        for width in [1, 2, 4, 8, 16] {
            for operand in 0..width {
                for (lane, source) in (0..).zip(sources(Shuffle::Index, operand, width)) {
                    assert_eq!(source, lane / width * width + operand);
                }
                for (lane, source) in (0..).zip(sources(Shuffle::Xor, operand, width)) {
                    assert_eq!(source, lane ^ operand);
                }
                for (lane, source) in (0..).zip(sources(Shuffle::Up, operand, width)) {
                    let own = lane % width < operand;
                    assert_eq!(source, if own { lane } else { lane - operand });
                }
                for (lane, source) in (0..).zip(sources(Shuffle::Down, operand, width)) {
                    let own = lane % width + operand >= width;
                    assert_eq!(source, if own { lane } else { lane + operand });
                }
            }
        }
    }

    fn parts(requests: &[(u32, Request)]) -> Vec<Part> {
        requests
            .iter()
            .map(|&(lane, request)| Part { lane, request })
            .collect()
    }

    fn answers(parts: &[Part]) -> Vec<u32> {
        let of = |part| {
            let answer = answer(parts, part).expect("no lane is absent");
            // SAFETY: the requests of these tests hold no uninitialised values.
            unsafe { answer.assume_init() }
        };
        parts.iter().map(of).collect()
    }

    #[test]
    fn votes_count_the_lanes_that_take_part() {
        let cast = |vote, predicates: [bool; 3]| {
            let requests = [3, 5, 31].into_iter().zip(predicates);
            let requests: Vec<_> = requests
                .map(|(lane, predicate)| (lane, Request::Vote { vote, predicate }))
                .collect();
            answers(&parts(&requests))[0]
        };
        assert_eq!(cast(Vote::Ballot, [true, false, true]), 1 << 31 | 1 << 3);
        assert_eq!(cast(Vote::All, [true; 3]), 1);
        assert_eq!(cast(Vote::All, [true, true, false]), 0);
        assert_eq!(cast(Vote::Any, [false; 3]), 0);
        assert_eq!(cast(Vote::Any, [false, true, false]), 1);
        assert_eq!(cast(Vote::Uniform, [false; 3]), 1);
        assert_eq!(cast(Vote::Uniform, [true, false, true]), 0);
    }

    #[test]
    fn matches_are_the_lanes_of_one_value() {
        let of = |all| {
            let request = |value| Request::Match {
                value,
                is_wide: true,
                all,
            };
            answers(&parts(&[
                (0, request(7)),
                (1, request(1 << 40)),
                (4, request(7)),
            ]))
        };
        assert_eq!(of(false), [0b10001, 0b00010, 0b10001]);
        assert_eq!(of(true), [0, 0, 0]);
    }

    #[test]
    fn a_shuffle_from_an_absent_lane_has_no_answer() {
        let request = Request::Shuffle {
            mode: Shuffle::Index,
            value: MaybeUninit::new(1),
            operand: 9,
            clamp: 31,
        };
        let parts = parts(&[(2, request)]);
        assert_eq!(
            answer(&parts, &parts[0]).err(),
            Some(AbsentLane {
                reader: 2,
                source: 9
            })
        );
    }
}
