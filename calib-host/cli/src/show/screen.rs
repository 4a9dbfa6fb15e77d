//! What an artifact holds, on a screen.

use std::io::{self, Write};
use std::path::Path;

use calib_core::{Artifact, Calibrator};
use calib_fit::StoredArtifact;
use calib_fit::artifact::{band_steps, guarantee_text, number_of};
use calib_fit::stats::shown;

use super::artifact::{
    print_flags, print_method, print_name, print_origin, print_same_tables, ranges_in_words, table_head,
    table_lines,
};
use super::joint::print_vector;
use super::monitors::monitor_sentences;
use super::rule::{print_rule, print_thresholds};
use crate::out::labeled;

/// How many lines of a list are shown.
const SHOWN: usize = 16;

/// Prints what matters first of what the artifact in a file holds.
pub(crate) fn print_screen(path: &Path, stored: &StoredArtifact, out: &mut dyn Write) -> io::Result<()> {
    let artifact = &stored.artifact();
    print_name(path, artifact, out)?;
    print_method(artifact, "", out)?;
    for (label, text) in guarantee_text(stored).short_lines() {
        print_labeled(&label.to_lowercase(), &text, out)?;
    }
    print_flags(artifact, out)?;
    print_origin(stored, out)?;
    if let Calibrator::Vector(calibrator) = artifact.calibrator() {
        let mut lines = Vec::new();
        print_vector(&calibrator, &mut lines)?;
        let lines = String::from_utf8_lossy(&lines);
        print_first(&lines.lines().map(str::to_owned).collect::<Vec<_>>(), out)?;
    }
    if let Some(rule) = artifact.decision() {
        print_rule(out, rule)?;
    }
    if let Some(groups) = artifact.groups() {
        print_labeled("groups", &groups.names().collect::<Vec<_>>().join(", "), out)?;
    }
    print_thresholds(out, artifact)?;
    for (at, sentence) in monitor_sentences(artifact).iter().enumerate() {
        print_labeled(if at == 0 { "monitors" } else { "" }, sentence, out)?;
    }
    print_same_tables(artifact, out)?;
    print_tables(artifact, out)?;
    if let Some(steps) = band_steps(artifact) {
        let narrowest =
            steps.iter().map(|(_, interval)| interval.hi - interval.lo).reduce(f32::min).unwrap_or_default();
        let (steps, narrowest) = (number_of(steps.len() as u64, "step"), shown(3, narrowest.into()));
        writeln!(out, "band: {steps}, {narrowest} wide where it is narrowest")?;
    }
    writeln!(out, "Everything: --all or --json")
}

/// One table with its bins, or the intervals of its ranges; of several a line each.
fn print_tables(artifact: &Artifact<'_>, out: &mut dyn Write) -> io::Result<()> {
    let count = artifact.tables().count();
    if count != 1 {
        let heads: Vec<String> = (0..count).map(|table| head(artifact, table)).collect();
        return print_first(&heads, out);
    }
    writeln!(out, "{}", table_head(artifact, 0))?;
    let ranges = ranges_in_words(artifact, 0);
    if ranges.is_empty() {
        let lines: Vec<String> = table_lines(artifact, 0).iter().map(|line| format!("  {line}")).collect();
        if !lines.is_empty() && lines.iter().all(|line| line.trim_start().starts_with(['[', '('])) {
            writeln!(out, "  {:<28} probability", "scores")?;
        }
        return print_first(&lines, out);
    }
    let width = ranges.iter().map(|(scores, _)| scores.len()).max().unwrap_or_default().max("scores".len());
    writeln!(out, "  {:<width$}  event rate", "scores")?;
    let lines: Vec<String> =
        ranges.iter().map(|(scores, ends)| format!("  {scores:<width$}  {ends}")).collect();
    print_first(&lines, out)
}

/// A table in a line, with how many intervals it has.
fn head(artifact: &Artifact<'_>, table: usize) -> String {
    let ranges = match ranges_in_words(artifact, table).len() {
        0 => String::new(),
        ranges => format!(", {}", number_of(ranges as u64, "range")),
    };
    table_head(artifact, table) + &ranges
}

/// The first and the last lines of a long list.
fn print_first(lines: &[String], out: &mut dyn Write) -> io::Result<()> {
    let left_out = if lines.len() > SHOWN + 1 { SHOWN / 2..lines.len() - SHOWN / 2 } else { 0..0 };
    for (at, line) in lines.iter().enumerate() {
        match left_out.contains(&at) {
            true if at == left_out.start => writeln!(out, "  ({} more: --all)", left_out.len())?,
            true => {}
            false => writeln!(out, "{line}")?,
        }
    }
    Ok(())
}

fn print_labeled(label: &str, text: &str, out: &mut dyn Write) -> io::Result<()> {
    labeled(label, text).iter().try_for_each(|line| writeln!(out, "{line}"))
}
