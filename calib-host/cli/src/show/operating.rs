//! Thresholds that were found, as text and as JSON.

use std::io::{self, Write};
use std::path::Path;

use calib_fit::StoredArtifact;
use calib_fit::artifact::rule_sentences;
use calib_fit::fit::parameter_of;
use calib_fit::operating::{OperatingPoint, OperatingPoints, PredictiveValues, Sharing};
use calib_fit::stats::{Interval, Share, percent};
use serde_json::{Value, json};

use super::rule::points_json;
use crate::out::shown_path;

/// Thresholds with the artefact that has them.
pub(crate) struct ShownThresholds<'a> {
    pub(crate) points: &'a OperatingPoints,
    /// What is promised at a prevalence, for each group; empty without one.
    pub(crate) values: &'a [PredictiveValues],
    pub(crate) stored: &'a StoredArtifact,
    pub(crate) output: &'a Path,
}

impl ShownThresholds<'_> {
    pub(crate) fn print(&self, out: &mut dyn Write) -> io::Result<()> {
        let artifact = self.stored.artifact();
        let (output, len_bytes) = (shown_path(self.output), artifact.len_bytes());
        writeln!(out, "{output}: {len_bytes} bytes")?;
        for sentence in rule_sentences(&artifact) {
            writeln!(out, "  {sentence}")?;
        }
        for point in &self.points.points {
            for line in self.bounds(point) {
                writeln!(out, "  {line}")?;
            }
        }
        let aims = self.points.aims;
        if let Some((one, other)) = aims.sensitivity.zip(aims.specificity) {
            let both = one.confidence * other.confidence;
            writeln!(out, "  both hold together with {:.4} confidence", both)?;
        }
        if self.points.sharing == Sharing::Common {
            writeln!(out, "  the groups share the threshold, and what is promised holds for each of them")?;
        }
        writeln!(
            out,
            "  this holds for new rows drawn as these were, one per patient or other independent unit, at any prevalence"
        )
    }

    /// The exact bounds of the class that did not choose a threshold.
    fn bounds(&self, point: &OperatingPoint) -> Vec<String> {
        let whose = match &point.group {
            Some(name) if self.points.points.len() > 1 => format!("for {name} "),
            _ => String::new(),
        };
        let aims = self.points.aims;
        let line = |verb: &str, of: u8, bounds: Option<Interval>, confidence: Option<f64>| {
            let (Interval { lo, hi }, confidence) = (bounds?, confidence?);
            let together = if self.points.points.len() > 1 { ", for all groups together" } else { "" };
            Some(format!(
                "{whose}it {verb} {:.1} to {:.1} % of class {of} (exact, with {} % confidence{together})",
                100.0 * lo,
                100.0 * hi,
                percent(confidence)
            ))
        };
        let clears = if point.refers() { "clears" } else { "spares" };
        let of_negatives = line(
            clears,
            0,
            self.points.specificity_bounds(point),
            aims.sensitivity.map(|aim| aim.confidence),
        );
        let of_positives = line(
            "raises",
            1,
            self.points.sensitivity_bounds(point),
            aims.specificity.map(|aim| aim.confidence),
        );
        of_positives.into_iter().chain(of_negatives).collect()
    }

    pub(crate) fn json(&self) -> Value {
        let artifact = self.stored.artifact();
        let group = |(at, point): (usize, &OperatingPoint)| {
            json!({
                "group": point.group,
                "positives_allowed": point.positives_allowed,
                "negatives_allowed": point.negatives_allowed,
                "sensitivity_bounds": self.points.sensitivity_bounds(point),
                "specificity_bounds": self.points.specificity_bounds(point),
                "predictive_values": self.values.get(at),
            })
        };
        let groups: Vec<_> = self.points.points.iter().enumerate().map(group).collect();
        json!({
            "output": self.output,
            "len_bytes": artifact.len_bytes(),
            "identity": artifact.identity().to_string(),
            "parent": parameter_of(artifact.header().provenance.parameters, "parent"),
            "operating_points": artifact.operating_points().map(points_json),
            "sharing": self.points.sharing,
            "groups": groups,
            "sentences": rule_sentences(&artifact),
        })
    }
}

/// A count of rows, in percent with its exact interval.
pub(super) fn counted(Share { count, n, interval }: Share) -> String {
    if n == 0 {
        return "0 of 0".to_owned();
    }
    let percent = 100.0 * count as f64 / n as f64;
    let (lo, hi) = (100.0 * interval.lo, 100.0 * interval.hi);
    format!("{count} of {n} ({percent:.1} %, exact {lo:.1} to {hi:.1} %)")
}
