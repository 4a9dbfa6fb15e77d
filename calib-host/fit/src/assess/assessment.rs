//! All metrics of a set of predictions.

use serde::Serialize;

use super::binning::Binning;
use super::bootstrap::Bootstrap;
use super::c_emp::c_emp_interval;
use super::calibration_error::calibration_error;
use super::cells::Cell;
use super::column::{Column, Tally};
use super::figures::Figures;
use super::prediction::{Prediction, PredictionKind};
use super::proper::BrierSplit;
use super::reliability::{self, ReliabilityBin};
use super::roc::Roc;
use crate::stats::{Clusters, Interval, Units, effective_clopper_pearson};

/// How to assess.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct AssessOptions<'a> {
    /// How predictions are grouped for calibration errors.
    pub binning: Binning,
    /// The norm `p >= 1` of `lp_ce`.
    pub norm: f64,
    /// One minus the coverage of the intervals that take no resampling, in `(0, 1)`.
    pub alpha: f64,
    /// How to resample for the other intervals; `None` for none.
    pub bootstrap: Option<Bootstrap>,
    /// Which rows belong together, where rows are not independent: whole clusters are then resampled, and the intervals that
    /// take no resampling are for as many rows as are left if the rows of a cluster all say the same. `None` for rows that
    /// are independent.
    pub clusters: Option<&'a Clusters>,
}

impl Default for AssessOptions<'_> {
    /// Fifteen bins of equal width, the squared norm, 95 % intervals, no resampling, independent rows.
    fn default() -> Self {
        Self { binning: Binning::EqualWidth(15), norm: 2.0, alpha: 0.05, bootstrap: None, clusters: None }
    }
}

/// A metric, with a bootstrap interval if one was asked for.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct EstimateWithInterval {
    /// The estimate.
    pub value: f64,
    /// The interval.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub interval: Option<Interval>,
}

impl EstimateWithInterval {
    /// `None` if the estimate is undefined.
    pub(crate) fn defined(self) -> Option<Self> {
        (!self.value.is_nan()).then_some(self)
    }
}

/// A metric of binned predictions: the plugin estimate, beside it the one without its bias, and how they were grouped.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct BinnedEstimate {
    /// The plugin estimate.
    pub value: f64,
    /// Its interval: how much it varies. It has the plugin's bias, and holds the truth less often than it states. A largest
    /// deviation has none, nor an error in a norm other than 1 and 2: nothing tells their bias.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub interval: Option<Interval>,
    /// The debiased estimate, where there is one. It may be negative.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub debiased: Option<f64>,
    /// The interval of the truth. That of an absolute error begins below the plugin's interval by as much as the plugin may be
    /// too high, because debiasing leaves a part of its bias: with few predictions a bin it is wide.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub debiased_interval: Option<Interval>,
    /// How predictions are grouped.
    #[serde(flatten)]
    pub groups: Groups,
}

impl BinnedEstimate {
    fn new(
        value: f64,
        interval: Option<Interval>,
        debiased: Option<(f64, Option<Interval>)>,
        groups: Groups,
    ) -> Self {
        Self {
            value,
            interval,
            debiased: debiased.map(|debiased| debiased.0),
            debiased_interval: debiased.and_then(|debiased| debiased.1),
            groups,
        }
    }

    /// The plugin estimate.
    pub fn plugin(&self) -> EstimateWithInterval {
        EstimateWithInterval { value: self.value, interval: self.interval }
    }
}

/// How predictions are grouped for a metric.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Groups {
    /// The binning.
    pub binning: Binning,
    /// The number of groups that hold predictions.
    pub groups: u64,
    /// How many of them hold one.
    pub singles: u64,
}

impl Groups {
    fn new(binning: Binning, cells: &[Cell]) -> Self {
        let error = calibration_error(cells);
        Self { binning, groups: error.groups, singles: error.singles }
    }
}

/// The calibration error in the norm p.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct LpEstimate {
    /// The norm.
    pub p: f64,
    /// The error. Its debiased estimate exists for p = 1 and 2; for 2 it is the root of the squared one, or 0 if that is
    /// negative.
    #[serde(flatten)]
    pub estimate: BinnedEstimate,
    /// For p = 2 the mean squared deviation.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub squared: Option<EstimateWithInterval>,
    /// The same without its bias (Kumar et al. 2019, Definition 5.2). It may be negative.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub squared_debiased: Option<EstimateWithInterval>,
}

