//! All metrics of vectors of probabilities, and of the k most probable classes.

use serde::Serialize;

use super::assessment::{AssessOptions, Assessment, BinnedEstimate, EstimateWithInterval, Groups};
use super::column::Column;
use super::figures::Figures;
use super::prediction::{Prediction, PredictionKind};
use super::proper::{LOSS_UNIT, loss};
use super::subject::{Part, Subject};
use crate::stats::{Clusters, ExactSum, Interval, Units};

/// `n >= 1` rows of a probability for each of `L >= 2` classes, and the true classes. The rows need not sum to one: class-wise
/// calibrators give such.
#[derive(Clone, Debug, PartialEq)]
pub struct ProbMatrix {
    probs: Vec<f64>,
    bins: Option<Vec<u32>>,
    labels: Vec<u16>,
    classes: usize,
}

/// Metrics of vectors of probabilities.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct VectorAssessment {
    /// The number of classes.
    pub classes: usize,
    /// The squared differences of probabilities and outcomes, summed over classes, and averaged.
    pub brier: EstimateWithInterval,
    /// The mean negative logarithm of the probability given to the true class, in nats.
    pub log_loss: EstimateWithInterval,
    /// How many rows gave it probability 0, and were clipped to 2.2e-16 for the log-loss.
    pub log_loss_clipped: u64,
    /// The mean over classes of their calibration errors, every class against the rest (Gupta and Ramdas 2022, `CW-ECE`).
    pub cw_ece: BinnedEstimate,
    /// The root of the mean over classes of their squared calibration errors (Kumar et al. 2019, Definition 2.4, with
    /// equal weights). The debiased one is 0 where the mean of the debiased squares is negative.
    pub marginal_ce: BinnedEstimate,
    /// The mean over classes of the debiased squares. It may be negative.
    pub marginal_ce_squared_debiased: EstimateWithInterval,
    /// The metrics of the most probable class, ties to the lowest.
    pub top_label: Assessment,
    /// The metrics of every class against the rest, in order.
    pub class_wise: Vec<Assessment>,
}

/// Metrics of the k most probable classes of every row.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct TopKAssessment {
    /// The share of rows whose true class is among the k.
    pub accuracy: EstimateWithInterval,
    /// The mean of the sum of the k probabilities: what the accuracy should be.
    pub mean_prob: EstimateWithInterval,
    /// The metrics of each rank.
    pub ranks: Vec<Assessment>,
}

impl ProbMatrix {
    /// Takes row-major probabilities, `classes >= 2` to a row, and the true classes.
    ///
    /// # Panics
    ///
    /// If there are no rows, the lengths do not fit, a probability is not in `[0, 1]` or a label is no class.
    pub fn new(probs: Vec<f64>, labels: Vec<u16>, classes: usize) -> Self {
        assert!(classes >= 2 && !labels.is_empty() && probs.len() == classes * labels.len(), "shape");
        assert!(probs.iter().all(|prob| (0.0..=1.0).contains(prob)), "a probability is not in [0, 1]");
        assert!(labels.iter().all(|&label| usize::from(label) < classes), "a label is no class");
        Self { probs, bins: None, labels, classes }
    }

    /// The same with the bin that a calibrator put every probability in.
    ///
    /// # Panics
    ///
    /// If there are not as many bins as probabilities.
    #[must_use]
    pub fn with_bins(self, bins: Vec<u32>) -> Self {
        assert_eq!(bins.len(), self.probs.len());
        Self { bins: Some(bins), ..self }
    }

    /// The number of classes, at least 2.
    pub(crate) fn classes(&self) -> usize {
        self.classes
    }

    /// The rows with their true classes.
    pub(crate) fn rows(&self) -> impl Iterator<Item = (&[f64], u16)> {
        self.probs.chunks_exact(self.classes).zip(self.labels.iter().copied())
    }

