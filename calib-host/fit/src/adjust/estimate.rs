//! The prevalence of rows without labels, from their calibrated probabilities.

use std::collections::BTreeMap;

use rand::SeedableRng;
use rand_distr::{Binomial, Distribution};
use rand_xoshiro::Xoshiro256PlusPlus;

use super::error::AdjustError;
use super::shift::check;
use crate::stats::{Interval, Seed};

/// An estimate of a prevalence, and a percentile interval by the bootstrap, which holds in the limit of many rows.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize)]
#[non_exhaustive]
pub struct EstimatedPrevalence {
    /// The estimate of maximum likelihood, in `[0, 1]`.
    pub value: f64,
    /// The interval.
    pub interval: Interval,
}

/// How the interval of an estimate is found.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PrevalenceBootstrap {
    /// The number of resamples, at least 1.
    pub resamples: usize,
    /// The failure probability of the interval.
    pub alpha: f64,
    /// The seed.
    pub seed: Seed,
}

impl EstimatedPrevalence {
    /// Estimates the prevalence among rows from their calibrated probabilities, which are right at the prevalence `from`: the
    /// maximum of the likelihood to which the steps of Saerens, Latinne and Decaestecker 2002 converge.
    ///
    /// ```
    /// use calib_fit::adjust::{EstimatedPrevalence, PrevalenceBootstrap};
    ///
    /// // Calibrated at one half; here three quarters of the rows look negative.
    /// let probs = [0.125, 0.125, 0.125, 0.875].repeat(50);
    /// let bootstrap = PrevalenceBootstrap { resamples: 200, alpha: 0.1, seed: 0 };
    /// let found = EstimatedPrevalence::of(&probs, 0.5, bootstrap)?;
    /// assert!((found.value - 1.0 / 6.0).abs() < 1e-6);
    /// assert!(found.interval.lo < found.value && found.value < found.interval.hi);
    /// # Ok::<(), calib_fit::adjust::AdjustError>(())
    /// ```
    ///
    /// # Errors
    ///
    /// No rows, a prevalence or an alpha that is not in `(0, 1)`, or probabilities that are all equal to `from`.
    pub fn of(probs: &[f64], from: f64, bootstrap: PrevalenceBootstrap) -> Result<Self, AdjustError> {
        check("calibration prevalence", from)?;
        check("alpha", bootstrap.alpha)?;
        let mut counts = BTreeMap::new();
        for prob in probs {
            *counts.entry(prob.to_bits()).or_insert(0u64) += 1;
        }
        let counts: Vec<(f64, u64)> =
            counts.into_iter().map(|(bits, count)| (f64::from_bits(bits), count)).collect();
        if counts.is_empty() {
            return Err(AdjustError::Empty);
        }
        if counts.iter().all(|&(prob, _)| prob == from) {
            return Err(AdjustError::Flat);
        }
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(bootstrap.seed);
        let mut found: Vec<f64> = (0..bootstrap.resamples.max(1))
            .map(|_| most_likely(&resample(&counts, &mut rng), from))
            .collect();
        found.sort_by(f64::total_cmp);
        let at = |share: f64| found[((found.len() - 1) as f64 * share).round() as usize];
        let interval = Interval { lo: at(bootstrap.alpha / 2.0), hi: at(1.0 - bootstrap.alpha / 2.0) };
        Ok(Self { value: most_likely(&counts, from), interval })
    }
}

/// As many rows, drawn with replacement: the counts of the values are multinomial.
fn resample(counts: &[(f64, u64)], rng: &mut Xoshiro256PlusPlus) -> Vec<(f64, u64)> {
    let mut rows: u64 = counts.iter().map(|count| count.1).sum();
    let mut left = rows;
    let mut draw = |&(prob, count): &(f64, u64)| {
        let drawn = match count {
            _ if left == 0 => 0,
            all if all == rows => left,
            _ => Binomial::new(left, count as f64 / rows as f64).map_or(0, |law| law.sample(rng)),
        };
        (rows, left) = (rows - count, left - drawn);
        (prob, drawn)
    };
    counts.iter().map(&mut draw).collect()
}

