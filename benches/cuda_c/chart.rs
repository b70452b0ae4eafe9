//! The ratios as a bar chart in SVG, for README.

use std::fmt::Write;

use crate::report::Report;

const ROW: f64 = 20.0;
const NAMES: f64 = 150.0;
/// Pixels of a ratio of 1.
const ONE: f64 = 360.0;
/// The greatest ratio that is drawn to scale.
const MOST: f64 = 1.5;
const TOP: f64 = 44.0;

/// One bar a case: how long the Rust kernel takes where CUDA C takes 1.
pub fn svg(report: &Report) -> String {
    let (width, height) = (
        NAMES + ONE * MOST + 70.0,
        TOP + ROW * report.rows.len() as f64 + 34.0,
    );
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" width=\"{width}\" height=\"{height}\" \
         font-family=\"sans-serif\" font-size=\"12\">\n\
         <rect width=\"{width}\" height=\"{height}\" fill=\"#fff\"/>\n\
         <text x=\"8\" y=\"18\" font-size=\"14\" font-weight=\"bold\">Time of safe, checked Rust over CUDA C, {}</text>\n\
         <text x=\"8\" y=\"34\" fill=\"#555\">shorter is better; geometric mean {:.3}</text>\n",
        escaped(&report.device),
        report.means().0
    );
    for (place, row) in report.rows.iter().enumerate() {
        let y = TOP + ROW * place as f64;
        let length = ONE * row.ratio.min(MOST);
        let colour = if row.ratio <= 1.05 {
            "#2f7d4f"
        } else {
            "#c2571a"
        };
        let _ = writeln!(
            svg,
            "<text x=\"{}\" y=\"{}\" text-anchor=\"end\">{}</text>\
             <rect x=\"{NAMES}\" y=\"{}\" width=\"{length:.1}\" height=\"{}\" fill=\"{colour}\"/>\
             <text x=\"{:.1}\" y=\"{}\" text-anchor=\"end\" fill=\"#fff\">{:.3}</text>",
            NAMES - 8.0,
            y + 14.0,
            escaped(row.entry.name),
            y + 3.0,
            ROW - 6.0,
            NAMES + length - 6.0,
            y + 14.0,
            row.ratio
        );
    }
    let (x, bottom) = (NAMES + ONE, TOP + ROW * report.rows.len() as f64);
    let _ = writeln!(
        svg,
        "<line x1=\"{x}\" y1=\"{TOP}\" x2=\"{x}\" y2=\"{bottom}\" stroke=\"#000\" stroke-dasharray=\"3 3\"/>\
         <text x=\"{x}\" y=\"{}\" text-anchor=\"middle\">CUDA C</text>\n</svg>",
        bottom + 16.0
    );
    svg
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;")
}
