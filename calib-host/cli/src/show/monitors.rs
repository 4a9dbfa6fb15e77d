//! What the monitors of an artifact compare with.

use std::io::{self, Write};

use calib_core::Artifact;
use calib_core::artifact::MonitorAction;
use calib_fit::StoredArtifact;
use calib_fit::artifact::{guarantee_text, monitor_scores};
use calib_fit::stats::thousands;

use crate::out::labelled;

/// How rare the false alarms are, where monitors count, what they take for granted, and what is done on an alarm.
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
        at_most(shift),
        thousands(change),
        at_most(guarantee)
    )];
    if references.len() > 1 {
        let [shift, change, guarantee] = monitors.rarities();
        lines.push(format!(
            "This is for a device as a whole. Each of its {} monitored tables raises an alarm at evidence of 1 : {shift} for a shift, 1 : {change} \
             for a change and 1 : {guarantee} for the guarantee.",
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
        "These limits require that each prediction is an independent draw from the population of the {population}: count one a patient."
    ));
    lines.extend(artifact.monitor_action().map(|action| {
        let what = action_words(action);
        format!(
            "On an alarm of a shift or of the guarantee {what}, until you reset its counts. A device that cannot do this rejects the artifact."
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
    let guarantee = guarantee.short_lines().into_iter().flat_map(|(label, text)| labelled(label, &text));
    let monitors = monitor_sentences(&stored.artifact()).into_iter().enumerate();
    let monitors = monitors.flat_map(|(at, text)| match at {
        0 => labelled("Monitors", &format!("{since}{text}")),
        _ => labelled("", &text),
    });
    guarantee.chain(monitors).collect()
}

/// The largest probability that a device ever reports this falsely.
fn at_most(rarity: u32) -> String {
    match rarity {
        // With that many tables, each with such an alert, there is no bound.
        0 | 1 => "with any probability".into(),
        rarity => format!("with probability at most 1/{rarity} per device"),
    }
}

/// Under which conditions evidence is such, before what follows from them.
pub(super) const HOLDS: &str = "This holds if each prediction is an independent draw from the population of the reference scores (one a patient), and which \
                                outcomes are reported, and when, depends on neither the label nor what predicts it within a bin";

/// In how many devices or fleets an alarm is false at most.
pub(super) fn of_so_many(rarity: u32, what: &str) -> String {
    match rarity {
        // Of so many tables, each with such an alarm, nothing is known.
        0 | 1 => format!("any number of {what}"),
        rarity => format!("1 of {rarity} {what}"),
    }
}

/// What a device does on an alarm.
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