    /// What is resampled, in an order of the rows that does not depend on that of the rows here.
    fn order(&self, clusters: Option<&Clusters>) -> (Vec<usize>, Units) {
        let mut order: Vec<usize> = (0..self.labels.len()).collect();
        let key =
            |row: usize| (self.labels[row], self.row(row), self.bins.as_ref().map(|_| self.bins_of(row)));
        order.sort_unstable_by(|&a, &b| key(a).partial_cmp(&key(b)).expect("no probability is NaN"));
        let units = Units::new(clusters, &mut order, |a, b| key(a) == key(b));
        (order, units)
    }

    fn row(&self, row: usize) -> &[f64] {
        &self.probs[row * self.classes..][..self.classes]
    }

    fn bins_of(&self, row: usize) -> &[u32] {
        self.bins.as_ref().map_or(&[], |bins| &bins[row * self.classes..][..self.classes])
    }

    fn prediction(&self, row: usize, class: usize) -> Prediction {
        Prediction {
            class: class as u16,
            prob: self.row(row)[class],
            bin: self.bins_of(row).get(class).copied().unwrap_or(0),
            hit: usize::from(self.labels[row]) == class,
        }
    }

    /// The classes of a row by descending probability, ties by ascending class.
    fn ranked(&self, row: usize) -> Vec<usize> {
        let probs = self.row(row);
        let mut classes: Vec<usize> = (0..self.classes).collect();
        classes.sort_by(|&a, &b| probs[b].total_cmp(&probs[a]));
        classes
    }

    /// The most probable class of every row, ties to the lowest.
    pub fn top_label(&self) -> Vec<Prediction> {
        let top = |row: usize| {
            let probs = self.row(row);
            (1..self.classes).fold(0, |best, class| if probs[class] > probs[best] { class } else { best })
        };
        (0..self.labels.len()).map(|row| self.prediction(row, top(row))).collect()
    }

    /// The `k` most probable classes of every row, rank by rank; ties to the lower class.
    pub fn top_k(&self, k: usize) -> Vec<Vec<Prediction>> {
        let mut ranks = vec![Vec::with_capacity(self.labels.len()); k.min(self.classes)];
        for row in 0..self.labels.len() {
            for (rank, class) in ranks.iter_mut().zip(self.ranked(row)) {
                rank.push(self.prediction(row, class));
            }
        }
        ranks
    }

    /// Every class against the rest.
    pub fn class_wise(&self) -> Vec<Vec<Prediction>> {
        let of = |class| (0..self.labels.len()).map(|row| self.prediction(row, class)).collect();
        (0..self.classes).map(of).collect()
    }
}

/// Assesses vectors of probabilities. The result depends neither on the order of the rows nor on the number of threads.
///
/// ```
/// use calib_fit::assess::{AssessOptions, ProbMatrix, assess_vectors};
///
/// let probs = vec![0.8, 0.1, 0.1, 0.2, 0.6, 0.2, 0.1, 0.2, 0.7];
/// let assessment = assess_vectors(&ProbMatrix::new(probs, vec![0, 1, 1], 3), &AssessOptions::default());
/// assert!((assessment.top_label.accuracy.value - 2.0 / 3.0).abs() < 1e-9);
/// assert_eq!(assessment.class_wise.len(), 3);
/// ```
///
/// # Panics
///
/// If there are more than 2^32 rows, or clusters of another number of rows.
pub fn assess_vectors(matrix: &ProbMatrix, options: &AssessOptions<'_>) -> VectorAssessment {
    let (order, units) = matrix.order(options.clusters);
    let subject = VectorSubject::new(matrix, &order, units, options);
    let intervals = options
        .bootstrap
        .map(|b| b.intervals(&subject.top_label.units, |counts| subject.values(counts), is_biased));
    subject.assessment(&mut intervals.into_iter().flatten())
}

/// What is assessed of vectors.
pub(crate) struct VectorSubject<'a> {
    options: &'a AssessOptions<'a>,
    top_label: Subject<'a>,
    classes: Vec<Part>,
    /// The squared error and the log-loss of every row, in the order of resampling.
    rows: Vec<RowLoss>,
    clipped: u64,
}

