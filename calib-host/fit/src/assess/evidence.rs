//! What test rows say against a calibrator.

use std::fmt;

use calib_core::Artifact;
use calib_core::artifact::Reduction;
use serde::Serialize;

use super::assessment::EstimateWithInterval;
use super::guarantee_test::{Bin, GuaranteeTest, LEVEL, RowsOfBins, refuted, tested_bins};
use super::mean_change::{
    BrierChange, Differences, Loss, MeanChange, change_of_clusters, logarithmic, squared, z,
};
use super::paired::BeforeAfter;
use super::prediction::{Prediction, PredictionKind, TiedRows};
use super::proper::LOSS_UNIT;
use super::rows_by_prob::{Mixed, OrderChange, RowsByProb};
use crate::artifact::number_of;
use crate::data::{BinaryData, with_points};
use crate::error::FitError;
use crate::points::{Concordance, Points};
use crate::stats::{Clusters, Interval, percent, shown};

/// The seed with which the row of a cluster is drawn that bins are tested on.
const DRAW_SEED: u64 = 0;

/// Evidence against a calibrator, significantly.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Evidence {
    /// The Brier score of the calibrated probabilities is higher than the scores' own.
    Worse {
        /// After less before.
        brier: f64,
        /// Its two-sided normal interval at 99 %, from the differences of the rows.
        interval: Interval,
    },
    /// The log-loss of the calibrated probabilities is higher than the scores' own, if the Brier score is not.
    LogLoss {
        /// After less before, in nats.
        log_loss: f64,
        /// Its two-sided normal interval at 99 %, from the differences of the rows.
        interval: Interval,
    },
    /// The calibrated probabilities order the rows worse than the scores.
    Order {
        /// The area under the ROC curve of the scores.
        before: f64,
        /// The same of the calibrated probabilities.
        after: f64,
        /// The two-sided interval of the change at 99 %.
        interval: Interval,
    },
    /// Rows that get one probability differ in their event rates.
    Mixed {
        /// How many probabilities have such rows.
        mixed: u64,
        /// How many were tested.
        of: u64,
        /// The probability with the largest difference.
        prob: f64,
        /// The event rates of its rows with the lower half of the scores, and with the upper.
        rates: [f64; 2],
        /// By how much they may differ: the epsilon of the guarantee, or 0.05.
        epsilon: f64,
    },
    /// Bins deviate from the test rows by more than the artifact guarantees.
    ContradictedGuarantee {
        /// How many bins.
        contradicted: u64,
        /// How many bins with a guarantee hold test rows.
        bins: u64,
        /// The probability with which the guarantee may fail.
        alpha: f64,
    },
    /// The event rates of score ranges are not in the artifact's intervals.
    ContradictedIntervals {
        /// How many ranges.
        contradicted: u64,
        /// How many ranges hold test rows.
        ranges: u64,
        /// The probability with which the intervals may fail.
        alpha: f64,
    },
    /// Higher scores go with the other class.
    Reversed {
        /// The area under the ROC curve of the scores.
        auc: f64,
    },
    /// The scores do not order the rows, as far as many rows tell.
    Unrelated {
        /// The area under the ROC curve of the scores.
        auc: f64,
    },
    /// The scores order the rows, and the calibrated probabilities order them the other way round.
    Turned {
        /// The area under the ROC curve of the scores.
        before: f64,
        /// The same of the calibrated probabilities.
        after: f64,
    },
    /// The scores order the rows, and the calibrator makes one probability of them all.
    Constant {
        /// The probability.
        prob: f64,
        /// The area under the ROC curve of the scores.
        before: f64,
    },
}

/// What test rows say of the artifact that calibrated them.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Judged {
    /// The evidence against the artifact, the weightiest first.
    pub evidence: Vec<Evidence>,
    /// The change in the Brier score; `None` of a single row or cluster, and of margins.
    pub change: Option<BrierChange>,
    /// What the rows say of the guarantee.
    pub guarantee: GuaranteeTest,
}

/// Tests the rows for evidence against the artifact that calibrated them. `both` assesses
/// `before` and `after`, which hold the same rows. The change in the Brier score has the two-sided level `alpha`.
///
/// Each kind of evidence arises by chance in at most about one of a hundred data sets of independent rows. The bins'
/// tests are exact binomial ones at that level over all bins (Bonferroni). For rows in `clusters`, the differences of a
/// cluster's rows are taken together, and the bins are tested on one row of each cluster. The area under the ROC curve is
/// tested as if
/// the rows of a cluster all said the same.
///
/// ```
/// use calib_fit::assess::{AssessOptions, Evidence, Prediction, PredictionKind, assess_before_after, judge};
/// # use calib_fit::{BinaryData, BinaryMethod, StoredArtifact, Umd, artifact_bytes, fit_binary};
/// # let scores = (0..400).map(|i| f64::from(i) / 400.0).collect();
/// # let data = BinaryData::new(scores, (0..400).map(|i| i % 40 < i / 20).collect())?;
/// # let fit = fit_binary(&data, &BinaryMethod::Umd(Umd::new(4)), 0.1)?;
/// # let stored = StoredArtifact::from_bytes(&artifact_bytes(&fit, &Default::default())?)?;
///
/// // What was 0.9 and came true in nine of ten cases is called 0.4.
/// let said = |prob: f64| (0..200).map(move |row| Prediction { class: 1, prob, bin: 3, hit: row % 10 > 0 });
/// let (before, after): (Vec<_>, Vec<_>) = (said(0.9).collect(), said(0.4).collect());
/// let options = AssessOptions::default();
/// let both = assess_before_after(&before, &after, PredictionKind::Binary, &options, &options);
/// let found = judge(&stored.artifact(), &both, [&before, &after], None, 0.05).evidence;
/// assert!(matches!(found[0], Evidence::Worse { brier, .. } if brier > 0.2));
/// assert!(matches!(found[1], Evidence::ContradictedGuarantee { contradicted: 1, .. }));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Panics
///
/// If there are no rows, or not the same number before and after and in the clusters.
pub fn judge(
    artifact: &Artifact<'_>,
    both: &BeforeAfter,
    [before, after]: [&[Prediction]; 2],
    clusters: Option<&Clusters>,
    alpha: f64,
) -> Judged {
    assert_eq!(before.len(), after.len(), "the same rows before and after");
    assert!(clusters.is_none_or(|clusters| clusters.rows() == after.len()), "every row has a cluster");
    let rows = match clusters {
        Some(clusters) => clusters.one_row_each(DRAW_SEED, |a, b| after[a].key().cmp(&after[b].key())),
        None => (0..after.len()).collect(),
    };
    let mut changed = ChangedRows::default();
    rows.iter().for_each(|&row| changed.add(before[row].prob, after[row]));
    changed.clusters = clusters.map(|clusters| ChangedClusters::of(before, after, clusters));
    changed.judge(artifact, both, &RowsByProb::of_rows(before, after, &rows), alpha)
}

