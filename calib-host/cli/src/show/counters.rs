//! What a device's monitors say.

use std::io::{self, Write};

use calib_core::monitor::LogEvidence;
use calib_core::wire::{ActionOnAlarm, Counters, Persistence, Raised, Watched};
use calib_fit::artifact::number_of;
use calib_fit::fleet::{EvidenceLevel, e_value};
use serde_json::{Value, json};

use super::monitors::{REQUIRED, action_words, at_most};

/// The alerts of all tables.
pub(crate) fn counter_warnings(tables: &[Option<Counters>]) -> Vec<String> {
    let mut warnings = Vec::new();
    for counters in tables.iter().flatten() {
        let of = of_table(counters);
        let mut warn = |watched: Option<Watched>, what: &str, unit: &str| {
            if let Some(raised) = watched.and_then(|watched| watched.raised) {
                warnings.push(format!("{of}{what}: alert {}", since(raised, unit)));
            }
        };
        warn(Some(counters.shift), "the scores are not distributed like the reference scores", "prediction");
        warn(Some(counters.change), "the scores have changed", "prediction");
        warn(counters.guarantee, "outcomes are not as frequent as guaranteed", "outcome");
    }
    if tables.iter().flatten().any(|counters| counters.is_full) {
        warnings.push(
            "a counter is full: the device does not count there any more, and notices nothing new; write the counts to a file (`calib \
             status --counters`), and reset them with `calib label --reset`"
                .into(),
        );
    }
    // It is the same of all.
    let acts = tables.iter().flatten().find_map(|counters| counters.action);
    if let Some(ActionOnAlarm { action, is_done: true }) = acts {
        warnings.push(format!("since the alert, {}; `calib label --reset` ends this", action_words(action)));
    }
    warnings
}

/// Returns what the monitors of a table say, a line each.
pub(crate) fn counter_words(counters: &Counters) -> Vec<String> {
    let predictions: u64 = counters.predictions.iter().map(|&count| u64::from(count)).sum();
    let known: u64 = counters.outcomes.iter().map(|outcomes| u64::from(outcomes.labeled)).sum();
    let full = if counters.is_full {
        "; a counter is full: predictions or outcomes are not counted any more, and the e-value does not change"
    } else {
        ""
    };
    let guarantee = match counters.guarantee {
        Some(guarantee) => said(guarantee, "e-value", known, "outcome"),
        None => "not monitored: there is no guarantee that they could contradict".into(),
    };
    vec![
        format!(
            "monitors    {}{}, {known} with a known outcome{full}",
            of_table(counters),
            number_of(predictions, "prediction")
        ),
        format!("  scores    {}", said(counters.shift, "e-value", predictions, "prediction")),
        format!("  changes   {}", said(counters.change, "e-CUSUM", predictions, "prediction")),
        format!("  outcomes  {guarantee}"),
    ]
}

/// Prints what the monitors of every table say.
pub(crate) fn print_counters(out: &mut impl Write, tables: &[Option<Counters>]) -> io::Result<()> {
    for line in tables.iter().flatten().flat_map(counter_words) {
        writeln!(out, "{line}")?;
    }
    // It is the same of all.
    let Some(counters) = tables.iter().flatten().next() else { return Ok(()) };
    writeln!(out, "{}", holds(tables))?;
    let kept = match counters.persistence {
        Persistence::MemoryOnly => {
            "in memory only: every start counts from 0, and may raise a false alert again".into()
        }
        Persistence::SavedExcept(0) => "all in flash".into(),
        Persistence::SavedExcept(lost) => {
            format!("in flash except for the last {lost}, which are not in these numbers")
        }
        Persistence::Failed => "saving them to flash failed: no alert is raised until a save succeeds".into(),
        Persistence::Lost(lost) => format!(
            "saved counts could not be read, or belong to a calibrator that was passed over: whether there was an alert is not known; \
             {lost} predictions and outcomes are not in these numbers"
        ),
        _ => "kept in a way that only a later version of calib knows".into(),
    };
    writeln!(out, "counters    {kept}")?;
    if let Some(ActionOnAlarm { action, is_done }) = counters.action {
        let since = if is_done { "in effect since" } else { "on" };
        writeln!(out, "on alert    {}: {since} a shift or guarantee alert", action_words(action))?;
    }
    if !counters.takes_outcomes {
        writeln!(out, "counters    outcomes and resets are not accepted over this serial link")?;
    }
    Ok(())
}

