//! Rows that a report is about.

use calib_fit::assess::{Prediction, PredictionKind, ProbMatrix};
use calib_fit::stats::Clusters;

use super::decision::ReportedRule;

/// Rows of a data set that an artefact calibrates: the classifier's predictions and, in the same order, the calibrated ones.
#[derive(Clone, Debug, PartialEq)]
pub struct CalibratedRows {
    /// Before calibration, with the bins of the artefact.
    pub before: Vec<Prediction>,
    /// After calibration.
    pub after: Vec<Prediction>,
    /// What the predictions are of.
    pub kind: PredictionKind,
    /// How many rows of the data set are left out because the artefact does not calibrate their class.
    pub uncalibrated: u64,
    /// Which of them belong together, where they are not independent.
    pub clusters: Option<Clusters>,
}

/// Rows of which every class has a probability, before and after, in the same order.
#[derive(Clone, Debug, PartialEq)]
pub struct ClassProbRows {
    /// The classifier's probabilities, with the bins of the artefact.
    pub before: ProbMatrix,
    /// The calibrated ones.
    pub after: ProbMatrix,
    /// How many rows of the data set are left out because a class is uncalibrated.
    pub uncalibrated: u64,
    /// Which of them belong together, where they are not independent.
    pub clusters: Option<Clusters>,
}

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