/// What is counted of clusters beside one row of each.
#[derive(Clone, Debug)]
struct ChangedClusters {
    brier: MeanChange,
    log_loss: MeanChange,
    /// The probability of all rows after; `None` if there are several.
    only_prob: Option<f64>,
    effective_rows: u64,
}

impl ChangedClusters {
    fn of(before: &[Prediction], after: &[Prediction], clusters: &Clusters) -> Self {
        let prob = after[0].prob;
        Self {
            brier: change_of_clusters(squared, before, after, clusters),
            log_loss: change_of_clusters(logarithmic, before, after, clusters),
            only_prob: after.iter().all(|row| row.prob == prob).then_some(prob),
            effective_rows: clusters.effective_rows(),
        }
    }
}

/// What is counted of independent rows before and after calibration, in any order.
#[derive(Clone, Debug, Default)]
pub struct ChangedRows {
    n: u64,
    hits: u64,
    brier: Differences,
    log_loss: Differences,
    /// By class and bin.
    bins: RowsOfBins,
    /// The lowest and the highest probability after.
    range: Option<(f64, f64)>,
    /// If these are one row of each cluster.
    clusters: Option<ChangedClusters>,
    /// Of the probability that was added last: rows next to each other mostly get the same one.
    last: Option<Losses>,
}

/// The losses of a probability, if the label is 0 and if it is 1.
#[derive(Clone, Copy, Debug)]
struct Losses {
    prob: f64,
    squared: [f64; 2],
    logarithmic: [f64; 2],
}

impl Losses {
    fn of(prob: f64) -> Self {
        let of = |loss: Loss| [loss(prob, false), loss(prob, true)];
        Self { prob, squared: of(squared), logarithmic: of(logarithmic) }
    }
}

impl ChangedRows {
    /// Counts rows with one probability before, in `[0, 1]`, and one prediction after.
    pub fn add(&mut self, before: f64, after: impl Into<TiedRows>) {
        let TiedRows { class, prob, bin, by_label } = after.into();
        let (n, hits) = (by_label[0] + by_label[1], by_label[1]);
        (self.n, self.hits) = (self.n + n, self.hits + hits);
        let before = Losses::of(before);
        let after = self.last.filter(|last| last.prob == prob).unwrap_or_else(|| Losses::of(prob));
        self.last = Some(after);
        self.brier.add(before.squared, after.squared, by_label);
        self.log_loss.add(before.logarithmic, after.logarithmic, by_label);
        let bin = self.bins.entry((class, bin)).or_insert(Bin { prob, n: 0, hits: 0 });
        (bin.n, bin.hits) = (bin.n + n, bin.hits + hits);
        let (lo, hi) = self.range.unwrap_or((prob, prob));
        self.range = Some((lo.min(prob), hi.max(prob)));
    }

    /// Adds other rows.
    #[must_use]
    pub fn and(mut self, others: Self) -> Self {
        self.n += others.n;
        self.hits += others.hits;
        self.brier += others.brier;
        self.log_loss += others.log_loss;
        for (place, other) in others.bins {
            let bin = self.bins.entry(place).or_insert(Bin { n: 0, hits: 0, ..other });
            (bin.n, bin.hits) = (bin.n + other.n, bin.hits + other.hits);
        }
        self.range = match (self.range, others.range) {
            (Some(a), Some(b)) => Some((a.0.min(b.0), a.1.max(b.1))),
            (a, b) => a.or(b),
        };
        self
    }

    /// As [`judge`] of independent rows, from what is counted of them: in any order, and in the order of their scores.
    ///
    /// # Panics
    ///
    /// If there are no rows.
    pub fn judge(
        &self,
        artifact: &Artifact<'_>,
        both: &BeforeAfter,
        rows_by_prob: &RowsByProb,
        alpha: f64,
    ) -> Judged {
        assert!(self.n > 0, "rows before and after");
        let (brier, log_loss, only_prob, rows) = match &self.clusters {
            Some(of) => (of.brier, of.log_loss, of.only_prob, of.effective_rows),
            None => (self.change(), self.log_loss.change(self.n, self.hits), self.only_prob(), both.before.n),
        };
        let mut evidence: Vec<Evidence> =
            worse(&brier).or_else(|| log_loss_rises(&log_loss)).into_iter().collect();
        evidence.extend(contradicted_guarantee(artifact, self));
        evidence.extend(coarse(artifact, rows_by_prob));
        evidence.extend(order(both, only_prob, rows));
        Judged { evidence, change: brier.stated(alpha), guarantee: self.guarantee(artifact) }
    }

