//! All metrics of a set of predictions.

use std::collections::BTreeMap;
use std::fmt;

use serde::Serialize;

use super::binning::Binning;
use super::bootstrap::Bootstrap;
use super::c_emp::c_emp_interval;
use super::calibration_error::{calibration_error, chance_error};
use super::cells::Cell;
use super::column::{Frame, Tally};
use super::few_events::{Events, FEWEST_EVENTS};
use super::figures::Figures;
use super::prediction::PredictionKind;
use super::proper::BrierSplit;
use super::reliability::{self, ReliabilityBin};
use crate::accessors::options;
use crate::stats::{Clusters, Interval, effective_clopper_pearson, places, write};

options! {
    /// How to assess: by default fifteen bins of equal width, the squared norm, 95% intervals, no resampling, independent rows.
    #[derive(Clone, Copy, Debug, PartialEq)]
    #[non_exhaustive]
    pub struct AssessOptions<'a> {
        /// How predictions are grouped for calibration errors.
        pub binning: Binning = Binning::EqualWidth(15),
        /// The norm `p >= 1` of `lp_ce`.
        pub norm: f64 = 2.0,
        /// One minus the coverage of the intervals that take no resampling, in `(0, 1)`.
        pub alpha: f64 = 0.05,
        /// How to resample for the other intervals; `None` for none.
        pub bootstrap: Option<Bootstrap> = None,
        /// Which rows belong together, where rows are not independent: whole clusters are then resampled, and the intervals that
        /// take no resampling are for as many rows as are left if the rows of a cluster all say the same. `None` for rows that
        /// are independent.
        pub clusters: Option<&'a Clusters> = None,
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

/// The estimate, and the interval behind it, as an [`Interval`] is shown.
impl fmt::Display for EstimateWithInterval {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ends = self.interval.unwrap_or(Interval { lo: self.value, hi: self.value });
        let places = f.precision().map(|least| places(least, &[self.value, ends.lo, ends.hi]));
        write(f, self.value, places)?;
        let Some(interval) = self.interval else { return Ok(()) };
        f.write_str(" ")?;
        interval.write(f, places)
    }
}

impl EstimateWithInterval {
    /// `None` if the estimate is undefined.
    pub(crate) fn defined(self) -> Option<Self> {
        (!self.value.is_nan()).then_some(self)
    }
}

/// A metric of binned predictions: the plugin estimate, beside it the one without its bias, and how they were grouped.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[non_exhaustive]
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
    /// What calibrated predictions with these probabilities exceed in about 5 % of cases ([`chance_error`]): of mean absolute errors of independent
    /// rows only. Of all classes taken together it is the mean over the classes, which is exceeded less often.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub by_chance: Option<f64>,
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
            by_chance: None,
            groups,
        }
    }

    /// With what calibrated predictions in these groups rarely exceed, unless rows belong together.
    fn beside_chance(self, cells: &[Cell], are_rows: bool) -> Self {
        Self { by_chance: are_rows.then(|| chance_error(cells)), ..self }
    }

    /// The estimate that calibrated predictions exceed in about 5 % of cases, without an interval.
    pub fn chance(&self) -> Option<EstimateWithInterval> {
        Some(EstimateWithInterval { value: self.by_chance?, interval: None })
    }

    /// The plugin estimate.
    pub fn plugin(&self) -> EstimateWithInterval {
        EstimateWithInterval { value: self.value, interval: self.interval }
    }
}

/// How predictions are grouped for a metric.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
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
#[non_exhaustive]
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
#[non_exhaustive]
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
#[non_exhaustive]
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
#[non_exhaustive]
pub struct Assessment {
    /// What the predictions are of.
    pub kind: PredictionKind,
    /// The number of predictions.
    pub n: u64,
    /// How many are positive: positives for binary predictions, correct ones otherwise.
    pub hits: u64,
    /// The share of those, with its exact interval (Clopper and Pearson. Of clusters that of as many rows as are left if the
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
    /// The area under the ROC curve of the probabilities and outcomes, unless all outcomes are equal.
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
    /// The number of positive or of negative outcomes, whichever is smaller, if it is so small that the Brier score and the log-loss have no
    /// interval: below 10.
    pub fn few_events(&self) -> Option<u64> {
        Some(self.hits.min(self.n - self.hits)).filter(|&fewer| fewer < FEWEST_EVENTS)
    }