impl LpEstimate {
    /// The norm `p` decides which of the figures it is: of 1 the ECE, of 2 the root of the mean square.
    fn new(figures: &Figures<f64>, intervals: &Figures<Option<Interval>>, p: f64, bins: Groups) -> Self {
        let root = |value: f64| value.max(0.0).sqrt();
        let roots = |i: Interval| Interval { lo: root(i.lo), hi: root(i.hi) };
        let (interval, debiased) = match p {
            1.0 => (intervals.ece, Some((figures.ece_debiased, intervals.ece_debiased))),
            2.0 => (
                intervals.l2_squared.map(roots),
                Some((root(figures.l2_squared_debiased), intervals.l2_squared_debiased.map(roots))),
            ),
            _ => (None, None),
        };
        let of_square = |value, interval| (p == 2.0).then_some(EstimateWithInterval { value, interval });
        Self {
            p,
            estimate: BinnedEstimate::new(figures.lp, interval, debiased, bins),
            squared: of_square(figures.l2_squared, intervals.l2_squared),
            squared_debiased: of_square(figures.l2_squared_debiased, intervals.l2_squared_debiased),
        }
    }
}

/// The empirical calibration measure, and what it says about the true one.
///
/// It has no bootstrap interval: as the largest of many deviations it is too high for a calibrated model, and higher still in
/// every resample.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct CEmpEstimate {
    /// `c_emp`.
    pub value: f64,
    /// The interval of the true calibration measure (Gao et al. 2017, Claim 4), each end with probability `1 - alpha`, if the
    /// model was not fitted to these predictions. Its lower end is vacuous for less than some 10^5 predictions.
    pub bound: Interval,
    /// The probability with which an end of the bound may fail.
    pub alpha: f64,
}

/// The ROC curve in brief.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct RocSummary {
    /// The number of points of the curve.
    pub points: usize,
    /// The number of corners of its convex hull.
    pub hull_points: usize,
    /// The area under the hull.
    pub hull_auc: f64,
    /// Whether the isotonic fit's curve is the hull, in exact integers.
    pub isotonic_is_hull: bool,
}

/// Metrics of a set of predictions. The names are those of the literature (`conf_ece` and `tl_ece`: Gupta and
/// Ramdas 2022, equations 3 and 4).
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Assessment {
    /// What the predictions are of.
    pub kind: PredictionKind,
    /// The number of predictions.
    pub n: u64,
    /// How many came true: positives for binary predictions, correct ones otherwise.
    pub hits: u64,
    /// The share of those, with its exact interval (Clopper and Pearson; of clusters that of as many rows as are left if the
    /// rows of a cluster all say the same).
    pub rate: EstimateWithInterval,
    /// The fraction of right decisions: for binary predictions `prob >= 0.5` against the label.
    pub accuracy: EstimateWithInterval,
    /// The mean squared difference of probability and outcome.
    pub brier: EstimateWithInterval,
    /// The part of it that is calibration, over the bins. Its interval is that of the debiased estimate, the squared one of
    /// [`LpEstimate`] for `p = 2`: where the truth is, mostly below this plugin estimate.
    pub brier_calibration: EstimateWithInterval,
    /// The part of it that is refinement, over the bins.
    pub brier_refinement: EstimateWithInterval,
    /// The whole split.
    pub brier_split: BrierSplit,
    /// The mean negative logarithm of the probability given to what happened, in nats.
    pub log_loss: EstimateWithInterval,
    /// How many predictions gave probability 0 to what happened, and were clipped to 2.2e-16 for the log-loss.
    pub log_loss_clipped: u64,
    /// The variance of the probabilities.
    pub sharpness: EstimateWithInterval,
    /// The area under the ROC curve of the probabilities for what came true, unless all or nothing did.
    pub auc: Option<EstimateWithInterval>,
    /// The curve itself in brief, if it is defined.
    pub roc: Option<RocSummary>,
    /// The largest deviation over intervals of probabilities, without bins.
    pub c_emp: CEmpEstimate,
    /// The mean over predictions of their bin's deviation of mean probability from fraction of hits.
    pub conf_ece: BinnedEstimate,
    /// The largest such deviation.
    pub conf_mce: BinnedEstimate,
    /// The deviations in another norm.
    pub lp_ce: LpEstimate,
    /// As `conf_ece`, with bins kept apart by predicted class; top-label predictions only.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tl_ece: Option<BinnedEstimate>,
    /// The largest deviation over classes and bins (equation 17 there); top-label predictions only.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tl_mce: Option<BinnedEstimate>,
    /// The largest over bins of the deviations averaged over classes; top-label predictions only.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tl_mce_bin: Option<BinnedEstimate>,
    /// The bins of `conf_ece` that hold predictions.
    pub bins: Vec<ReliabilityBin>,
    /// The same of each class that is predicted; top-label predictions only.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub classes: Vec<ClassAssessment>,
}

