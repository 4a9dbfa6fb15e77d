//! What the monitors of an artefact compare with.

use std::io::{self, Write};

use calib_core::artifact::{MonitorAction, Monitors};
use calib_core::{Margin, ScoreEncoding};
use serde_json::{Value, json};

/// How rare the false alarms are, where monitors count, what they take for granted, and what is done on an alarm.
pub(super) fn monitor_lines(monitors: &Monitors<'_>, action: Option<MonitorAction>) -> Vec<String> {
    let [shift, change, promise] = monitors.rarities();
    let references: Vec<_> = (0..monitors.count()).filter_map(|table| monitors.reference(table)).collect();
    let bins: usize = references.iter().map(|reference| reference.bins()).sum();
    let is_own = (0..monitors.count()).any(|table| monitors.own_edges(table).is_some());
    let whose = if is_own { "bins of their own" } else { "bins of the tables" };
    let of_tables = match monitors.count() {
        1 => String::new(),
        all => format!(", {} of {all} tables", references.len()),
    };
    let mut lines = vec![
        format!(
            "false alarms: of a shift in 1 of {shift} devices, of a change every {change} predictions, of the promise in 1 of {promise} \
             devices, or fewer; {bins} {whose}{of_tables}"
        ),
        "They hold while every prediction is a fresh draw from the population of the calibration scores: count one a patient.".into(),
    ];
    lines.extend(action.map(|action| {
        let what = action_words(action);
        format!(
            "On an alarm of a shift or of the promise {what}, until the device counts anew; a device that cannot do that refuses the artefact."
        )
    }));
    lines
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
pub(super) fn print_monitors(
    monitors: &Monitors<'_>,
    action: Option<MonitorAction>,
    out: &mut dyn Write,
) -> io::Result<()> {
    let lines = monitor_lines(monitors, action);
    lines
        .iter()
        .enumerate()
        .try_for_each(|(at, line)| writeln!(out, "{:<12}{line}", if at == 0 { "monitors" } else { "" }))
}

/// The numbers for programs.
pub(super) fn monitors_json(
    monitors: &Monitors<'_>,
    action: Option<MonitorAction>,
    encoding: ScoreEncoding,
) -> Value {
    let [shift, change, promise] = monitors.rarities();
    let edge = |&key: &u32| match encoding.is_margin() {
        true => Margin::from_key(key).map_or(f64::NAN, |margin| margin.get().into()),
        false => f64::from(f32::from_bits(key)),
    };
    let table = |table| {
        let gaps = monitors.reference(table)?.each().collect::<Vec<_>>();
        let edges = monitors.own_edges(table).map(|keys| keys.iter().map(edge).collect::<Vec<_>>());
        Some(json!({"gaps": gaps, "edges": edges}))
    };
    json!({
        "shift": shift,
        "change": change,
        "promise": promise,
        "action": action.map_or("flag".into(), |action| action.to_string()),
        "tables": (0..monitors.count()).map(table).collect::<Vec<_>>(),
    })
}
