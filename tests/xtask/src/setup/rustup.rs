//! Rust's targets and components.

use std::fs;
use std::process::Command;

use anyhow::{Result, bail};
use calib_run::{output, run};

use super::Step;

/// What brings the missing ones.
///
/// # Errors
///
/// If some are missing and rustup is, too.
pub(super) fn steps(targets: &[&str], components: bool) -> Result<Vec<Step>> {
    let missing_targets: Vec<&str> =
        targets.iter().copied().filter(|target| !target_is_present(target)).collect();
    let wanted = if components { &[("rustfmt", "fmt"), ("clippy", "clippy")][..] } else { &[] };
    let is_missing = |command: &str| output("cargo", &[command, "--version"]).is_none();
    let missing_components: Vec<&str> =
        wanted.iter().filter(|(_, command)| is_missing(command)).map(|(name, _)| *name).collect();
    let mut steps = Vec::new();
    for (what, missing) in [("target", missing_targets), ("component", missing_components)] {
        if missing.is_empty() {
            continue;
        }
        let list = missing.join(" ");
        if output("rustup", &["--version"]).is_none() {
            bail!("rustup is missing, which installs Rust's {what}s {list}: see https://rustup.rs");
        }
        let mut command = Command::new("rustup");
        command.args([what, "add"]).args(missing);
        steps.push(Step {
            shown: format!("rustup {what} add {list}"),
            work: Box::new(move || run(&mut command)),
        });
    }
    Ok(steps)
}

/// Whether the compiler finds the target's `core`, wherever it came from.
fn target_is_present(target: &str) -> bool {
    let Some(folder) = output("rustc", &["--print", "target-libdir", "--target", target]) else {
        return false;
    };
    let Ok(mut files) = fs::read_dir(folder.trim()) else { return false };
    files.any(|file| file.is_ok_and(|file| file.file_name().to_string_lossy().starts_with("libcore-")))
}
