//! What `calib decide` prints.

use std::io::{self, Write};
use std::path::Path;

use calib_fit::assess::AssessOptions;
use calib_fit::decide::{
    Actions, Chosen, CostInterval, EstimatedRoc, EstimatedRocPoint, LeftOut, Rule, ThresholdAccuracy,
    Validation,
};
use calib_fit::stats::percent_of_success;
use serde_json::{Value, json};

use super::rule::intervals;
use super::threshold::at_thresholds;

/// A rule and what is known about its cost. What needs probabilities or labels is `None` without.
pub(crate) struct Decided<'c> {
    pub(crate) actions: &'c Actions,
    pub(crate) rule: Rule,
    /// Whether the file states the intervals.
    pub(crate) is_stated: bool,
    pub(crate) left_out: Vec<LeftOut>,
    /// The number of probabilities.
    pub(crate) n: Option<usize>,
    /// How many of them each interval of the rule holds.
    pub(crate) counts: Option<Vec<usize>>,
    pub(crate) uncalibrated_rows: usize,
    /// The expected cost of a decision.
    pub(crate) expected: Option<f64>,
    /// That of Bayes' rule, if another one is stated.
    pub(crate) bayes: Option<f64>,
    pub(crate) validation: Option<Validation>,
    /// Whether the validation is of the same rows.
    pub(crate) own_validation: bool,
    /// Whether labelled rows were left aside because the calibrator was fitted to them.
    pub(crate) fitted_to: bool,
    pub(crate) interval: Option<CostInterval>,
    pub(crate) actual: Option<f64>,
    /// How accurate the rule is at each of its thresholds, on labelled rows.
    pub(crate) accuracies: Vec<ThresholdAccuracy>,
    pub(crate) chosen: Option<Chosen>,
    /// The number of decisions over which start-up costs are spread.
    pub(crate) cases: Option<u64>,
    pub(crate) roc: Option<EstimatedRoc>,
}

impl Decided<'_> {
    /// The least and the most that a decision is expected to cost if rows without a probability count, too: each costs what its
    /// action costs if the event happens, or if not. `None` if there are no such rows.
    fn over_all_rows(&self) -> Option<[f64; 2]> {
        let (n, expected) = (self.n? as f64, self.expected?);
        let left_out = (self.uncalibrated_rows > 0).then_some(self.uncalibrated_rows as f64)?;
        let action = &self.actions.all()[self.actions.uncalibrated()];
        let (one, other) = (action.positive.get(), action.negative.get());
        Some([one.min(other), one.max(other)].map(|cost| (n * expected + left_out * cost) / (n + left_out)))
    }
}

/// As many points of a curve are printed as JSON.
const ROC_POINTS: usize = 513;

impl Decided<'_> {
    pub(crate) fn to_json(&self, output: Option<&Path>) -> Value {
        let name = |action: usize| &self.actions.all()[action].name;
        let pieces: Vec<_> = self
            .rule
            .pieces()
            .enumerate()
            .map(|(i, (action, above, up_to))| {
                let count = self.counts.as_ref().map(|counts| counts[i]);
                json!({"action": name(action), "above": above, "up_to": up_to, "n": count})
            })
            .collect();
        let left_out: Vec<_> = self
            .left_out
            .iter()
            .map(|left| json!({"action": name(left.action), "beaten_by": left.beaten_by.map(name)}))
            .collect();
        json!({
            "output": output,
            "actions": self.actions.all(),
            "uncalibrated": name(self.actions.uncalibrated()),
            "rule": {"kind": if self.is_stated { "stated" } else { "bayes" }, "intervals": pieces},
            "left_out": left_out,
            "n": self.n,
            "uncalibrated_rows": self.uncalibrated_rows,
            "expected_cost": self.expected,
            "expected_cost_over_all_rows": self.over_all_rows(),
            "expected_cost_is_optimistic": self.expected.map(|_| !self.is_stated),
            "expected_cost_bayes": self.bayes,
            "validation": self.validation.map(|v| json!({
                "n": v.n, "c_emp": v.c_emp, "delta": v.delta, "c_upper": v.c_upper,
                "c_lower": v.c_lower, "c_lower_is_vacuous": v.c_lower == 0.0, "same_rows": self.own_validation,
            })),
            "fitted_to_labelled_rows": self.fitted_to,
            "interval": self.interval,
            "actual_cost": self.actual,
            "at_thresholds": self.accuracies,
            "start_up": self.chosen.as_ref().map(|chosen| json!({
                "cases": self.cases, "total": chosen.total, "start_up": chosen.start_up, "candidates": chosen.candidates,
            })),
            "roc": self.roc.as_ref().map(|roc| json!({
                "auc": roc.auc, "n_points": roc.points.len(), "points": thinned(&roc.points),
            })),
        })
    }
}