    /// The probability of all rows after; `None` if there are several.
    fn only_prob(&self) -> Option<f64> {
        self.range.filter(|range| range.0 == range.1).map(|range| range.0)
    }

    /// What these rows say of the guarantee of an artifact.
    fn guarantee(&self, artifact: &Artifact<'_>) -> GuaranteeTest {
        GuaranteeTest::of(artifact, &self.bins)
    }

    /// Of the squared errors.
    fn change(&self) -> MeanChange {
        self.brier.change(self.n, self.hits)
    }
}

/// Tests the points that a calibrator is fitted to, before any row is held out: whether higher scores go with the other
/// class. Arises by chance as rarely as what [`judge`] finds. Points that are read from a disk are passed over once or twice.
///
/// ```
/// use calib_fit::BinaryData;
/// use calib_fit::assess::{Evidence, evidence_of_fit};
///
/// let scores = || (0..100).map(|i| f64::from(i) / 100.0).collect();
/// let turned = BinaryData::new(scores(), (0..100).map(|i| i < 50).collect())?;
/// assert_eq!(evidence_of_fit(&turned)?, Some(Evidence::Reversed { auc: 0.0 }));
/// let fair = BinaryData::new(scores(), (0..100).map(|i| i >= 50).collect())?;
/// assert_eq!(evidence_of_fit(&fair)?, None);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
///
/// If points on a disk cannot be read back.
pub fn evidence_of_fit(data: &BinaryData) -> Result<Option<Evidence>, FitError> {
    with_points!(data, |points| disorder(points))
}

/// Whether the scores of points order their labels significantly in reverse, or not at all.
fn disorder(points: &(impl Points + ?Sized)) -> Result<Option<Evidence>, FitError> {
    let (n, positives) = points.totals();
    let chance = chance(n as f64, positives as f64);
    // Most scores are in order, and that can be told without sorting them.
    if points.auc_at_least() > 0.5 + chance {
        return Ok(None);
    }
    Ok(Concordance::of(points)?.auc().and_then(|auc| of_auc(auc, chance)))
}

/// What an area under the ROC curve says that by chance is as far from one half as `chance`.
fn of_auc(auc: f64, chance: f64) -> Option<Evidence> {
    /// Fewer rows, of which this is farther from one half, say nothing of scores without a relation.
    const FAR: f64 = 0.1;
    match auc {
        _ if auc < 0.5 - chance => Some(Evidence::Reversed { auc }),
        // Equal scores, of which that is said elsewhere, have one half.
        _ if auc <= 0.5 + chance && chance < FAR && auc != 0.5 => Some(Evidence::Unrelated { auc }),
        _ => None,
    }
}

/// Whether the calibrated probabilities are worse than the scores, significantly.
fn worse(change: &MeanChange) -> Option<Evidence> {
    change.rise(LEVEL).map(|(brier, interval)| Evidence::Worse { brier, interval })
}

/// Whether the log-loss of the calibrated probabilities is higher than that of the scores, significantly.
fn log_loss_rises(change: &MeanChange) -> Option<Evidence> {
    let (log_loss, Interval { lo, hi }) = change.rise(LEVEL)?;
    let interval = Interval { lo: LOSS_UNIT * lo, hi: LOSS_UNIT * hi };
    Some(Evidence::LogLoss { log_loss: LOSS_UNIT * log_loss, interval })
}

/// Whether one probability for several scores loses, significantly, what the scores tell.
fn coarse(artifact: &Artifact<'_>, rows_by_prob: &RowsByProb) -> Vec<Evidence> {
    /// A loss of area that any table of steps may have.
    const SMALL_AREA: f64 = 0.002;
    /// How far the rates of rows that get one probability may be apart where no epsilon is guaranteed.
    const APART: f64 = 0.05;
    let header = artifact.header();
    let mut found = Vec::new();
    if header.reduction == Reduction::Binary
        && let Some(OrderChange { before, after, interval }) = rows_by_prob.order_change()
        // Of scores without an order, and of an order that is reversed, other evidence tells.
        && interval.hi < -SMALL_AREA && after > 0.5
    {
        found.push(Evidence::Order { before, after, interval });
    }
    if header.reduction.has_one_probability() {
        let table = |class: u16| if header.reduction == Reduction::TopLabel { class.into() } else { 0 };
        let epsilon = |class| {
            let epsilon = artifact.tables().get(table(class)).and_then(|table| table.epsilon);
            epsilon.map(f64::from).filter(|&epsilon| epsilon < 1.0).unwrap_or(APART)
        };
        let (mixed, of) = rows_by_prob.mixed(epsilon);
        if let Some(&Mixed { prob, rates, epsilon, .. }) = mixed.first() {
            found.push(Evidence::Mixed { mixed: mixed.len() as u64, of, prob, rates, epsilon });
        }
    }
    found
}