#[derive(Clone, Copy)]
struct RowLoss {
    /// Divided by the number of classes, so that it is in `[0, 1]`.
    brier: f64,
    /// In units of 64 nats.
    log: f64,
}

/// Metrics of vectors that are not those of one column.
#[derive(Clone, Copy)]
struct Joint<T> {
    brier: T,
    log_loss: T,
    cw_ece: T,
    cw_ece_debiased: T,
    cw_ece_noise: T,
    marginal_squared: T,
    marginal_squared_debiased: T,
}

const JOINT: usize = 7;

/// Whether a value is a calibration error: of those of vectors all but the first two, and of those of columns.
fn is_biased(place: usize) -> bool {
    place.checked_sub(JOINT).map_or(place >= 2, Figures::<f64>::is_biased)
}

impl<'a> VectorSubject<'a> {
    fn new(matrix: &ProbMatrix, order: &[usize], units: Units, options: &'a AssessOptions<'a>) -> Self {
        let top = matrix.top_label();
        let column = |predictions: &dyn Fn(usize) -> Prediction, kind| {
            let rows = order.iter().zip(0u32..).map(|(&row, source)| (predictions(row), source)).collect();
            Column::with_sources(rows, kind, options.binning, options.norm)
        };
        let class = |class| Part::new(column(&|row| matrix.prediction(row, class), PredictionKind::Binary));
        let given = |row: usize| matrix.row(row)[usize::from(matrix.labels[row])];
        let row_loss = |&row: &usize| {
            let outcome = |class: usize| f64::from(u8::from(usize::from(matrix.labels[row]) == class));
            let squares = matrix.row(row).iter().enumerate().map(|(c, prob)| (prob - outcome(c)).powi(2));
            RowLoss { brier: squares.sum::<f64>() / matrix.classes as f64, log: loss(given(row)) }
        };
        Self {
            options,
            top_label: Subject::new(column(&|row| top[row], PredictionKind::TopLabel), units, options),
            classes: (0..matrix.classes).map(class).collect(),
            rows: order.iter().map(row_loss).collect(),
            clipped: order.iter().filter(|&&row| given(row) == 0.0).count() as u64,
        }
    }

    /// All numbers, if row `source` of the order occurs `counts[source]` times.
    pub(crate) fn values(&self, counts: &[u32]) -> Vec<f64> {
        let classes: Vec<Figures<f64>> =
            self.classes.iter().map(|part| part.column.resampled(counts)).collect();
        let joint = self.joint(&classes, |source| counts[source]);
        let mut values = joint.values().to_vec();
        values.extend(self.top_label.values(counts));
        values.extend(classes.iter().flat_map(Figures::values));
        values
    }

    fn joint(&self, classes: &[Figures<f64>], weight: impl Fn(usize) -> u32) -> Joint<f64> {
        let (mut n, mut brier, mut log) = (0, ExactSum::default(), ExactSum::default());
        for (source, row) in self.rows.iter().enumerate() {
            let times = u64::from(weight(source));
            n += times;
            brier.add_times(row.brier, times);
            log.add_times(row.log, times);
        }
        let count = classes.len() as f64;
        let mean = |of: fn(&Figures<f64>) -> f64| classes.iter().map(of).sum::<f64>() / count;
        Joint {
            brier: brier.value() * count / n as f64,
            log_loss: log.value() * LOSS_UNIT / n as f64,
            cw_ece: mean(|class| class.ece),
            cw_ece_debiased: mean(|class| class.ece_debiased),
            cw_ece_noise: mean(|class| class.ece_noise),
            marginal_squared: mean(|class| class.l2_squared),
            marginal_squared_debiased: mean(|class| class.l2_squared_debiased),
        }
    }

