//! Whether a mean loss, the squared error or the log-loss, changed significantly.

use std::cmp::Ordering;

use statrs::distribution::{ContinuousCDF, Normal};

use super::few_events::FEWEST_EVENTS;
use super::prediction::Prediction;
use crate::stats::{Clusters, ExactSum, Interval};

/// How the mean squared error of calibrated probabilities differs from that of the scores.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct BrierChange {
    /// The two-sided normal interval of the difference, from the differences of the rows or clusters. `None` if there are too few events
    /// for one.
    pub interval: Option<Interval>,
    /// [`Ordering::Less`] if the probabilities are better significantly, `Greater` if the scores are, else `Equal`.
    ///
    /// By chance means: if a row's label is 1 with a probability in the middle between score and calibrated probability. Both are
    /// then equally good, in every row. The difference has to be beyond the quantile of its distribution there, by its first four
    /// cumulants (Cornish and Fisher 1938). The differences of rows themselves tell less if events are rare: mean and variance are
    /// both small if events happen to be missing. If the distribution is too skew for cumulants, nothing is significant but a rise of
    /// rare large differences, by these themselves.
    pub sign: Ordering,
}

/// Cumulants of half the sum of differences of losses, if labels are such that each difference has mean 0: the second to the fourth.
#[derive(Clone, Debug, Default)]
pub(super) struct Cumulants([ExactSum; 3]);

impl Cumulants {
    /// Adds a row whose difference is one of two in `[-1, 1]`: with label 0, or 1.
    fn add_times(&mut self, differences: [f64; 2], times: u64) {
        // A proper loss has differences of opposite signs, and 0 between them.
        let weight = differences[1] - differences[0];
        let middle = if weight == 0.0 { 0.5 } else { (-differences[0] / weight).clamp(0.0, 1.0) };
        let (weight, variance) = (weight / 2.0, middle * (1.0 - middle));
        let of_label = [variance, variance * (1.0 - 2.0 * middle), variance * (1.0 - 6.0 * variance)];
        let powers = [weight.powi(2), weight.powi(3), weight.powi(4)];
        for ((sum, cumulant), power) in self.0.iter_mut().zip(of_label).zip(powers) {
            sum.add_times(power * cumulant, times);
        }
    }

    pub(super) fn values(&self) -> [f64; 3] {
        let [variance, third, fourth] = &self.0;
        [4.0 * variance.value(), 8.0 * third.value(), 16.0 * fourth.value()]
    }
}

impl std::ops::AddAssign for Cumulants {
    fn add_assign(&mut self, other: Self) {
        self.0.iter_mut().zip(other.0).for_each(|(sum, other)| *sum += other);
    }
}

/// The quantile of a sum of independent terms with mean 0 and these cumulants; `None` if it is too skew for them.
fn quantile([variance, third, fourth]: [f64; 3], p: f64) -> Option<f64> {
    /// The skewness of a count of events of which six are expected.
    const MOST_SKEW: f64 = 0.41;
    let (skew, kurtosis) = (third / variance.powf(1.5), fourth / variance.powi(2));
    let x = Normal::standard().inverse_cdf(p);
    let corrected = x + (x * x - 1.0) * skew / 6.0 + (x.powi(3) - 3.0 * x) * kurtosis / 24.0
        - (2.0 * x.powi(3) - 5.0 * x) * skew * skew / 36.0;
    (skew.abs() <= MOST_SKEW).then_some(variance.sqrt() * corrected)
}

/// The differences of a loss of independent rows, after less before, in any order.
#[derive(Clone, Debug, Default)]
pub(super) struct Differences {
    sum: ExactSum,
    squares: ExactSum,
    chance: Cumulants,
}

impl Differences {
    /// Adds the rows of each label. `before` and `after` are the losses with label 0 and with label 1, in `[0, 1]`.
    pub(super) fn add(&mut self, before: [f64; 2], after: [f64; 2], by_label: [u64; 2]) {
        let differences = [after[0] - before[0], after[1] - before[1]];
        for (difference, rows) in differences.into_iter().zip(by_label) {
            self.sum.add_times(difference, rows);
            self.squares.add_times(difference * difference, rows);
        }
        self.chance.add_times(differences, by_label.iter().sum());
    }

    /// The change of the mean, over so many rows with so many hits.
    pub(super) fn change(&self, n: u64, hits: u64) -> MeanChange {
        let rows = n as f64;
        let mean = self.sum.value() / rows;
        let squares = (self.squares.value() - self.sum.value() * mean).max(0.0);
        let (variance, chance) = (squares * rows / (rows - 1.0), Some(self.chance.values()));
        MeanChange { mean, variance, n: rows, events: hits.min(n - hits), chance }
    }
}

