//! Whether a calibrator keeps a protocol.

use calib_core::Artifact;
use calib_core::artifact::Guarantee;
use calib_fit::StoredArtifact;
use calib_fit::adjust::adjusted_prevalence;
use calib_fit::assess::{Change as Changed, EstimateWithInterval, Figure};
use calib_fit::job::Finding;

use super::lines::{Line, Reading};
use super::measure::{Measured, RowFigures};
use super::plan::{Accept, Demands, JudgedBy, Margins, Protocol};
use crate::files::PublicKey;

/// What is judged.
#[derive(Clone, Copy, Debug)]
pub struct Case<'a> {
    /// The artifact that may be signed.
    pub new: &'a StoredArtifact,
    /// The active one, if there is one.
    pub active: Option<&'a StoredArtifact>,
    /// What the test rows show.
    pub measured: &'a Measured,
    /// Who signs, or approves.
    pub key: &'a PublicKey,
    /// Whether the signature is only an approval, so that no other one is needed before it.
    pub approves: bool,
    /// What earlier decisions say.
    pub history: &'a History,
}

/// What earlier decisions say about a case.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct History {
    /// The identity of the artifact that was signed last, if there is one.
    pub newest: Option<String>,
    /// The number of the entry by which the same calibrator was signed, if it was, with another counter.
    pub signed_before: Option<u64>,
    /// The number of the entry in which another calibrator was judged by the same test rows, if there is one.
    pub rows_used: Option<u64>,
    /// Whether another key of the protocol approved the same artifact by the same rows.
    pub approved: bool,
}

/// Compares a case with each line of a protocol.
///
/// ```
/// # fn f(protocol: &calib_io::protocol::Protocol, case: &calib_io::protocol::Case<'_>) {
/// use calib_io::protocol::judge;
///
/// let is_accepted = judge(protocol, case).iter().all(|line| line.kept);
/// # }
/// ```
pub fn judge(protocol: &Protocol, case: &Case<'_>) -> Vec<Line> {
    let mut lines = Vec::new();
    let back_to = case.history.signed_before.filter(|_| protocol.rollback);
    lines.extend(of_counter(case));
    match back_to {
        Some(entry) => lines.push(Line::new(
            "rollback.allowed",
            "a calibrator that was signed before",
            format!("the calibrator of entry {entry}"),
            true,
        )),
        None => lines.extend(of_change(protocol, case)),
    }
    lines.extend(of_guarantee(&protocol.accept, &case.new.artifact()));
    let demands = |demands: Demands| Demands {
        not_worse_by: if back_to.is_some() { Margins::default() } else { demands.not_worse_by },
        ..demands
    };
    let (by, measured) = (protocol.accept.judged_by, case.measured);
    lines.extend(of_rows(&demands(protocol.accept.all()), &measured.all, None, by));
    match (protocol.accept.each_group, &measured.groups) {
        (Some(each), Some(groups)) => lines.extend(
            groups.iter().flat_map(|group| of_rows(&demands(each), &group.figures, Some(&group.group), by)),
        ),
        (Some(_), None) => lines.push(Line::new(
            "accept.each_group",
            "test rows with groups",
            "the test rows are in no groups",
            false,
        )),
        (None, _) => {}
    }
    // Going back chooses no calibrator by the rows.
    lines.extend(
        of_test_rows(protocol, case)
            .into_iter()
            .filter(|line| back_to.is_none() || line.line != "rows.fresh"),
    );
    lines.push(of_key(protocol, case));
    lines
}

/// The counter, and that the active artifact is the one that was signed last.
fn of_counter(case: &Case<'_>) -> Vec<Line> {
    let counter = case.new.artifact().counter();
    let above = case.active.map_or(0, |active| active.artifact().counter());
    let mut lines = vec![Line::new(
        "counter",
        format!("above {above}"),
        Reading::Number(counter.into()),
        counter > above,
    )];
    if let Some(newest) = &case.history.newest {
        let active = case.active.map(|active| active.artifact().identity().to_string());
        let is_newest = active.as_ref() == Some(newest);
        let measured = active.unwrap_or_else(|| "no active artifact was given".into());
        lines.push(Line::new("active", format!("{newest}, which was signed last"), measured, is_newest));
    }
    lines
}

