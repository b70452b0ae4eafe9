//! Which device `OXWARP_DEVICE` asks for.

use crate::error::{Error, Result};

/// A value of `OXWARP_DEVICE`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Setting {
    /// Unset or empty: the first CUDA device, else the simulator.
    Automatic,
    /// `cpu`: the simulator.
    Cpu,
    /// `cuda` (the first) or `cuda:N`.
    Cuda(u32),
}

impl Setting {
    /// Reads the variable's value, `None` when it is unset.
    pub fn parse(value: Option<&str>) -> Result<Self> {
        let Some(given) = value else {
            return Ok(Self::Automatic);
        };
        match given.trim() {
            "" => Ok(Self::Automatic),
            "cpu" => Ok(Self::Cpu),
            "cuda" => Ok(Self::Cuda(0)),
            other => other
                .strip_prefix("cuda:")
                .filter(|number| number.bytes().all(|byte| byte.is_ascii_digit()))
                .and_then(|number| number.parse().ok())
                .map(Self::Cuda)
                .ok_or_else(|| Error::DeviceSetting {
                    given: given.to_owned(),
                }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_of_the_variable() {
        let parse = |value| Setting::parse(Some(value)).map_err(|error| error.to_string());
        assert_eq!(Setting::parse(None).unwrap(), Setting::Automatic);
        assert_eq!(parse(""), Ok(Setting::Automatic));
        assert_eq!(parse("cpu"), Ok(Setting::Cpu));
        assert_eq!(parse("cuda"), Ok(Setting::Cuda(0)));
        assert_eq!(parse(" cuda:12 "), Ok(Setting::Cuda(12)));
        for garbage in [
            "gpu",
            "cuda:",
            "cuda:-1",
            "cuda:+1",
            "cuda:99999999999",
            "CPU",
            "cuda 1",
        ] {
            assert!(
                parse(garbage)
                    .unwrap_err()
                    .contains(&format!("`{garbage}`"))
            );
        }
    }
}
