//! How much memory the machine has.

/// Bytes of host memory that are free, and in all, where the system tells.
pub(crate) fn free_and_total() -> Option<(usize, usize)> {
    let text = std::fs::read_to_string("/proc/meminfo").ok()?;
    let bytes = |key: &str| {
        let line = text.lines().find_map(|line| line.strip_prefix(key))?;
        let kibibytes: usize = line.split_whitespace().next()?.parse().ok()?;
        kibibytes.checked_mul(1024)
    };
    Some((bytes("MemAvailable:")?, bytes("MemTotal:")?))
}
