//! How the ranges of the score are distributed in a set of rows.

use super::logistic::logit;

/// The mean and the variance of the scores of ranges among rows: the range `i` of `B`, in ascending order, has the score
/// `logit((i + 1/2) / B)`, whatever the labels.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct RangeMoments {
    /// The number of rows.
    pub n: u64,
    /// The mean.
    pub mean: f64,
    /// The variance, with `n - 1` in the denominator; 0 of a single row.
    pub variance: f64,
}

impl RangeMoments {
    /// Returns them from the number of rows in each range; `None` if there are no rows, or fewer than two ranges.
    pub fn of(counts: &[u64]) -> Option<Self> {
        let score = |range: usize| logit((range as f64 + 0.5) / counts.len() as f64);
        let sum = |of: &dyn Fn(f64) -> f64| -> f64 {
            counts.iter().enumerate().map(|(range, &count)| count as f64 * of(score(range))).sum()
        };
        let n: u64 = counts.iter().sum();
        if n == 0 || counts.len() < 2 {
            return None;
        }
        let mean = sum(&|score| score) / n as f64;
        let variance = sum(&|score| (score - mean).powi(2)) / (n - 1).max(1) as f64;
        Some(Self { n, mean, variance })
    }

    /// The variance of the mean.
    pub fn of_mean(&self) -> f64 {
        self.variance / self.n as f64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_moments_are_those_of_the_rows() {
        let counts = [3, 0, 1, 5];
        let scores: Vec<f64> = counts
            .iter()
            .zip([0.125f64, 0.375, 0.625, 0.875])
            .flat_map(|(&count, middle)| std::iter::repeat_n((middle / (1.0 - middle)).ln(), count as usize))
            .collect();
        let mean = scores.iter().sum::<f64>() / 9.0;
        let variance = scores.iter().map(|score| (score - mean).powi(2)).sum::<f64>() / 8.0;
        let found = RangeMoments::of(&counts).unwrap();
        assert!((found.mean - mean).abs() < 1e-12 && (found.variance - variance).abs() < 1e-12);
        assert!((found.of_mean() - variance / 9.0).abs() < 1e-12);
        let single = RangeMoments::of(&[0, 1]).unwrap();
        assert_eq!((single.n, single.variance), (1, 0.0));
        assert_eq!((RangeMoments::of(&[7]), RangeMoments::of(&[0, 0])), (None, None));
    }
}
