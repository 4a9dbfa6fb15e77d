//! The options of a clinical validation.

use calib_fit::assess::ExtremeProbs;
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
    pub(crate) fn extremes(&self) -> ExtremeProbs {
        match self.extreme_probs {
            ExtremeName::LeaveOut => ExtremeProbs::LeaveOut,
            ExtremeName::Clip => ExtremeProbs::Clip,
        }
    }
}
