//! The table of what was measured.

use std::fmt::Write as _;

use crate::measure::Line;
use crate::memory;

/// What every line of whole processes has.
pub(crate) fn head() -> String {
    format!(
        "{:<28} {:>11} {:>9} {:>9} {:>9} {:>9} {:>10} {:>7} {:>9}  peer",
        "whole process", "rows", "ours s", "cpu s", "MiB", "limit s", "peer s", "ratio", "peer MiB"
    )
}

/// A line: seconds and peak memory, the seconds that reading and hashing the files take alone, and the peer's.
pub(crate) fn line(line: &Line) -> String {
    let mib = |len_bytes: u64| len_bytes as f64 / f64::from(1 << 20);
    let ours = line.ours;
    let mut text = format!(
        "{:<28} {:>11} {:>9.3} {:>9.3} {:>9.1} {:>9.3}",
        line.name,
        line.rows,
        ours.seconds,
        ours.cpu_seconds,
        mib(ours.peak_len_bytes),
        line.limit
    );
    if let (Some((says, peer)), Some(ratio)) = (line.peer, line.ratio()) {
        let peer_mib = mib(peer.peak_len_bytes);
        let _ = write!(text, " {:>10.3} {ratio:>6.1}x {peer_mib:>9.1}  {says}", peer.seconds);
    }
    text
}

/// The lines of what was measured in memory.
pub(crate) fn in_memory(measured: &[memory::Measured]) -> String {
    let mut text =
        format!("{:<28} {:>11} {:>9} {:>10} {:>7}  peer\n", "in memory", "rows", "ours s", "peer s", "ratio");
    for line in measured {
        let _ = write!(text, "{:<28} {:>11} {:>9.4}", line.name, line.rows, line.seconds);
        if let (Some((says, seconds)), Some(ratio)) = (&line.peer, line.ratio()) {
            let _ = write!(text, " {seconds:>10.4} {ratio:>6.1}x  {says}");
        }
        text.push('\n');
    }
    text
}
