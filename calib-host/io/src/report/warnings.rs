//! What to be careful about.

use std::collections::{BTreeMap, BTreeSet};

use calib_core::artifact::{HeaderFlags, Reduction, Theorem};
use calib_core::{Artifact, BinFlags, Calibrator, VectorCalibrator};
use calib_fit::artifact::{VacuousBins, number_of};
use calib_fit::assess::{
    BeforeAfter, CalibratedRows, Evidence, FEWEST_EVENTS, Flaw, Prediction, PredictionKind,
};
use calib_fit::data::{BinaryData, Overlap, Repeats};
use calib_fit::stats::{percent_of_success, shown_bound, thousands};

use super::data::Origin;
use super::plots::Occupancy;
use super::subject::ReportData;

/// Bins with fewer test rows than this say little.
const FEW_IN_BIN: u64 = 10;

/// Fewer test rows than this say little altogether.
const FEW_ROWS: u64 = 500;

/// With no more positives, or no more negatives, a bin's frequency says little.
const FEW_EVENTS: u64 = 2;

/// A guarantee wider than this is of little use.
const USEFUL_EPSILON: f32 = 0.1;

/// Sentences, the weightiest first.
pub(super) fn warnings(
    artifact: &Artifact<'_>,
    data: &ReportData<'_>,
    origin: &Origin,
    (metrics, evidence, flaws): (&BeforeAfter, &[Evidence], &[Flaw]),
    occupancy: &[Occupancy],
) -> Vec<String> {
    let header = artifact.header();
    let ReportData { calibration, test, warnings, .. } = *data;
    let mut warnings = warnings.to_vec();
    let overlap = || same_rows(calibration, test).then(Overlap::exact);
    warnings.extend(origin.test_is_calibration.or_else(overlap).map(Overlap::warning));
    warnings.extend(evidence.iter().map(ToString::to_string));
    warnings.extend(flaws.iter().map(ToString::to_string));
    let mut warn = |text: String| warnings.push(text);
    if !origin.calibration_is_the_artifacts {
        warn(
            "The calibration data are not those that the artifact was fitted to: neither their rows nor the bytes of their files \
             have the hash that it states."
                .into(),
        );
    }
    if let Some(repeats) = repeats(test) {
        warn(repeats.to_string());
    }
    if test.uncalibrated > 0 {
        let all = test.uncalibrated + test.after.len() as u64;
        warn(format!(
            "{} of {} test rows are uncalibrated and left out: their class has no table, or no calibration observation is in \
             their bin.",
            thousands(test.uncalibrated),
            thousands(all)
        ));
    } else if header.flags.contains(HeaderFlags::CLASS_UNCALIBRATED) {
        warn("At least one class is uncalibrated; no test row is predicted to be of it.".into());
    }
    if header.flags.contains(HeaderFlags::TIES_MERGED) {
        let exact = header.guarantee.is_some_and(|guarantee| guarantee.theorem == Theorem::ClopperPearson);
        let what = if exact {
            "the guarantee is about the scores of the calibration set"
        } else {
            "no guarantee is stated there"
        };
        warn(format!("Equal scores at an edge were kept in one bin: {what}."));
    }
    if let Some(guarantee) = header.guarantee.filter(|guarantee| guarantee.epsilon > USEFUL_EPSILON) {
        warn(format!(
            "The guarantee is wide: epsilon is {}. More calibration observations or fewer bins make it narrower.",
            shown_bound(3, guarantee.epsilon.into())
        ));
    }
    warnings.extend(VacuousBins::of(artifact).remark());
    warnings.extend(few_events(artifact, calibration));
    warnings.extend(few_rows(metrics.after.n, counted_in(artifact)));
    warnings.extend(bins(artifact, occupancy));
    warnings.extend(test_rows(test, metrics));
    warnings
}

