//! Lets Cargo build what is to be explained.

use std::path::PathBuf;
use std::process::{Command, Stdio};

use serde_json::Value;

use crate::Outcome;

/// Builds with these options of `cargo build`, without the optimisations `skip`; the programs that were asked for.
pub fn programs(options: &[String], skip: Option<&str>) -> Outcome<Vec<PathBuf>> {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let output = Command::new(cargo)
        .args(["build", "--message-format=json-render-diagnostics"])
        .args(options)
        .envs(skip.map(|names| ("OXWARP_SKIP", names)))
        .stderr(Stdio::inherit())
        .output()?;
    if !output.status.success() {
        return Err("the program does not build".into());
    }
    Ok(executables(&String::from_utf8_lossy(&output.stdout)))
}

/// The programs that Cargo's messages name.
fn executables(messages: &str) -> Vec<PathBuf> {
    let messages = messages
        .lines()
        .filter_map(|line| serde_json::from_str::<Value>(line).ok());
    let executables =
        messages.filter_map(|message| message["executable"].as_str().map(PathBuf::from));
    executables.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn programs_are_named_by_cargos_messages() {
        let messages = "{\"reason\":\"compiler-artifact\",\"executable\":null}\n\
                        {\"reason\":\"compiler-artifact\",\"executable\":\"/t/debug/examples/a b\"}\n\
                        {\"reason\":\"build-finished\",\"success\":true}\n";
        assert_eq!(
            executables(messages),
            [PathBuf::from("/t/debug/examples/a b")]
        );
    }
}