/// How rare false alerts are on a device with all of its tables, and under which conditions.
fn holds(tables: &[Option<Counters>]) -> String {
    let count = u32::try_from(tables.iter().flatten().count()).unwrap_or(u32::MAX).max(1);
    let of_device = |watched: fn(&Counters) -> Option<Watched>| {
        let rarities = tables.iter().flatten().filter_map(watched).map(|watched| watched.alarm.odds());
        rarities.min().map(|rarity| at_most(rarity / count, "device"))
    };
    let about = |what: &str, of: Option<String>| of.map(|of| format!("about {what} {of}"));
    let scores = about("scores", of_device(|counters| Some(counters.shift)));
    let outcomes = about("outcomes", of_device(|counters| counters.guarantee));
    let rare: Vec<String> = scores.into_iter().chain(outcomes).collect();
    let is_in_memory =
        tables.iter().flatten().any(|counters| counters.persistence == Persistence::MemoryOnly);
    let each = if is_in_memory { ", in each start" } else { "" };
    format!("False alerts at any time: {}{each}.\n{REQUIRED}.", rare.join(", "))
}

/// What the monitors of a table say, as JSON.
pub(crate) fn counters_json(counters: &Counters) -> Value {
    json!({
        "calibrator": counters.calibrator.to_string(),
        "table": counters.table,
        "predictions": counters.predictions.as_slice(),
        "labeled": counters.outcomes.iter().map(|known| known.labeled).collect::<Vec<_>>(),
        "positives": counters.outcomes.iter().map(|known| known.positives).collect::<Vec<_>>(),
        "shift": watched_json(counters.shift),
        "change": watched_json(counters.change),
        "guarantee": counters.guarantee.map(watched_json),
        "full": counters.is_full,
        "survive_restart": matches!(counters.persistence, Persistence::SavedExcept(_) | Persistence::Lost(_)),
        "not_yet_saved": match counters.persistence {
            Persistence::SavedExcept(lost) | Persistence::Lost(lost) => Some(lost),
            _ => None,
        },
        "saved_were_lost": matches!(counters.persistence, Persistence::Lost(_)),
        "takes_outcomes": counters.takes_outcomes,
        "action": counters.action.map_or("flag".into(), |on_alarm| on_alarm.action.to_string()),
        "action_is_done": counters.action.is_some_and(|on_alarm| on_alarm.is_done),
    })
}

fn watched_json(watched: Watched) -> Value {
    let (at, is_exact) = match watched.raised {
        Some(Raised::At(at)) => (Some(at), true),
        Some(Raised::By(at)) => (Some(at), false),
        None => (None, true),
    };
    json!({
        "standing": level(watched).to_string(),
        "log_evidence": log(watched.evidence),
        "alarm_at_odds": watched.alarm.odds(),
        "raised_at": at,
        "raised_at_is_exact": is_exact,
    })
}

/// Which table it is, if there are several.
fn of_table(counters: &Counters) -> String {
    match counters.tables {
        1 => String::new(),
        _ => format!("table {}: ", counters.table),
    }
}

/// An alert stays one if the e-value decreases again.
fn level(watched: Watched) -> EvidenceLevel {
    match watched.raised {
        Some(_) => EvidenceLevel::Alarm,
        None => EvidenceLevel::of_no_alarm(log(watched.evidence)),
    }
}

/// What so many predictions or outcomes say.
fn said(watched: Watched, statistic: &str, seen: u64, unit: &str) -> String {
    if seen == 0 && watched.raised.is_none() {
        return format!("nothing to evaluate: no {unit} is known");
    }
    let (value, limit) = (e_value(log(watched.evidence)), watched.alarm.odds());
    match (watched.raised, level(watched)) {
        (Some(raised), _) => format!("alert {}, {statistic} {value} (alert at {limit})", since(raised, unit)),
        (None, EvidenceLevel::Quiet) => format!("{} (alert at {statistic} {limit})", EvidenceLevel::Quiet),
        (None, evidence) => format!("{evidence}, {statistic} {value} (alert at {limit})"),
    }
}

fn since(raised: Raised, unit: &str) -> String {
    match raised {
        Raised::At(at) => format!("since {unit} {at}"),
        Raised::By(at) => format!("since {unit} {at} or before"),
    }
}

fn log(evidence: LogEvidence) -> f64 {
    evidence.units() as f64 / LogEvidence::UNITS as f64
}

#[cfg(test)]
mod tests {
    use calib_core::Identity;

