//! What `calib decide` prints.

use std::io::{self, Write};

use calib_fit::artifact::number_of;
use calib_fit::assess::AssessOptions;
use calib_fit::decide::{CostInterval, EstimatedRoc, Validation};
use calib_fit::job::Decided;
use calib_fit::stats::{percent_of_success, thousands};

use super::rule::intervals;
use super::threshold::at_thresholds;

/// Prints for people.
pub(crate) fn print(decided: &Decided, out: &mut dyn Write) -> io::Result<()> {
    print_rule(decided, out)?;
    if let Some(expected) = decided.expected {
        print_cost(decided, expected, out)?;
    }
    if let Some(roc) = &decided.roc {
        print_roc(decided, roc, out)?;
    }
    at_thresholds(out, &decided.accuracies, AssessOptions::default().alpha)
}

fn print_rule(decided: &Decided, out: &mut dyn Write) -> io::Result<()> {
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

fn print_cost(decided: &Decided, expected: f64, out: &mut dyn Write) -> io::Result<()> {
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
            "  {} without a probability {} left out: there it is {action}",
            number_of(decided.uncalibrated_rows as u64, "row"),
            if decided.uncalibrated_rows == 1 { "is" } else { "are" }
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
            "  no interval: the rows with labels are the calibration set, and show nothing about the calibrator"
        )?,
        _ => writeln!(out, "  no interval: --validation measures how well calibrated the probabilities are")?,
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
    decided: &Decided,
    validation: &Validation,
    interval: &CostInterval,
    out: &mut dyn Write,
) -> io::Result<()> {
    let Validation { n, c_emp, delta, c_lower, c_upper, .. } = *validation;
    let percent = percent_of_success(delta);
    let rows = if decided.own_validation { "these rows" } else { "the rows of --validation" };
    let sure = if decided.own_validation { "sure for these rows" } else { "what to expect" };
    writeln!(out, "  {:.6}  by c_emp, {sure}", interval.deviation)?;
    let vacuous = if interval.vacuous { " (vacuous: a case costs no more and no less anyway)" } else { "" };
    writeln!(
        out,
        "  [{:.6}, {:.6}]  expected cost over all new cases, by the labels of {rows}: with at least {percent}% probability, if new \
         cases come from the same distribution{vacuous}",
        interval.guaranteed.lo, interval.guaranteed.hi
    )?;
    let lower =
        if c_lower == 0.0 { "at least 0 (vacuous)".to_owned() } else { format!("at least {c_lower:.6}") };
    writeln!(
        out,
        "  c_emp {c_emp:.6} on {} observations with labels, {rows}; over all such rows it is at most {c_upper:.6}, {lower}, each with \
         at least {percent}% probability",
        thousands(n)
    )
}

fn print_roc(decided: &Decided, roc: &EstimatedRoc, out: &mut dyn Write) -> io::Result<()> {
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
            band.map_or(String::new(), |band| format!(" {band:.4}"))
        };
        let (tpr, fpr) = (band(point.tpr_band), band(point.fpr_band));
        writeln!(out, "  {threshold:<12} tpr {:.4}{tpr}  fpr {:.4}{fpr}", point.tpr, point.fpr)?;
    }
    Ok(())
}
