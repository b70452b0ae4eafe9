//! The results as a table for people (on the terminal and in Markdown) and as JSON.

use std::fmt::Write;

use ptx_report::Position;
use serde_json::{Value, json};

use crate::cases::Work;
use crate::ceiling::Ceilings;
use crate::code;
use crate::measure::{Row, amount};

/// All results of a run.
pub struct Report {
    pub device: String,
    /// The target of the Rust side's PTX.
    pub target: u32,
    /// NVRTC's version.
    pub nvrtc: (u32, u32),
    pub ceilings: Ceilings,
    pub rows: Vec<Row>,
}

const HEAD: &str = "| case | index | Rust (ms) | CUDA C (ms) | ratio | unchecked | rate | of the ceiling | registers Rust / C | local bytes | shared bytes | checks in loops |\n\
                    | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |\n";

impl Report {
    /// The geometric means of the ratios, with and without checks.
    pub fn means(&self) -> (f64, f64) {
        let mean = |ratio: fn(&Row) -> f64| {
            let logarithms: f64 = self.rows.iter().map(|row| ratio(row).ln()).sum();
            (logarithms / self.rows.len() as f64).exp()
        };
        (mean(|row| row.ratio), mean(|row| row.unchecked_ratio))
    }

    /// Both means as a sentence.
    pub fn summary(&self) -> String {
        let (checked, unchecked) = self.means();
        format!(
            "Geometric mean of the ratios: {checked:.3}; with `unsafe(unchecked)`: {unchecked:.3}."
        )
    }

    /// The table with what was measured on, as Markdown.
    pub fn markdown(&self) -> String {
        let mut text = self.caption() + "\n\n" + HEAD;
        for row in &self.rows {
            text += &line(row);
        }
        let _ = writeln!(text, "\n{}", self.summary());
        text
    }

    /// What was measured on.
    pub fn caption(&self) -> String {
        format!(
            "{}: safe Rust with bounds checks (PTX for sm_{}) against CUDA C (NVRTC {}.{}). Below 1 the Rust kernel is faster; `unchecked` is the ratio with `unsafe(unchecked)`. \
             Ceilings: {:.2} TB/s (the driver's copy), {:.1} TFLOP/s (a loop of FMAs), \
             {:.1} TFLOP/s (a loop of bf16 mma.sync).",
            self.device,
            self.target,
            self.nvrtc.0,
            self.nvrtc.1,
            self.ceilings.bytes / 1e12,
            self.ceilings.flops / 1e12,
            self.ceilings.matrix_flops / 1e12
        )
    }

    /// Everything, for programs. Times are in seconds, rates in `rate_unit`.
    pub fn json(&self) -> Value {
        let rows: Vec<Value> = self.rows.iter().map(row_json).collect();
        json!({
            "device": self.device,
            "target": self.target,
            "nvrtc": format!("{}.{}", self.nvrtc.0, self.nvrtc.1),
            "ceilings": {
                "bytes_per_s": self.ceilings.bytes,
                "flops_per_s": self.ceilings.flops,
                "matrix_flops_per_s": self.ceilings.matrix_flops,
            },
            "geometric_mean": self.means().0,
            "geometric_mean_unchecked": self.means().1,
            "cases": rows,
        })
    }
}

fn row_json(row: &Row) -> Value {
    let side = |seconds: f64, resources: crate::driver::Resources| {
        json!({
            "seconds": seconds,
            "rate": amount(row.work) / seconds,
            "registers": resources.registers,
            "local_bytes": resources.local,
            "shared_bytes": resources.shared,
        })
    };
    json!({
        "name": row.entry.name,
        "index_bits": row.entry.index_bits,
        "rate_unit": match row.work {
            Work::Bytes(_) => "B/s",
            Work::Flops(_) | Work::MatrixFlops(_) => "FLOP/s",
            Work::Results(_) => "1/s",
        },
        "rust": side(row.rust, row.rust_resources),
        "c": side(row.c, row.c_resources),
        "ratio": row.ratio,
        "unchecked_seconds": row.unchecked,
        "unchecked_ratio": row.unchecked_ratio,
        "share_of_ceiling": row.share,
        "instructions": row.code.instructions,
        "checks_in_loops": code::checks(&row.code, Position::Loop),
        "checks_in_slow_copies": code::checks(&row.code, Position::SlowCopy),
    })
}

/// A factor and the unit of a rate that is easy to read.
fn unit(work: Work) -> (f64, &'static str) {
    match work {
        Work::Bytes(_) => (1e-9, "GB/s"),
        Work::Flops(_) | Work::MatrixFlops(_) => (1e-12, "TFLOP/s"),
        Work::Results(_) => (1e-9, "G/s"),
    }
}

/// A row of the table.
pub fn line(row: &Row) -> String {
    let (factor, unit) = unit(row.work);
    let share = row
        .share
        .map_or(String::new(), |share| format!("{:.1} %", 100.0 * share));
    let (rust, c) = (row.rust_resources, row.c_resources);
    format!(
        "| {} | {} | {:.4} | {:.4} | {:.3} | {:.3} | {:.1} {unit} | {share} | {} / {} | {} / {} | {} / {} | {} |\n",
        row.entry.name,
        row.entry.index_bits,
        1e3 * row.rust,
        1e3 * row.c,
        row.ratio,
        row.unchecked_ratio,
        factor * amount(row.work) / row.rust,
        rust.registers,
        c.registers,
        rust.local,
        c.local,
        rust.shared,
        c.shared,
        code::checks(&row.code, Position::Loop),
    )
}

/// The columns' names.
pub fn head() -> &'static str {
    HEAD
}