impl Assessment {
    /// Whether all predictions came true, or none did, so that nothing tells how well they separate; `None` if some did.
    pub fn one_label(&self) -> Option<bool> {
        match self.hits {
            0 => Some(false),
            hits => (hits == self.n).then_some(true),
        }
    }
}

/// Metrics of the predictions of one class.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ClassAssessment {
    /// The class.
    pub class: u16,
    /// The metrics.
    #[serde(flatten)]
    pub assessment: Assessment,
}

/// Assesses predictions.
///
/// The result depends neither on the order of the predictions nor on the number of threads.
///
/// ```
/// use calib_fit::assess::{AssessOptions, Prediction, PredictionKind, assess};
///
/// // 0.8 is said a hundred times, and comes true 60 times.
/// let said = |row| Prediction { class: 1, prob: 0.8, bin: 0, hit: row < 60 };
/// let rows: Vec<Prediction> = (0..100).map(said).collect();
/// let assessment = assess(&rows, PredictionKind::Binary, &AssessOptions::default());
/// assert!((assessment.conf_ece.value - 0.2).abs() < 1e-9);
/// assert!((assessment.brier.value - (0.6 * 0.04 + 0.4 * 0.64)).abs() < 1e-9);
/// ```
///
/// # Panics
///
/// If there are no predictions, or more than 2^32, or clusters of another number of rows.
pub fn assess(predictions: &[Prediction], kind: PredictionKind, options: &AssessOptions<'_>) -> Assessment {
    let subject = match options.clusters {
        None => {
            let column = Column::new(predictions, kind, options.binning, options.norm);
            Subject::new(column, Units::rows(predictions.len()), options)
        }
        Some(_) => {
            let mut order: Vec<usize> = (0..predictions.len()).collect();
            order.sort_unstable_by_key(|&row| predictions[row].key());
            let same = |a: usize, b: usize| predictions[a].key() == predictions[b].key();
            let units = Units::new(options.clusters, &mut order, same);
            Subject::of_rows(predictions, &order, units, kind, options)
        }
    };
    let intervals = options
        .bootstrap
        .map(|b| b.intervals(&subject.units, |counts| subject.values(counts), Figures::<f64>::is_biased));
    subject.assessment(&mut intervals.into_iter().flatten())
}

/// What is assessed: all predictions, and for top-label predictions those of each class.
pub(crate) struct Subject<'a> {
    options: &'a AssessOptions<'a>,
    /// What is resampled; the sources of the columns' rows are its places.
    pub(crate) units: Units,
    whole: Part,
    classes: Vec<(u16, Part)>,
}

/// Predictions with what was gathered from them.
pub(crate) struct Part {
    pub(crate) column: Column,
    tally: Tally,
}

impl<'a> Subject<'a> {
    pub(crate) fn new(column: Column, units: Units, options: &'a AssessOptions<'a>) -> Self {
        let classes = match column.kind() {
            PredictionKind::TopLabel => column.by_class(),
            PredictionKind::Binary => Vec::new(),
        };
        let classes = classes.into_iter().map(|(class, column)| (class, Part::new(column))).collect();
        Self { options, units, whole: Part::new(column), classes }
    }

