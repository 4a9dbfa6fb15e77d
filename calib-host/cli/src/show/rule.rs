//! A decision rule on the screen.

use std::io::{self, Write};

use calib_core::decision::SureBy;
use calib_core::{Artifact, DecisionRule};
use calib_fit::artifact::rule_sentences;
use serde_json::{Value, json};

/// Prints what an artifact's rule does, a line for each interval.
pub(crate) fn print_rule(out: &mut dyn Write, rule: &DecisionRule<'_>) -> io::Result<()> {
    let name = |index: u8| rule.action(index).map_or("", |action| action.name);
    writeln!(
        out,
        "decision    {} actions, without a probability: {}",
        rule.action_count(),
        name(rule.uncalibrated())
    )?;
    if let Some(unsure) = rule.unsure() {
        writeln!(out, "            where the evidence does not suffice: {}", name(unsure))?;
    }
    for (index, interval) in rule.intervals().iter().zip(intervals(rule.thresholds())) {
        let action = rule.action(*index);
        let alarm = if action.is_some_and(|action| action.alarm) { "  alarm" } else { "" };
        let abstain = if action.is_some_and(|action| action.abstain) { "  abstains" } else { "" };
        let if_sure = match action.and_then(|action| action.if_sure) {
            None => "",
            Some(SureBy::Interval) => "  if the evidence suffices",
            Some(SureBy::Band) => "  if the band at the score suffices",
        };
        writeln!(out, "  {interval:<28} {}{alarm}{abstain}{if_sure}", name(*index))?;
    }
    Ok(())
}

/// A rule as JSON.
pub(crate) fn rule_json(rule: &DecisionRule<'_>) -> Value {
    let actions: Vec<_> = rule
        .actions()
        .map(|action| {
            json!({
                "name": action.name,
                "alarm": action.alarm,
                "abstain": action.abstain,
                "if_sure": match action.if_sure {
                    None => json!(false),
                    Some(SureBy::Interval) => json!(true),
                    Some(SureBy::Band) => json!("band"),
                },
            })
        })
        .collect();
    json!({
        "actions": actions,
        "thresholds": rule.thresholds(),
        "intervals": rule.intervals(),
        "uncalibrated": rule.uncalibrated(),
        "unsure": rule.unsure(),
    })
}

/// Prints what the operating points or the prediction sets of an artifact do, a line a sentence.
pub(crate) fn print_thresholds(out: &mut dyn Write, artifact: &Artifact<'_>) -> io::Result<()> {
    let what = if artifact.operating_points().is_some() { "thresholds" } else { "sets" };
    for (at, sentence) in rule_sentences(artifact).iter().enumerate() {
        writeln!(out, "{:<12}{sentence}", if at == 0 { what } else { "" })?;
    }
    Ok(())
}

/// The intervals that thresholds cut [0, 1] into.
pub(crate) fn intervals(thresholds: &[f32]) -> impl Iterator<Item = String> {
    let above =
        std::iter::once("[0".to_owned()).chain(thresholds.iter().map(|threshold| format!("({threshold}")));
    let up_to = thresholds.iter().map(f32::to_string).chain(["1".to_owned()]);
    above.zip(up_to).map(|(above, up_to)| format!("{above}, {up_to}]"))
}