    /// Whether all outcomes are positive, or all are negative, so that discrimination is undefined; `None` otherwise.
    pub fn one_label(&self) -> Option<bool> {
        match self.hits {
            0 => Some(false),
            hits => (hits == self.n).then_some(true),
        }
    }
}

/// Metrics of the predictions of one class.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct ClassAssessment {
    /// The class.
    pub class: u16,
    /// The metrics.
    #[serde(flatten)]
    pub assessment: Assessment,
}

/// What an assessment without resampling is made of.
pub(crate) struct Gathered<'g> {
    pub(crate) frame: &'g Frame,
    pub(crate) tally: &'g Tally,
    /// The number of predictions, and to how many independent ones they amount at least.
    pub(crate) n: u64,
    pub(crate) effective: u64,
    /// The same for every bin that holds predictions; nothing if all rows are independent.
    pub(crate) effective_of_bins: BTreeMap<u32, u64>,
    /// How many predictions gave probability 0 to what happened.
    pub(crate) clipped: u64,
    pub(crate) roc: Option<RocSummary>,
}

impl Gathered<'_> {
    /// The metrics with the intervals of these values; without intervals if there are none.
    pub(crate) fn assessment(
        &self,
        options: &AssessOptions<'_>,
        intervals: &mut impl Iterator<Item = Option<Interval>>,
    ) -> Assessment {
        let Self { frame, tally, n, effective, .. } = *self;
        let figures = frame.figures(tally);
        let intervals = Figures::take(&mut intervals.by_ref().take(Figures::<f64>::COUNT).chain(nothing()))
            .around(&figures)
            .of_absolute_errors(&figures);
        let kind = frame.kind;
        let cells: Vec<Cell> = frame.bins(tally).into_iter().map(|(_, cell)| cell).collect();
        let hits = cells.iter().map(|cell| cell.hits).sum();
        let events = Events {
            hits,
            misses: n - hits,
            alpha: options.bootstrap.map_or(options.alpha, |bootstrap| bootstrap.alpha),
            are_rows: effective == n,
        };
        let intervals = events.heed(intervals, &figures, [&cells, &tally.cells]);
        let [bins, groups] = [&cells, &tally.cells].map(|cells| Groups::new(options.binning, cells));
        let plain = |value, interval| EstimateWithInterval { value, interval };
        let binned = BinnedEstimate::new;
        let top_label = |estimate: BinnedEstimate| (kind == PredictionKind::TopLabel).then_some(estimate);
        let conf_ece =
            binned(figures.ece, intervals.ece, Some((figures.ece_debiased, intervals.ece_debiased)), bins)
                .beside_chance(&cells, effective == n);
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
            log_loss_clipped: self.clipped,
            sharpness: plain(figures.sharpness, intervals.sharpness),
            auc: plain(figures.auc, intervals.auc).defined(),
            roc: self.roc,
            c_emp: CEmpEstimate {
                value: figures.c_emp,
                bound: c_emp_interval(figures.c_emp, effective, options.alpha),
                alpha: options.alpha,
            },
            conf_ece,
            conf_mce: binned(figures.mce, intervals.mce, None, bins),
            lp_ce: LpEstimate::new(&figures, &intervals, options.norm, bins),
            tl_ece: top_label(
                binned(
                    figures.tl_ece,
                    intervals.tl_ece,
                    Some((figures.tl_ece_debiased, intervals.tl_ece_debiased)),
                    groups,
                )
                .beside_chance(&tally.cells, effective == n),
            ),
            tl_mce: top_label(binned(figures.tl_mce, intervals.tl_mce, None, groups)),
            tl_mce_bin: top_label(binned(figures.tl_mce_bin, intervals.tl_mce_bin, None, groups)),
            bins: reliability::bins(frame, tally, options.alpha, &self.effective_of_bins),
            classes: Vec::new(),
        }
    }
}

/// No interval, for every metric.
fn nothing() -> impl Iterator<Item = Option<Interval>> {
    std::iter::repeat(None)
}