/// What is to be said of bins with a guarantee with almost no events.
fn few_events(artifact: &Artifact<'_>, calibration: &CalibratedRows) -> Option<String> {
    let header = artifact.header();
    if header.guarantee.is_none() || !counts_every_point(header.reduction) {
        return None;
    }
    let mut bins: BTreeMap<(u16, u32), [u64; 2]> = BTreeMap::new();
    for row in &calibration.after {
        bins.entry((row.class, row.bin)).or_default()[usize::from(row.hit)] += 1;
    }
    let few = bins.values().filter(|[misses, hits]| misses.min(hits) <= &FEW_EVENTS).count();
    let (bins, name) = counted_in(artifact);
    (few > 0).then(|| {
        format!(
            "At most two positives or at most two negatives are in {few} of {} of the calibrator: rely on the exact interval \
             there, not on epsilon.",
            number_of(bins as u64, name)
        )
    })
}

/// What shows that the test rows are not independent, unless someone said which belong together.
fn repeats(test: &CalibratedRows) -> Option<Repeats> {
    if test.clusters.is_some() {
        return None;
    }
    let (scores, labels) = test.before.iter().map(|row| (row.prob, row.hit)).unzip();
    // Points in memory are always read.
    Repeats::noticed_in(&BinaryData::new(scores, labels).ok()?).ok()?
}

/// What is to be said of the number of test rows.
fn few_rows(n: u64, (bins, name): (usize, &str)) -> Vec<String> {
    let mut warnings = Vec::new();
    if n < FEW_ROWS {
        warnings.push(format!(
            "There are only {n} test rows: the intervals are wide, and small errors go undetected."
        ));
    }
    if n < bins as u64 {
        warnings.push(format!(
            "There are fewer test rows than {name}s of the calibrator: {} for {}.",
            thousands(n),
            thousands(bins)
        ));
    }
    warnings
}

/// How many bins or score ranges rows are counted in: ranges where there are some, however many steps the calibrator has. Rows of a
/// function are not counted.
fn counted_in(artifact: &Artifact<'_>) -> (usize, &'static str) {
    match artifact.score_intervals().filter(|_| artifact.header().bins > 0) {
        Some(found) => {
            let tables = (0..found.count()).filter_map(|table| found.table(table));
            (tables.map(|ranges| ranges.intervals().len()).sum(), "score range")
        }
        None => (artifact.header().bins as usize, "bin"),
    }
}

/// What is to be said of how the test rows lie.
fn test_rows(test: &CalibratedRows, metrics: &BeforeAfter) -> Vec<String> {
    let mut warnings = Vec::new();
    let after = &metrics.after;
    if let (PredictionKind::Binary, Some(label), Some(rate)) =
        (after.kind, after.one_label(), after.rate.interval)
    {
        warnings.push(format!(
            "All {} test rows have label {}: nothing here shows how well the classes are separated, and the area under the \
             ROC curve is left out. Rate of label 1: exact {}% interval {rate:.4}.",
            after.n,
            u8::from(label),
            percent_of_success(after.c_emp.alpha)
        ));
    }
    if let Some(few @ 1..) = after.few_events() {
        warnings.push(format!(
            "Only {few} of the test rows have the rarer outcome: too few for intervals of the Brier score and the log-loss, which need \
             {FEWEST_EVENTS}."
        ));
    }
    let few = after.bins.iter().filter(|bin| bin.n < FEW_IN_BIN).count();
    if few > 0 {
        warnings.push(format!(
            "{few} of {} bins of the reliability diagram after calibration hold fewer than {FEW_IN_BIN} test rows.",
            after.bins.len()
        ));
    }
    if let Some((score, times)) = most_frequent(scores(test)).filter(|most| most.1 as u64 * 20 > after.n) {
        let share = 100.0 * times as f64 / after.n as f64;
        warnings.push(format!("Scores are tied: {share:.1}% of the test rows have the score {score}."));
    }
    if after.log_loss_clipped > 0 {
        warnings.push(format!(
            "Test rows with a calibrated probability of 0 for the observed outcome: {}. The log-loss clips it to 2.2e-16.",
            after.log_loss_clipped
        ));
    }
    warnings
}

