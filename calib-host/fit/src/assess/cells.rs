//! Groups of predictions, and their counts.

use crate::stats::ExactSum;

/// A group of predictions.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Cell {
    /// How many predictions are in it.
    pub n: u64,
    /// How many of them are positive.
    pub hits: u64,
    /// The sum of their probabilities.
    pub(crate) prob_sum: ExactSum,
}

impl Cell {
    /// A group of predictions, given as (probability in `[0, 1]`, outcome).
    pub fn new(predictions: impl IntoIterator<Item = (f64, bool)>) -> Self {
        let mut cell = Self::default();
        predictions.into_iter().for_each(|(prob, hit)| cell.add(prob, hit, 1));
        cell
    }

    /// Counts a prediction so many times.
    pub fn add(&mut self, prob: f64, hit: bool, times: u64) {
        self.n += times;
        self.hits += times * u64::from(hit);
        self.prob_sum.add_times(prob, times);
    }

    /// Counts all predictions of one probability.
    pub(crate) fn add_all(&mut self, prob: f64, n: u64, hits: u64) {
        self.n += n;
        self.hits += hits;
        self.prob_sum.add_times(prob, n);
    }

    /// The mean probability; NaN without predictions.
    pub fn mean_prob(&self) -> f64 {
        self.prob_sum.value() / self.n as f64
    }

    /// The observed frequency; NaN without predictions.
    pub fn rate(&self) -> f64 {
        self.hits as f64 / self.n as f64
    }

    /// The mean probability less the observed frequency; NaN without predictions.
    pub fn difference(&self) -> f64 {
        (self.prob_sum - ExactSum::from(self.hits)).value() / self.n as f64
    }

    /// `n` times the absolute difference.
    pub(crate) fn weighted_deviation(&self) -> f64 {
        (self.prob_sum - ExactSum::from(self.hits)).value().abs()
    }
}

impl std::ops::AddAssign for Cell {
    fn add_assign(&mut self, other: Self) {
        self.n += other.n;
        self.hits += other.hits;
        self.prob_sum += other.prob_sum;
    }
}
