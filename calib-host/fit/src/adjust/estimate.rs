//! The prevalence of rows without labels, from their calibrated probabilities.

use std::collections::BTreeMap;

use rand::SeedableRng;
use rand_distr::{Binomial, Distribution};
use rand_xoshiro::Xoshiro256PlusPlus;

use super::error::AdjustError;
use super::shift::check;
use crate::stats::{Interval, Seed};

/// An estimate of a prevalence, and a percentile interval by the bootstrap, which holds in the limit of many rows: of the rows, and of the
/// calibration points behind each value if their number is known.
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
    /// The number of calibration points, if the probabilities are event rates of bins. The values then vary, too: each is drawn for as many
    /// points as its bin had, if the scores are distributed in either class as in the rows. `None` leaves the calibrator's own error out.
    pub points: Option<u64>,
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
    /// let bootstrap = PrevalenceBootstrap { resamples: 200, alpha: 0.1, seed: 0, points: None };
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
        let value = most_likely(&counts, from);
        let behind = bootstrap.points.map(|points| behind(&counts, points, [from, value]));
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(bootstrap.seed);
        let mut draw = || {
            let drawn = resample(&counts, &mut rng);
            match &behind {
                Some(behind) => {
                    let (drawn, from) = recalibrated(&drawn, behind, &mut rng);
                    most_likely(&drawn, from)
                }
                None => most_likely(&drawn, from),
            }
        };
        let mut found: Vec<f64> = (0..bootstrap.resamples.max(1)).map(|_| draw()).collect();
        found.sort_by(f64::total_cmp);
        let at = |share: f64| found[((found.len() - 1) as f64 * share).round() as usize];
        let interval = Interval { lo: at(bootstrap.alpha / 2.0), hi: at(1.0 - bootstrap.alpha / 2.0) };
        Ok(Self { value, interval })
    }
}

/// About how many of the calibration points were in the bin of each value: its share of the rows, were their prevalence that of the
/// calibration, at least one.
fn behind(counts: &[(f64, u64)], points: u64, [from, to]: [f64; 2]) -> Vec<u64> {
    let rows: u64 = counts.iter().map(|count| count.1).sum();
    let share = |&(prob, count): &(f64, u64)| {
        let ratio = to * prob / from + (1.0 - to) * (1.0 - prob) / (1.0 - from);
        if ratio > 0.0 { count as f64 / rows as f64 / ratio } else { 0.0 }
    };
    let all: f64 = counts.iter().map(share).sum();
    counts.iter().map(|count| (points as f64 * share(count) / all).round().max(1.0) as u64).collect()
}

/// The values, each from as many calibration points drawn again, and the prevalence among all of these.
fn recalibrated(
    counts: &[(f64, u64)],
    behind: &[u64],
    rng: &mut Xoshiro256PlusPlus,
) -> (Vec<(f64, u64)>, f64) {
    let (mut positives, points) = (0, behind.iter().sum::<u64>());
    let mut draw = |(&(prob, count), &n): (&(f64, u64), &u64)| {
        let hits = Binomial::new(n, prob).map_or(0, |law| law.sample(rng));
        positives += hits;
        (hits as f64 / n as f64, count)
    };
    let drawn = counts.iter().zip(behind).map(&mut draw).collect();
    // A draw without either label tells nothing: it stays beside the ends.
    let from = (positives as f64).clamp(0.5, points as f64 - 0.5) / points as f64;
    (drawn, from)
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
    use rand::RngExt;

    use super::*;

    const BOOTSTRAP: PrevalenceBootstrap =
        PrevalenceBootstrap { resamples: 50, alpha: 0.1, seed: 1, points: None };

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

    /// In how many of so many studies the interval holds the prevalence: points in ten bins, and rows of another prevalence.
    fn holds(studies: u64, [points, rows]: [u64; 2], knows_points: bool) -> u64 {
        const FROM: f64 = 0.3;
        const TO: f64 = 0.1;
        // How likely each bin is with label 1; with label 0 it is the other way round.
        let of_one = |bin: usize| (bin + 1) as f64 / 55.0;
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(points + rows);
        let mut draw = |n: u64, prevalence: f64| {
            let mut bins = [[0u64; 2]; 10];
            for _ in 0..n {
                let label = rng.random::<f64>() < prevalence;
                let mut left = rng.random::<f64>();
                let place = (0..9).find(|&bin| {
                    left -= of_one(bin);
                    left < 0.0
                });
                let place = place.unwrap_or(9);
                bins[if label { place } else { 9 - place }][usize::from(label)] += 1;
            }
            bins
        };
        let mut held = 0;
        for seed in 0..studies {
            let calibration = draw(points, FROM);
            let values = calibration.map(|[misses, hits]| hits as f64 / (misses + hits).max(1) as f64);
            let from = calibration.iter().map(|bin| bin[1]).sum::<u64>() as f64 / points as f64;
            let new = draw(rows, TO);
            let probs: Vec<f64> =
                (0..10).flat_map(|bin| vec![values[bin]; (new[bin][0] + new[bin][1]) as usize]).collect();
            let points = knows_points.then_some(points);
            let bootstrap = PrevalenceBootstrap { resamples: 200, alpha: 0.05, seed, points };
            let interval = EstimatedPrevalence::of(&probs, from, bootstrap).unwrap().interval;
            held += u64::from(interval.lo <= TO && TO <= interval.hi);
        }
        held
    }

    /// 95 of 100 are aimed at: below 175 of 200 with a probability of one in ten thousand. Without the points behind the values far fewer hold it.
    #[test]
    fn the_interval_has_the_error_of_the_calibrator_in_it() {
        for sizes in [[500, 2000], [500, 200], [2000, 2000]] {
            let with = holds(200, sizes, true);
            assert!(with >= 176, "{with} of 200: {sizes:?}");
        }
        assert!(holds(200, [500, 2000], false) < 160);
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