/// What is to be said of the calibrator's own bins.
fn bins(artifact: &Artifact<'_>, occupancy: &[Occupancy]) -> Vec<String> {
    let mut warnings = Vec::new();
    let header = artifact.header();
    let tables = artifact.tables();
    let is_empty = |table: usize, bin: usize| tables.bin_flags(table, bin as u16).contains(BinFlags::EMPTY);
    let bins_of = |table: usize| tables.get(table).map_or(0, |table| table.form.bins());
    let mut empty: usize = (0..tables.count())
        .map(|table| (0..bins_of(table)).filter(|&bin| is_empty(table, bin)).count())
        .sum();
    if let Calibrator::Vector(VectorCalibrator::Binned(cells)) = artifact.calibrator() {
        empty += (0..header.bins).filter(|&cell| cells.flags(cell as u16).contains(BinFlags::EMPTY)).count();
    }
    if empty > 0 {
        warnings.push(format!(
            "{empty} of {} of the calibrator are empty: no calibration observation fell into them, and scores in them are \
             uncalibrated.",
            number_of(header.bins.into(), "bin")
        ));
    }
    let (bins, name) = counted_in(artifact);
    let few = occupancy.iter().filter(|bin| (1..FEW_IN_BIN).contains(&bin.calibration)).count();
    if few > 0 && counts_every_point(header.reduction) {
        warnings.push(format!(
            "{few} of {} of the calibrator rest on fewer than {FEW_IN_BIN} calibration rows.",
            number_of(bins as u64, name)
        ));
    }
    // One table for all classes, or cells of the whole vector: then the class makes no other bin.
    let one_table = matches!(header.reduction, Reduction::Confidence | Reduction::Joint);
    let met: BTreeSet<(u16, u32)> = occupancy
        .iter()
        .filter(|bin| bin.test > 0)
        .map(|bin| (if one_table { 0 } else { bin.class }, bin.bin))
        .collect();
    let unmet = bins.saturating_sub(met.len() + empty);
    if unmet > 0 && (one_table || counts_every_point(header.reduction)) {
        warnings.push(format!(
            "{unmet} of {} of the calibrator hold no test row: nothing here is known about them.",
            number_of(bins as u64, name)
        ));
    }
    warnings
}

/// Whether a row is in one bin of one table, which is that of its class.
fn counts_every_point(reduction: Reduction) -> bool {
    matches!(reduction, Reduction::Binary | Reduction::TopLabel)
}

/// Whether both data sets hold the same predictions with the same outcomes, in any order.
fn same_rows(a: &CalibratedRows, b: &CalibratedRows) -> bool {
    let sorted = |rows: &[Prediction]| {
        let mut keys: Vec<u128> = rows.iter().map(Prediction::key).collect();
        keys.sort_unstable();
        keys
    };
    let sorted_margins = |rows: &CalibratedRows| {
        let mut margins: Vec<u32> =
            rows.margins.iter().flatten().map(|margin| (margin + 0.0).to_bits()).collect();
        margins.sort_unstable();
        margins
    };
    a.before.len() == b.before.len()
        && sorted(&a.before) == sorted(&b.before)
        && sorted_margins(a) == sorted_margins(b)
}

/// The scores as the classifier gave them.
fn scores(rows: &CalibratedRows) -> Vec<f64> {
    match &rows.margins {
        Some(margins) => margins.iter().map(|&margin| f64::from(margin) + 0.0).collect(),
        None => rows.before.iter().map(|row| row.prob).collect(),
    }
}

/// The most frequent score, the lowest of several, and how often it occurs.
fn most_frequent(mut probs: Vec<f64>) -> Option<(f64, usize)> {
    probs.sort_unstable_by(f64::total_cmp);
    let tied = probs.chunk_by(|a, b| a == b);
    tied.map(|tied| (tied[0], tied.len())).rev().max_by_key(|most| most.1)
}