    /// The rows in an order of their contents, in which they are resampled.
    pub(crate) fn of_rows(
        rows: &[Prediction],
        order: &[usize],
        units: Units,
        kind: PredictionKind,
        options: &'a AssessOptions<'a>,
    ) -> Self {
        let rows = order.iter().zip(0u32..).map(|(&row, source)| (rows[row], source)).collect();
        Self::new(Column::with_sources(rows, kind, options.binning, options.norm), units, options)
    }

    /// The metrics of everything and of each class, if row `source` occurs `counts[source]` times.
    pub(crate) fn values(&self, counts: &[u32]) -> Vec<f64> {
        let parts = std::iter::once(&self.whole).chain(self.classes.iter().map(|(_, part)| part));
        parts.flat_map(|part| part.column.resampled(counts).values()).collect()
    }

    /// The metrics with the intervals of these values; without intervals if there are none.
    pub(crate) fn assessment(&self, intervals: &mut impl Iterator<Item = Option<Interval>>) -> Assessment {
        let mut whole = self.whole.assessment(self.options, &self.units, intervals);
        let class = |(class, part): &(u16, Part)| ClassAssessment {
            class: *class,
            assessment: part.assessment(self.options, &self.units, intervals),
        };
        whole.classes = self.classes.iter().map(class).collect();
        whole
    }

    /// The metrics of everything, without intervals.
    pub(crate) fn figures(&self) -> Figures<f64> {
        self.whole.figures()
    }
}

impl Part {
    pub(crate) fn new(column: Column) -> Self {
        Self { tally: column.tally(), column }
    }

    /// The metrics, without intervals.
    pub(crate) fn figures(&self) -> Figures<f64> {
        self.column.figures(&self.tally)
    }

    /// The metrics with the intervals of these values; without intervals if there are none.
    pub(crate) fn assessment(
        &self,
        options: &AssessOptions<'_>,
        units: &Units,
        intervals: &mut impl Iterator<Item = Option<Interval>>,
    ) -> Assessment {
        let Self { column, tally } = self;
        let figures = self.figures();
        let intervals = Figures::take(&mut intervals.by_ref().take(Figures::<f64>::COUNT).chain(nothing()))
            .around(&figures)
            .of_absolute_errors(&figures);
        let kind = column.kind();
        let cells: Vec<Cell> = column.bins(tally).into_iter().map(|(_, cell)| cell).collect();
        let [bins, groups] = [&cells, &tally.cells].map(|cells| Groups::new(options.binning, cells));
        let plain = |value, interval| EstimateWithInterval { value, interval };
        let binned = BinnedEstimate::new;
        let n = column.len() as u64;
        let top_label = |estimate: BinnedEstimate| (kind == PredictionKind::TopLabel).then_some(estimate);
        let conf_ece =
            binned(figures.ece, intervals.ece, Some((figures.ece_debiased, intervals.ece_debiased)), bins);
        let hits = cells.iter().map(|cell| cell.hits).sum();
        let effective = column.effective_rows(units);
        let exact = effective_clopper_pearson(hits, n, effective, options.alpha);
        Assessment {
            kind,
            n,
            hits,
            rate: plain(hits as f64 / n as f64, Some(exact)),
            accuracy: plain(figures.accuracy, intervals.accuracy),
            brier: plain(figures.brier, intervals.brier),
            brier_calibration: plain(figures.brier_calibration, intervals.brier_calibration),
            brier_refinement: plain(figures.brier_refinement, intervals.brier_refinement),
            brier_split: BrierSplit::new(figures.brier, &cells),
            log_loss: plain(figures.log_loss, intervals.log_loss),
            log_loss_clipped: column.clipped(),
            sharpness: plain(figures.sharpness, intervals.sharpness),
            auc: plain(figures.auc, intervals.auc).defined(),
            roc: self.roc(),
            c_emp: CEmpEstimate {
                value: figures.c_emp,
                bound: c_emp_interval(figures.c_emp, effective, options.alpha),
                alpha: options.alpha,
            },
            conf_ece,
            conf_mce: binned(figures.mce, intervals.mce, None, bins),
            lp_ce: LpEstimate::new(&figures, &intervals, options.norm, bins),
            tl_ece: top_label(binned(
                figures.tl_ece,
                intervals.tl_ece,
                Some((figures.tl_ece_debiased, intervals.tl_ece_debiased)),
                groups,
            )),
            tl_mce: top_label(binned(figures.tl_mce, intervals.tl_mce, None, groups)),
            tl_mce_bin: top_label(binned(figures.tl_mce_bin, intervals.tl_mce_bin, None, groups)),
            bins: reliability::bins(column, tally, options.alpha, units),
            classes: Vec::new(),
        }
    }

