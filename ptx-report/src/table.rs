//! A kernel's code as a table.

use std::collections::BTreeMap;
use std::fmt;

use crate::access::{Direction, Space};
use crate::checks::{Place, Position};
use crate::code::Code;

impl Code {
    /// The distinct places of checks that stand somewhere, with what they say and how many there are.
    fn places(&self, position: Position) -> BTreeMap<&(Option<Place>, String), usize> {
        let mut places = BTreeMap::new();
        for panic in self.checks_at(position).flat_map(|check| &check.panics) {
            *places.entry(panic).or_default() += 1;
        }
        places
    }

    fn write_accesses(&self, f: &mut fmt::Formatter<'_>, direction: Direction) -> fmt::Result {
        let mut spaces: BTreeMap<Space, Vec<String>> = BTreeMap::new();
        for (access, count) in self
            .accesses
            .iter()
            .filter(|(access, _)| access.direction == direction)
        {
            spaces
                .entry(access.space)
                .or_default()
                .push(format!("{count} of {}", bytes(access.bytes.into())));
        }
        let texts: Vec<String> = spaces
            .iter()
            .map(|(space, counts)| format!("{space} {}", counts.join(", ")))
            .collect();
        let head = if direction == Direction::Load {
            "loads"
        } else {
            "stores"
        };
        writeln!(
            f,
            "  {head:<16}{}",
            if texts.is_empty() {
                "none".into()
            } else {
                texts.join("; ")
            }
        )
    }

    fn write_checks(
        &self,
        f: &mut fmt::Formatter<'_>,
        head: &str,
        position: Position,
    ) -> fmt::Result {
        let count = self.checks_at(position).count();
        writeln!(f, "  {head:<16}{count}")?;
        for ((place, what), count) in self.places(position) {
            let times = if count > 1 {
                format!(", {count} times")
            } else {
                String::new()
            };
            match place {
                Some(place) => writeln!(f, "  {:<16}{place}: {what}{times}", "")?,
                None => writeln!(f, "  {:<16}{what}{times}", "")?,
            }
        }
        Ok(())
    }
}

impl fmt::Display for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let counts = [
            ("fma", self.fma),
            ("matrix", self.matrix),
            ("barriers", self.barriers),
            ("async copies", self.async_copies),
            ("loops", self.loops),
        ];
        let counts = counts.iter().filter(|(_, count)| *count > 0);
        let counts: String = counts
            .map(|(name, count)| format!("; {name} {count}"))
            .collect();
        writeln!(f, "  {:<16}{}{counts}", "instructions", self.instructions)?;
        self.write_accesses(f, Direction::Load)?;
        self.write_accesses(f, Direction::Store)?;
        if !self.atomics.is_empty() {
            let atomics: Vec<String> = self
                .atomics
                .iter()
                .map(|(space, count)| format!("{space} {count}"))
                .collect();
            writeln!(f, "  {:<16}{}", "atomics", atomics.join("; "))?;
        }
        if !self.calls.is_empty() {
            let calls: Vec<String> = self
                .calls
                .iter()
                .map(|(name, count)| format!("{name} {count}"))
                .collect();
            writeln!(f, "  {:<16}{}", "calls", calls.join("; "))?;
        }
        self.write_checks(f, "checks in loops", Position::Loop)?;
        let (straight, slow) = (Position::Straight, Position::SlowCopy);
        let counts = [straight, slow].map(|position| self.checks_at(position).count());
        writeln!(
            f,
            "  {:<16}{} outside of loops, {} in slow copies of loops",
            "other checks", counts[0], counts[1]
        )
    }
}

/// `1 byte`, `4 bytes`.
pub(crate) fn bytes(count: u64) -> String {
    format!("{count} byte{}", if count == 1 { "" } else { "s" })
}