/// A number of points with the first and the last, evenly spaced.
fn thinned(points: &[EstimatedRocPoint]) -> Vec<&EstimatedRocPoint> {
    let last = points.len() - 1;
    let wanted = ROC_POINTS.min(points.len());
    (0..wanted).map(|i| &points[i * last / (wanted - 1).max(1)]).collect()
}

/// Prints for people.
pub(crate) fn print(decided: &Decided<'_>, out: &mut dyn Write) -> io::Result<()> {
    print_rule(decided, out)?;
    if let Some(expected) = decided.expected {
        print_cost(decided, expected, out)?;
    }
    if let Some(roc) = &decided.roc {
        print_roc(decided, roc, out)?;
    }
    at_thresholds(out, &decided.accuracies, AssessOptions::default().alpha)
}

fn print_rule(decided: &Decided<'_>, out: &mut dyn Write) -> io::Result<()> {
    let Decided { actions, rule, .. } = decided;
    let kind = if decided.is_stated { "as stated" } else { "by Bayes' rule" };
    writeln!(out, "decisions {kind}; a probability that equals a threshold belongs below it")?;
    let (first, second) = ("action", "probability");
    let rows = if decided.n.is_some() { "rows" } else { "" };
    writeln!(out, "  {first:<24} {second:<26} {:>12} {:>12} {rows:>9}", "if positive", "if negative")?;
    for (i, (&action, interval)) in rule.intervals().iter().zip(intervals(rule.thresholds())).enumerate() {
        let costs = &actions.all()[action];
        let count = decided.counts.as_ref().map_or(String::new(), |counts| counts[i].to_string());
        let marks = [(costs.alarm, "  alarm"), (costs.abstain, "  abstains")];
        let marks: String = marks.iter().filter(|mark| mark.0).map(|mark| mark.1).collect();
        let (positive, negative) = (costs.positive.get(), costs.negative.get());
        let name = &costs.name;
        writeln!(out, "  {name:<24} {interval:<26} {positive:>12} {negative:>12} {count:>9}{marks}")?;
    }
    let name = |action: usize| &actions.all()[action].name;
    let start_up = actions.all()[actions.uncalibrated()].start_up.get();
    let always = match decided.chosen.is_some() && start_up > 0.0 {
        true => format!("; its start-up cost of {start_up} always counts, since it has to be ready"),
        false => String::new(),
    };
    writeln!(out, "without a calibrated probability: {}{always}", name(actions.uncalibrated()))?;
    for left in &decided.left_out {
        match left.beaten_by {
            Some(by) => {
                writeln!(out, "{} is left out: it never costs less than {}", name(left.action), name(by))?
            }
            None => writeln!(
                out,
                "{} is left out: at every probability another one costs no more",
                name(left.action)
            )?,
        }
    }
    let is_unused = |action: &usize| {
        !rule.intervals().contains(action) && decided.left_out.iter().all(|left| left.action != *action)
    };
    for action in (0..actions.all().len()).filter(is_unused) {
        match decided.chosen {
            Some(_) => writeln!(out, "{} is not used: its start-up cost is not worth it", name(action))?,
            None => writeln!(out, "{} is not used: between its thresholds there is no f32", name(action))?,
        }
    }
    Ok(())
}

