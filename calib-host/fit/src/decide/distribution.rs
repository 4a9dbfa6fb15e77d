//! Calibrated probabilities without labels.

use calib_core::Score;

/// One or more calibrated probabilities, sorted, with prefix sums: how many are in an interval, and how many positives
/// that makes on average, in O(log n).
#[derive(Clone, Debug, PartialEq)]
pub struct ProbDistribution {
    /// Ascending.
    probs: Vec<f32>,
    /// The sum of the first so many.
    sums: Vec<f64>,
}

impl ProbDistribution {
    /// `None` if there are no probabilities. Their order does not matter.
    pub fn new(probs: impl IntoIterator<Item = Score>) -> Option<Self> {
        let mut probs: Vec<f32> = probs.into_iter().map(Score::get).collect();
        probs.sort_unstable_by(f32::total_cmp);
        let mut sum = 0.0;
        let after = probs.iter().map(|&prob| {
            sum += f64::from(prob);
            sum
        });
        let sums: Vec<f64> = std::iter::once(0.0).chain(after).collect();
        (!probs.is_empty()).then_some(Self { probs, sums })
    }

    /// The number of probabilities, at least 1.
    #[expect(clippy::len_without_is_empty, reason = "never empty")]
    pub fn len(&self) -> usize {
        self.probs.len()
    }

    /// The probabilities, ascending.
    pub fn probs(&self) -> &[f32] {
        &self.probs
    }

    /// The expected number of positives: the sum of all probabilities.
    pub fn positives(&self) -> f64 {
        self.sums[self.probs.len()]
    }

    /// How many probabilities are in the interval `(above, up_to]`, from 0 on if `above` is `None`, and their sum.
    pub fn within(&self, above: Option<f32>, up_to: f32) -> (usize, f64) {
        let at_or_below = |end: f32| self.probs.partition_point(|&prob| prob <= end);
        let (from, to) = (above.map_or(0, at_or_below), at_or_below(up_to));
        (to - from, self.sums[to] - self.sums[from])
    }
}