/// What may change, compared with the active artifact.
fn of_change(protocol: &Protocol, case: &Case<'_>) -> Vec<Line> {
    let change = &protocol.change;
    let new = case.new.artifact();
    let active = case.active.map(StoredArtifact::artifact);
    let mut lines = Vec::new();
    let mut same = |line: &str, of: &dyn Fn(&Artifact<'_>) -> String| {
        if let Some(active) = &active {
            let (required, measured) = (of(active), of(&new));
            let kept = required == measured;
            lines.push(Line::new(line, format!("{required}, as before"), measured, kept));
        }
    };
    same("scores", &scores);
    if change.methods.is_none() {
        same("change.methods", &|artifact| artifact.header().method.to_string());
    }
    if change.bins.is_none() {
        same("change.bins", &|artifact| artifact.header().bins.to_string());
    }
    if let Some(methods) = &change.methods {
        let method = new.header().method.to_string();
        let kept = methods.contains(&method);
        lines.push(Line::new("change.methods", methods.join(", "), method, kept));
    }
    if let Some([least, greatest]) = change.bins {
        let bins = new.header().bins;
        let required = format!("{least} to {greatest}");
        let kept = (least..=greatest).contains(&bins);
        lines.push(Line::new("change.bins", required, Reading::Number(bins.into()), kept));
    }
    lines.extend(of_prevalence(change.prevalence, case));
    if let (false, Some(active)) = (change.rows, case.active) {
        let hash = |stored: &StoredArtifact| {
            let of_rows = stored.sample().map(|sample| sample.rows.to_bytes().to_vec());
            hex::encode(of_rows.unwrap_or(stored.artifact().header().provenance.data_sha256.to_vec()))
        };
        let (required, measured) = (hash(active), hash(case.new));
        let kept = required == measured;
        lines.push(Line::new("change.rows", format!("{required}, as before"), measured, kept));
    }
    lines
}

/// The classifier, and what the scores are.
fn scores(artifact: &Artifact<'_>) -> String {
    let header = artifact.header();
    let classifier = header.provenance.classifier.map_or("any".into(), |id| id.to_string());
    format!("classifier {classifier}, {} classes, {}, {}", header.classes, header.encoding, header.reduction)
}

fn of_prevalence(allowed: Option<[f64; 2]>, case: &Case<'_>) -> Option<Line> {
    let words = |prevalence: Option<f64>| prevalence.map_or("not adjusted".into(), |share| share.to_string());
    let new = adjusted_prevalence(case.new);
    let before = case.active.map(adjusted_prevalence);
    match allowed {
        // What is not adjusted is for the prevalence of its rows.
        Some(_) if new.is_none() => None,
        Some([least, greatest]) => Some(Line::new(
            "change.prevalence",
            format!("{least} to {greatest}"),
            new.map_or_else(|| words(new).into(), Reading::Number),
            new.is_some_and(|share| (least..=greatest).contains(&share)),
        )),
        None => before.map(|before| {
            Line::new("change.prevalence", format!("{}, as before", words(before)), words(new), before == new)
        }),
    }
}

/// What the artifact guarantees.
fn of_guarantee(accept: &Accept, artifact: &Artifact<'_>) -> Vec<Line> {
    let guarantee = artifact.header().guarantee;
    let ranges = artifact.score_intervals();
    let mut lines = Vec::new();
    if let Some(limit) = accept.epsilon {
        let epsilon = guarantee.map(|Guarantee { epsilon, .. }| shortest(epsilon));
        lines.push(Line::at_most("accept.epsilon", limit, epsilon.ok_or("no epsilon is guaranteed".into())));
    }
    if let Some(limit) = accept.interval_width {
        let tables =
            ranges.iter().flat_map(|found| (0..found.count()).filter_map(|table| found.table(table)));
        let widths = tables.flat_map(|table| {
            (0..table.bins())
                .filter_map(move |bin| table.interval(bin))
                .map(|at| shortest(at.hi) - shortest(at.lo))
        });
        let widest = widths.reduce(f64::max).ok_or("no interval of a score range is guaranteed".into());
        lines.push(Line::at_most("accept.interval_width", limit, widest));
    }
    if let Some(limit) = accept.alpha {
        let of_ranges = ranges.map(|found| shortest(found.alpha()));
        let alphas = guarantee.map(|Guarantee { alpha, .. }| shortest(alpha)).into_iter().chain(of_ranges);
        let greatest = alphas.reduce(f64::max).ok_or("nothing is guaranteed".into());
        lines.push(Line::at_most("accept.alpha", limit, greatest));
    }
    lines
}

/// The number that an artifact states, as it is written in decimals.
fn shortest(number: f32) -> f64 {
    calib_fit::artifact::shortest(number)
}

