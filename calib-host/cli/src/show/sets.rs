//! Prediction sets that were found, and how they do, as text and as JSON.

use std::io::{self, Write};
use std::path::Path;

use calib_fit::StoredArtifact;
use calib_fit::artifact::rule_sentences;
use calib_fit::fit::parameter_of;
use calib_fit::sets::{PredictionSets, SetFigures};
use calib_fit::stats::percent_of_success;
use serde_json::{Value, json};

use super::operating::counted;
use super::rule::sets_json;
use crate::out::shown_path;

/// Prediction sets with the artefact that has them.
pub(crate) struct ShownSets<'a> {
    pub(crate) sets: &'a PredictionSets,
    pub(crate) stored: &'a StoredArtifact,
    pub(crate) output: &'a Path,
}

impl ShownSets<'_> {
    pub(crate) fn print(&self, out: &mut dyn Write) -> io::Result<()> {
        let artifact = self.stored.artifact();
        let (output, len_bytes, n) = (shown_path(self.output), artifact.len_bytes(), self.sets.n);
        writeln!(out, "{output}: {len_bytes} bytes, from {n} calibration rows")?;
        for sentence in rule_sentences(&artifact) {
            writeln!(out, "  {sentence}")?;
        }
        let unseen: Vec<String> = self.sets.unseen().map(|class| class.to_string()).collect();
        if !unseen.is_empty() {
            writeln!(
                out,
                "  no calibration row is of class {}: nothing was learned of it",
                unseen.join(", ")
            )?;
        }
        if let (true, Some(needed)) = (
            self.sets.thresholds.iter().any(|threshold| threshold.key.is_none()),
            self.sets.aim.points_needed(self.sets.classes as u64),
        ) {
            let each = if self.sets.aim.by_class { " of a class" } else { "" };
            writeln!(out, "  a class can be left out from {needed} calibration rows{each} on")?;
        }
        writeln!(
            out,
            "  this holds for new rows drawn as these were, one per patient or other independent unit, if nothing inside the scores was \
             fitted to these rows"
        )
    }

    pub(crate) fn json(&self) -> Value {
        let artifact = self.stored.artifact();
        json!({
            "output": self.output,
            "len_bytes": artifact.len_bytes(),
            "identity": artifact.identity().to_string(),
            "parent": parameter_of(artifact.header().provenance.parameters, "parent"),
            "n": self.sets.n,
            "prediction_sets": artifact.prediction_sets().map(sets_json),
            "unseen_classes": self.sets.unseen().collect::<Vec<_>>(),
            "rows_needed": self.sets.aim.points_needed(self.sets.classes as u64),
            "sentences": rule_sentences(&artifact),
        })
    }
}

/// Prints how prediction sets do on test rows.
pub(crate) fn set_figures(figures: &SetFigures, out: &mut dyn Write) -> io::Result<()> {
    writeln!(
        out,
        "prediction sets on these rows, each interval with {} % confidence:",
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
        "  alone, and it is the true one  {}: not promised for these sets alone",
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