/// Whether the fraction of hits in a bin or range is significantly outside of what is guaranteed, for some of them.
fn contradicted_guarantee(artifact: &Artifact<'_>, rows: &ChangedRows) -> Option<Evidence> {
    let tested = tested_bins(artifact, &rows.bins)?;
    let (contradicted, of) = (refuted(&tested), tested.len() as u64);
    let found = match artifact.score_intervals() {
        Some(found) => {
            Evidence::ContradictedIntervals { contradicted, ranges: of, alpha: found.alpha().into() }
        }
        None => Evidence::ContradictedGuarantee {
            contradicted,
            bins: of,
            alpha: artifact.header().guarantee?.alpha.into(),
        },
    };
    (contradicted > 0).then_some(found)
}

/// What the order of the rows says, of which all have the probability `only` after, if it is given, and which amount to so many
/// independent ones.
fn order(both: &BeforeAfter, only: Option<f64>, effective: u64) -> Option<Evidence> {
    if both.before.kind != PredictionKind::Binary {
        // Of predicted classes, high scores may well be right less often.
        return None;
    }
    let auc = both.before.auc?.value;
    let n = effective as f64;
    let chance = chance(n, both.before.hits as f64 * n / both.before.n as f64);
    if auc <= 0.5 + chance {
        return of_auc(auc, chance);
    }
    if let Some(prob) = only {
        return Some(Evidence::Constant { prob, before: auc });
    }
    let turned = both.after.auc.map(|auc| auc.value).filter(|after| *after < 0.5 - chance)?;
    Some(Evidence::Turned { before: auc, after: turned })
}

/// How far from one half the area under the ROC curve may be by chance: Mann and Whitney's statistic, were the labels dealt out
/// at random. Ties make its variance smaller. Infinite or no number if all labels are the same.
fn chance(n: f64, hits: f64) -> f64 {
    z(LEVEL / 2.0) * ((n + 1.0) / (12.0 * hits * (n - hits))).sqrt()
}

/// What a contradicted guarantee may mean.
fn either(alpha: f64) -> String {
    format!(
        "Either these rows are not like the calibration rows, or the guarantee failed, which has a probability of at most {}%.",
        percent(alpha as f32)
    )
}

impl fmt::Display for Evidence {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            &Self::Worse { brier: value, interval } => write!(
                f,
                "The calibrated probabilities are worse than the scores: the Brier score rises by {:.4} (99%, paired).",
                EstimateWithInterval { value, interval: Some(interval) }
            ),
            &Self::LogLoss { log_loss: value, interval } => write!(
                f,
                "The log-loss of the calibrated probabilities is higher than that of the scores: it rises by {:.4} (99%, paired).",
                EstimateWithInterval { value, interval: Some(interval) }
            ),
            &Self::Order { before, after, interval } => write!(
                f,
                "The calibrator loses part of the order of the scores: the area under the ROC curve falls from {before:.3} to \
                 {after:.3} (change {:+.3}, 99%, paired).",
                EstimateWithInterval { value: after - before, interval: Some(interval) }
            ),
            Self::Mixed { mixed, of, prob, rates: [low, high], epsilon } => write!(
                f,
                "Rows with the same probability differ, in {mixed} of {} tested: {} is stated for rows whose event rate is \
                 {low:.3} in the lower half of the scores and {high:.3} in the upper half. The difference is significantly \
                 more than {epsilon:.3} (significance level 1% over all).",
                number_of(*of, "value"),
                shown(4, *prob)
            ),
            Self::ContradictedGuarantee { contradicted, bins, alpha } => {
                let one = if *contradicted == 1 { "contradicts" } else { "contradict" };
                write!(
                    f,
                    "{contradicted} of {} with a guarantee significantly {one} it on the test rows (exact binomial tests, \
                     significance level 1% over all bins). {}",
                    number_of(*bins, "bin"),
                    either(*alpha)
                )
            }
            Self::ContradictedIntervals { contradicted, ranges, alpha } => write!(
                f,
                "The event rate of {contradicted} of {} lies significantly outside its interval on the test rows (exact binomial \
                 tests, significance level 1% over all ranges). {}",
                number_of(*ranges, "score range"),
                either(*alpha)
            ),
            Self::Reversed { auc } => write!(
                f,
                "Higher scores go with class 0: the area under the ROC curve is {auc:.3}. Did you pass the score of class 0, \
                 or are labels 0 and 1 swapped?"
            ),
            Self::Unrelated { auc } => write!(
                f,
                "The scores hardly separate the labels: the area under the ROC curve is {auc:.3}, which may be due to chance. \
                 Are scores and labels from the same rows, in the same order?"
            ),
            Self::Turned { before, after } => write!(
                f,
                "The calibrator reverses the order of the scores: the area under the ROC curve falls from {before:.3} to \
                 {after:.3}. Were the scores or the labels of the calibration set reversed?"
            ),
            Self::Constant { prob, before } => write!(
                f,
                "The calibrator gives all scores the same probability, {}, although they separate the classes (area under the \
                 ROC curve {before:.3}). Were the scores or the labels of the calibration set reversed?",
                shown(4, *prob)
            ),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::cmp::Ordering;

    use rand::{RngExt, SeedableRng};
    use rand_xoshiro::Xoshiro256PlusPlus;

    use super::*;
    use crate::ScalingMethod;
    use crate::artifact::{StoredArtifact, artifact_bytes};
    use crate::assess::GuaranteeOnRows;
    use crate::assess::{AssessOptions, assess_before_after};
    use crate::binary::{BinaryMethod, Isotonic, Umd};
    use crate::data::{BinaryData, VectorKind, Vectors};
    use crate::fit::fit_binary;
    use crate::reduction::{Problems, ReductionOptions, fit_reduction};

