//! The options that plan a validation.

use std::io::Write;

use calib_fit::guarantee::{ValidationPlan, ValidationSize};
use calib_fit::job::plan_validation;
use clap::Args;

use super::headings::{GUARANTEES, METHOD};
use super::parse::parse_number;
use crate::context::Context;
use crate::error::Error;

/// The standard errors that a validation is to reach.
#[derive(Args)]
pub(crate) struct ValidationArgs {
    /// Plan a validation: the number of rows that it needs.
    ///
    /// calib computes the rows for the area under the ROC curve, the calibration slope and calibration in the large.
    /// State what you expect of the model (--prevalence, --auc) and the standard errors that you want.
    #[arg(long, requires_all = ["prevalence", "auc"], conflicts_with_all = ["n", "bins", "rows_per_bin", "epsilon", "reduction", "svg"], help_heading = METHOD)]
    pub(crate) validation: bool,
    /// Expected area under the ROC curve, for --validation.
    #[arg(long, value_name = "AREA", requires = "validation", value_parser = parse_auc, help_heading = METHOD, hide_short_help = true)]
    auc: Option<f64>,
    /// Standard error that you want for the area.
    #[arg(long, default_value_t = 0.025, value_name = "SE", value_parser = parse_se, help_heading = GUARANTEES, hide_short_help = true)]
    se_auc: f64,
    /// Standard error that you want for the calibration slope.
    #[arg(long, default_value_t = 0.1, value_name = "SE", value_parser = parse_se, help_heading = GUARANTEES, hide_short_help = true)]
    se_slope: f64,
    /// Standard error that you want for calibration in the large.
    #[arg(long, default_value_t = 0.1, value_name = "SE", value_parser = parse_se, help_heading = GUARANTEES, hide_short_help = true)]
    se_intercept: f64,
}

impl ValidationArgs {
    /// Answers how many rows it takes.
    pub(crate) fn answer(&self, prevalence: Option<f64>, json: bool, cx: &Context) -> Result<(), Error> {
        let (prevalence, auc) = prevalence.zip(self.auc).expect("clap asks for both");
        let Self { se_auc, se_slope, se_intercept, .. } = *self;
        let plan = ValidationPlan { prevalence, auc, se_auc, se_slope, se_intercept };
        let planned = plan_validation(plan)?;
        if json {
            return cx.print_json(&planned);
        }
        let size = planned.validation;
        let ValidationSize { rows, positives, is_rough, .. } = size;
        let mut out = cx.stdout();
        writeln!(out, "{rows} rows, of which {positives} with label 1 on average (Pavlou et al. 2021):")?;
        for (what, rows, se) in [
            ("area under the ROC curve", size.auc, se_auc),
            ("calibration slope", size.slope, se_slope),
            ("calibration in the large", size.intercept, se_intercept),
        ] {
            writeln!(out, "  {what:<26} {rows:>10.1} for a standard error of {se}")?;
        }
        writeln!(
            out,
            "if the model is well calibrated, its linear predictor is about normal, and rows are independent (TRIPOD+AI item 10)"
        )?;
        if is_rough {
            writeln!(
                out,
                "above an area of 0.8 this is rough: the formulas are not tuned to meet area and prevalence, as sampsizeval does there \
                 by simulation"
            )?;
        }
        Ok(())
    }
}

/// Reads a share of label 1 in a population.
pub(crate) fn parse_prevalence(text: &str) -> Result<f64, String> {
    let prevalence = parse_number(text).filter(|share| (1e-6..=1.0 - 1e-6).contains(share));
    prevalence.ok_or_else(|| "a share above 0 and below 1 is expected, such as 0.1".to_owned())
}

fn parse_auc(text: &str) -> Result<f64, String> {
    let auc = text.parse().ok().filter(|auc| *auc >= 0.501 && *auc <= 0.999);
    auc.ok_or_else(|| "an area from 0.501 to 0.999 is expected".to_owned())
}

fn parse_se(text: &str) -> Result<f64, String> {
    let se = text.parse().ok().filter(|se| (1e-4..=10.0).contains(se));
    se.ok_or_else(|| "a standard error from 0.0001 to 10 is expected".to_owned())
}
