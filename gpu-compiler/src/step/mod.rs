//! The optimisations of this compiler's own, each with a name by which it can be skipped.
//!
//! In: the names in `skip` of `[package.metadata.oxwarp]` or in `OXWARP_SKIP`. Out: the [`Steps`] of a
//! [`Request`](crate::request::Request), which the code asks where a step would begin. With any of them skipped, kernels
//! compute the same and panic at the same places.
//!
//! A new optimisation gets a line in the list here; the tests then ask for its case in `switches` and its row in
//! `docs/optimisations.md`.
//!
//! So only what right code does not need has a name here. No switch have:
//!
//! - what gives the code its meaning on a device: `retarget`, `intrinsics`, `own_atomics`, `host_features`, `requirements`,
//!   the orderings of `atomics` and all that is linked;
//! - faults of LLVM and of the driver that are avoided: `flat_constants`, `sign_extension`, `negation`;
//! - what a kernel chooses for itself, by `fma`, `fast_math`, `unsafe(unchecked)`, `block(..)` and `unroll`;
//! - that kernels share panics (`shared_code`) and do not inline them (`retarget`), by which steps know a check;
//! - LLVM's own passes, with the options and limits (`inlining`) that they are given.

#[cfg(test)]
mod switches;

use std::collections::BTreeSet;
use std::str::FromStr;

/// Stands for all steps.
const ALL: &str = "all";

macro_rules! steps {
    ($($step:ident $name:literal $about:literal)*) => {
        /// An optimisation that can be skipped, in the order in which a kernel goes through them.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
        pub enum Step {
            $(#[doc = $about] $step,)*
        }

        impl Step {
            /// All of them.
            pub const ALL: &[Step] = &[$(Step::$step),*];

            /// The name by which it is skipped.
            pub fn name(self) -> &'static str {
                match self { $(Step::$step => $name,)* }
            }

            /// What it does, in a line.
            pub fn about(self) -> &'static str {
                match self { $(Step::$step => $about,)* }
            }
        }
    };
}

steps! {
    SmallFormatting "small_formatting" "code that formats text is compiled for size, once for all kernels"
    LaunchDimensions "launch_dimensions" "a kernel of one-dimensional launches does not read the other dimensions"
    BlockShape "block_shape" "the extents that a kernel says of its blocks are constants, and its indices below them"
    NarrowCounters "narrow_counters" "a counter that only shrinks from a 32-bit number has 32 bits"
    LoopVersions "loop_versions" "loops are copied, and one copy is without the bounds checks that a condition before it makes"
    WideIndices "wide_indices" "32-bit indices in the copy of a loop where they do not wrap are computed in 64 bits"
    Strides "strides" "addresses that go on by the same number of bytes at each trip of a loop are added to"
    ReadOnlyLoads "read_only_loads" "loads through `&[T]` parameters use the read-only data cache"
    ShortCopies "short_copies" "copies of a few bytes are loads and stores of the widest registers"
    ShortComparisons "short_comparisons" "64-bit numbers that fit into 32 bits are compared in 32 bits"
    MergedChecks "merged_checks" "checks that follow each other are one branch"
    NestedLoads "nested_loads" "a load under two nested conditions is made under both at once, before the outer one's block"
    SpecialCases "special_cases" "the special cases of divisions and square roots of `f32` in a loop are asked for once a block"
    MatrixRows "matrix_rows" "elements of matrices are addressed in fewer additions, those of neighbouring rows by the bytes of a row"
    LoopEnds "loop_ends" "each copy of a loop is followed by its own copy of what comes after it"
    PanicExits "panic_exits" "a frequent panic is a call of a function in few registers, with the number of its place"
    PanicRejoins "panic_rejoins" "what is computed before a barrier of a loop is not moved behind a check that follows it"
    PlainIndices "plain_indices" "a loop whose index is compared and indexes adds to that alone, not to a pointer for each array"
    AtomicReductions "atomic_reductions" "an atomic operation whose result is not read is `red`"
    RolledFormatting "rolled_formatting" "loops of code that formats text are not unrolled by the driver's compiler"
    WideProducts "wide_products" "a product of an extended 32-bit number and a constant is one instruction"
    SplitLengths "split_lengths" "indices and lengths are compared one by one, not the largest with the smallest"
    FallThrough "fall_through" "a check that passes goes on with the next block of the text"
}

/// A name that no step has.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "there is no step `{given}` to skip: there are {}, or `{ALL}` for all of them",
    known()
)]
pub struct UnknownStep {
    given: String,
}

fn known() -> String {
    let names = Step::ALL.iter().map(|step| format!("`{}`", step.name()));
    names.collect::<Vec<_>>().join(", ")
}

impl FromStr for Step {
    type Err = UnknownStep;

    fn from_str(name: &str) -> Result<Self, UnknownStep> {
        let found = Step::ALL.iter().find(|step| step.name() == name);
        found
            .copied()
            .ok_or_else(|| UnknownStep { given: name.into() })
    }
}

/// The steps that a compilation takes: all, but for those that are skipped.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Steps {
    skipped: BTreeSet<Step>,
}

impl Steps {
    /// All but those of these names; `all` is the name of all.
    ///
    /// # Errors
    ///
    /// If no step has such a name.
    pub fn without<'a>(names: impl IntoIterator<Item = &'a str>) -> Result<Self, UnknownStep> {
        let mut steps = Steps::default();
        for name in names {
            match name {
                ALL => steps.skipped.extend(Step::ALL),
                name => steps.skipped.extend([name.parse::<Step>()?]),
            }
        }
        Ok(steps)
    }

    /// Whether a step is taken.
    pub fn has(&self, step: Step) -> bool {
        !self.skipped.contains(&step)
    }

    /// The names of those that are skipped, in the steps' order: what [`Steps::without`] takes.
    pub fn skipped(&self) -> impl Iterator<Item = &'static str> {
        self.skipped.iter().map(|step| step.name())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_but_those_that_are_named() {
        let steps = Steps::without(["lengths_are_no_step"]);
        let error = steps.unwrap_err().to_string();
        for part in [
            "`lengths_are_no_step`",
            "`loop_versions`",
            "`fall_through`",
            "`all`",
        ] {
            assert!(error.contains(part), "{error}");
        }
        let steps = Steps::without(["strides", "block_shape", "strides"]).unwrap();
        for &step in Step::ALL {
            assert_eq!(
                steps.has(step),
                ![Step::Strides, Step::BlockShape].contains(&step)
            );
        }
        assert!(steps.skipped().eq(["block_shape", "strides"]));
        assert_eq!(Steps::without([]), Ok(Steps::default()));
        let none = Steps::without(["strides", "all"]).unwrap();
        assert!(!Step::ALL.iter().any(|&step| none.has(step)));
        assert_eq!(Steps::without(none.skipped()), Ok(none));
    }

    /// Its table has a row for each, in order, with the name and what it does.
    #[test]
    fn the_document_names_each() {
        let document = include_str!("../../../docs/optimisations.md");
        let rows: Vec<&str> = document
            .lines()
            .filter(|line| line.starts_with("| `"))
            .collect();
        assert_eq!(rows.len(), Step::ALL.len());
        for (row, step) in rows.iter().zip(Step::ALL) {
            let start = format!("| `{}` | {} |", step.name(), step.about());
            assert!(row.starts_with(&start), "{row}\nis not\n{start}");
        }
    }
}