    /// Scores and labels: the truth is `truth(score)`.
    fn rows(n: usize, seed: u64, truth: impl Fn(f64) -> f64) -> Vec<(f64, bool)> {
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(seed);
        let mut row = || {
            let score = f64::from(rng.random::<f32>());
            (score, rng.random::<f64>() < truth(score))
        };
        (0..n).map(|_| row()).collect()
    }

    fn fitted(method: &BinaryMethod, rows: &[(f64, bool)]) -> StoredArtifact {
        let (scores, labels) = rows.iter().copied().unzip();
        let fit = fit_binary(&BinaryData::new(scores, labels).unwrap().on_device(), method, 0.1).unwrap();
        StoredArtifact::from_bytes(&artifact_bytes(&fit, &Default::default()).unwrap()).unwrap()
    }

    fn found(stored: &StoredArtifact, test: &[(f64, bool)]) -> Vec<Evidence> {
        let artifact = stored.artifact();
        let form = artifact.tables().get(0).unwrap().form;
        let calib_core::artifact::TableForm::Steps(table) = form else { panic!("no steps") };
        let row = |prob, bin, hit| Prediction { class: 1, prob, bin, hit };
        let of = |&(score, hit): &(f64, bool)| {
            let (bin, prob) = table.lookup(calib_core::Score::try_from(score).unwrap());
            (row(score, 0, hit), row(prob.into(), bin.into(), hit))
        };
        let (before, after): (Vec<_>, Vec<_>) = test.iter().map(of).unzip();
        let options = AssessOptions::default();
        let both = assess_before_after(&before, &after, PredictionKind::Binary, &options, &options);
        judge(&artifact, &both, [&before, &after], None, 0.05).evidence
    }

    fn changed(before: &[Prediction], after: &[Prediction]) -> ChangedRows {
        let mut changed = ChangedRows::default();
        before.iter().zip(after).for_each(|(before, after)| changed.add(before.prob, *after));
        changed
    }

    /// However they are put together, and whichever comes first.
    #[test]
    fn the_order_of_rows_and_their_parts_do_not_matter() {
        let row = |i: u32, prob: f64| Prediction { class: 1, prob, bin: i % 3, hit: i % 10 < 3 };
        let before: Vec<_> = (0..1000).map(|i| row(i, f64::from(i % 97) / 97.0)).collect();
        let after: Vec<_> = (0..1000).map(|i| row(i, 0.5 + f64::from(i % 3) / 5.0)).collect();
        let whole = format!("{:?}", changed(&before, &after));
        let parts = changed(&before[300..], &after[300..]).and(changed(&before[..300], &after[..300]));
        assert_eq!(format!("{parts:?}"), whole);
        let turned = |rows: &[Prediction]| rows.iter().rev().copied().collect::<Vec<_>>();
        assert_eq!(format!("{:?}", changed(&turned(&before), &turned(&after))), whole);
        let found = worse(&changed(&before, &after).change());
        let clusters = Clusters::new(0..1000);
        let (
            Some(Evidence::Worse { brier, interval }),
            Some(Evidence::Worse { brier: plain, interval: expected }),
        ) = (found, worse(&change_of_clusters(squared, &before, &after, &clusters)))
        else {
            panic!("{found:?}")
        };
        assert!((brier - plain).abs() < 1e-14 && (interval.lo - expected.lo).abs() < 1e-13);
    }

    const UMD: BinaryMethod = BinaryMethod::Umd(Umd::new(10));

    #[test]
    fn turned_labels_are_found() {
        let calibration: Vec<_> = rows(5000, 1, |s| s).into_iter().map(|(s, label)| (s, !label)).collect();
        let test = rows(5000, 2, |s| s);
        let evidence = found(&fitted(&UMD, &calibration), &test);
        let [
            Evidence::Worse { brier, interval },
            Evidence::ContradictedGuarantee { contradicted, bins: 10, .. },
            Evidence::Turned { .. },
        ] = evidence[..]
        else {
            panic!("{evidence:?}")
        };
        assert!(
            interval.lo > 0.2 && interval.lo < brier && brier < interval.hi && contradicted >= 8,
            "{evidence:?}"
        );
        let isotonic = BinaryMethod::Isotonic(Isotonic::default());
        let evidence = found(&fitted(&isotonic, &calibration), &test);
        assert!(
            matches!(
                evidence[..],
                [Evidence::Worse { .. }, Evidence::Mixed { mixed: 1, of: 1, .. }, Evidence::Constant { .. }]
            ),
            "{evidence:?}"
        );
        let turned: Vec<_> = test.iter().map(|&(s, label)| (s, !label)).collect();
        let evidence = found(&fitted(&UMD, &calibration), &turned);
        assert!(matches!(evidence[..], [Evidence::Reversed { .. }]), "{evidence:?}");
    }

    #[test]
    fn a_shifted_test_set_breaks_the_guarantee() {
        let stored = fitted(&UMD, &rows(20_000, 1, |s| s));
        let evidence = found(&stored, &rows(20_000, 2, |s| s.powf(0.5)));
        assert!(
            evidence
                .iter()
                .any(|found| matches!(found, Evidence::ContradictedGuarantee { contradicted: 4.., .. })),
            "{evidence:?}"
        );
    }

