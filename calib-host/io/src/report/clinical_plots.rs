//! The plots of a clinical validation.

use calib_fit::assess::{ClinicalSummary, ClinicalValidation, CorpStep, NetBenefit, OutcomeHistogram};
use calib_fit::stats::percent_of_success;

use super::figures::Side;
use super::words::{number, percentages, range, top};
use crate::draw::{Axis, Chart, LegendEntry, Plot, PlotText, finish};

/// The CORP reliability curve with its band, and the smooth curve; `None` if there are no probabilities on this side.
pub(super) fn corp(side: Side, clinical: &ClinicalSummary, alpha: f64) -> Option<Plot> {
    let (class, found) = match side {
        Side::Before => ("before", clinical.before.as_ref()?),
        Side::After => ("after", &clinical.after),
    };
    let corp = &found.corp;
    let largest = corp.curve.iter().map(|step| step.hi.max(step.value)).fold(0.0, f64::max);
    let mut chart =
        Chart::new(Axis::probs("predicted probability", largest), Axis::probs("observed frequency", largest));
    let band = corp.band.iter().map(|point| (point.prob, point.lo, point.hi));
    chart.band("band", &band.collect::<Vec<_>>());
    chart.diagonal();
    if let Ok(spline) = found.spline.get() {
        chart.line("theory", spline.curve.iter().map(|point| (point.prob, point.value)));
    }
    chart.line(class, corp.curve.iter().flat_map(|step| [(step.lo, step.value), (step.hi, step.value)]));
    let mut legend: Vec<LegendEntry> = vec![(class, "isotonic fit to the labels, without bins")];
    legend.extend(found.spline.get().is_ok().then_some(("theory", "logistic recalibration with splines")));
    let mut band = "";
    if !corp.band.is_empty() {
        legend.push(("band", "where the isotonic fit of a calibrated model would be"));
        band = " The band is pointwise, from labels drawn with the probabilities themselves";
    }
    let level = match band {
        "" => String::new(),
        band => format!("{band}: {}%.", percent_of_success(alpha)),
    };
    let caption = format!(
        "The CORP reliability curve (Dimitriadis, Gneiting and Jordan 2021): a calibrated model is on the diagonal. \
         Miscalibration {}, discrimination {}, of the Brier score.{level}",
        number(corp.brier.mcb),
        number(corp.brier.dsc)
    );
    let (id, title) = (format!("corp-{class}"), format!("CORP reliability curve {class} calibration"));
    let row = |step: &CorpStep| {
        let CorpStep { lo, hi, n, positives, value, .. } = *step;
        vec![number(lo), number(hi), n.to_string(), positives.to_string(), number(value)]
    };
    let columns = vec!["from", "to", "rows", "events", "observed frequency"];
    let words = PlotText { id: &id, title: &title, caption, legend };
    Some(finish(&chart, words, columns, corp.curve.iter().map(row)))
}

