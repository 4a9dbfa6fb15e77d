//! A clinical validation as text.

use std::io::{self, Write};

use calib_fit::assess::{
    ClinicalValidation, CorpSplit, CurveDeviation, EstimateWithInterval, ExtremeProbs, Extremes,
};
use calib_fit::stats::shown;

/// How wide the column of names is.
const NAME: usize = 18;

/// Prints the clinical validation of probabilities, which `whose` names.
pub(crate) fn clinical(out: &mut impl Write, whose: &str, found: &ClinicalValidation) -> io::Result<()> {
    writeln!(out, "clinical validation of {whose}:")?;
    line(out, "intercept", &format!("{:.6}", found.cox.intercept))?;
    line(out, "slope", &format!("{:.6}", found.cox.slope))?;
    let ratio = &found.observed_expected;
    let counts = format!("({} of {:.2} expected)", ratio.observed, ratio.expected);
    line(out, "observed/expected", &format!("{:.6} {counts}", ratio.ratio))?;
    let test = match found.spiegelhalter.get() {
        Ok(test) => format!("{:.4}, P = {:.2e}", test.z, test.p_value),
        Err(why) => format!("undefined: {why}"),
    };
    line(out, "Spiegelhalter z", &test)?;
    line(out, "brier", &split(&found.corp.brier))?;
    line(out, "log_loss", &split(&found.corp.log_loss))?;
    line(out, "CORP curve", &deviation(&found.corp.deviation))?;
    let spline = match found.spline.get() {
        Ok(spline) => format!("{} ({} knots)", deviation(&spline.deviation), spline.knots.len()),
        Err(why) => format!("undefined: {why}"),
    };
    line(out, "spline curve", &spline)?;
    for point in found.decision_curve.iter().filter(|point| point.marked) {
        let benefit = EstimateWithInterval { value: point.net_benefit, interval: point.interval };
        let name = format!("net benefit, {}", shown(4, point.threshold));
        line(out, &name, &format!("{benefit:.6}, of treating all {:.6}", point.treat_all))?;
    }
    match extremes(&found.extremes) {
        Some(sentence) => writeln!(out, "{sentence}"),
        None => Ok(()),
    }
}

fn line(out: &mut dyn Write, name: &str, text: &str) -> io::Result<()> {
    writeln!(out, "{name:<NAME$} {text}")
}

fn split(split: &CorpSplit) -> String {
    let [score, mcb, dsc, unc] = [split.score, split.mcb, split.dsc, split.unc].map(|part| shown(6, part));
    format!("{score} = miscalibration {mcb} - discrimination {dsc} + uncertainty {unc}")
}

fn deviation(deviation: &CurveDeviation) -> String {
    let CurveDeviation { ici, e50, e90, emax, .. } = *deviation;
    let [ici, e50, e90, emax] = [ici, e50, e90, emax].map(|distance| shown(6, distance));
    format!("off by ici {ici}, e50 {e50}, e90 {e90}, emax {emax}")
}

/// How many probabilities have no logit; `None` if all have one.
fn extremes(extremes: &Extremes) -> Option<String> {
    let Extremes { zeros, zeros_positive, ones, ones_negative, treatment, .. } = *extremes;
    let what = match treatment {
        ExtremeProbs::LeaveOut => "left out of",
        ExtremeProbs::Clip => "clipped to [2^-24, 1 - 2^-24] for",
    };
    (extremes.count() > 0).then(|| {
        format!(
            "{zeros} probabilities of exactly 0 ({zeros_positive} with label 1) and {ones} of exactly 1 ({ones_negative} with label 0): \
             {what} intercept, slope and spline"
        )
    })
}