    /// At most one in a hundred for each kind, and fewer for what is guaranteed with a margin.
    #[test]
    fn chance_is_rarely_taken_for_evidence() {
        let mut of_kind = [0; 3];
        for seed in 0..400 {
            // Calibrated scores: a calibrator can only add noise, which is never sure with so many points.
            let stored = fitted(&UMD, &rows(2000, 1000 + seed, |s| s));
            // Scores that tell nothing.
            let noise = found(&stored, &rows(200, 5000 + seed, |_| 0.5));
            of_kind[0] += usize::from(noise.iter().any(|e| matches!(e, Evidence::Reversed { .. })));
            let fair = found(&stored, &rows(200, 9000 + seed, |s| s));
            of_kind[1] +=
                usize::from(fair.iter().any(|e| matches!(e, Evidence::ContradictedGuarantee { .. })));
            of_kind[2] += usize::from(fair.iter().any(|e| matches!(e, Evidence::Turned { .. })));
        }
        // One side at half of one percent: 2 of 400 on average, 8 with a probability below one in a thousand.
        assert!(of_kind[0] < 8 && of_kind[1] < 4 && of_kind[2] == 0, "{of_kind:?}");
    }

    #[test]
    fn how_many_bins_contradict_is_told() {
        for (contradicted, told) in [
            (1, "1 of 2 bins with a guarantee significantly contradicts it"),
            (2, "2 of 2 bins with a guarantee significantly contradict it"),
        ] {
            let evidence = Evidence::ContradictedGuarantee { contradicted, bins: 2, alpha: 0.1 };
            assert!(evidence.to_string().starts_with(told), "{evidence}");
        }
    }

    /// One bin for the predictions of class 0, which rest on 4000 points, and one for the 200 of class 1; or one for all.
    fn of_predictions(reduction: Reduction) -> StoredArtifact {
        let row = |i: usize| {
            let class = usize::from(i % 21 == 20);
            let mut logits = [0.0; 2];
            logits[class] = 0.1 + (i as f32 * 0.618).fract();
            (logits, ((class + usize::from(i % 10 < 3)) % 2) as i64)
        };
        let (logits, labels): (Vec<[f32; 2]>, Vec<i64>) = (0..4200).map(row).unzip();
        let vectors = Vectors::new(logits.concat(), 2, VectorKind::Logits).unwrap();
        let options = ReductionOptions { method: BinaryMethod::Umd(Umd::new(1)), rows_per_bin: None };
        let problems = Problems::new(&vectors, &labels, reduction).unwrap();
        let fit = fit_reduction(&problems, &options, 0.1).unwrap();
        StoredArtifact::from_bytes(&artifact_bytes(&fit, &Default::default()).unwrap()).unwrap()
    }

    /// Whether predictions of a class that are right in 5 of 100 cases less than the table states contradict the guarantee.
    fn breaks(stored: &StoredArtifact, table: usize, class: u16) -> bool {
        let artifact = stored.artifact();
        let calib_core::artifact::TableForm::Steps(steps) = artifact.tables().get(table).unwrap().form else {
            panic!("no steps")
        };
        let prob = f64::from(steps.values().next().unwrap());
        let row = |i: u32| Prediction { class, prob, bin: 0, hit: f64::from(i) < 20_000.0 * (prob - 0.05) };
        let rows: Vec<_> = (0..20_000).map(row).collect();
        matches!(
            contradicted_guarantee(&artifact, &changed(&rows, &rows)),
            Some(Evidence::ContradictedGuarantee { contradicted: 1, bins: 1, .. })
        )
    }

    #[test]
    fn a_prediction_is_held_against_the_epsilon_of_its_own_table() {
        let stored = of_predictions(Reduction::TopLabel);
        let epsilon = |table| stored.artifact().tables().get(table).unwrap().epsilon.unwrap();
        assert!(epsilon(0) < 0.04 && epsilon(1) > 0.06, "{} {}", epsilon(0), epsilon(1));
        assert!(breaks(&stored, 0, 0) && !breaks(&stored, 1, 1));
        // One table for all classes.
        let stored = of_predictions(Reduction::Confidence);
        assert!(breaks(&stored, 0, 0) && breaks(&stored, 0, 1));
        // The predicted class's probability is not what is guaranteed.
        let stored = of_predictions(Reduction::ClassWise);
        assert!(!breaks(&stored, 0, 0));
    }

    /// Two forecasts that are equally bad: one side of 1 %.
    #[test]
    fn chance_rarely_makes_one_of_two_equals_worse() {
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(7);
        let mut false_alarms = 0;
        for _ in 0..2000 {
            let hits: Vec<bool> = (0..300).map(|_| rng.random()).collect();
            let said =
                |prob| hits.iter().map(|&hit| Prediction { class: 1, prob, bin: 0, hit }).collect::<Vec<_>>();
            false_alarms += usize::from(worse(&changed(&said(0.6), &said(0.4)).change()).is_some());
        }
        // 10 on average; more than 24 with a probability below one in ten thousand, and none is no test.
        assert!((1..=24).contains(&false_alarms), "{false_alarms}");
    }

    /// The findings for rows of two probabilities, with these numbers of events.
    fn said_of(hits: usize, n: usize, [before, after]: [f64; 2]) -> Vec<Evidence> {
        let said = |prob| (0..n).map(move |row| Prediction { class: 1, prob, bin: 0, hit: row < hits });
        let changed = changed(&said(before).collect::<Vec<_>>(), &said(after).collect::<Vec<_>>());
        let rise = log_loss_rises(&changed.log_loss.change(changed.n, changed.hits));
        worse(&changed.change()).into_iter().chain(rise).collect()
    }

