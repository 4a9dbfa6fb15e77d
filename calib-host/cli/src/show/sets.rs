//! Prediction sets that were found, and how they do, as text.

use std::io::{self, Write};
use std::path::Path;

use calib_fit::artifact::number_of;
use calib_fit::job::Sets;
use calib_fit::sets::SetFigures;
use calib_fit::stats::{percent_of_success, thousands};

use super::operating::counted;
use crate::out::shown_path;

/// Prints what sets were found, and where they are.
pub(crate) fn sets(found: &Sets, output: &Path, out: &mut dyn Write) -> io::Result<()> {
    let summary = &found.summary;
    let (output, len_bytes, n) = (shown_path(output), summary.written.len_bytes, summary.n);
    writeln!(out, "{output}: {} bytes, from {}", thousands(len_bytes), number_of(n, "calibration row"))?;
    for sentence in &summary.sentences {
        writeln!(out, "  {sentence}")?;
    }
    for (class, &covered) in summary.coverage.iter().enumerate().take(SHOWN) {
        writeln!(out, "  on these calibration rows class {class} is in the set in {}", counted(covered))?;
    }
    let unseen: Vec<String> = summary.unseen_classes.iter().map(ToString::to_string).collect();
    if !unseen.is_empty() {
        writeln!(out, "  no calibration row is of class {}: nothing was learned of it", unseen.join(", "))?;
    }
    let has_open = found.sets.thresholds().iter().any(|threshold| threshold.key.is_none());
    if let Some(needed) = summary.rows_needed.filter(|_| has_open) {
        let each = if found.sets.aim().by_class { " of a class" } else { "" };
        writeln!(out, "  a class can be left out from {} calibration rows{each} on", thousands(needed))?;
    }
    writeln!(
        out,
        "  this holds for new rows drawn as these were, one per patient or other independent unit; neither the classifier nor a \
         calibrator inside it may be fitted to these rows"
    )
}

/// How many classes are listed.
const SHOWN: usize = 16;

/// Prints how prediction sets do on test rows.
pub(crate) fn set_figures(figures: &SetFigures, out: &mut dyn Write) -> io::Result<()> {
    writeln!(
        out,
        "prediction sets on these rows, each interval with {}% confidence:",
        percent_of_success(figures.alpha)
    )?;
    writeln!(out, "  the true class is in the set   {}", counted(figures.covered))?;
    let interval = figures.mean_size_interval;
    writeln!(
        out,
        "  classes in the set             {:.3} on average ({:.3} to {:.3})",
        figures.mean_size, interval.lo, interval.hi
    )?;
    writeln!(
        out,
        "  single class, and the true one {}: not guaranteed for these sets separately",
        counted(figures.alone())
    )?;
    for (class, covered) in figures.by_class.iter().enumerate() {
        writeln!(out, "  class {class:<3} is in the set         {}", counted(*covered))?;
    }
    for (size, covered) in figures.by_size.iter().enumerate().filter(|(_, covered)| covered.n > 0) {
        writeln!(out, "  sets of {size:<3} classes contain it   {}", counted(*covered))?;
    }
    Ok(())
}