fn print_cost(decided: &Decided<'_>, expected: f64, out: &mut dyn Write) -> io::Result<()> {
    let n = decided.n.unwrap_or_default();
    writeln!(out, "\nexpected cost of a decision {expected:.6}, over {n} probabilities")?;
    if !decided.is_stated {
        writeln!(
            out,
            "  rather too low: at every probability it is the least of several costs, which are estimates themselves"
        )?;
    }
    if decided.uncalibrated_rows > 0 {
        let action = &decided.actions.all()[decided.actions.uncalibrated()].name;
        writeln!(
            out,
            "  {} rows without a probability are left out: there it is {action}",
            decided.uncalibrated_rows
        )?;
        if let Some([lo, hi]) = decided.over_all_rows() {
            writeln!(out, "  over all rows it is {lo:.6} to {hi:.6}, whatever these turn out to be")?;
        }
    }
    if let Some(bayes) = decided.bayes {
        writeln!(out, "  by Bayes' rule it would be {bayes:.6}")?;
    }
    match (&decided.validation, &decided.interval) {
        (Some(validation), Some(interval)) => print_interval(decided, validation, interval, out)?,
        _ if decided.fitted_to => writeln!(
            out,
            "  no interval: the labelled rows are those that the calibrator was fitted to, and prove nothing about it"
        )?,
        _ => writeln!(out, "  no interval: --validation tells how well calibrated the probabilities are")?,
    }
    if let Some(actual) = decided.actual {
        writeln!(out, "actual cost of a decision   {actual:.6}")?;
    }
    if let Some(chosen) = &decided.chosen {
        let cases = decided.cases.unwrap_or_default();
        writeln!(
            out,
            "total cost of {cases} decisions {:.6}, of which start-up {}; the least of {} sets of actions",
            chosen.total, chosen.start_up, chosen.candidates
        )?;
    }
    Ok(())
}

fn print_interval(
    decided: &Decided<'_>,
    validation: &Validation,
    interval: &CostInterval,
    out: &mut dyn Write,
) -> io::Result<()> {
    let Validation { n, c_emp, delta, c_lower, c_upper } = *validation;
    let percent = percent_of_success(delta);
    let rows = if decided.own_validation { "these rows" } else { "the rows of --validation" };
    let sure = if decided.own_validation { "sure for these rows" } else { "what to expect" };
    writeln!(out, "  [{:.6}, {:.6}]  by c_emp, {sure}", interval.deviation.lo, interval.deviation.hi)?;
    let vacuous = if interval.vacuous { " (vacuous: a case costs no more and no less anyway)" } else { "" };
    writeln!(
        out,
        "  [{:.6}, {:.6}]  of a new case, with probability {percent} %, if new cases come from the same distribution{vacuous}",
        interval.guaranteed.lo, interval.guaranteed.hi
    )?;
    let lower =
        if c_lower == 0.0 { "at least 0 (vacuous)".to_owned() } else { format!("at least {c_lower:.6}") };
    writeln!(
        out,
        "  c_emp {c_emp:.6} on {n} labelled points, {rows}; over all such rows it is at most {c_upper:.6}, {lower}, each with \
         probability {percent} %"
    )
}

fn print_roc(decided: &Decided<'_>, roc: &EstimatedRoc, out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "\nestimated ROC curve: area {:.6}; positive is what is above", roc.auc)?;
    if !decided.own_validation && roc.points.iter().any(|point| point.tpr_band.is_some()) {
        writeln!(
            out,
            "  in brackets: where it may be, by the c_emp of the rows of --validation, not of these"
        )?;
    }
    for &threshold in decided.rule.thresholds() {
        // The rates at a threshold are those at the highest probability up to it.
        let point = roc.points.iter().find(|point| point.threshold.is_none_or(|at| at <= threshold));
        let Some(point) = point else { continue };
        let band = |band: Option<calib_fit::stats::Interval>| {
            band.map_or(String::new(), |band| format!(" [{:.4}, {:.4}]", band.lo, band.hi))
        };
        let (tpr, fpr) = (band(point.tpr_band), band(point.fpr_band));
        writeln!(out, "  {threshold:<12} tpr {:.4}{tpr}  fpr {:.4}{fpr}", point.tpr, point.fpr)?;
    }
    Ok(())
}
