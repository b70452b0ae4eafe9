//! Compute capabilities, and the oldest PTX ISA that has each.

use std::fmt;
use std::str::FromStr;

/// A compute capability that PTX is made for: `sm_75` is 75.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Target(pub u32);

/// Capabilities and the first PTX ISA version that knows them, as `major * 10 + minor` (PTX ISA, "Release Notes").
/// The oldest version is chosen so that the oldest driver can load the PTX; for sm_75, that with `.noreturn`, without
/// which a panic's call keeps registers.
const KNOWN: [(u32, u32); 11] = [
    (75, 64),
    (80, 70),
    (86, 71),
    (87, 74),
    (88, 90),
    (89, 78),
    (90, 78),
    (100, 86),
    (103, 88),
    (120, 87),
    (121, 88),
];

impl Target {
    /// What is made when nothing is chosen: it loads on every GPU from Turing on.
    pub const DEFAULT: Target = Target(75);

    /// LLVM's name of the processor.
    pub fn cpu(self) -> String {
        self.to_string()
    }

    /// The first PTX ISA version that knows it, as `major * 10 + minor`.
    pub fn isa(self) -> u32 {
        KNOWN
            .iter()
            .find(|known| known.0 == self.0)
            .map_or(KNOWN[0].1, |known| known.1)
    }
}

impl fmt::Display for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "sm_{}", self.0)
    }
}

/// A text that names no target.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{given}` is not a GPU target: give one or more of {}", known())]
pub struct UnknownTarget {
    given: String,
}

fn known() -> String {
    let names: Vec<String> = KNOWN
        .iter()
        .map(|known| Target(known.0).to_string())
        .collect();
    names.join(", ")
}

impl FromStr for Target {
    type Err = UnknownTarget;

    fn from_str(text: &str) -> Result<Self, UnknownTarget> {
        let number = text
            .strip_prefix("sm_")
            .and_then(|number| number.parse().ok());
        match number.filter(|&number| KNOWN.iter().any(|known| known.0 == number)) {
            Some(number) => Ok(Target(number)),
            None => Err(UnknownTarget { given: text.into() }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_known_targets_and_names_them_for_others() {
        assert_eq!("sm_90".parse(), Ok(Target(90)));
        assert_eq!(Target(90).isa(), 78);
        for wrong in ["sm_70", "90", "sm_90x", ""] {
            let message = wrong.parse::<Target>().unwrap_err().to_string();
            assert!(
                message.contains(&format!("`{wrong}`")) && message.contains("sm_75"),
                "{message}"
            );
        }
    }
}
