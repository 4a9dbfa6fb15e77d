//! The options of a clinical validation.

use calib_core::Artifact;
use calib_host::assess::{AssessOptions, ClinicalOptions, ExtremeProbs};
use calib_host::report::{CalibratedRows, ClinicalSummary};
use clap::{Args, ValueEnum};

/// How binary probabilities are validated clinically.
#[derive(Args)]
pub(crate) struct ClinicalArgs {
    /// What calibration intercept, slope and spline do with probabilities of exactly 0 or 1, which have no logit.
    #[arg(long, value_enum, default_value_t = ExtremeName::LeaveOut, value_name = "HOW")]
    extreme_probs: ExtremeName,
}

#[derive(Clone, Copy, PartialEq, ValueEnum)]
enum ExtremeName {
    /// Leave their rows out.
    LeaveOut,
    /// Clip all probabilities to [2^-24, 1 - 2^-24].
    Clip,
}

impl ClinicalArgs {
    /// Validates calibrated rows; `None` if they are predictions of several classes. The thresholds of the artefact's rule are
    /// marked.
    pub(crate) fn of_rows(
        &self,
        rows: &CalibratedRows,
        artifact: &Artifact<'_>,
        options: &AssessOptions<'_>,
    ) -> Option<ClinicalSummary> {
        let rule = artifact.decision().map(|rule| rule.thresholds()).unwrap_or_default();
        let thresholds: Vec<f64> = rule.iter().copied().map(f64::from).collect();
        let clinical = ClinicalOptions { extremes: self.extremes(), thresholds: &thresholds };
        ClinicalSummary::new(rows, options, &clinical)
    }

    pub(crate) fn extremes(&self) -> ExtremeProbs {
        match self.extreme_probs {
            ExtremeName::LeaveOut => ExtremeProbs::LeaveOut,
            ExtremeName::Clip => ExtremeProbs::Clip,
        }
    }
}
