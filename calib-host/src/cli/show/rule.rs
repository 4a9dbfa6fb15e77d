//! A decision rule on the screen.

use std::io::{self, Write};

use calib_core::DecisionRule;
use serde_json::{Value, json};

/// Prints what an artefact's rule does, a line for each interval.
pub(crate) fn print_rule(out: &mut dyn Write, rule: &DecisionRule<'_>) -> io::Result<()> {
    let name = |index: u8| rule.action(index).map_or("", |action| action.name);
    writeln!(
        out,
        "decision    {} actions, without a probability: {}",
        rule.action_count(),
        name(rule.uncalibrated())
    )?;
    for (index, interval) in rule.intervals().iter().zip(intervals(rule.thresholds())) {
        let action = rule.action(*index);
        let alarm = if action.is_some_and(|action| action.alarm) { "  alarm" } else { "" };
        let abstain = if action.is_some_and(|action| action.abstain) { "  abstains" } else { "" };
        writeln!(out, "  {interval:<28} {}{alarm}{abstain}", name(*index))?;
    }
    Ok(())
}

/// A rule as JSON.
pub(crate) fn rule_json(rule: &DecisionRule<'_>) -> Value {
    let actions: Vec<_> = rule
        .actions()
        .map(|action| json!({"name": action.name, "alarm": action.alarm, "abstain": action.abstain}))
        .collect();
    json!({
        "actions": actions,
        "thresholds": rule.thresholds(),
        "intervals": rule.intervals(),
        "uncalibrated": rule.uncalibrated(),
    })
}

/// The intervals that thresholds cut [0, 1] into.
pub(crate) fn intervals(thresholds: &[f32]) -> impl Iterator<Item = String> {
    let above =
        std::iter::once("[0".to_owned()).chain(thresholds.iter().map(|threshold| format!("({threshold}")));
    let up_to = thresholds.iter().map(f32::to_string).chain(["1".to_owned()]);
    above.zip(up_to).map(|(above, up_to)| format!("{above}, {up_to}]"))
}
