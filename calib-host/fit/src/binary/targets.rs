//! What logistic functions are fitted to.

/// What the probabilities of points with label 0 and of points with label 1 are fitted to.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Targets([f64; 2]);

impl Targets {
    /// The labels themselves, which give maximum likelihood.
    pub(crate) const LABELS: Self = Self([0.0, 1.0]);

    /// Platt's (1999): of `n` points the probability of the positives after one more of each label, Laplace's rule for
    /// positives and negatives separately. No slope is infinite with them.
    pub(crate) fn bayesian((n, positives): (u64, u64)) -> Self {
        let (negatives, positives) = ((n - positives) as f64, positives as f64);
        Self([1.0 / (negatives + 2.0), (positives + 1.0) / (positives + 2.0)])
    }

    pub(super) fn of(self, label: bool) -> f64 {
        self.0[usize::from(label)]
    }

    /// The sum over points.
    pub(super) fn sum(self, (n, positives): (u64, u64)) -> f64 {
        (n - positives) as f64 * self.of(false) + positives as f64 * self.of(true)
    }

    /// The mean over points.
    pub(super) fn mean(self, (n, positives): (u64, u64)) -> f64 {
        self.sum((n, positives)) / n as f64
    }
}