/// The decision curves before and after, of treating all and of treating none.
pub(super) fn decision_curve(clinical: &ClinicalSummary, alpha: f64) -> Plot {
    let after = &clinical.after.decision_curve;
    let before = clinical.before.as_ref().map(|before| &before.decision_curve);
    let benefits = after.iter().chain(before.into_iter().flatten()).map(|point| point.net_benefit);
    let top = 1.1 * benefits.chain([after[0].treat_all]).fold(0.01, f64::max);
    let mut chart =
        Chart::new(Axis::unit("threshold probability"), Axis::new("net benefit", -top / 4.0, top));
    let bottom = -top / 4.0;
    let ends = |point: &NetBenefit| point.interval.map(|ends| (point.threshold, ends.lo, ends.hi));
    let banded: Vec<_> = after.iter().filter_map(ends).collect();
    chart.band("band", &banded);
    chart.line("frame", [(0.0, 0.0), (1.0, 0.0)]);
    let all = after.iter().map(|point| (point.threshold, point.treat_all));
    chart.line("hull", all.take_while(|point| point.1 >= bottom));
    let line = |chart: &mut Chart, class, curve: &[NetBenefit]| {
        chart.line(class, curve.iter().map(|point| (point.threshold, point.net_benefit)));
    };
    before.iter().for_each(|before| line(&mut chart, "before", before));
    line(&mut chart, "after", after);
    let marked = || after.iter().filter(|point| point.marked);
    marked().for_each(|point| chart.whisker("limit", point.threshold, bottom, top));
    let mut legend: Vec<LegendEntry> = Vec::new();
    legend.extend(before.map(|_| ("before", "before: the classifier's score")));
    legend.extend([("after", "after calibration"), ("hull", "treat all"), ("frame", "treat none")]);
    legend.extend((!banded.is_empty()).then_some(("band", "bootstrap band after calibration, pointwise")));
    legend.extend(marked().next().map(|_| ("limit", "thresholds of the decision rule")));
    let band = match banded.is_empty() {
        true => String::new(),
        false => format!(" The band is {}% at each threshold.", percent_of_success(alpha)),
    };
    let caption = format!(
        "Net benefit per row: true positives minus false positives weighted by the odds of the threshold (Vickers and Elkin \
         2006). Higher is better, over the thresholds at which you would act.{band}"
    );
    let words = PlotText { id: "decision-curve", title: "Decision curve", caption, legend };
    let mut columns = vec!["threshold"];
    columns.extend(before.map(|_| "before"));
    columns.extend(["after", "interval", "treat all"]);
    let row = |(i, point): (usize, &NetBenefit)| {
        let mut row = vec![number(point.threshold)];
        row.extend(before.map(|before| number(before[i].net_benefit)));
        let interval = point.interval.map(|ends| range(ends.lo, ends.hi));
        row.extend([number(point.net_benefit), interval.unwrap_or_default(), number(point.treat_all)]);
        row
    };
    let rows = after.iter().enumerate().filter(|(_, point)| point.marked || is_listed(point.threshold));
    finish(&chart, words, columns, rows.map(row))
}

/// The multiples of a twentieth are listed behind the plot.
fn is_listed(threshold: f64) -> bool {
    let steps = threshold * 20.0;
    (steps - steps.round()).abs() < 1e-9
}

/// The distribution of the calibrated probabilities, of rows with label 1 upwards and of the others downwards.
pub(super) fn outcomes(found: &ClinicalValidation) -> Plot {
    let OutcomeHistogram { positives, negatives, .. } = &found.outcomes;
    let (up, down) = (percentages(positives), percentages(negatives));
    let top = top(up.iter().chain(&down).copied());
    let mut chart = Chart::new(
        Axis::unit("calibrated probability"),
        Axis::new("rows of the label (%): 0 below, 1 above", -top, top),
    );
    let bars = up.len() as f64;
    for (class, shares, sign) in [("after", &up, 1.0), ("before", &down, -1.0)] {
        for (i, &share) in shares.iter().enumerate().filter(|(_, share)| **share > 0.0) {
            let (lo, hi) = (i as f64 / bars, (i + 1) as f64 / bars);
            chart.area(class, [(lo, 0.0), (lo, sign * share), (hi, sign * share), (hi, 0.0)]);
        }
    }
    chart.line("frame", [(0.0, 0.0), (1.0, 0.0)]);
    let words = PlotText {
        id: "outcomes",
        title: "Probabilities by outcome",
        caption: "The percentage of the rows of each label in 40 bars of equal width, after calibration: the less the two \
             overlap, the better the model separates them."
            .into(),
        legend: vec![("after", "label 1, upwards"), ("before", "label 0, downwards")],
    };
    let row = |i: usize| {
        let edge = |i: usize| i as f64 / bars;
        let range = format!("{:.3} to {:.3}", edge(i), edge(i + 1));
        vec![range, positives[i].to_string(), negatives[i].to_string()]
    };
    let rows = (0..positives.len()).filter(|&i| positives[i] + negatives[i] > 0).map(row);
    finish(&chart, words, vec!["from, to", "label 1", "label 0"], rows)
}
