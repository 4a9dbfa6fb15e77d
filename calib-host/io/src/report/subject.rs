//! What a report is about.

use calib_fit::assess::{CalibratedRows, ClassProbRows, ExtremeProbs, OperatingAccuracy};
use calib_fit::decide::ReportedRule;

/// What a report is made of.
#[derive(Clone, Copy, Debug)]
pub struct ReportData<'a> {
    /// The rows that the artifact was fitted to.
    pub calibration: &'a CalibratedRows,
    /// Rows that it was not fitted to.
    pub test: &'a CalibratedRows,
    /// The same with all classes, where the artifact gives every class a probability.
    pub class_probs: Option<&'a ClassProbRows>,
    /// What is doubtful about how the rows were read, in sentences: they stand first among the warnings.
    pub warnings: &'a [String],
    /// What is decided by the probabilities.
    pub rule: Option<&'a ReportedRule>,
    /// How accurate the artifact's operating points are on the test rows; empty if it has none.
    pub operating: &'a [OperatingAccuracy],
    /// What regressions on logits do with probabilities of exactly 0 or 1.
    pub extremes: ExtremeProbs,
    /// At most so many classes get separate diagrams.
    pub drawn_classes: usize,
}