    use super::*;

    fn counters(tables: u16, of_each: u32, is_full: bool) -> Vec<Option<Counters>> {
        let watched = |rarity| Watched {
            evidence: LogEvidence::NONE,
            alarm: LogEvidence::of_one_in(rarity * of_each),
            raised: None,
        };
        let table = |table| Counters {
            calibrator: Identity(*b"identity"),
            table,
            tables,
            predictions: Default::default(),
            outcomes: Default::default(),
            shift: watched(20),
            change: watched(10_000),
            guarantee: Some(watched(100)),
            is_full: is_full && table == 0,
            persistence: Persistence::SavedExcept(0),
            takes_outcomes: true,
            action: None,
        };
        (0..tables).map(|at| Some(table(at))).collect()
    }

    /// The bounds are for all tables of a device together, even if they were not divided among the tables.
    #[test]
    fn the_conditions_are_told_with_how_rare_false_alarms_are() {
        let said = |tables, of_each| holds(&counters(tables, of_each, false));
        let about = |scores: &str, outcomes: &str| {
            format!("False alerts at any time: about scores {scores}, about outcomes {outcomes}")
        };
        let at_most = |rarity| format!("with probability at most 1/{rarity} per device");
        for (tables, of_each, rare) in [
            (1, 1, about(&at_most(20), &at_most(100))),
            (3, 3, about(&at_most(20), &at_most(100))),
            (3, 1, about(&at_most(6), &at_most(33))),
            (12, 1, about("with any probability", &at_most(8))),
        ] {
            assert_eq!(said(tables, of_each), format!("{rare}.\n{REQUIRED}."), "{tables} {of_each}");
        }
        assert!(REQUIRED.contains("an independent draw from the population of the reference scores"));
        let mut unguaranteed = counters(1, 1, false);
        unguaranteed[0].as_mut().unwrap().guarantee = None;
        let scores = format!("False alerts at any time: about scores {}", at_most(20));
        assert!(holds(&unguaranteed).starts_with(&format!("{scores}.\n")));
        // Counters in memory hold that for one start.
        unguaranteed[0].as_mut().unwrap().persistence = Persistence::MemoryOnly;
        assert!(holds(&unguaranteed).starts_with(&format!("{scores}, in each start.\n")));
    }

    #[test]
    fn a_full_counter_is_told_with_what_to_do() {
        let (quiet, full) = (counters(2, 2, false), counters(2, 2, true));
        assert_eq!(counter_warnings(&quiet), Vec::<String>::new());
        let [warning] = &counter_warnings(&full)[..] else { panic!("{:?}", counter_warnings(&full)) };
        assert!(
            warning.contains("notices nothing new") && warning.contains("calib label --reset"),
            "{warning}"
        );
        let words = |tables: &[Option<Counters>]| counter_words(tables[0].as_ref().unwrap())[0].clone();
        assert!(words(&full).contains("a counter is full: "), "{}", words(&full));
        assert!(!words(&quiet).contains("full"), "{}", words(&quiet));
    }

    #[test]
    fn evidence_is_told_as_what_it_amounts_to() {
        let watched = |log: f64, raised| Watched {
            evidence: LogEvidence::from_units((log * LogEvidence::UNITS as f64) as i64),
            alarm: LogEvidence::of_one_in(20),
            raised,
        };
        for (log, raised, expected) in [
            (-3.0, None, "quiet (alert at e-value 20)"),
            (0.0, None, "quiet (alert at e-value 20)"),
            (2.0, None, "weak evidence, e-value 7.4 (alert at 20)"),
            (2.9, None, "evidence, e-value 18.2 (alert at 20)"),
            (5.0, Some(Raised::At(192)), "alert since prediction 192, e-value 148.4 (alert at 20)"),
            (-1.0, Some(Raised::By(7)), "alert since prediction 7 or before, e-value 0.4 (alert at 20)"),
            (1000.0, Some(Raised::At(9)), "alert since prediction 9, e-value 10^434.3 (alert at 20)"),
        ] {
            assert_eq!(said(watched(log, raised), "e-value", 1, "prediction"), expected);
        }
        // That nothing is known is no sign that all is well.
        assert_eq!(
            said(watched(0.0, None), "e-value", 0, "outcome"),
            "nothing to evaluate: no outcome is known"
        );
        assert!(
            said(watched(5.0, Some(Raised::At(9))), "e-value", 0, "outcome")
                .starts_with("alert since outcome 9")
        );
    }
}