/// Where the derivative of the log-likelihood, which falls, is zero.
fn most_likely(counts: &[(f64, u64)], from: f64) -> f64 {
    let slope = |prevalence: f64| -> f64 {
        let term = |&(prob, count): &(f64, u64)| {
            let (positive, negative) = (prob / from, (1.0 - prob) / (1.0 - from));
            let all = prevalence * positive + (1.0 - prevalence) * negative;
            count as f64 * (positive - negative) / all
        };
        counts.iter().filter(|count| count.1 > 0).map(term).sum()
    };
    let (mut lo, mut hi) = (0.0f64, 1.0f64);
    if slope(lo) <= 0.0 {
        return lo;
    }
    if slope(hi) >= 0.0 {
        return hi;
    }
    while hi - lo > f64::EPSILON {
        let middle = lo.midpoint(hi);
        if slope(middle) > 0.0 { lo = middle } else { hi = middle }
    }
    lo.midpoint(hi)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const BOOTSTRAP: PrevalenceBootstrap = PrevalenceBootstrap { resamples: 50, alpha: 0.1, seed: 1 };

    #[test]
    fn certain_rows_are_counted() {
        let found = EstimatedPrevalence::of(&[0.0, 0.0, 0.0, 1.0], 0.5, BOOTSTRAP).unwrap();
        assert!((found.value - 0.25).abs() < 1e-12);
        assert_eq!(EstimatedPrevalence::of(&[0.0, 0.5], 0.5, BOOTSTRAP).unwrap().value, 0.0);
        assert_eq!(EstimatedPrevalence::of(&[1.0, 0.5], 0.5, BOOTSTRAP).unwrap().value, 1.0);
        assert_eq!(EstimatedPrevalence::of(&[0.5, 0.5], 0.5, BOOTSTRAP), Err(AdjustError::Flat));
        assert_eq!(EstimatedPrevalence::of(&[], 0.5, BOOTSTRAP), Err(AdjustError::Empty));
        assert!(EstimatedPrevalence::of(&[0.3], 1.0, BOOTSTRAP).is_err());
    }

    /// The interval has the order statistics at half of alpha from either end, rounded to the nearest.
    #[test]
    fn the_interval_leaves_half_of_alpha_on_either_side() {
        let probs: Vec<f64> = (0..300).map(|row| f64::from((row * 37) % 300) / 300.0).collect();
        let found = EstimatedPrevalence::of(&probs, 0.5, BOOTSTRAP).unwrap();
        let mut counts: Vec<(f64, u64)> = probs.iter().map(|&prob| (prob, 1)).collect();
        counts.sort_by(|one, other| one.0.total_cmp(&other.0));
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(BOOTSTRAP.seed);
        let mut draws: Vec<f64> = (0..50).map(|_| most_likely(&resample(&counts, &mut rng), 0.5)).collect();
        draws.sort_by(f64::total_cmp);
        // .05 and .95 of 49 are 2.45 and 46.55.
        assert_eq!(found.interval, Interval { lo: draws[2], hi: draws[47] });
        assert!(draws[2] < draws[3] && draws[46] < draws[47] && draws[44] < draws[47]);
    }

    /// Every value is drawn as often as it was there, on average.
    #[test]
    fn resamples_have_the_shares_of_the_rows() {
        let counts = [(0.1, 100), (0.2, 60), (0.3, 140), (0.4, 100)];
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(5);
        let mut sums = [0u64; 4];
        for _ in 0..2000 {
            for (sum, (_, drawn)) in sums.iter_mut().zip(resample(&counts, &mut rng)) {
                *sum += drawn;
            }
        }
        for (sum, (prob, count)) in sums.into_iter().zip(counts) {
            // The deviation of the mean of 2000 is below .2.
            assert!((sum as f64 / 2000.0 - count as f64).abs() < 1.0, "{prob}: {sum}");
        }
    }

    #[test]
    fn resamples_have_as_many_rows() {
        let counts = [(0.1, 7), (0.2, 1), (0.9, 500)];
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(3);
        let mut sums = [0u64; 3];
        for _ in 0..2000 {
            let drawn = resample(&counts, &mut rng);
            assert_eq!(drawn.iter().map(|count| count.1).sum::<u64>(), 508);
            for (sum, count) in sums.iter_mut().zip(&drawn) {
                *sum += count.1;
            }
        }
        for (sum, (_, count)) in sums.iter().zip(counts) {
            let mean = *sum as f64 / 2000.0;
            assert!((mean - count as f64).abs() < 5.0 * (count as f64 / 2000.0).sqrt(), "{mean} {count}");
        }
    }

    proptest! {
        /// The steps of expectation and maximisation end there.
        #[test]
        fn is_where_the_em_steps_end(
            probs in proptest::collection::vec(0.02..0.98f64, 5..60), from in 0.1..0.9f64,
        ) {
            let found = EstimatedPrevalence::of(&probs, from, BOOTSTRAP).unwrap().value;
            let mut prevalence = from;
            for _ in 0..20_000 {
                let posterior = |&v: &f64| {
                    let (p, q) = (prevalence * v / from, (1.0 - prevalence) * (1.0 - v) / (1.0 - from));
                    p / (p + q)
                };
                prevalence = probs.iter().map(posterior).sum::<f64>() / probs.len() as f64;
            }
            // Where the likelihood is flat the steps are slow.
            prop_assert!((found - prevalence).abs() < 2e-3, "{} {}", found, prevalence);
        }
    }
}