/// What test rows show.
fn of_rows(demands: &Demands, figures: &RowFigures, group: Option<&str>, by: JudgedBy) -> Vec<Line> {
    let name = |key: &str| match group {
        None => format!("accept.{key}"),
        Some(_) => format!("accept.each_group.{key}"),
    };
    let mut lines = Vec::new();
    let alarm = figures.alarm;
    for (key, limit, figure) in [
        ("sensitivity", demands.sensitivity, alarm.map(|alarm| alarm.sensitivity)),
        ("specificity", demands.specificity, alarm.map(|alarm| alarm.specificity)),
    ] {
        if let Some(limit) = limit {
            lines.push(Line::at_least(&name(key), limit, least(figure, by)));
        }
    }
    let Margins { brier, log_loss, auc, conf_ece } = demands.not_worse_by;
    let change = figures.change.as_ref();
    type Of = fn(&Changed) -> Option<EstimateWithInterval>;
    let metrics: [(&str, Option<f64>, Of, bool); 4] = [
        ("brier", brier, |change| Some(change.brier), false),
        ("log_loss", log_loss, |change| Some(change.log_loss), false),
        ("auc", auc, |change| change.auc, true),
        ("conf_ece", conf_ece, |change| Some(change.conf_ece), false),
    ];
    for (key, limit, of, falls) in metrics {
        let (Some(limit), Some(change)) = (limit, change) else { continue };
        let worse = match change {
            Ok(change) => of(change).ok_or("undefined".into()).and_then(|change| worse_by(change, falls, by)),
            Err(rows) => Err(format!("{rows} rows have no probability")),
        };
        lines.push(Line::at_most(&name(&format!("not_worse_by.{key}")), limit, worse));
    }
    lines.into_iter().map(|line| line.of_group(group)).collect()
}

/// The least that a share may be.
fn least(figure: Option<Figure>, by: JudgedBy) -> Result<f64, String> {
    let figure = figure.ok_or("the artifact has no one threshold for an alarm")?;
    let found = figure.get().map_err(|cause| cause.to_string())?;
    match (by, found.interval) {
        (JudgedBy::Estimate, _) => Ok(found.value),
        (JudgedBy::Interval, interval) => interval.map(|interval| interval.lo).ok_or("no interval".into()),
    }
}

/// By how much a metric may have become worse.
fn worse_by(change: EstimateWithInterval, falls: bool, by: JudgedBy) -> Result<f64, String> {
    let worse = |value: f64| if falls { -value } else { value };
    match by {
        JudgedBy::Estimate => Ok(worse(change.value)),
        JudgedBy::Interval => match change.interval {
            Some(interval) => Ok(worse(if falls { interval.lo } else { interval.hi })),
            None => Err("too few events for an interval".into()),
        },
    }
}

/// Which test rows there are.
fn of_test_rows(protocol: &Protocol, case: &Case<'_>) -> Vec<Line> {
    let (rows, measured) = (&protocol.rows, case.measured);
    let mut lines = vec![
        Line::at_least("rows.n", rows.n as f64, Ok(measured.all.n as f64)),
        Line::at_least(
            "rows.events",
            rows.events as f64,
            measured.all.events.map(|events| events as f64).ok_or("several classes have no events".into()),
        ),
    ];
    if rows.events == 0 {
        lines.pop();
    }
    if rows.independent {
        let found = match (&measured.overlap, &measured.repeats) {
            (Some(overlap), _) => format!("{overlap} that the artifact was fitted to"),
            (None, Some(repeats)) => Finding::Dependence(*repeats).to_string(),
            (None, None) => "nothing was found against it".into(),
        };
        let kept = measured.overlap.is_none() && measured.repeats.is_none();
        lines.push(Line::new("rows.independent", "no calibration rows, and no repeated rows", found, kept));
    }
    if rows.fresh {
        let used = case.history.rows_used;
        let found = used.map_or("no earlier entry".into(), |entry| format!("entry {entry}"));
        let required = "no entry about another calibrator with the same rows";
        lines.push(Line::new("rows.fresh", required, found, used.is_none()));
    }
    lines
}

/// Who signs.
fn of_key(protocol: &Protocol, case: &Case<'_>) -> Line {
    let is_named = protocol.sign.keys.contains(case.key);
    let needed = if case.approves { 1 } else { protocol.sign.needed };
    let signers = usize::from(is_named) + usize::from(case.history.approved);
    let measured = match (is_named, signers < needed) {
        (false, _) => format!("key {}, which is not named", case.key.id()),
        (true, true) => format!("key {}, and no approval by another key", case.key.id()),
        (true, false) => format!("key {}", case.key.id()),
    };
    let required = if needed == 1 { "a key that is named" } else { "two keys that are named" };
    Line::new("sign.keys", required, measured, is_named && signers >= needed)
}
