//! The trace of a profile in Chrome's format, which `chrome://tracing` and Perfetto open: a JSON text with an event for each
//! piece of work, a row for each stream.

use std::fmt::Write;
use std::time::Duration;

use super::{Profile, Record, WorkKind};

impl Profile {
    /// The profile in Chrome's trace format, to be written to a file and opened in Perfetto or `chrome://tracing`. Times
    /// are in microseconds.
    ///
    /// ```
    /// let gpu = host_runtime::Gpu::cpu();
    /// let trace = gpu.profile(|| gpu.zeros::<u8>(100).map(drop))?.to_chrome_trace();
    /// assert!(trace.contains("\"name\":\"zeros\""));
    /// # Ok::<(), host_runtime::Error>(())
    /// ```
    pub fn to_chrome_trace(&self) -> String {
        let mut text = format!(
            "{{\"traceEvents\":[{{\"ph\":\"M\",\"name\":\"process_name\",\"pid\":0,\"args\":{{\"name\":{}}}}}",
            quoted(&self.device)
        );
        for record in &self.records {
            text.push(',');
            text.push_str(&event(record));
        }
        text.push_str("]}");
        text
    }
}

fn event(record: &Record) -> String {
    let microseconds = |time: Duration| time.as_nanos() as f64 / 1e3;
    let mut text = format!(
        "{{\"ph\":\"X\",\"name\":{},\"cat\":\"{}\",\"pid\":0,\"tid\":{},\"ts\":{:.3},\"dur\":{:.3},\"args\":{{\"bytes\":{}",
        quoted(record.name),
        category(record.kind),
        record.stream,
        microseconds(record.start),
        microseconds(record.time),
        record.bytes,
    );
    // Writing to a string does not fail.
    let _ = write!(text, ",\"GB/s\":{:.3}", record.gigabytes_per_second());
    if let Some([grid, block]) = record.shape {
        let _ = write!(text, ",\"grid\":\"{grid}\",\"block\":\"{block}\"");
    }
    text.push_str("}}");
    text
}

fn category(kind: WorkKind) -> &'static str {
    match kind {
        WorkKind::Launch => "kernel",
        WorkKind::Graph => "graph",
        WorkKind::ToDevice => "to device",
        WorkKind::ToHost => "to host",
        WorkKind::OnDevice => "copy",
        WorkKind::Fill => "fill",
    }
}

/// A JSON string.
fn quoted(text: &str) -> String {
    let mut quoted = String::from('"');
    for character in text.chars() {
        match character {
            '"' | '\\' => quoted.extend(['\\', character]),
            control if control < ' ' => {
                let _ = write!(quoted, "\\u{:04x}", control as u32);
            }
            other => quoted.push(other),
        }
    }
    quoted.push('"');
    quoted
}
