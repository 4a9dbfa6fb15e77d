//! A process from its start to its end: its time and its peak memory.

use std::process::{Command, Stdio};
use std::time::Instant;

use anyhow::{Context, Result, ensure};
use wait4::Wait4;

/// What a process took.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Usage {
    /// From its start to its end.
    pub(crate) seconds: f64,
    /// On all processors together.
    pub(crate) cpu_seconds: f64,
    /// The most memory that it had.
    pub(crate) peak_len_bytes: u64,
}

/// Runs a command so often and gives the quickest run. Its output goes nowhere but for what it says of a failure.
pub(crate) fn best_of(repeats: usize, mut command: impl FnMut() -> Command) -> Result<Usage> {
    let mut best: Option<Usage> = None;
    for _ in 0..repeats {
        let usage = measured(&mut command())?;
        if best.is_none_or(|best| usage.seconds < best.seconds) {
            best = Some(usage);
        }
    }
    best.context("a command is run at least once")
}

fn measured(command: &mut Command) -> Result<Usage> {
    let program = command.get_program().to_owned();
    let start = Instant::now();
    let mut child = command
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::inherit())
        .spawn()
        .with_context(|| format!("cannot run {}", program.display()))?;
    let ended = child.wait4()?;
    let seconds = start.elapsed().as_secs_f64();
    ensure!(ended.status.success(), "{} failed ({})", program.display(), ended.status);
    let used = ended.rusage;
    let cpu_seconds = (used.utime + used.stime).as_secs_f64();
    Ok(Usage { seconds, cpu_seconds, peak_len_bytes: used.maxrss })
}
