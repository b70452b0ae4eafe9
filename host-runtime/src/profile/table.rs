//! The table of a profile: a line for each kernel and kind of copy, what took longest first.

use std::fmt;
use std::time::Duration;

use super::{Profile, Record, WorkKind};

/// Work of one name.
struct Line<'a> {
    first: &'a Record,
    calls: usize,
    time: Duration,
    bytes: u64,
}

impl Profile {
    fn lines(&self) -> Vec<Line<'_>> {
        let mut lines: Vec<Line<'_>> = Vec::new();
        for record in &self.records {
            let of_same = |line: &&mut Line<'_>| {
                (line.first.name, line.first.kind) == (record.name, record.kind)
            };
            match lines.iter_mut().find(of_same) {
                Some(line) => {
                    line.calls += 1;
                    line.time += record.time;
                    line.bytes += record.bytes;
                }
                None => lines.push(Line {
                    first: record,
                    calls: 1,
                    time: record.time,
                    bytes: record.bytes,
                }),
            }
        }
        lines.sort_by_key(|line| std::cmp::Reverse(line.time));
        lines
    }
}

impl fmt::Display for Profile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let busy: Duration = self.records.iter().map(|record| record.time).sum();
        writeln!(
            f,
            "{}: {} pieces of work, {} on the device, {} in all",
            self.device,
            self.records.len(),
            milliseconds(busy),
            milliseconds(self.elapsed)
        )?;
        writeln!(
            f,
            "{:>12} {:>6} {:>7} {:>12} {:>12} {:>10}  what",
            "time", "share", "calls", "mean", "bytes", "GB/s"
        )?;
        for line in self.lines() {
            let share = line.time.as_secs_f64() / busy.as_secs_f64().max(1e-9) * 100.0;
            let rate = line.bytes as f64 / line.time.as_secs_f64().max(1e-9) / 1e9;
            writeln!(
                f,
                "{:>12} {share:>5.1}% {:>7} {:>12} {:>12} {rate:>10.1}  {}{}",
                milliseconds(line.time),
                line.calls,
                milliseconds(line.time / line.calls as u32),
                line.bytes,
                line.first.name,
                shape(line.first)
            )?;
        }
        Ok(())
    }
}

/// The shape of the first launch of a kernel.
fn shape(record: &Record) -> String {
    match (record.kind, record.shape) {
        (WorkKind::Launch, Some([grid, block])) => format!(" {grid} x {block}"),
        _ => String::new(),
    }
}

fn milliseconds(time: Duration) -> String {
    format!("{:.4} ms", time.as_secs_f64() * 1e3)
}
