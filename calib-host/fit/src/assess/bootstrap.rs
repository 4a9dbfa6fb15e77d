//! Intervals by resampling rows, or clusters of them.

use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use serde::Serialize;
use statrs::distribution::{ContinuousCDF, Normal};

use crate::names::names;
use crate::parallel::{self, Spares};
use crate::stats::{Interval, Seed, Units};

/// How many groups of units the jackknife leaves out in turn, if there are so many.
const JACKKNIFE_GROUPS: usize = 200;

/// How to resample.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Bootstrap {
    /// What to make of the resamples.
    pub kind: IntervalKind,
    /// The number of resamples, at least 1.
    pub resamples: usize,
    /// The seed; the same seed gives the same interval, whatever the number of threads.
    pub seed: u64,
    /// One minus the coverage, in `(0, 1)`: a fraction, not a percentage.
    pub alpha: f64,
}

/// What to make of the resamples.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum IntervalKind {
    /// The `alpha/2` and `1 - alpha/2` quantiles of the resamples.
    Percentile,
    /// Quantiles corrected for bias and acceleration (Efron 1987). The acceleration comes from a jackknife over at most 200
    /// random groups of rows, or of clusters. Calibration errors keep their percentiles, moved to where the estimate is: among the resamples
    /// of a calibrated model all are above it, and no quantile of them is where the truth is. So does the volume under the ROC
    /// surface.
    Bca,
}

names!(IntervalKind, "kind of intervals":
    Percentile "percentile" "Quantiles of the resamples",
    Bca "bca" "Quantiles corrected for bias and acceleration",
);

impl Bootstrap {
    /// Intervals of statistics over resamples of at least one unit with replacement: of rows, or of whole clusters, whose
    /// rows then come together (the cluster bootstrap of Field and Welsh 2007).
    ///
    /// `statistics` is given how often the row in each place is drawn, and returns always the same number of statistics. One that is
    /// undefined for a resample is NaN there, and left out. `None` for a statistic that is undefined for all. Those in
    /// places that `is_biased` have percentile intervals whatever the kind.
    pub(crate) fn intervals(
        &self,
        units: &Units,
        statistics: impl Fn(&[u32]) -> Vec<f64> + Sync,
        is_biased: impl Fn(usize) -> bool,
    ) -> Vec<Option<Interval>> {
        let draws = self.draws(units, &statistics);
        let columns = |rows: &[Vec<f64>], k: usize| rows.iter().map(|row| row[k]).collect::<Vec<f64>>();
        let percentile = |k: usize| self.percentiles(columns(&draws, k));
        match self.kind {
            IntervalKind::Percentile => (0..draws[0].len()).map(percentile).collect(),
            IntervalKind::Bca => {
                let whole = statistics(&vec![1; units.row_count()]);
                let left_out = self.jackknife(units, &statistics);
                let corrected =
                    |k: usize| bca(columns(&draws, k), whole[k], &columns(&left_out, k), self.alpha);
                (0..whole.len()).map(|k| if is_biased(k) { percentile(k) } else { corrected(k) }).collect()
            }
        }
    }

    /// The standard deviation of statistics over resamples of units; `statistics` as for [`Bootstrap::intervals`].
    pub(crate) fn standard_deviations(
        &self,
        units: &Units,
        statistics: impl Fn(&[u32]) -> Vec<f64> + Sync,
    ) -> Vec<f64> {
        let draws = self.draws(units, &statistics);
        let count = draws.len() as f64;
        let deviation = |k: usize| {
            let mean = draws.iter().map(|draw| draw[k]).sum::<f64>() / count;
            (draws.iter().map(|draw| (draw[k] - mean).powi(2)).sum::<f64>() / count).sqrt()
        };
        (0..draws[0].len()).map(deviation).collect()
    }

    /// The quantile of the standard normal distribution at `1 - alpha`.
    pub(crate) fn upper_quantile(&self) -> f64 {
        Normal::standard().inverse_cdf(1.0 - self.alpha)
    }

    /// A generator for every resample.
    pub(crate) fn generators(&self) -> Vec<Xoshiro256PlusPlus> {
        generators(self.seed, self.resamples)
    }

    /// The percentile interval of a statistic's draws; `None` if all are NaN.
    pub(crate) fn percentiles(&self, draws: Vec<f64>) -> Option<Interval> {
        between(draws, self.alpha / 2.0, 1.0 - self.alpha / 2.0)
    }

    /// The statistics of every resample.
    fn draws(&self, units: &Units, statistics: &(dyn Fn(&[u32]) -> Vec<f64> + Sync)) -> Vec<Vec<f64>> {
        let n = units.count();
        let spares = Spares::new(|| (vec![0u32; n], Vec::new()));
        parallel::map(self.generators(), |mut rng| {
            spares.with(|(counts, of_rows)| {
                counts.fill(0);
                (0..n).for_each(|_| counts[rng.random_range(0..n)] += 1);
                statistics(units.spread(counts, of_rows))
            })
        })
    }

