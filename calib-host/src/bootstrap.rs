//! Percentile intervals by resampling rows.

use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

/// How to resample.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bootstrap {
    /// The number of resamples, at least 1.
    pub resamples: usize,
    /// The seed; the same seed gives the same interval.
    pub seed: u64,
    /// One minus the coverage, in `(0, 1)`: a fraction, not a percentage.
    pub alpha: f64,
}

/// A percentile interval.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize)]
pub struct Interval {
    /// The lower end.
    pub lo: f64,
    /// The upper end.
    pub hi: f64,
}

impl Bootstrap {
    /// The `alpha/2` and `1 - alpha/2` quantiles of statistics over resamples of `n > 0` rows with replacement.
    ///
    /// `statistics` is given the indices of a resample and returns one number per statistic.
    pub fn intervals<const K: usize>(
        &self,
        n: usize,
        mut statistics: impl FnMut(&[usize]) -> [f64; K],
    ) -> [Interval; K] {
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(self.seed);
        let mut draws: [Vec<f64>; K] = std::array::from_fn(|_| Vec::with_capacity(self.resamples));
        let mut rows = vec![0; n];
        for _ in 0..self.resamples {
            rows.fill_with(|| rng.random_range(0..n));
            for (draws, value) in draws.iter_mut().zip(statistics(&rows)) {
                draws.push(value);
            }
        }
        draws.map(|mut draws| {
            draws.sort_unstable_by(f64::total_cmp);
            Interval { lo: quantile(&draws, self.alpha / 2.0), hi: quantile(&draws, 1.0 - self.alpha / 2.0) }
        })
    }
}

/// The quantile of sorted values, interpolated linearly between order statistics.
fn quantile(sorted: &[f64], p: f64) -> f64 {
    let position = p * (sorted.len() - 1) as f64;
    let below = position.floor() as usize;
    let above = (below + 1).min(sorted.len() - 1);
    let weight = position - below as f64;
    sorted[below] * (1.0 - weight) + sorted[above] * weight
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_interpolate() {
        let sorted = [0.0, 1.0, 2.0, 3.0, 4.0];
        assert_eq!(quantile(&sorted, 0.0), 0.0);
        assert_eq!(quantile(&sorted, 0.625), 2.5);
        assert_eq!(quantile(&sorted, 1.0), 4.0);
    }

    #[test]
    fn the_interval_of_a_mean_is_the_normal_one() {
        // The mean of 1000 coin flips has a standard deviation of 0.0158.
        let bootstrap = Bootstrap { resamples: 2000, seed: 1, alpha: 0.05 };
        let mean =
            |rows: &[usize]| [rows.iter().filter(|&&row| row % 2 == 0).count() as f64 / rows.len() as f64];
        let [interval] = bootstrap.intervals(1000, mean);
        assert!((interval.lo - (0.5 - 1.96 * 0.0158)).abs() < 0.005, "{interval:?}");
        assert!((interval.hi - (0.5 + 1.96 * 0.0158)).abs() < 0.005, "{interval:?}");
        assert_eq!(bootstrap.intervals(1000, mean), [interval]);
    }
}
