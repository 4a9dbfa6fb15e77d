//! The options of what a fit states, and of the artifact that is written of it.

use calib_core::ClassifierId;
use calib_fit::guarantee::GuaranteeBound;
use calib_fit::job::{FitOptions, TableWidth};
use clap::{Args, ValueEnum};

use super::headings::{DEVICE, GUARANTEES, METHOD};
use super::monitors::MonitorOptions;
use super::parse::{any_number, count, named, parse_classifier};
use crate::error::Error;

/// What a fit states, and how it is written.
#[derive(Args)]
pub(crate) struct ArtifactArgs {
    /// Accepted failure probability.
    ///
    /// The guarantee fails with at most this probability over the draw of the calibration rows.
    #[arg(long, default_value_t = 0.1, value_name = "ALPHA", value_parser = any_number, help_heading = METHOD)]
    pub(crate) alpha: f64,
    /// Bound that gives the guarantee's epsilon from the labels.
    #[arg(long, value_parser = named::<GuaranteeBound>(), default_value = "exact", value_name = "NAME", help_heading = GUARANTEES, hide_short_help = true)]
    bound: GuaranteeBound,
    /// Number of choices of method and bins among which these labels selected this one.
    ///
    /// `calib compare` and `calib bins` print it. The guarantee is then for alpha / M, so that it holds for any of
    /// them.
    #[arg(long, default_value_t = 1, value_name = "M", value_parser = count::<u32>(1..), help_heading = GUARANTEES, hide_short_help = true)]
    pub(crate) candidates: u32,
    /// Sum of the alphas of earlier calibrations in the field, which the guarantee then states.
    #[arg(long, default_value_t = 0.0, value_name = "A", value_parser = parse_spent, help_heading = GUARANTEES, hide_short_help = true)]
    pub(crate) alpha_spent: f64,
    /// Intervals that the artifact has, and the device returns.
    ///
    /// The exact interval of a score range needs 12 bytes, and every method without a separate guarantee has it by
    /// default. A band around the calibration curve holds for every score simultaneously, if a higher score never means
    /// a lower probability. It needs at most 536 bytes.
    #[arg(long, value_enum, default_value = "auto", help_heading = DEVICE, hide_short_help = true)]
    intervals: StoredIntervals,
    /// Form of the artifact's tables.
    #[arg(long, value_parser = named::<TableWidth>(), default_value = "f32", requires_if("direct", "score_encoding"), help_heading = DEVICE, hide_short_help = true)]
    table: TableWidth,
    /// Classifier that the scores come from, as 16 hex digits: a device with another classifier refuses the artifact.
    #[arg(long, value_name = "HEX", value_parser = parse_classifier, help_heading = DEVICE, hide_short_help = true)]
    classifier_id: Option<ClassifierId>,
    /// Rollback counter: a device refuses a calibrator with a lower counter than the one it holds.
    ///
    /// Raise the counter if older calibrators must not come back.
    #[arg(long, default_value_t = 0, value_name = "N", value_parser = count::<u32>(..), help_heading = DEVICE, hide_short_help = true)]
    pub(crate) counter: u32,
    #[command(flatten)]
    pub(crate) monitors: MonitorOptions,
}

impl ArtifactArgs {
    /// Whether the tables are of 16-bit numbers.
    pub(crate) fn is_compact(&self) -> bool {
        self.table == TableWidth::U16
    }

    /// What is asked of the fit, and of its artifact; `monitor_scores` are others than those of the calibration.
    pub(crate) fn of_fit(&self, monitor_scores: Option<Vec<f32>>) -> Result<FitOptions, Error> {
        Ok(FitOptions::default()
            .alpha(self.alpha)
            .bound(self.bound)
            .candidates(self.candidates)
            .alpha_spent(self.alpha_spent)
            .intervals(!matches!(self.intervals, StoredIntervals::None | StoredIntervals::Band))
            .band(self.intervals.band())
            .table(self.table)
            .classifier_id(self.classifier_id)
            .counter(self.counter)
            .monitors(self.monitors.of_fit(monitor_scores)?))
    }
}

/// Which intervals an artifact has.
#[derive(Clone, Copy, ValueEnum)]
enum StoredIntervals {
    /// Those of score ranges, and the band of one score from 500 rows on.
    Auto,
    /// Those of score ranges.
    Ranges,
    /// The band.
    Band,
    /// Both, also for fewer than 500 rows.
    Both,
    /// None of them.
    None,
}

impl StoredIntervals {
    /// Whether there is a band; `None` if the number of rows decides.
    const fn band(self) -> Option<bool> {
        match self {
            Self::Auto | Self::None => None,
            Self::Ranges => Some(false),
            Self::Band | Self::Both => Some(true),
        }
    }
}

pub(crate) fn parse_spent(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(spent) if (0.0..1.0).contains(&spent) => Ok(spent),
        _ => Err("what was spent is a probability below 1, such as 0.2".into()),
    }
}