    /// The statistics without each of some random groups of units.
    fn jackknife(&self, units: &Units, statistics: &(dyn Fn(&[u32]) -> Vec<f64> + Sync)) -> Vec<Vec<f64>> {
        let n = units.count();
        let groups = n.min(JACKKNIFE_GROUPS);
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(self.seed);
        rng.long_jump();
        let mut group: Vec<usize> = (0..n).map(|unit| unit % groups).collect();
        for i in (1..n).rev() {
            group.swap(i, rng.random_range(0..=i));
        }
        parallel::map_range(groups, |left_out| {
            let counts: Vec<u32> = group.iter().map(|&group| u32::from(group != left_out)).collect();
            statistics(units.spread(&counts, &mut Vec::new()))
        })
    }
}

/// So many generators, each with a stretch of the sequence to itself, so that it does not matter which thread draws from it.
pub(super) fn generators(seed: Seed, count: usize) -> Vec<Xoshiro256PlusPlus> {
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(seed);
    let own = || {
        let own = rng.clone();
        rng.jump();
        own
    };
    std::iter::repeat_with(own).take(count).collect()
}

/// The quantiles at two levels of the numbers among the draws.
fn between(mut draws: Vec<f64>, lo: f64, hi: f64) -> Option<Interval> {
    draws.retain(|draw| !draw.is_nan());
    if draws.is_empty() {
        return None;
    }
    draws.sort_unstable_by(f64::total_cmp);
    Some(Interval { lo: quantile(&draws, lo), hi: quantile(&draws, hi) })
}

/// The quantile of sorted values, interpolated linearly between order statistics.
fn quantile(sorted: &[f64], p: f64) -> f64 {
    let position = p * (sorted.len() - 1) as f64;
    let below = position.floor() as usize;
    let above = (below + 1).min(sorted.len() - 1);
    let weight = position - below as f64;
    sorted[below] * (1.0 - weight) + sorted[above] * weight
}

/// Efron's interval, from draws, the estimate, and the estimates that leave rows out.
fn bca(mut draws: Vec<f64>, whole: f64, left_out: &[f64], alpha: f64) -> Option<Interval> {
    draws.retain(|draw| !draw.is_nan());
    if draws.is_empty() || whole.is_nan() {
        return None;
    }
    let normal = Normal::standard();
    let count = draws.len() as f64;
    let below: f64 = draws
        .iter()
        .map(|draw| match draw.total_cmp(&whole) {
            std::cmp::Ordering::Less => 1.0,
            std::cmp::Ordering::Equal => 0.5,
            std::cmp::Ordering::Greater => 0.0,
        })
        .sum();
    // All draws on one side of the estimate would shift the quantile to infinity.
    let bias = normal.inverse_cdf((below / count).clamp(0.5 / count, 1.0 - 0.5 / count));
    let acceleration = acceleration(left_out);
    let level = |p: f64| {
        let z = bias + normal.inverse_cdf(p);
        normal.cdf(bias + z / (1.0 - acceleration * z))
    };
    between(draws, level(alpha / 2.0), level(1.0 - alpha / 2.0))
}

