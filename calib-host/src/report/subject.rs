//! What a report is about.

use super::decision::ReportedRule;
use super::rows::{CalibratedRows, ClassProbRows};

/// What a report is made of.
#[derive(Clone, Copy, Debug)]
pub struct ReportData<'a> {
    /// The rows that the artefact was fitted to.
    pub calibration: &'a CalibratedRows,
    /// Rows that it was not fitted to.
    pub test: &'a CalibratedRows,
    /// The same with all classes, where the artefact gives every class a probability.
    pub class_probs: Option<&'a ClassProbRows>,
    /// What is doubtful about how the rows were read, in sentences: they stand first among the warnings.
    pub doubts: &'a [String],
    /// What is decided by the probabilities.
    pub rule: Option<&'a ReportedRule>,
    /// At most so many classes get diagrams of their own.
    pub drawn_classes: usize,
}
