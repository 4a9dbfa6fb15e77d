//! The clinical validation of a report, as text.

use calib_fit::assess::{
    ClinicalSummary, ClinicalValidation, CorpSplit, CurveDeviation, ExtremeProbs, Extremes, Undefined,
};
use minijinja::{Value, context};

use super::words::{Cell, number};

/// The table of a page: name, meaning, before and after.
pub(super) fn clinical_text(found: &ClinicalSummary) -> Value {
    type Of = fn(&ClinicalValidation) -> String;
    let figure = |name: &str, meaning: &str, key: &str, of: Of| {
        let claim =
            |side: &str| if key.is_empty() { String::new() } else { format!("clinical.{side}.{key}") };
        let before = found.before.as_ref().map(of).unwrap_or_default();
        let cells = [Cell::new(claim("before"), before), Cell::new(claim("after"), of(&found.after))];
        context! {name => name, meaning => meaning, cells => cells}
    };
    let row = |name: &str, meaning: &str, of: Of| figure(name, meaning, "", of);
    let rows = [
        figure(
            "intercept",
            "calibration in the large: 0 is best; above 0, events are more frequent than predicted",
            "cox.intercept",
            |of| format!("{:#.4}", of.cox.intercept),
        ),
        figure("slope", "1 is best; below 1 the probabilities are too extreme", "cox.slope", |of| {
            format!("{:#.4}", of.cox.slope)
        }),
        figure(
            "observed / expected",
            "observed over expected number of positives: 1 is best",
            "observed_expected.ratio",
            |of| format!("{:#.4}", of.observed_expected.ratio),
        ),
        row("Spiegelhalter’s z", "with the P value of calibration", |of| {
            or_why(of.spiegelhalter.get().map(|test| format!("{:.2}, P {}", test.z, p_value(test.p_value))))
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
    let sides = [("before", found.before.as_ref()), ("after", Some(&found.after))];
    let extremes = sides.into_iter().filter_map(|(side, of)| extremes(side, &of?.extremes));
    context! {rows => rows, extremes => extremes.collect::<Vec<_>>()}
}

fn or_why(text: Result<String, Undefined>) -> String {
    text.unwrap_or_else(|why| format!("undefined: {why}"))
}

fn p_value(p: f64) -> String {
    if p < 0.0001 { "< 0.0001".into() } else { format!("= {}", number(p)) }
}

fn split(split: &CorpSplit) -> String {
    let CorpSplit { score, mcb, dsc, unc, .. } = *split;
    format!("{} = {} − {} + {}", number(score), number(mcb), number(dsc), number(unc))
}

fn deviation(deviation: &CurveDeviation) -> String {
    let CurveDeviation { ici, e50, e90, emax, .. } = *deviation;
    [ici, e50, e90, emax].map(number).join(", ")
}

/// A sentence on probabilities without a logit; `None` if there are none.
fn extremes(side: &str, extremes: &Extremes) -> Option<String> {
    let Extremes { zeros, zeros_positive, ones, ones_negative, treatment, .. } = *extremes;
    let what = match treatment {
        ExtremeProbs::LeaveOut => "They are left out of",
        ExtremeProbs::Clip => "They are clipped to [2^-24, 1 - 2^-24] for",
    };
    (extremes.count() > 0).then(|| {
        format!(
            "Probabilities of exactly 0 {side} calibration: {zeros}, of which {zeros_positive} have label 1. Of exactly 1: \
             {ones}, of which {ones_negative} have label 0. {what} intercept, slope and spline."
        )
    })
}
