//! The options that plan thresholds.

use std::io::Write;

use calib_fit::job::{ThresholdPlanOptions, plan_thresholds};
use calib_fit::stats::percent;
use clap::Args;

use super::headings::{GUARANTEES, METHOD};
use super::parse::{count, parse_share};
use crate::context::Context;
use crate::error::Error;

/// What thresholds are to guarantee.
#[derive(Args)]
pub(crate) struct PlannedThresholds {
    /// Plan a threshold: the number of class 1 rows needed so that at least this share of class 1 raises the alarm.
    ///
    /// With --prevalence, calib also computes the number of all rows.
    #[arg(long, value_name = "P", value_parser = parse_share, conflicts_with_all = PLAN, help_heading = METHOD)]
    sensitivity: Option<f64>,
    /// Plan a threshold: the number of class 0 rows needed so that at least this share of class 0 raises no alarm.
    #[arg(long, value_name = "P", value_parser = parse_share, conflicts_with_all = PLAN, help_heading = METHOD)]
    specificity: Option<f64>,
    /// Confidence of each of the two, and confidence that the computed number of all rows has enough rows of the class.
    #[arg(long, default_value_t = 0.95, value_name = "C", value_parser = parse_share, help_heading = GUARANTEES)]
    confidence: f64,
    /// Number of groups with separate thresholds, among which the failure probability is divided; each group needs this
    /// many rows.
    #[arg(long, default_value_t = 1, value_name = "G", value_parser = count::<u64>(1..=255), help_heading = METHOD, hide_short_help = true)]
    groups: u64,
}

/// What is planned otherwise.
const PLAN: [&str; 7] = ["n", "bins", "rows_per_bin", "epsilon", "reduction", "svg", "validation"];

impl PlannedThresholds {
    /// Whether a threshold is planned.
    pub(crate) fn is_asked(&self) -> bool {
        self.sensitivity.or(self.specificity).is_some()
    }

    /// Answers how many points it takes, and how many rows if the prevalence is known.
    pub(crate) fn answer(&self, prevalence: Option<f64>, json: bool, cx: &Context) -> Result<(), Error> {
        let mut options = ThresholdPlanOptions::default();
        (options.sensitivity, options.specificity) = (self.sensitivity, self.specificity);
        (options.confidence, options.groups, options.prevalence) = (self.confidence, self.groups, prevalence);
        let planned = plan_thresholds(&options)?;
        if json {
            return cx.print_json(&planned);
        }
        let mut out = cx.stdout();
        let confidence = percent(self.confidence);
        for threshold in &planned.thresholds {
            let (class, level) = (threshold.class, percent(threshold.level));
            writeln!(
                out,
                "a {} of at least {level}% with {confidence}% confidence needs {} {class}",
                threshold.accuracy, threshold.points[0].points
            )?;
            for line in &threshold.points {
                let of_rows = match line.rows.zip(line.mean_rows) {
                    Some((rows, mean)) => {
                        format!(", in {rows} rows with {confidence}% confidence ({mean:.0} on average)")
                    }
                    None => String::new(),
                };
                writeln!(out, "  {:>8} allow {} on the wrong side{of_rows}", line.points, line.allowed)?;
            }
        }
        if self.groups > 1 {
            writeln!(out, "in each of {} groups, of all of which it then holds together", self.groups)?;
        }
        Ok(writeln!(
            out,
            "if observations are independent, one per patient, and new ones are drawn as they were; whatever the distribution of the scores"
        )?)
    }
}
