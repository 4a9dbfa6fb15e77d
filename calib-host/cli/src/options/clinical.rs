//! The options of a clinical validation.

use calib_fit::assess::ExtremeProbs;
use clap::Args;

use super::headings::METHOD;
use super::parse::named;

/// How binary probabilities are validated clinically.
#[derive(Args)]
pub(crate) struct ClinicalArgs {
    /// Treatment of probabilities of exactly 0 or 1, which have no logit, by calibration intercept, slope and spline.
    #[arg(long, value_parser = named::<ExtremeProbs>(), default_value = "leave-out", value_name = "HOW", help_heading = METHOD, hide_short_help = true)]
    pub(crate) extreme_probs: ExtremeProbs,
}