    /// The metrics with the intervals of these values; without intervals if there are none.
    pub(crate) fn assessment(
        &self,
        intervals: &mut impl Iterator<Item = Option<Interval>>,
    ) -> VectorAssessment {
        let figures: Vec<Figures<f64>> = self.classes.iter().map(Part::figures).collect();
        let joint = self.joint(&figures, |_| 1);
        let mut ends: Joint<Option<Interval>> =
            Joint::take(&mut intervals.by_ref().take(JOINT).chain(std::iter::repeat(None)));
        for (interval, plugin, debiased) in [
            (&mut ends.cw_ece, joint.cw_ece, joint.cw_ece_debiased),
            (&mut ends.marginal_squared, joint.marginal_squared, joint.marginal_squared_debiased),
            (&mut ends.marginal_squared_debiased, joint.marginal_squared, joint.marginal_squared_debiased),
        ] {
            *interval = interval.map(|interval| interval.less_bias(plugin, debiased));
        }
        ends.cw_ece_debiased = ends.cw_ece.map(|interval| interval.of_absolute_error(joint.cw_ece_noise));
        let top_label = self.top_label.assessment(intervals);
        let units = &self.top_label.units;
        let class_wise: Vec<Assessment> =
            self.classes.iter().map(|part| part.assessment(self.options, units, intervals)).collect();
        let groups = Groups {
            binning: self.options.binning,
            groups: class_wise.iter().map(|class| class.conf_ece.groups.groups).sum(),
            singles: class_wise.iter().map(|class| class.conf_ece.groups.singles).sum(),
        };
        let chances: Option<Vec<f64>> = class_wise.iter().map(|class| class.conf_ece.by_chance).collect();
        let by_chance = chances.map(|all| all.iter().sum::<f64>() / all.len() as f64);
        let plain = |value, interval| EstimateWithInterval { value, interval };
        let root = |value: f64| value.max(0.0).sqrt();
        let roots =
            |ends: Option<Interval>| ends.map(|ends| Interval { lo: root(ends.lo), hi: root(ends.hi) });
        VectorAssessment {
            classes: self.classes.len(),
            brier: plain(joint.brier, ends.brier),
            log_loss: plain(joint.log_loss, ends.log_loss),
            log_loss_clipped: self.clipped,
            cw_ece: BinnedEstimate {
                value: joint.cw_ece,
                interval: ends.cw_ece,
                debiased: Some(joint.cw_ece_debiased),
                debiased_interval: ends.cw_ece_debiased,
                by_chance,
                groups,
            },
            marginal_ce: BinnedEstimate {
                value: root(joint.marginal_squared),
                interval: roots(ends.marginal_squared),
                debiased: Some(root(joint.marginal_squared_debiased)),
                debiased_interval: roots(ends.marginal_squared_debiased),
                by_chance: None,
                groups,
            },
            marginal_ce_squared_debiased: plain(
                joint.marginal_squared_debiased,
                ends.marginal_squared_debiased,
            ),
            top_label,
            class_wise,
        }
    }
}

impl Joint<f64> {
    fn values(self) -> [f64; JOINT] {
        let Self { brier, log_loss, cw_ece, cw_ece_debiased, cw_ece_noise, .. } = self;
        let (squared, squared_debiased) = (self.marginal_squared, self.marginal_squared_debiased);
        [brier, log_loss, cw_ece, cw_ece_debiased, cw_ece_noise, squared, squared_debiased]
    }
}

impl<T> Joint<T> {
    fn take(from: &mut impl Iterator<Item = T>) -> Self {
        let mut next = || from.next().expect("one for every metric");
        Self {
            brier: next(),
            log_loss: next(),
            cw_ece: next(),
            cw_ece_debiased: next(),
            cw_ece_noise: next(),
            marginal_squared: next(),
            marginal_squared_debiased: next(),
        }
    }
}

