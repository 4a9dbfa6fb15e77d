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
    /// Goes on past all predictions of one probability: the sum of their probabilities minus the number of positive outcomes.
    pub(crate) fn pass(&mut self, difference: ExactSum) {
        self.sum += difference;
        self.min = self.min.min(self.sum);
        self.max = self.max.max(self.sum);
    }

    /// Goes on past predictions that are all above these.
    pub(crate) fn then(&mut self, above: &Self) {
        self.min = self.min.min(self.sum + above.min);
        self.max = self.max.max(self.sum + above.max);
        self.sum += above.sum;
    }

    /// `c_emp` of `n` predictions: the difference of two prefix sums is the sum over an interval `(p1, p2]`.
    pub(crate) fn c_emp(self, n: u64) -> f64 {
        (self.max - self.min).value() / n as f64
    }
}

/// The largest of `|sum of probabilities - number of events| / n` over the predictions with a probability in any
/// interval `(p1, p2]` (`c_emp`, Gao et al. 2017). In O(n log n).
///
/// ```
/// use calib_fit::assess::{Prediction, c_emp};
///
/// // 0.8 is predicted 100 times, and the event occurs 60 times.
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

/// The interval that holds the true calibration measure `c(f)`, each end with probability `1 - delta` (Claim 4 of the same
/// paper). The model must not be fitted to the predictions. The lower end is 0, which says nothing, below about
/// `(46 / c_emp)^2` points.
///
/// The upper end is `c_emp + sqrt(2 ln(1 / delta) / n)`: the terms `probability - outcome` lie in `[-1, 1]`, a range of 2, and
/// one side of Hoeffding's inequality is enough. The paper's own `sqrt(ln(2 / delta) / (2 n))` is for a range of 1, and too
/// small for small `delta`.
pub fn c_emp_interval(c_emp: f64, n: u64, delta: f64) -> Interval {
    let n = n as f64;
    let below =
        (16.0 * (2.0 * std::f64::consts::PI).sqrt() + 2.0 * (2.0 * (8.0 / delta).ln()).sqrt()) / n.sqrt();
    let above = (2.0 * (1.0 / delta).ln() / n).sqrt();
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
        assert!((interval.lo - (0.5 - 0.046)).abs() < 1e-3);
        assert_eq!(c_emp_interval(0.1, 1000, 0.1).lo, 0.0);
    }

    #[test]
    fn the_upper_bound_is_hoeffdings_for_a_range_of_two() {
        // sqrt(2 ln 10 / 10^6)
        assert!((c_emp_interval(0.5, 1_000_000, 0.1).hi - 0.502_145_966).abs() < 1e-9);
    }

    /// The probabilities of every number of successes.
    fn binomial(n: u64, p: f64) -> Vec<f64> {
        let mut probs = vec![(n as f64 * (1.0 - p).ln()).exp()];
        for k in 0..n {
            let ratio = (n - k) as f64 / (k + 1) as f64 * p / (1.0 - p);
            probs.push(probs[k as usize] * ratio);
        }
        probs
    }

    /// How often the bound fails, exactly. The model states 1 in a `share` of the cases, where no case is positive, and
    /// otherwise 1/2, where `positive` of the cases are: both deviate upwards.
    fn failure_rate(n: u64, share: f64, positive: f64, delta: f64) -> f64 {
        let truth = share + (1.0 - share) * (0.5 - positive);
        let mut rate = 0.0;
        for (ones, prob) in binomial(n, share).into_iter().enumerate() {
            let halves = n - ones as u64;
            for (positives, prob_of_positives) in binomial(halves, positive).into_iter().enumerate() {
                let at_half = halves as f64 / 2.0 - positives as f64;
                let sums = [0.0, at_half, at_half + ones as f64];
                let (least, most) = sums.iter().fold((0.0f64, 0.0f64), |(lo, hi), &x| (lo.min(x), hi.max(x)));
                if c_emp_interval((most - least) / n as f64, n, delta).hi < truth {
                    rate += prob * prob_of_positives;
                }
            }
        }
        rate
    }

    /// The paper's bound fails in 1.4e-5 of the draws here if delta is 1e-5.
    #[test]
    fn the_upper_bound_holds_in_the_tail() {
        for delta in [0.1, 1e-3, 1e-5] {
            let rate = failure_rate(400, 0.375, 0.4, delta);
            assert!(rate <= delta, "{rate} at {delta}");
        }
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
