//! The empirical calibration measure of Gao et al. 2017.

use super::prediction::Prediction;
use crate::stats::{ExactSum, Interval};

/// The extremes of the prefix sums of `probability - outcome`, taken where the probability changes.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct PrefixRange {
    sum: ExactSum,
    min: ExactSum,
    max: ExactSum,
}

impl PrefixRange {
    /// Goes on past all predictions of one probability: the sum of their probabilities less the number that came true.
    pub(crate) fn pass(&mut self, difference: ExactSum) {
        self.sum += difference;
        self.min = self.min.min(self.sum);
        self.max = self.max.max(self.sum);
    }

    /// `c_emp` of `n` predictions: the difference of two prefix sums is the sum over an interval `(p1, p2]`.
    pub(crate) fn c_emp(self, n: u64) -> f64 {
        (self.max - self.min).value() / n as f64
    }
}

/// The largest of `|sum of probabilities - number that came true| / n` over the predictions with a probability in any
/// interval `(p1, p2]` (`c_emp`, Gao et al. 2017). In O(n log n).
///
/// ```
/// use calib_fit::assess::{Prediction, c_emp};
///
/// // 0.8 is said a hundred times, and comes true 60 times.
/// let said = |row| Prediction { class: 1, prob: 0.8, bin: 0, hit: row < 60 };
/// let rows: Vec<Prediction> = (0..100).map(said).collect();
/// assert!((c_emp(&rows) - 0.2).abs() < 1e-9);
/// ```
///
/// # Panics
///
/// If there are no predictions.
pub fn c_emp(predictions: &[Prediction]) -> f64 {
    assert!(!predictions.is_empty(), "nothing to assess");
    let mut sorted: Vec<(f64, bool)> = predictions.iter().map(|p| (p.prob, p.hit)).collect();
    sorted.sort_unstable_by(|a, b| a.0.total_cmp(&b.0));
    let mut range = PrefixRange::default();
    for tied in sorted.chunk_by(|a, b| a.0 == b.0) {
        let mut difference = ExactSum::default();
        tied.iter().for_each(|&(prob, hit)| difference.add(prob - f64::from(u8::from(hit))));
        range.pass(difference);
    }
    range.c_emp(sorted.len() as u64)
}

/// The interval that holds the true calibration measure `c(f)`, each end with probability `1 - delta`, for a model that was
/// not fitted to the predictions (Claim 4 of the same paper). The lower end is 0, which says nothing, below about
/// `(46 / c_emp)^2` points.
pub fn c_emp_interval(c_emp: f64, n: u64, delta: f64) -> Interval {
    let n = n as f64;
    let below =
        (16.0 * (2.0 * std::f64::consts::PI).sqrt() + 2.0 * (2.0 * (8.0 / delta).ln()).sqrt()) / n.sqrt();
    let above = ((2.0 / delta).ln() / (2.0 * n)).sqrt();
    Interval { lo: (c_emp - below).max(0.0), hi: (c_emp + above).min(1.0) }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Over every pair of ends.
    fn brute_force(predictions: &[Prediction]) -> f64 {
        let mut ends: Vec<f64> = predictions.iter().map(|p| p.prob).chain([-1.0]).collect();
        ends.sort_unstable_by(f64::total_cmp);
        let between = |lo: f64, hi: f64| {
            let inside = predictions.iter().filter(|p| lo < p.prob && p.prob <= hi);
            inside.map(|p| p.prob - f64::from(u8::from(p.hit))).sum::<f64>().abs()
        };
        let pairs = ends.iter().flat_map(|&lo| ends.iter().map(move |&hi| (lo, hi)));
        pairs.map(|(lo, hi)| between(lo, hi)).fold(0.0, f64::max) / predictions.len() as f64
    }

    #[test]
    fn the_constant_of_the_lower_bound() {
        let interval = c_emp_interval(0.5, 1_000_000, 0.1);
        assert!((interval.lo - (0.5 - 0.046)).abs() < 1e-3 && (interval.hi - 0.501_223_9).abs() < 1e-6);
        assert_eq!(c_emp_interval(0.1, 1000, 0.1).lo, 0.0);
    }

    proptest! {
        #[test]
        fn is_the_largest_over_all_intervals(rows in proptest::collection::vec((0u32..=20, any::<bool>()), 1..40)) {
            let predictions: Vec<_> = rows.iter()
                .map(|&(p, hit)| Prediction { class: 1, prob: f64::from(p) / 20.0, bin: 0, hit }).collect();
            prop_assert!((c_emp(&predictions) - brute_force(&predictions)).abs() < 1e-12);
        }
    }
}
