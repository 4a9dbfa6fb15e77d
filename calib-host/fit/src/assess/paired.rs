//! The same rows before and after calibration.

use rayon::prelude::*;
use serde::Serialize;

use super::assessment::{AssessOptions, Assessment, EstimateWithInterval};
use super::figures::Figures;
use super::prediction::{Prediction, PredictionKind};
use super::subject::Subject;
use crate::cancel;
use crate::stats::{Interval, Units};

/// Two assessments of the same rows, and what changed, with intervals from the same resamples.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct BeforeAfter {
    /// The classifier's scores.
    pub before: Assessment,
    /// The calibrated probabilities.
    pub after: Assessment,
    /// After less before.
    pub change: Change,
}

/// What a calibrator changes, after less before: below 0 is better, except for accuracy and area.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Change {
    /// Of the accuracy.
    pub accuracy: EstimateWithInterval,
    /// Of the Brier score.
    pub brier: EstimateWithInterval,
    /// Of the log-loss, in nats.
    pub log_loss: EstimateWithInterval,
    /// Of the area under the ROC curve, if it is defined.
    pub auc: Option<EstimateWithInterval>,
    /// Of the sharpness.
    pub sharpness: EstimateWithInterval,
    /// Of `c_emp`; without an interval, as that has none.
    pub c_emp: EstimateWithInterval,
    /// Of `conf_ece`, plugin.
    pub conf_ece: EstimateWithInterval,
    /// Of `conf_ece`, debiased.
    pub conf_ece_debiased: EstimateWithInterval,
    /// Of `conf_mce`; without an interval, as that has none.
    pub conf_mce: EstimateWithInterval,
    /// Of `lp_ce`; without an interval, as that has none.
    pub lp_ce: EstimateWithInterval,
    /// Of `tl_ece`, plugin; top-label predictions only.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tl_ece: Option<EstimateWithInterval>,
    /// Of `tl_ece`, debiased; top-label predictions only.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tl_ece_debiased: Option<EstimateWithInterval>,
    /// Of `tl_mce`; without an interval, and of top-label predictions only.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tl_mce: Option<EstimateWithInterval>,
    /// Of `tl_mce_bin`; without an interval, and of top-label predictions only.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tl_mce_bin: Option<EstimateWithInterval>,
}

/// Assesses the same rows before and after calibration: `before[row]` and `after[row]` have the same outcome. Before,
/// there are no bins of a calibrator: [`Binning::ByBin`](crate::assess::Binning::ByBin) then needs them in `before`, too.
///
/// ```
/// use calib_fit::assess::{AssessOptions, Prediction, PredictionKind, assess_before_after};
///
/// // 0.8 is predicted 100 times, the event occurs 60 times, and it is calibrated to 0.6.
/// let of = |prob| (0..100).map(move |row| Prediction { class: 1, prob, bin: 0, hit: row < 60 }).collect::<Vec<_>>();
/// let options = AssessOptions::default();
/// let both = assess_before_after(&of(0.8), &of(0.6), PredictionKind::Binary, &options, &options);
/// assert!((both.change.brier.value + 0.04).abs() < 1e-9);
/// ```
///
/// # Panics
///
/// If there are no rows, more than 2^32, or not the same number.
pub fn assess_before_after(
    before: &[Prediction],
    after: &[Prediction],
    kind: PredictionKind,
    options_before: &AssessOptions<'_>,
    options_after: &AssessOptions<'_>,
) -> BeforeAfter {
    assert_eq!(before.len(), after.len(), "every row is there before and after");
    let mut order: Vec<usize> = (0..before.len()).collect();
    let key = |row: usize| (before[row].key(), after[row].key());
    order.par_sort_unstable_by_key(|&row| {
        cancel::check_canceled();
        key(row)
    });
    let units = Units::new(options_after.clusters, &mut order, |a, b| key(a) == key(b));
    let before = Subject::of_rows(before, &order, units.clone(), kind, options_before);
    let after = Subject::of_rows(after, &order, units, kind, options_after);
    let values = |counts: &[u32]| {
        let (mut values, after) = (before.values(counts), after.values(counts));
        let change: Vec<f64> =
            after.iter().zip(&values).take(Figures::<f64>::COUNT).map(|(a, b)| a - b).collect();
        values.extend(after);
        values.extend(change);
        values
    };
    let intervals =
        options_after.bootstrap.map(|b| b.intervals(&after.units, values, Figures::<f64>::is_biased));
    let mut intervals = intervals.into_iter().flatten();
    BeforeAfter {
        before: before.assessment(&mut intervals),
        after: after.assessment(&mut intervals),
        change: change(kind, before.figures(), after.figures(), &mut intervals),
    }
}