    /// Impossible events that happen cost little squared error, and much log-loss.
    #[test]
    fn a_probability_of_0_that_comes_true_raises_the_log_loss() {
        let found = said_of(16, 2000, [0.01, 0.0]);
        let [Evidence::LogLoss { log_loss, interval }] = found[..] else { panic!("{found:?}") };
        assert!((0.2..0.4).contains(&log_loss) && interval.lo > 0.05, "{found:?}");
        assert_eq!(said_of(2, 2000, [0.01, 0.0]), []);
        assert_eq!(said_of(0, 2000, [0.01, 0.0]), []);
        assert_eq!(said_of(20, 2000, [0.02, 0.01]), []);
    }

    /// Labels with which two probabilities have the same expected log-loss: in how many of so many sets it is said to rise.
    fn log_loss_alarms(sets: u32, n: usize, [before, after]: [f64; 2]) -> u32 {
        let differences = [false, true].map(|hit| logarithmic(after, hit) - logarithmic(before, hit));
        let rate = differences[0] / (differences[0] - differences[1]);
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(n as u64);
        let hits = |rng: &mut Xoshiro256PlusPlus| (0..n).filter(|_| rng.random::<f64>() < rate).count();
        (0..sets)
            .map(|_| hits(&mut rng))
            .filter(|&hits| {
                let found = said_of(hits, n, [before, after]);
                found.iter().any(|found| matches!(found, Evidence::LogLoss { .. }))
            })
            .count() as u32
    }

    /// One side of 1 %: 2 of 400 on average, more than 8 with a probability below one in a thousand.
    #[test]
    fn equal_log_losses_are_rarely_said_to_rise() {
        let pairs = [[0.3, 0.6], [0.6, 0.3], [0.01, 0.03], [0.03, 0.001], [0.01, 0.0], [0.5, 0.999]];
        for (n, pair) in [100, 1000, 5000].into_iter().flat_map(|n| pairs.map(|pair| (n, pair))) {
            let alarms = log_loss_alarms(400, n, pair);
            assert!(alarms <= 8, "{alarms} of 400: {n} rows, {pair:?}");
        }
    }

    /// Rows of perfectly calibrated, rare scores, and a calibrator of two bins that is truly worse: in how many of so many sets it is called
    /// better. Events that happen to be missing make mean and variance of the differences small.
    fn called_better(n: usize, sets: u32, prevalence: f64) -> u32 {
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(11);
        let mut better = 0;
        for _ in 0..sets {
            let mut rows = ChangedRows::default();
            for _ in 0..n {
                let u: f64 = rng.random();
                let before = 2.0 * prevalence * u;
                let hit = rng.random::<f64>() < before;
                // Its values are below the rates of their bins.
                let after = if u < 0.5 { 0.2 * prevalence } else { 1.2 * prevalence };
                rows.add(before, Prediction { class: 1, prob: after, bin: u32::from(u >= 0.5), hit });
            }
            better += u32::from(rows.change().stated(0.05).unwrap().sign == Ordering::Less);
        }
        better
    }

    #[test]
    fn worse_probabilities_of_rare_events_are_rarely_called_better() {
        for (n, prevalence) in [(100, 0.01), (200, 0.01), (300, 0.003), (1000, 0.01), (2000, 0.01)] {
            let better = called_better(n, 600, prevalence);
            // 15 at the level of 2.5 %; more than 28 with a probability below one in a thousand.
            assert!(better <= 28, "{better} of 600 with {n} rows at {prevalence}");
        }
    }

    /// Scores four times too high, at 1 %.
    #[test]
    fn much_better_probabilities_are_called_better() {
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(12);
        let mut found = 0;
        for _ in 0..200 {
            let mut rows = ChangedRows::default();
            for _ in 0..1000 {
                let after = 0.02 * rng.random::<f64>();
                let hit = rng.random::<f64>() < after;
                rows.add(4.0 * after, Prediction { class: 1, prob: after, bin: 0, hit });
            }
            found += u32::from(rows.change().stated(0.05).unwrap().sign == Ordering::Less);
        }
        assert!(found >= 150, "{found} of 200");
    }

    /// An artifact of four bins, and test rows whose event rates differ from the bins' values by so much.
    fn guarantee_on(n: usize, shift: f64, seed: u64) -> (GuaranteeTest, f64) {
        let scores: Vec<f64> = (0..4000).map(|i| f64::from(i) / 4000.0).collect();
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(seed);
        let labels = scores.iter().map(|&score| rng.random::<f64>() < 0.3 + 0.4 * score).collect();
        let data = BinaryData::new(scores, labels).unwrap();
        let fit = fit_binary(&data, &BinaryMethod::Umd(Umd::new(4)), 0.1).unwrap();
        let options = crate::artifact::ArtifactOptions { intervals: true, ..Default::default() };
        let stored = StoredArtifact::from_bytes(&artifact_bytes(&fit, &options).unwrap()).unwrap();
        let artifact = stored.artifact();
        let calib_core::artifact::TableForm::Steps(steps) = artifact.tables().get(0).unwrap().form else {
            panic!("no steps")
        };
        let values: Vec<f64> = steps.values().map(f64::from).collect();
        let mut rows = ChangedRows::default();
        for i in 0..n {
            let (bin, prob) = (i % 4, values[i % 4]);
            let hit = rng.random::<f64>() < prob + shift;
            rows.add(prob, Prediction { class: 1, prob, bin: bin as u32, hit });
        }
        (rows.guarantee(&artifact), artifact.header().guarantee.unwrap().epsilon.into())
    }