    fn roc(&self) -> Option<RocSummary> {
        let roc = Roc::of_groups(&self.column.by_prob())?;
        Some(RocSummary {
            points: roc.points.len(),
            hull_points: roc.hull.len(),
            hull_auc: roc.hull_auc(),
            isotonic_is_hull: roc.isotonic_is_hull(),
        })
    }
}

/// No interval, for every metric.
fn nothing() -> impl Iterator<Item = Option<Interval>> {
    std::iter::repeat(None)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use rand::{RngExt, SeedableRng};
    use rand_xoshiro::Xoshiro256PlusPlus;

    use super::*;
    use crate::assess::bootstrap::IntervalKind;

    fn equal_width(bins: usize) -> AssessOptions<'static> {
        AssessOptions { binning: Binning::EqualWidth(bins), ..AssessOptions::default() }
    }

    fn binary(rows: &[(f64, bool)]) -> Vec<Prediction> {
        rows.iter().map(|&(prob, hit)| Prediction { class: 1, prob, bin: 0, hit }).collect()
    }

    /// The tiny fixture: plugin L1 error 0.0666...
    #[test]
    fn the_twelve_point_fixture() {
        let p = [0.1, 0.1, 0.1, 0.1, 0.4, 0.4, 0.4, 0.8, 0.8, 0.8, 0.8, 0.8];
        let y = [0, 0, 1, 0, 1, 0, 0, 1, 1, 0, 1, 1];
        let rows: Vec<_> = p.iter().zip(y).map(|(&p, y)| (p, y == 1)).collect();
        let got = assess(&binary(&rows), PredictionKind::Binary, &equal_width(10));
        // Bins: 4 at .1 with mean .25; 3 at .4 with mean 1/3; 5 at .8 with mean .8.
        assert!((got.conf_ece.value - (4.0 * 0.15 + 3.0 * (0.4 - 1.0 / 3.0)) / 12.0).abs() < 1e-15);
        assert!((got.conf_ece.value - 0.066_666_666_667).abs() < 1e-12);
        assert!((got.conf_mce.value - 0.15).abs() < 1e-15);
        assert_eq!((got.n, got.hits, got.bins.len()), (12, 6, 3));
        assert!((got.accuracy.value - 9.0 / 12.0).abs() < 1e-15);
        assert_eq!(got.tl_ece, None);
    }

    #[test]
    fn an_impossible_event_is_clipped_and_counted() {
        let got =
            assess(&binary(&[(0.0, true), (1.0, true)]), PredictionKind::Binary, &AssessOptions::default());
        assert_eq!(got.log_loss_clipped, 1);
        assert!((got.log_loss.value - (-(f64::EPSILON.ln()) / 2.0)).abs() < 1e-9);
        assert_eq!(got.brier.value, 0.5);
    }

    /// GR22 section 2: two classes off by opposite amounts cancel in conf_ece but not in tl_ece.
    #[test]
    fn classes_are_kept_apart_in_tl_ece() {
        let mut rows = Vec::new();
        for i in 0..10 {
            rows.push(Prediction { class: 0, prob: 0.6, bin: 0, hit: i < 8 });
            rows.push(Prediction { class: 1, prob: 0.6, bin: 0, hit: i < 4 });
        }
        let got = assess(&rows, PredictionKind::TopLabel, &AssessOptions::default());
        assert!(got.conf_ece.value < 1e-12);
        assert!((got.tl_ece.unwrap().value - 0.2).abs() < 1e-12);
        assert!((got.tl_mce.unwrap().value - 0.2).abs() < 1e-12);
        assert!((got.tl_mce_bin.unwrap().value - 0.2).abs() < 1e-12);
    }

    /// Probabilities that are those of the outcomes.
    fn calibrated(n: usize, seed: u64) -> Vec<Prediction> {
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(seed);
        let mut row = || {
            let prob: f64 = rng.random();
            (prob, rng.random::<f64>() < prob)
        };
        binary(&(0..n).map(|_| row()).collect::<Vec<_>>())
    }

    /// The true squared deviation of the bins is 0, and every plugin estimate of it above that.
    #[test]
    fn the_interval_of_the_calibration_part_holds_the_truth() {
        let bootstrap =
            Some(Bootstrap { kind: IntervalKind::Percentile, resamples: 200, seed: 1, alpha: 0.05 });
        let options = AssessOptions { bootstrap, ..AssessOptions::default() };
        let of = |seed| assess(&calibrated(500, seed), PredictionKind::Binary, &options).brier_calibration;
        let holds = (0..60).map(of).filter(|got| got.value > 0.0 && got.interval.unwrap().lo <= 0.0).count();
        assert!(holds >= 54, "{holds} of 60");
    }

    /// A largest deviation has no bootstrap interval, and a correction for bias is no help where the bias is large.
    #[test]
    fn largest_deviations_have_no_interval_and_errors_are_not_corrected() {
        let with = |kind| {
            let bootstrap = Some(Bootstrap { kind, resamples: 100, seed: 1, alpha: 0.05 });
            let rows: Vec<Prediction> = calibrated(300, 1)
                .into_iter()
                .enumerate()
                .map(|(i, row)| Prediction { class: (i % 2) as u16, ..row })
                .collect();
            let options = AssessOptions { bootstrap, norm: 3.0, ..AssessOptions::default() };
            assess(&rows, PredictionKind::TopLabel, &options)
        };
        let [percentile, bca] = [with(IntervalKind::Percentile), with(IntervalKind::Bca)];
        for got in [&percentile, &bca] {
            let of = |estimate: Option<BinnedEstimate>| estimate.unwrap().interval;
            assert_eq!([of(Some(got.conf_mce)), of(got.tl_mce), of(got.tl_mce_bin)], [None; 3]);
            assert_eq!(got.lp_ce.estimate.interval, None);
        }
        assert_eq!(percentile.brier_calibration, bca.brier_calibration);
        assert_eq!(percentile.conf_ece, bca.conf_ece);
        assert_ne!(percentile.brier.interval, bca.brier.interval);
    }

    proptest! {
        #[test]
        fn the_order_does_not_matter_to_the_last_bit(
            rows in proptest::collection::vec((0u16..3, 0u32..1000, any::<bool>()), 1..60), by_bin in any::<bool>(),
        ) {
            let predictions: Vec<_> = rows.iter()
                .map(|&(class, p, hit)| Prediction { class, prob: f64::from(p) / 999.0, bin: p % 7, hit }).collect();
            let mut reversed = predictions.clone();
            reversed.reverse();
            let binning = if by_bin { Binning::ByBin } else { Binning::EqualWidth(15) };
            let bootstrap = Some(Bootstrap { kind: IntervalKind::Bca, resamples: 20, seed: 7, alpha: 0.1 });
            let options = AssessOptions { binning, bootstrap, ..AssessOptions::default() };
            // As text, in which an undefined metric equals itself.
            let run = |rows: &[Prediction]| format!("{:?}", assess(rows, PredictionKind::TopLabel, &options));
            prop_assert_eq!(run(&predictions), run(&reversed));
        }

        /// conf_ece <= tl_ece <= tl_mce, and tl_mce_bin <= tl_mce.
        #[test]
        fn the_errors_are_ordered(rows in proptest::collection::vec((0u16..3, 0u32..=50, any::<bool>()), 1..60)) {
            let predictions: Vec<_> = rows.iter()
                .map(|&(class, p, hit)| Prediction { class, prob: f64::from(p) / 50.0, bin: 0, hit }).collect();
            let got = assess(&predictions, PredictionKind::TopLabel, &AssessOptions::default());
            let (tl_ece, tl_mce) = (got.tl_ece.unwrap().value, got.tl_mce.unwrap().value);
            prop_assert!(got.conf_ece.value <= tl_ece + 1e-12 && tl_ece <= tl_mce + 1e-12);
            prop_assert!(got.tl_mce_bin.unwrap().value <= tl_mce + 1e-12);
        }
    }
}