impl std::ops::AddAssign for Differences {
    fn add_assign(&mut self, other: Self) {
        self.sum += other.sum;
        self.squares += other.squares;
        self.chance += other.chance;
    }
}

/// A loss of a probability and an outcome, in `[0, 1]`.
pub(super) type Loss = fn(f64, bool) -> f64;

/// The squared error.
pub(super) fn squared(prob: f64, hit: bool) -> f64 {
    (prob - f64::from(u8::from(hit))).powi(2)
}

/// The log-loss, in units of [`LOSS_UNIT`](super::proper::LOSS_UNIT) nats.
pub(super) fn logarithmic(prob: f64, hit: bool) -> f64 {
    super::proper::loss(super::proper::given(prob, hit))
}

/// The mean of the rows' differences in a loss; `variance` is that of their sum.
#[derive(Clone, Copy, Debug)]
pub(super) struct MeanChange {
    pub(super) mean: f64,
    pub(super) variance: f64,
    pub(super) n: f64,
    /// The rows or clusters with the rarer label.
    pub(super) events: u64,
    /// The cumulants of the sum by chance; `None` of clusters.
    pub(super) chance: Option<[f64; 3]>,
}

impl MeanChange {
    fn interval(&self, alpha: f64) -> Option<Interval> {
        let reach = z(alpha / 2.0) * self.variance.sqrt() / self.n;
        // NaN of a single row or cluster says nothing.
        (!reach.is_nan()).then_some(Interval { lo: self.mean - reach, hi: self.mean + reach })
    }

    /// Whether it is below or above 0 significantly.
    fn sign(&self, alpha: f64) -> Ordering {
        let sum = self.mean * self.n;
        let ends = match self.chance {
            Some(chance) => {
                let by_chance = quantile(chance, alpha / 2.0).zip(quantile(chance, 1.0 - alpha / 2.0));
                // Of rare large rises, which make mean and variance large together, the differences themselves say too little rather than too
                // much that there are such.
                let is_of_rises = self.events >= FEWEST_EVENTS && chance[1] > 0.0;
                let by_rows = || {
                    let Interval { lo, hi } = self.interval(alpha).filter(|_| is_of_rises)?;
                    Some((f64::NEG_INFINITY, (hi - lo) / 2.0 * self.n))
                };
                by_chance.or_else(by_rows)
            }
            None => {
                self.interval(alpha).filter(|_| self.events >= FEWEST_EVENTS).map(|Interval { lo, hi }| {
                    let reach = (hi - lo) / 2.0 * self.n;
                    (-reach, reach)
                })
            }
        };
        match ends {
            Some((lowest, _)) if sum < lowest => Ordering::Less,
            Some((_, highest)) if sum > highest => Ordering::Greater,
            _ => Ordering::Equal,
        }
    }

    pub(super) fn stated(&self, alpha: f64) -> Option<BrierChange> {
        let interval = self.interval(alpha)?;
        let interval = Some(interval).filter(|_| self.events >= FEWEST_EVENTS);
        Some(BrierChange { interval, sign: self.sign(alpha) })
    }

    /// The mean and its interval, if it is above 0 significantly.
    pub(super) fn rise(&self, alpha: f64) -> Option<(f64, Interval)> {
        let interval = self.interval(alpha).filter(|_| self.sign(alpha) == Ordering::Greater)?;
        Some((self.mean, interval))
    }
}

/// The mean of the rows' differences in a loss: clusters are independent of each other, their rows need not be.
pub(super) fn change_of_clusters(
    loss: Loss,
    before: &[Prediction],
    after: &[Prediction],
    clusters: &Clusters,
) -> MeanChange {
    let loss = |row: &Prediction| loss(row.prob, row.hit);
    let differences = || before.iter().zip(after).map(|(before, after)| loss(after) - loss(before));
    let n = before.len() as f64;
    let mean = differences().sum::<f64>() / n;
    let mut sums = vec![0.0; clusters.count()];
    for (row, difference) in differences().enumerate() {
        sums[clusters.of(row)] += difference - mean;
    }
    let count = sums.len() as f64;
    let variance = sums.iter().map(|sum| sum.powi(2)).sum::<f64>() * count / (count - 1.0);
    let with = |hit: bool| {
        let mut has = vec![false; clusters.count()];
        after
            .iter()
            .enumerate()
            .filter(|(_, row)| row.hit == hit)
            .for_each(|(row, _)| has[clusters.of(row)] = true);
        has.into_iter().filter(|&has| has).count() as u64
    };
    MeanChange { mean, variance, n, events: with(true).min(with(false)), chance: None }
}

/// The normal quantile at `1 - p`.
pub(super) fn z(p: f64) -> f64 {
    Normal::standard().inverse_cdf(1.0 - p)
}