    /// Few rows show nothing, many show that it holds, and three times epsilon is refuted as soon as rows can tell.
    #[test]
    fn a_guarantee_is_shown_refuted_or_neither() {
        for seed in 0..20 {
            let (few, epsilon) = guarantee_on(60, 3.0 * 0.05, seed);
            assert!(!few.is_shown, "{few:?}");
            assert!(few.is_refuted || few.unseen.unwrap() > epsilon, "{few:?} {epsilon}");
            let (many, _) = guarantee_on(40_000, 0.0, seed);
            assert!(many.is_shown && !many.is_refuted, "{many:?}");
            let (off, epsilon) = guarantee_on(8000, 3.0 * 0.05, seed);
            assert!(off.is_refuted && !off.is_shown, "{off:?} {epsilon}");
        }
    }

    /// Uniform scores whose label is 1 with the square of the score, in an artifact of `beta` with intervals of score ranges.
    fn with_ranges(n: usize, seed: u64) -> StoredArtifact {
        let (scores, labels) = rows(n, seed, |score| score * score).into_iter().unzip();
        let data = BinaryData::new(scores, labels).unwrap().on_device();
        let fit = fit_binary(&data, &BinaryMethod::Scaling(ScalingMethod::Beta), 0.1).unwrap();
        let intervals = crate::intervals::fit(&data, 0.1).unwrap();
        let options = crate::artifact::ArtifactOptions::default().score_intervals(Some(intervals));
        StoredArtifact::from_bytes(&artifact_bytes(&fit, &options).unwrap()).unwrap()
    }

    /// What rows say of the intervals of an artifact's score ranges.
    fn of_ranges(stored: &StoredArtifact, test: &[(f64, bool)]) -> (GuaranteeTest, Option<Evidence>) {
        let artifact = stored.artifact();
        let ranges = artifact.tables().score_bins(0).unwrap();
        let mut changed = ChangedRows::default();
        for &(score, hit) in test {
            let bin = ranges.bin((score as f32).to_bits()) as u32;
            // The value is no matter.
            changed.add(score, Prediction { class: 1, prob: score.sqrt(), bin, hit });
        }
        (changed.guarantee(&artifact), contradicted_guarantee(&artifact, &changed))
    }

    /// Rows are counted in the ranges, each with its own interval.
    #[test]
    fn the_intervals_of_score_ranges_are_tested() {
        let stored = with_ranges(2000, 1);
        let artifact = stored.artifact();
        let test = rows(3000, 2, |score| score * score);
        let (found, evidence) = of_ranges(&stored, &test);
        assert_eq!(evidence, None);
        let bins = artifact.tables().score_bins(0).unwrap();
        assert_eq!(found.ranges.len(), bins.bins());
        for (range, interval) in found.ranges.iter().zip(bins.intervals()) {
            let [from, below] = range.scores;
            let within =
                |score: f64| from.is_none_or(|from| score >= from) && below.is_none_or(|below| score < below);
            let labels: Vec<bool> = test.iter().filter(|row| within(row.0)).map(|row| row.1).collect();
            let hits = labels.iter().filter(|&&hit| hit).count() as u64;
            assert_eq!((range.n, range.hits), (labels.len() as u64, hits));
            assert_eq!(range.interval, Interval { lo: interval.lo.into(), hi: interval.hi.into() });
        }
        assert!(found.is_shown && found.ranges.iter().all(|range| range.guarantee == GuaranteeOnRows::Shown));
        // Few rows neither show nor refute it.
        let (few, _) = of_ranges(&stored, &rows(150, 3, |score| score * score));
        assert!(!few.is_shown && !few.is_refuted && few.unseen.unwrap() > found.unseen.unwrap(), "{few:?}");
        // One range of all has another rate.
        let middle = found.ranges[4].scores;
        let off = |score: f64| match middle[0].unwrap() <= score && score < middle[1].unwrap() {
            true => score * score + 0.25,
            false => score * score,
        };
        let (off, evidence) = of_ranges(&stored, &rows(3000, 4, off));
        assert!(off.is_refuted && !off.is_shown && off.unseen.is_none(), "{off:?}");
        assert_eq!(off.ranges[4].guarantee, GuaranteeOnRows::Contradicted);
        let Some(Evidence::ContradictedIntervals { contradicted: 1, ranges, .. }) = evidence else {
            panic!("{evidence:?}")
        };
        assert_eq!(ranges, bins.bins() as u64);
        assert!(evidence.unwrap().to_string().starts_with("The event rate of 1 of "));
    }

    /// In how many of so many calibration sets with test rows of the same law the intervals are called contradicted.
    fn ranges_called_contradicted(sets: u64, n: usize, test: usize) -> usize {
        (0..sets)
            .filter(|seed| {
                let stored = with_ranges(n, 10_000 + seed);
                of_ranges(&stored, &rows(test, 50_000 + seed, |score| score * score)).0.is_refuted
            })
            .count()
    }

    /// All intervals fail in at most one of ten calibration sets, and then by little: with rows of the same law the test errs at about its level.
    #[test]
    fn intervals_of_score_ranges_are_rarely_called_broken_by_chance() {
        let contradicted = ranges_called_contradicted(300, 500, 500);
        // 3 at the level of 1 %; more than 11 with a probability below one in ten thousand.
        assert!(contradicted <= 11, "{contradicted} of 300");
    }
}
