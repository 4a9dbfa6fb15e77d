//! Rows before and after calibration.

use calib_core::{Artifact, Margin};
use serde::Serialize;

use super::assessment::AssessOptions;
use super::clinical::{ClinicalOptions, ClinicalValidation, validate};
use super::evidence::{Evidence, Judged, judge};
use super::groups::RowGroups;
use super::paired::BeforeAfter;
use super::prediction::{Prediction, PredictionKind};
use super::vectors::ProbMatrix;
use crate::stats::Clusters;

/// Rows of a data set that an artifact calibrates: the classifier's predictions and, in the same order, the calibrated ones.
#[derive(Clone, Debug, PartialEq)]
pub struct CalibratedRows {
    /// Before calibration, with the bins of the artifact. Margins are no probabilities: see [`CalibratedRows::margins`].
    pub before: Vec<Prediction>,
    /// After calibration.
    pub after: Vec<Prediction>,
    /// What the predictions are of.
    pub kind: PredictionKind,
    /// How many rows of the data set are left out because the artifact does not calibrate their class.
    pub uncalibrated: u64,
    /// Which of them belong together, where they are not independent.
    pub clusters: Option<Clusters>,
    /// Which group every row is of, if someone told.
    pub groups: Option<RowGroups>,
    /// The margins, if scores are margins. The probabilities in `before` are then their places among the different margins, from 0
    /// to 1, of which nothing but the order counts.
    pub margins: Option<Vec<f32>>,
}

/// Rows of which every class has a probability, before and after, in the same order.
#[derive(Clone, Debug, PartialEq)]
pub struct ClassProbRows {
    /// The classifier's probabilities, with the bins of the artifact.
    pub before: ProbMatrix,
    /// The calibrated ones.
    pub after: ProbMatrix,
    /// How many rows of the data set are left out because a class is uncalibrated.
    pub uncalibrated: u64,
    /// Which of them belong together, where they are not independent.
    pub clusters: Option<Clusters>,
}

/// The clinical validation of binary probabilities.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct ClinicalSummary {
    /// Of the classifier's scores; `None` if they are margins, which are no probabilities.
    pub before: Option<ClinicalValidation>,
    /// Of the calibrated probabilities.
    pub after: ClinicalValidation,
}

impl CalibratedRows {
    /// Validates the rows clinically; `None` if these are predictions of several classes.
    pub fn clinical(
        &self,
        options: &AssessOptions<'_>,
        clinical: &ClinicalOptions<'_>,
    ) -> Option<ClinicalSummary> {
        let of = |rows: &[_]| validate(rows, options, clinical);
        (self.kind == PredictionKind::Binary).then(|| ClinicalSummary {
            before: self.margins.is_none().then(|| of(&self.before)),
            after: of(&self.after),
        })
    }

    /// Makes rows whose scores are margins, in the same order as `before`.
    #[must_use]
    pub fn of_margins(mut self, margins: Vec<f32>) -> Self {
        let mut sorted: Vec<Margin> = margins.iter().filter_map(|&margin| Margin::new(margin).ok()).collect();
        sorted.sort_unstable_by_key(|margin| margin.key());
        sorted.dedup();
        let place = |margin: f32| sorted.partition_point(|&other| other.get() < margin) as f64;
        let last = sorted.len().saturating_sub(1).max(1) as f64;
        for (row, &margin) in self.before.iter_mut().zip(&margins) {
            row.prob = place(margin) / last;
        }
        Self { margins: Some(margins), ..self }
    }

    /// What the rows say of an artifact, as [`judge`] has it; margins have no Brier score and no log-loss to be better than.
    pub fn judged(
        &self,
        artifact: &Artifact<'_>,
        both: &BeforeAfter,
        clusters: Option<&Clusters>,
        alpha: f64,
    ) -> Judged {
        let mut judged = judge(artifact, both, [&self.before, &self.after], clusters, alpha);
        if self.margins.is_some() {
            judged.change = None;
            judged
                .evidence
                .retain(|found| !matches!(found, Evidence::Worse { .. } | Evidence::LogLoss { .. }));
        }
        judged
    }
}
