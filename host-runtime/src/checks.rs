//! Which checks the CPU simulator makes, and `OXWARP_CHECK`, which chooses them.

use gpu_std::kernel::{KernelRecord, TAKES_ATOMICS};

use crate::error::{Error, Result};

/// The environment variable.
const VARIABLE: &str = "OXWARP_CHECK";

/// What the CPU simulator checks while it runs kernels. A mistake that a check finds is [`Error::Check`] at the next wait.
///
/// [`Gpu::cpu`](crate::Gpu::cpu) and [`Gpu::new`](crate::Gpu::new) take them from the environment variable `OXWARP_CHECK`:
/// `off`, `on`, `all`, or names with commas between, such as `race,schedule`. If it is not set they are [`on`](Self::on) in
/// a debug build, as Rust's own checks of overflow are, and so in `cargo test`, and [`off`](Self::off) in a release build.
///
/// | name | finds |
/// | --- | --- |
/// | `race` | two threads that access one element, at least one of them writing it, and nothing orders them |
/// | `init` | a read of memory that nothing wrote |
/// | `bounds` | an access outside of an array of the device, or in one that was freed, through raw pointers too |
/// | `schedule` | results that depend on the order in which threads and blocks run; with a seed, `schedule:7` |
///
/// Barriers that not all threads reach, operations of a warp whose lanes are not all there, deadlocks and panics are
/// always found.
///
/// ```
/// use host_runtime::{Checks, Gpu};
///
/// let gpu = Gpu::cpu_with(Checks::on().schedule(7));
/// assert_eq!(Checks::parse("race,init,bounds,schedule:7")?, Checks::on().schedule(7));
/// assert!(Checks::parse("races").is_err());
/// # Ok::<(), host_runtime::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Checks {
    pub(crate) race: bool,
    pub(crate) init: bool,
    pub(crate) bounds: bool,
    pub(crate) schedule: Option<u64>,
}

impl Checks {
    /// No checks.
    pub const fn off() -> Self {
        Self {
            race: false,
            init: false,
            bounds: false,
            schedule: None,
        }
    }

    /// All checks but `schedule`, which runs each kernel several times.
    pub const fn on() -> Self {
        Self {
            race: true,
            init: true,
            bounds: true,
            schedule: None,
        }
    }

    /// All checks.
    pub const fn all() -> Self {
        Self::on().schedule(0)
    }

    /// These, and `schedule` with a seed: another seed means other orders.
    ///
    /// A kernel whose results may differ from run to run by design (places handed out by an atomic counter, sums of floats
    /// by atomics) is found too.
    pub const fn schedule(self, seed: u64) -> Self {
        Self {
            schedule: Some(seed),
            ..self
        }
    }

    /// Reads a value as that of `OXWARP_CHECK`.
    ///
    /// # Errors
    ///
    /// If it is no such value: the message lists them.
    pub fn parse(value: &str) -> Result<Self> {
        let wrong = || Error::CheckSetting {
            given: value.to_owned(),
        };
        match value.trim() {
            "off" => return Ok(Self::off()),
            "on" => return Ok(Self::on()),
            "all" => return Ok(Self::all()),
            _ => {}
        }
        let mut checks = Self::off();
        for name in value.split(',').map(str::trim) {
            match name {
                "race" => checks.race = true,
                "init" => checks.init = true,
                "bounds" => checks.bounds = true,
                "schedule" => checks.schedule = Some(0),
                _ => {
                    let seed = name.strip_prefix("schedule:").ok_or_else(wrong)?;
                    checks.schedule = Some(seed.parse().map_err(|_| wrong())?);
                }
            }
        }
        Ok(checks)
    }

    /// Whether the environment chooses some.
    pub(crate) fn are_chosen() -> bool {
        chosen().is_some()
    }

    /// Those of the environment.
    pub(crate) fn from_environment() -> Result<Self> {
        match chosen() {
            Some(value) => Self::parse(&value),
            _ if cfg!(debug_assertions) => Ok(Self::on()),
            _ => Ok(Self::off()),
        }
    }

    /// The simulator's part of them, for a kernel in the usual order of threads.
    pub(crate) fn of_launch(self, record: &KernelRecord) -> gpu_sim::Checks {
        gpu_sim::Checks {
            race: self.race,
            unseen_atomics: record.flags & TAKES_ATOMICS != 0,
            init: self.init,
            order: None,
        }
    }
}

/// The variable's value.
fn chosen() -> Option<String> {
    let value = std::env::var_os(VARIABLE)?.to_string_lossy().into_owned();
    (!value.trim().is_empty()).then_some(value)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_of_the_variable() {
        let parse = |value| Checks::parse(value).map_err(|error| error.to_string());
        assert_eq!(parse("off"), Ok(Checks::off()));
        assert_eq!(parse(" on "), Ok(Checks::on()));
        assert_eq!(parse("all"), Ok(Checks::on().schedule(0)));
        assert_eq!(
            parse("schedule:12 , race"),
            Ok(Checks {
                race: true,
                ..Checks::off().schedule(12)
            })
        );
        for wrong in ["races", "race,", "schedule:x", "1", "off,race"] {
            let message = parse(wrong).unwrap_err();
            assert!(message.contains(&format!("`{wrong}`")), "{message}");
            for name in ["off", "on", "all", "race", "init", "bounds", "schedule"] {
                assert!(message.contains(&format!("`{name}`")), "{message}");
            }
        }
    }
}
