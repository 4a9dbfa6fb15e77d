//! What to be careful about.

use calib_core::{Artifact, HeaderFlags};

use super::{CalibratedRows, Origin};
use crate::assess::{BeforeAfter, Prediction};

/// Bins with fewer test rows than this say little.
const FEW_IN_BIN: u64 = 10;

/// Fewer test rows than this say little altogether.
const FEW_ROWS: u64 = 500;

/// A guarantee wider than this is of little use.
const USEFUL_EPSILON: f32 = 0.1;

/// Sentences, the weightiest first.
pub(super) fn warnings(
    artifact: &Artifact<'_>,
    calibration: &CalibratedRows,
    test: &CalibratedRows,
    origin: &Origin,
    metrics: &BeforeAfter,
) -> Vec<String> {
    let header = artifact.header();
    let mut warnings = Vec::new();
    let mut warn = |text: String| warnings.push(text);
    if origin.test_is_calibration || same_rows(calibration, test) {
        warn("The test data are the calibration data: every figure here is too good to be true.".into());
    }
    if !origin.calibration_is_the_artefacts {
        warn(
            "The calibration files are not those that the artefact was fitted to: their SHA-256 differs from the one it \
             states."
                .into(),
        );
    }
    if test.uncalibrated > 0 {
        let all = test.uncalibrated + test.after.len() as u64;
        warn(format!(
            "{} of {all} test rows are uncalibrated and left out: their predicted class had too few calibration points.",
            test.uncalibrated
        ));
    } else if header.flags.contains(HeaderFlags::CLASS_UNCALIBRATED) {
        warn("At least one class is uncalibrated; no test row is predicted to be of it.".into());
    }
    if header.flags.contains(HeaderFlags::TIES_MERGED) {
        warn(
            "Equal scores straddle a bin boundary and were merged: no guarantee is stated where that happened."
                .into(),
        );
    }
    if let Some(guarantee) = header.guarantee.filter(|guarantee| guarantee.epsilon > USEFUL_EPSILON) {
        warn(format!(
            "The guarantee is wide: epsilon is {:.3}. More calibration points or fewer bins make it narrower.",
            guarantee.epsilon
        ));
    }
    let n = metrics.after.n;
    if n < FEW_ROWS {
        warn(format!("There are only {n} test rows: the intervals are wide, and small errors go unseen."));
    }
    let few = metrics.after.bins.iter().filter(|bin| bin.n < FEW_IN_BIN).count();
    if few > 0 {
        warn(format!(
            "{few} of {} bins of the reliability diagram after calibration hold fewer than {FEW_IN_BIN} test rows.",
            metrics.after.bins.len()
        ));
    }
    if let Some((score, times)) = most_frequent(&test.before).filter(|most| most.1 as u64 * 20 > n) {
        let share = 100.0 * times as f64 / n as f64;
        warn(format!("Scores are tied: {share:.1} % of the test rows have the score {score}."));
    }
    if metrics.after.log_loss_clipped > 0 {
        warn(format!(
            "{} test rows got a calibrated probability of 0 for what happened: the log-loss clips it to 2.2e-16.",
            metrics.after.log_loss_clipped
        ));
    }
    warnings
}

/// Whether both data sets hold the same predictions with the same outcomes, in any order.
fn same_rows(a: &CalibratedRows, b: &CalibratedRows) -> bool {
    let sorted = |rows: &[Prediction]| {
        let mut keys: Vec<u128> = rows.iter().map(Prediction::key).collect();
        keys.sort_unstable();
        keys
    };
    a.before.len() == b.before.len() && sorted(&a.before) == sorted(&b.before)
}

/// The most frequent probability, the lowest of several, and how often it occurs.
fn most_frequent(rows: &[Prediction]) -> Option<(f64, usize)> {
    let mut probs: Vec<f64> = rows.iter().map(|row| row.prob).collect();
    probs.sort_unstable_by(f64::total_cmp);
    let tied = probs.chunk_by(|a, b| a == b);
    tied.map(|tied| (tied[0], tied.len())).rev().max_by_key(|most| most.1)
}