/// Assesses the k most probable classes of every row: `ranks[r][row]` is the prediction at rank r. Of one row, at most one is
/// right.
///
/// ```
/// use calib_fit::assess::{AssessOptions, ProbMatrix, assess_top_k};
///
/// let probs = vec![0.8, 0.1, 0.1, 0.2, 0.6, 0.2, 0.1, 0.2, 0.7];
/// let matrix = ProbMatrix::new(probs, vec![0, 1, 1], 3);
/// let assessment = assess_top_k(&matrix.top_k(2), &AssessOptions::default());
/// // The true class of the last row is the second most probable.
/// assert_eq!(assessment.accuracy.value, 1.0);
/// ```
///
/// # Panics
///
/// If there are no ranks or rows, or the ranks differ in length.
pub fn assess_top_k(ranks: &[Vec<Prediction>], options: &AssessOptions<'_>) -> TopKAssessment {
    let rows = ranks[0].len();
    assert!(rows > 0 && ranks.iter().all(|rank| rank.len() == rows), "the ranks differ in length");
    let mut order: Vec<usize> = (0..rows).collect();
    let key = |row: usize| ranks.iter().map(move |rank| rank[row].key());
    order.sort_by_cached_key(|&row| key(row).collect::<Vec<_>>());
    let units = Units::new(options.clusters, &mut order, |a, b| key(a).eq(key(b)));
    let subject = |rank: &Vec<Prediction>| {
        Subject::of_rows(rank, &order, units.clone(), PredictionKind::TopLabel, options)
    };
    let subjects: Vec<Subject<'_>> = ranks.iter().map(subject).collect();
    let sums = |weight: &dyn Fn(usize) -> u32| {
        let (mut n, mut hits, mut probs) = (0u64, 0u64, ExactSum::default());
        for (source, &row) in order.iter().enumerate() {
            let times = weight(source);
            n += u64::from(times);
            for rank in ranks {
                hits += u64::from(times) * u64::from(rank[row].hit);
                probs.add_times(rank[row].prob, times.into());
            }
        }
        [hits as f64 / n as f64, probs.value() / n as f64]
    };
    let [accuracy, mean_prob] = sums(&|_| 1);
    let intervals = options.bootstrap.map(|b| {
        let values = |counts: &[u32]| {
            let mut values = sums(&|source| counts[source]).to_vec();
            values.extend(subjects.iter().flat_map(|subject| subject.values(counts)));
            values
        };
        b.intervals(&units, values, |place| place.checked_sub(2).is_some_and(Figures::<f64>::is_biased))
    });
    let mut intervals = intervals.into_iter().flatten();
    let mut estimate = |value| EstimateWithInterval { value, interval: intervals.next().flatten() };
    TopKAssessment {
        accuracy: estimate(accuracy),
        mean_prob: estimate(mean_prob),
        ranks: subjects.iter().map(|subject| subject.assessment(&mut intervals)).collect(),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::assess::binning::Binning;
    use crate::assess::bootstrap::{Bootstrap, IntervalKind};
    use crate::assess::subject::assess;

    /// Three rows, classes 0, 1 and 1.
    fn matrix() -> ProbMatrix {
        ProbMatrix::new(vec![0.7, 0.2, 0.1, 0.25, 0.5, 0.25, 0.4, 0.3, 0.3], vec![0, 1, 1], 3)
    }

    #[test]
    fn three_rows_by_hand() {
        let got = assess_vectors(&matrix(), &AssessOptions::default());
        let brier = [0.09 + 0.04 + 0.01, 0.0625 + 0.25 + 0.0625, 0.16 + 0.49 + 0.09];
        assert!((got.brier.value - brier.iter().sum::<f64>() / 3.0).abs() < 1e-15);
        assert!((got.log_loss.value + (0.7f64.ln() + 0.5f64.ln() + 0.3f64.ln()) / 3.0).abs() < 1e-15);
        assert!((got.top_label.accuracy.value - 2.0 / 3.0).abs() < 1e-15);
        // Every probability is alone in its bin: |p - y| averaged.
        let classes = [(0.3 + 0.25 + 0.4) / 3.0, (0.2 + 0.5 + 0.7) / 3.0, (0.1 + 0.25 + 0.3) / 3.0];
        assert!((got.cw_ece.value - classes.iter().sum::<f64>() / 3.0).abs() < 1e-15);
        let squares = [0.09 + 0.0625 + 0.16, 0.04 + 0.25 + 0.49, 0.01 + 0.0625 + 0.09].map(|sum| sum / 3.0);
        assert!((got.marginal_ce.value.powi(2) - squares.iter().sum::<f64>() / 3.0).abs() < 1e-15);
        assert_eq!((got.classes, got.log_loss_clipped, got.cw_ece.groups.singles), (3, 0, 9));
    }

    #[test]
    fn ranks_are_by_probability_and_then_by_class() {
        let ranks = matrix().top_k(2);
        assert_eq!(ranks[0], matrix().top_label());
        assert_eq!(ranks[1].iter().map(|p| p.class).collect::<Vec<_>>(), [1, 0, 1]);
        let got = assess_top_k(&ranks, &AssessOptions::default());
        assert_eq!(got.accuracy.value, 1.0);
        assert!((got.mean_prob.value - (0.9 + 0.75 + 0.7) / 3.0).abs() < 1e-15);
        assert_eq!(got.ranks[0], assess(&ranks[0], PredictionKind::TopLabel, &AssessOptions::default()));
    }

    proptest! {
        /// With two classes that sum to one, class-wise errors are those of class 1.
        #[test]
        fn two_classes_are_one_binary_problem(rows in proptest::collection::vec((0u32..=64, any::<bool>()), 1..50)) {
            let prob = |p: u32| f64::from(p) / 64.0;
            let probs = rows.iter().flat_map(|&(p, _)| [1.0 - prob(p), prob(p)]).collect();
            let matrix = ProbMatrix::new(probs, rows.iter().map(|r| r.1.into()).collect(), 2);
            let options = AssessOptions { binning: Binning::ByValue, ..AssessOptions::default() };
            let got = assess_vectors(&matrix, &options);
            let binary: Vec<_> = rows.iter()
                .map(|&(p, hit)| Prediction { class: 1, prob: prob(p), bin: 0, hit }).collect();
            let binary = assess(&binary, PredictionKind::Binary, &options);
            prop_assert!((got.cw_ece.value - binary.conf_ece.value).abs() < 1e-12);
            prop_assert!((got.cw_ece.debiased.unwrap() - binary.conf_ece.debiased.unwrap()).abs() < 1e-12);
            prop_assert!((got.brier.value - 2.0 * binary.brier.value).abs() < 1e-12);
            prop_assert!((got.log_loss.value - binary.log_loss.value).abs() < 1e-12);
        }

        #[test]
        fn the_order_does_not_matter_to_the_last_bit(
            rows in proptest::collection::vec((0u32..5, 0u32..5, 1u32..5, 0u16..3), 1..30),
        ) {
            let bootstrap = Some(Bootstrap { kind: IntervalKind::Percentile, resamples: 10, seed: 1, alpha: 0.1 });
            let options = AssessOptions { bootstrap, ..AssessOptions::default() };
            let run = |rows: &mut dyn Iterator<Item = &(u32, u32, u32, u16)>| {
                let (mut probs, mut labels) = (Vec::new(), Vec::new());
                for &(a, b, c, label) in rows {
                    let sum = f64::from(a + b + c);
                    probs.extend([a, b, c].map(|count| f64::from(count) / sum));
                    labels.push(label);
                }
                let matrix = ProbMatrix::new(probs, labels, 3);
                let top_k = assess_top_k(&matrix.top_k(2), &options);
                format!("{:?} {top_k:?}", assess_vectors(&matrix, &options))
            };
            prop_assert_eq!(run(&mut rows.iter()), run(&mut rows.iter().rev()));
        }
    }
}
