//! Thresholds that were found, as text.

use std::io::{self, Write};
use std::path::Path;

use calib_fit::job::{GroupThreshold, Thresholds};
use calib_fit::operating::{OperatingPoint, Sharing};
use calib_fit::stats::{Interval, Share, percent, thousands};

use crate::out::shown_path;

/// Prints what thresholds were found, and where they are.
pub(crate) fn thresholds(found: &Thresholds, output: &Path, out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "{}: {} bytes", shown_path(output), thousands(found.summary.written.len_bytes))?;
    for sentence in &found.summary.sentences {
        writeln!(out, "  {sentence}")?;
    }
    for (point, group) in found.points.points().iter().zip(&found.summary.groups) {
        for line in bounds(found, point, group) {
            writeln!(out, "  {line}")?;
        }
    }
    let aims = found.points.aims();
    if let Some((one, other)) = aims.sensitivity.zip(aims.specificity) {
        // Rounded down, except for what products of decimal fractions miss.
        let both = (1e4 * one.confidence * other.confidence + 1e-6).floor() / 100.0;
        writeln!(out, "  both hold simultaneously with {both}% confidence")?;
    }
    if found.points.sharing() == Sharing::Common {
        writeln!(out, "  the groups share the threshold, and the guarantee holds for each of them")?;
    }
    writeln!(
        out,
        "  this holds for new rows drawn as these were, one per patient or other independent unit, at any prevalence"
    )
}

/// The exact bounds of the class that did not choose a threshold.
fn bounds(found: &Thresholds, point: &OperatingPoint, group: &GroupThreshold) -> Vec<String> {
    let several = found.points.points().len() > 1;
    let whose = match &group.group {
        Some(name) if several => format!("for {name}, "),
        _ => String::new(),
    };
    let together = if several { ", in every group at once" } else { "" };
    let line = |verb: &str, of: u8, bounds: Option<Interval>, confidence: Option<f64>| {
        let (Interval { lo, hi }, confidence) = (bounds?, confidence?);
        Some(format!(
            "{whose}it {verb} {:.1}% to {:.1}% of class {of} (exact, with {}% confidence{together})",
            100.0 * lo,
            100.0 * hi,
            percent(confidence)
        ))
    };
    let aims = found.points.aims();
    let clears = if point.refers() { "clears" } else { "raises no alarm for" };
    let of_negatives = line(clears, 0, group.specificity_bounds, aims.sensitivity.map(|aim| aim.confidence));
    let of_positives =
        line("raises the alarm for", 1, group.sensitivity_bounds, aims.specificity.map(|aim| aim.confidence));
    of_positives.into_iter().chain(of_negatives).collect()
}

/// A count of rows, in percent with its exact interval.
pub(super) fn counted(Share { count, n, interval, .. }: Share) -> String {
    if n == 0 {
        return "0 of 0".to_owned();
    }
    let percent = 100.0 * count as f64 / n as f64;
    let (lo, hi) = (100.0 * interval.lo, 100.0 * interval.hi);
    let [count, n] = [count, n].map(thousands);
    format!("{count} of {n} ({percent:.1}%, exact {lo:.1} to {hi:.1}%)")
}