/// A sixth of the skewness of the influence of rows on a statistic.
fn acceleration(left_out: &[f64]) -> f64 {
    let known = || left_out.iter().filter(|value| !value.is_nan());
    let mean = known().sum::<f64>() / known().count() as f64;
    let (squares, cubes) = known().fold((0.0, 0.0), |(squares, cubes), value| {
        let difference = mean - value;
        (squares + difference.powi(2), cubes + difference.powi(3))
    });
    if squares > 0.0 { cubes / (6.0 * squares.powf(1.5)) } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PERCENTILE: Bootstrap =
        Bootstrap { kind: IntervalKind::Percentile, resamples: 2000, seed: 1, alpha: 0.05 };

    fn mean_of(values: &[f64]) -> impl Fn(&[u32]) -> Vec<f64> {
        move |counts| {
            let n: u32 = counts.iter().sum();
            vec![counts.iter().zip(values).map(|(&c, v)| f64::from(c) * v).sum::<f64>() / f64::from(n)]
        }
    }

    #[test]
    fn quantiles_interpolate() {
        let sorted = [0.0, 1.0, 2.0, 3.0, 4.0];
        assert_eq!(quantile(&sorted, 0.0), 0.0);
        assert_eq!(quantile(&sorted, 0.625), 2.5);
        assert_eq!(quantile(&sorted, 1.0), 4.0);
    }

    /// Efron's levels by their formula: half of the draws that equal the estimate lie below it, and the bias counts twice.
    #[test]
    fn the_corrected_levels_are_efrons() {
        let normal = Normal::standard();
        // 500 below the estimate, 200 equal to it and 300 above.
        let draws = || -> Vec<f64> {
            (0..1000).map(|i| f64::from(if (500..700).contains(&i) { 500 } else { i })).collect()
        };
        let bias = normal.inverse_cdf(0.6);
        for (left_out, acceleration) in
            [(vec![1.0; 4], 0.0), (vec![0.0, 0.0, 0.0, 1.0], -0.375 / (6.0 * 0.75f64.powf(1.5)))]
        {
            let level = |p: f64| {
                let z = bias + normal.inverse_cdf(p);
                normal.cdf(bias + z / (1.0 - acceleration * z))
            };
            let found = bca(draws(), 500.0, &left_out, 0.1).unwrap();
            let expected = between(draws(), level(0.05), level(0.95)).unwrap();
            assert!(
                (found.lo - expected.lo).abs() < 1e-9 && (found.hi - expected.hi).abs() < 1e-9,
                "{found:?}"
            );
        }
        // Without acceleration: the normal distribution at twice .2533 and 1.6449 from that.
        let found = bca(draws(), 500.0, &[1.0; 4], 0.1).unwrap();
        assert!(
            (found.lo - 999.0 * 0.127_524).abs() < 0.01 && (found.hi - 999.0 * 0.984_283).abs() < 0.01,
            "{found:?}"
        );
    }

    #[test]
    fn the_interval_of_a_mean_is_the_normal_one() {
        // The mean of 1000 coin flips has a standard deviation of 0.0158.
        let flips: Vec<f64> = (0..1000).map(|i| f64::from(i % 2)).collect();
        for kind in [IntervalKind::Percentile, IntervalKind::Bca] {
            let bootstrap = Bootstrap { kind, ..PERCENTILE };
            let interval = bootstrap.intervals(&Units::rows(1000), mean_of(&flips), |_| false)[0].unwrap();
            assert!((interval.lo - (0.5 - 1.96 * 0.0158)).abs() < 0.005, "{interval:?}");
            assert!((interval.hi - (0.5 + 1.96 * 0.0158)).abs() < 0.005, "{interval:?}");
        }
    }

    /// Efron's interval of a skewed mean is shifted to the side of the long tail.
    #[test]
    fn the_corrected_interval_follows_the_skew() {
        let skewed: Vec<f64> = (1..=40).map(|i| -(f64::from(i) / 41.0).ln()).collect();
        let percentile = PERCENTILE.intervals(&Units::rows(40), mean_of(&skewed), |_| false)[0].unwrap();
        let bca = Bootstrap { kind: IntervalKind::Bca, ..PERCENTILE };
        assert_eq!(bca.intervals(&Units::rows(40), mean_of(&skewed), |_| true), [Some(percentile)]);
        let bca = bca.intervals(&Units::rows(40), mean_of(&skewed), |_| false)[0].unwrap();
        assert!(bca.lo > percentile.lo && bca.hi > percentile.hi, "{bca:?} {percentile:?}");
        // The skewness of the influences by its definition.
        let mean = skewed.iter().sum::<f64>() / 40.0;
        let moment = |p: i32| skewed.iter().map(|v| (v - mean).powi(p)).sum::<f64>();
        let expected = moment(3) / (6.0 * moment(2).powf(1.5));
        let left_out: Vec<f64> = skewed.iter().map(|v| (mean * 40.0 - v) / 39.0).collect();
        assert!((acceleration(&left_out) - expected).abs() < 1e-12);
    }

    /// Every unit is left out once, and random ones together: by numbers that no resample draws.
    #[test]
    fn units_that_are_left_out_are_in_random_groups_of_one_size() {
        for n in [7, 5 * JACKKNIFE_GROUPS / 2] {
            let is_out = |counts: &[u32]| counts.iter().map(|&count| 1.0 - f64::from(count)).collect();
            let left_out: Vec<Vec<f64>> = PERCENTILE.jackknife(&Units::rows(n), &is_out);
            let groups = left_out.len();
            assert_eq!(groups, n.min(JACKKNIFE_GROUPS));
            let sizes: Vec<usize> = left_out.iter().map(|group| group.iter().sum::<f64>() as usize).collect();
            assert!(sizes.iter().all(|&size| size == n / groups || size == n.div_ceil(groups)), "{sizes:?}");
            let group_of = |unit: usize| {
                let of: Vec<usize> = (0..groups).filter(|&group| left_out[group][unit] == 1.0).collect();
                assert_eq!(of.len(), 1, "unit {unit}");
                of[0]
            };
            let found: Vec<usize> = (0..n).map(group_of).collect();
            let mut order: Vec<usize> = (0..n).map(|unit| unit % groups).collect();
            assert_ne!(found, order);
            let mut rng = PERCENTILE.generators().remove(0);
            (1..n).rev().for_each(|i| order.swap(i, rng.random_range(0..=i)));
            assert_ne!(found, order, "the first resample draws the same numbers");
        }
    }

    #[test]
    fn what_is_undefined_has_no_interval_and_the_number_of_threads_does_not_matter() {
        let statistics = |counts: &[u32]| vec![f64::NAN, if counts[0] == 0 { f64::NAN } else { 1.0 }];
        let few = Bootstrap { resamples: 50, ..PERCENTILE };
        assert_eq!(
            few.intervals(&Units::rows(10), statistics, |_| false),
            [None, Some(Interval { lo: 1.0, hi: 1.0 })]
        );
        let values: Vec<f64> = (0..100).map(|i| f64::from(i).sqrt()).collect();
        let on = |threads| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            pool.install(|| few.intervals(&Units::rows(100), mean_of(&values), |_| false))
        };
        assert_eq!(on(1), on(4));
    }
}