pub(super) fn change(
    kind: PredictionKind,
    before: Figures<f64>,
    after: Figures<f64>,
    intervals: &mut impl Iterator<Item = Option<Interval>>,
) -> Change {
    let differences = after.values().into_iter().zip(before.values()).map(|(after, before)| after - before);
    let values = Figures::take(&mut differences.into_iter());
    let intervals = Figures::take(&mut intervals.chain(std::iter::repeat(None))).around(&values);
    let estimates = values.values().into_iter().zip(intervals.values());
    let change =
        Figures::take(&mut estimates.map(|(value, interval)| EstimateWithInterval { value, interval }));
    let top_label = |estimate| (kind == PredictionKind::TopLabel).then_some(estimate);
    Change {
        accuracy: change.accuracy,
        brier: change.brier,
        log_loss: change.log_loss,
        auc: change.auc.defined(),
        sharpness: change.sharpness,
        c_emp: change.c_emp,
        conf_ece: change.ece,
        conf_ece_debiased: change.ece_debiased,
        conf_mce: change.mce,
        lp_ce: change.lp,
        tl_ece: top_label(change.tl_ece),
        tl_ece_debiased: top_label(change.tl_ece_debiased),
        tl_mce: top_label(change.tl_mce),
        tl_mce_bin: top_label(change.tl_mce_bin),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::assess::bootstrap::{Bootstrap, IntervalKind};
    use crate::assess::subject::assess;

    #[test]
    fn both_sides_are_those_of_an_assessment_and_the_change_is_paired() {
        let row = |i: u32, prob: f64| Prediction { class: 1, prob, bin: 0, hit: i % 10 < i / 20 };
        // Scores that say twice the truth, and the truth.
        let before: Vec<_> = (0..100).map(|i| row(i, f64::from(i / 20) / 5.0)).collect();
        let after: Vec<_> = (0..100).map(|i| row(i, f64::from(i / 20) / 10.0)).collect();
        let bootstrap =
            Some(Bootstrap { kind: IntervalKind::Percentile, resamples: 200, seed: 5, alpha: 0.05 });
        let options = AssessOptions { bootstrap, ..AssessOptions::default() };
        let got = assess_before_after(&before, &after, PredictionKind::Binary, &options, &options);
        let alone = |rows: &[Prediction]| {
            assess(rows, PredictionKind::Binary, &AssessOptions { bootstrap: None, ..options })
        };
        assert_eq!(got.before.brier.value, alone(&before).brier.value);
        assert_eq!(got.after.conf_ece.value, alone(&after).conf_ece.value);
        let brier = got.change.brier;
        assert!((brier.value - (got.after.brier.value - got.before.brier.value)).abs() < 1e-15);
        let interval = brier.interval.unwrap();
        assert!(interval.lo < brier.value && brier.value < interval.hi && interval.hi < 0.0);
        // Paired: what is the same before and after has not changed in any resample.
        let same = assess_before_after(&before, &before, PredictionKind::Binary, &options, &options);
        assert_eq!(same.change.brier.interval, Some(Interval { lo: 0.0, hi: 0.0 }));
        assert_eq!(got.change.tl_ece, None);
        // The order of the rows does not matter.
        let reversed = |rows: &[Prediction]| rows.iter().rev().copied().collect::<Vec<_>>();
        let again = assess_before_after(
            &reversed(&before),
            &reversed(&after),
            PredictionKind::Binary,
            &options,
            &options,
        );
        assert_eq!(again, got);
    }
}
