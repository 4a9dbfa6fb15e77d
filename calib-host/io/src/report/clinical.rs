//! The clinical validation of a report, in numbers and as text.

use calib_fit::assess::{
    AssessOptions, ClinicalOptions, ClinicalValidation, CorpSplit, CurveDeviation, EstimateWithInterval,
    ExtremeProbs, Extremes, Figure, PredictionKind, Undefined, validate,
};
use minijinja::{Value, context};
use serde::Serialize;

use super::rows::CalibratedRows;
use super::words::number;

/// The clinical validation of binary probabilities.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ClinicalSummary {
    /// Of the classifier's scores; `None` if they are margins, which are no probabilities.
    pub before: Option<ClinicalValidation>,
    /// Of the calibrated probabilities.
    pub after: ClinicalValidation,
}

impl ClinicalSummary {
    /// Validates rows; `None` if these are predictions of several classes.
    pub fn new(
        test: &CalibratedRows,
        options: &AssessOptions<'_>,
        clinical: &ClinicalOptions<'_>,
    ) -> Option<Self> {
        let of = |rows: &[_]| validate(rows, options, clinical);
        (test.kind == PredictionKind::Binary).then(|| Self {
            before: test.margins.is_none().then(|| of(&test.before)),
            after: of(&test.after),
        })
    }

    /// The table of a page: name, meaning, before and after.
    pub(super) fn text(&self) -> Value {
        type Of = fn(&ClinicalValidation) -> String;
        let row = |name: &str, meaning: &str, of: Of| {
            let before = self.before.as_ref().map(of).unwrap_or_default();
            [name.to_owned(), meaning.into(), before, of(&self.after)]
        };
        let rows = [
            row(
                "intercept",
                "calibration in the large: 0 is best; above 0, events are more frequent than said",
                |of| figure(&of.cox.intercept),
            ),
            row("slope", "1 is best; below 1 the probabilities are too extreme", |of| figure(&of.cox.slope)),
            row("observed / expected", "positives for each that the probabilities expect: 1 is best", |of| {
                figure(&of.observed_expected.ratio)
            }),
            row("Spiegelhalter’s z", "with the P value of calibration", |of| {
                or_why(
                    of.spiegelhalter.get().map(|test| format!("{:.2}, P {}", test.z, p_value(test.p_value))),
                )
            }),
            row("brier", "miscalibration − discrimination + uncertainty", |of| split(&of.corp.brier)),
            row("log_loss", "miscalibration − discrimination + uncertainty", |of| split(&of.corp.log_loss)),
            row("CORP curve", "ICI, E50, E90, Emax: its distance from the diagonal over the rows", |of| {
                deviation(&of.corp.deviation)
            }),
            row(
                "spline curve",
                "ICI, E50, E90, Emax of logistic recalibration with restricted cubic splines",
                |of| {
                    or_why(of.spline.get().map(|spline| {
                        format!("{} ({}\u{a0}knots)", deviation(&spline.deviation), spline.knots.len())
                    }))
                },
            ),
        ];
        let sides = [("before", self.before.as_ref()), ("after", Some(&self.after))];
        let extremes = sides.into_iter().filter_map(|(side, of)| extremes(side, &of?.extremes));
        context! {rows => rows, extremes => extremes.collect::<Vec<_>>()}
    }
}

fn figure(figure: &Figure) -> String {
    let shown = |estimate: &EstimateWithInterval| match estimate.interval {
        Some(i) => format!("{} [{},\u{a0}{}]", number(estimate.value), number(i.lo), number(i.hi)),
        None => number(estimate.value),
    };
    or_why(figure.get().map(shown))
}

fn or_why(text: Result<String, Undefined>) -> String {
    text.unwrap_or_else(|why| format!("undefined: {why}"))
}

fn p_value(p: f64) -> String {
    if p < 0.0001 { "< 0.0001".into() } else { format!("= {}", number(p)) }
}

fn split(split: &CorpSplit) -> String {
    let CorpSplit { score, mcb, dsc, unc } = *split;
    format!("{} = {} − {} + {}", number(score), number(mcb), number(dsc), number(unc))
}

fn deviation(deviation: &CurveDeviation) -> String {
    let CurveDeviation { ici, e50, e90, emax } = *deviation;
    [ici, e50, e90, emax].map(number).join(", ")
}

/// A sentence on probabilities without a logit; `None` if there are none.
fn extremes(side: &str, extremes: &Extremes) -> Option<String> {
    let Extremes { zeros, zeros_positive, ones, ones_negative, treatment } = *extremes;
    let what = match treatment {
        ExtremeProbs::LeaveOut => "They are left out of",
        ExtremeProbs::Clip => "They are clipped to [2^-24, 1 - 2^-24] for",
    };
    (extremes.count() > 0).then(|| {
        format!(
            "Probabilities {side} calibration of exactly 0: {zeros}, of which {zeros_positive} came true; of exactly 1: {ones}, of \
             which {ones_negative} did not. {what} intercept, slope and spline."
        )
    })
}
