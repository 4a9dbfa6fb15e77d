//! What the monitors of an artifact compare with.

use std::io::{self, Write};

use calib_core::Artifact;
use calib_core::artifact::MonitorAction;
use calib_fit::StoredArtifact;
use calib_fit::artifact::{guarantee_text, monitor_scores};
use calib_fit::stats::thousands;

use crate::out::labeled;

/// How rare false alerts are, where monitors count, what they assume, and what a device does after an alert.
fn monitor_lines(artifact: &Artifact<'_>) -> Vec<String> {
    let Some(monitors) = artifact.monitors() else { return Vec::new() };
    let [shift, change, guarantee] = monitors.rarities_of_device();
    let references: Vec<_> = (0..monitors.count()).filter_map(|table| monitors.reference(table)).collect();
    let bins: usize = references.iter().map(|reference| reference.bins()).sum();
    let is_own = (0..monitors.count()).any(|table| monitors.own_edges(table).is_some());
    let whose = if is_own { "separate bins" } else { "bins of the tables" };
    let of_tables = match monitors.count() {
        1 => String::new(),
        all => format!(", {} of {all} tables", references.len()),
    };
    let mut lines = vec![format!(
        "false alerts if nothing changes: a shift {}, a change on average at least {} predictions apart, the guarantee {}; {bins} \
         {whose}{of_tables}",
        at_most(shift, "device"),
        thousands(change),
        at_most(guarantee, "device")
    )];
    if references.len() > 1 {
        let [shift, change, guarantee] = monitors.rarities();
        lines.push(format!(
            "This is for a device as a whole. Each of its {} monitored tables raises an alert at these levels: e-value {shift} for a shift, e-CUSUM \
             {change} for a change, e-value {guarantee} for the guarantee.",
            references.len()
        ));
    }
    let population = match monitor_scores(artifact) {
        Some(scores) => {
            format!("{scores} scores that they compare with, other than those of the calibration")
        }
        None => "calibration scores".into(),
    };
    lines.push(format!(
        "These limits require that each prediction is an independent draw from the population of the {population}: count one per patient."
    ));
    lines.extend(artifact.monitor_action().map(|action| {
        let what = action_words(action);
        format!(
            "After a shift or guarantee alert, {what}, until you reset the counts. A device that cannot do this rejects the artifact."
        )
    }));
    lines
}

/// The same as sentences of a summary; none if there are no monitors.
pub(crate) fn monitor_sentences(artifact: &Artifact<'_>) -> Vec<String> {
    let mut lines = monitor_lines(artifact).into_iter();
    let first = lines.next().map(|first| format!("{first}."));
    first.into_iter().chain(lines).collect()
}

/// The same in lines, behind what is guaranteed in short. `since` stands before the first sentence.
pub(crate) fn guarantee_and_monitors(stored: &StoredArtifact, since: &str) -> Vec<String> {
    let guarantee = guarantee_text(stored);
    let guarantee = guarantee.short_lines().into_iter().flat_map(|(label, text)| labeled(label, &text));
    let monitors = monitor_sentences(&stored.artifact()).into_iter().enumerate();
    let monitors = monitors.flat_map(|(at, text)| match at {
        0 => labeled("Monitors", &format!("{since}{text}")),
        _ => labeled("", &text),
    });
    guarantee.chain(monitors).collect()
}

/// The largest probability of a false alert at any time, for each of these.
pub(super) fn at_most(rarity: u32, of: &str) -> String {
    match rarity {
        // With that many tables, each with such an alert, there is no bound.
        0 | 1 => "with any probability".into(),
        rarity => format!("with probability at most 1/{rarity} per {of}"),
    }
}

/// What the bounds on false alerts require.
pub(super) const REQUIRED: &str = "This requires that each prediction is an independent draw from the population of the reference scores (one per patient). \
                                   Which outcomes are reported, and when, must depend on neither the label nor what predicts it within a bin";

/// What a device does after an alert.
pub(crate) const fn action_words(action: MonitorAction) -> &'static str {
    match action {
        MonitorAction::Alarm => "the device's own alarm stays raised",
        MonitorAction::Uncalibrated => {
            "every prediction is uncalibrated and the device's own alarm stays raised"
        }
    }
}

/// The lines for people.
pub(super) fn print_monitors(artifact: &Artifact<'_>, out: &mut dyn Write) -> io::Result<()> {
    monitor_lines(artifact)
        .iter()
        .enumerate()
        .try_for_each(|(at, line)| writeln!(out, "{:<12}{line}", if at == 0 { "monitors" } else { "" }))
}
