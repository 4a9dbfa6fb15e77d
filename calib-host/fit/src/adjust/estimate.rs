//! The prevalence of rows without labels, from their calibrated probabilities.

use std::collections::BTreeMap;

use statrs::distribution::{ContinuousCDF, StudentsT};

use super::error::AdjustError;
use super::shift::check;
use crate::stats::{Interval, RangeMoments};

/// An estimate of a prevalence.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize)]
#[non_exhaustive]
pub struct EstimatedPrevalence {
    /// The estimate of maximum likelihood, in `[0, 1]`.
    pub value: f64,
    /// Its interval at 95 %: see [`EstimatedPrevalence::within`]. `None` if the artifact does not say how the ranges of the score are distributed
    /// in either class.
    pub interval: Option<Interval>,
}

/// The failure probability of the interval.
const ALPHA: f64 = 0.05;

impl EstimatedPrevalence {
    /// Estimates the prevalence among rows from their calibrated probabilities, which are right at the prevalence `from`: the
    /// maximum of the likelihood to which the steps of Saerens, Latinne and Decaestecker 2002 converge.
    ///
    /// ```
    /// use calib_fit::adjust::EstimatedPrevalence;
    ///
    /// // Calibrated at one half; here three quarters of the rows look negative.
    /// let probs = [0.125, 0.125, 0.125, 0.875].repeat(50);
    /// let found = EstimatedPrevalence::of(&probs, 0.5)?;
    /// assert!((found.value - 1.0 / 6.0).abs() < 1e-6);
    /// # Ok::<(), calib_fit::adjust::AdjustError>(())
    /// ```
    ///
    /// # Errors
    ///
    /// No rows, a prevalence that is not in `(0, 1)`, or probabilities that are all equal to `from`.
    pub fn of(probs: &[f64], from: f64) -> Result<Self, AdjustError> {
        check("calibration prevalence", from)?;
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
        Ok(Self { value: most_likely(&counts, from), interval: None })
    }

    /// With the interval at 95 % that follows from the ranges of the score in which the rows lie, and of the negatives and the positives among the
    /// calibration rows. It counts the error of the calibration rows, too, and holds whatever the calibrator.
    ///
    /// The interval holds the shares `p` at which two means are not significantly different (Fieller 1954): the mean of the rows, and `p` times
    /// the mean of the positives plus `1 - p` times the mean of the negatives. The test is by the t distribution. Its degrees of freedom are
    /// the number of rows of the smaller class, minus one. It is widened to the estimate, which follows from the probabilities.
    ///
    /// ```
    /// use calib_fit::adjust::EstimatedPrevalence;
    /// use calib_fit::stats::RangeMoments;
    ///
    /// let of = |counts: [u64; 4]| RangeMoments::of(&counts).unwrap();
    /// let found = EstimatedPrevalence::of(&[0.1, 0.1, 0.1, 0.9], 0.5)?;
    /// let classes = [&of([120, 60, 15, 5]), &of([5, 15, 60, 120])];
    /// let interval = found.within(&of([500, 250, 150, 100]), classes).interval.unwrap();
    /// assert!(0.1 < interval.lo && interval.hi < 0.25);
    /// # Ok::<(), calib_fit::adjust::AdjustError>(())
    /// ```
    #[must_use]
    pub fn within(self, rows: &RangeMoments, classes: [&RangeMoments; 2]) -> Self {
        let Interval { lo, hi } = interval(rows, classes);
        Self { interval: Some(Interval { lo: lo.min(self.value), hi: hi.max(self.value) }), ..self }
    }
}

fn interval(rows: &RangeMoments, [negatives, positives]: [&RangeMoments; 2]) -> Interval {
    const ALL: Interval = Interval { lo: 0.0, hi: 1.0 };
    let least = negatives.n.min(positives.n);
    let Ok(law) = StudentsT::new(0.0, 1.0, least.saturating_sub(1) as f64) else { return ALL };
    let z2 = law.inverse_cdf(1.0 - ALPHA / 2.0).powi(2);
    let (above, apart) = (rows.mean - negatives.mean, positives.mean - negatives.mean);
    // At the ends (above - p apart)^2 - z^2 (var + p^2 var1 + (1 - p)^2 var0) is 0: a p^2 - 2 b p + c = 0.
    let (var, var0, var1) = (rows.of_mean(), negatives.of_mean(), positives.of_mean());
    let a = apart * apart - z2 * (var1 + var0);
    let b = above * apart - z2 * var0;
    let c = above * above - z2 * (var + var0);
    if a <= 0.0 {
        return ALL;
    }
    let root = (b * b - a * c).max(0.0).sqrt();
    let end = |root: f64| ((b + root) / a).clamp(0.0, 1.0);
    Interval { lo: end(-root), hi: end(root) }
}

/// Where the derivative of the log-likelihood, which falls, is zero.
fn most_likely(counts: &[(f64, u64)], from: f64) -> f64 {
    let slope = |prevalence: f64| -> f64 {
        let term = |&(prob, count): &(f64, u64)| {
            let (positive, negative) = (prob / from, (1.0 - prob) / (1.0 - from));
            let all = prevalence * positive + (1.0 - prevalence) * negative;
            count as f64 * (positive - negative) / all
        };
        counts.iter().map(term).sum()
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
    use rand::{RngExt, SeedableRng};
    use rand_xoshiro::Xoshiro256PlusPlus;

    use super::*;

    #[test]
    fn certain_rows_are_counted() {
        let found = EstimatedPrevalence::of(&[0.0, 0.0, 0.0, 1.0], 0.5).unwrap();
        assert!((found.value - 0.25).abs() < 1e-12);
        assert_eq!(EstimatedPrevalence::of(&[0.0, 0.5], 0.5).unwrap().value, 0.0);
        assert_eq!(EstimatedPrevalence::of(&[1.0, 0.5], 0.5).unwrap().value, 1.0);
        assert_eq!(EstimatedPrevalence::of(&[0.5, 0.5], 0.5), Err(AdjustError::Flat));
        assert_eq!(EstimatedPrevalence::of(&[], 0.5), Err(AdjustError::Empty));
        assert!(EstimatedPrevalence::of(&[0.3], 1.0).is_err());
    }

    fn moments(counts: &[u64]) -> RangeMoments {
        RangeMoments::of(counts).unwrap()
    }

    /// At its ends the means are apart by the quantile times their error, and classes that cannot be told apart leave everything possible.
    #[test]
    fn the_ends_are_just_significant() {
        let [rows, negatives, positives] =
            [[500, 250, 200, 140], [130, 50, 15, 5], [3, 6, 9, 12]].map(|counts| moments(&counts));
        let found = interval(&rows, [&negatives, &positives]);
        let quantile = StudentsT::new(0.0, 1.0, 29.0).unwrap().inverse_cdf(0.975);
        for (p, sign) in [(found.lo, 1.0), (found.hi, -1.0)] {
            let apart = rows.mean - p * positives.mean - (1.0 - p) * negatives.mean;
            let of_classes = p * p * positives.of_mean() + (1.0 - p).powi(2) * negatives.of_mean();
            assert!((apart - sign * quantile * (rows.of_mean() + of_classes).sqrt()).abs() < 1e-9, "{p}");
        }
        let all = Interval { lo: 0.0, hi: 1.0 };
        assert_eq!(interval(&rows, [&negatives, &negatives]), all);
        assert_eq!(interval(&rows, [&negatives, &moments(&[0, 0, 0, 1])]), all);
        // Rows like the negatives, or beyond: 0 is possible, and the estimate lies within.
        let low = interval(&moments(&[900, 10, 1, 0]), [&negatives, &positives]);
        assert_eq!(low.lo, 0.0);
        let estimate = EstimatedPrevalence { value: 0.25, interval: None };
        let widened = estimate.within(&moments(&[900, 10, 1, 0]), [&negatives, &positives]);
        assert_eq!(widened.interval, Some(Interval { lo: 0.0, hi: low.hi.max(0.25) }));
    }

    /// The interval holds the prevalence in 93 % of sets at least, of few positives, of ranges that are cut at the calibration rows, and where
    /// the prevalence is another one.
    #[test]
    fn the_interval_holds_the_prevalence() {
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(4);
        for (n, new) in [(500, 2000), (500, 200), (5000, 2000)] {
            for (from, to, ranges) in [(0.5, 0.1, 5), (0.1, 0.02, 20), (0.02, 0.1, 8), (0.1, 0.1, 15)] {
                let (held, sets) = coverage((n, from), (new, to), ranges, 300, &mut rng);
                assert!(held >= 0.91 * sets, "{n}, {new}, {from}, {to}, {ranges}: {held} of {sets}");
            }
        }
    }

    /// As the test above, with 1000 sets for every cell.
    #[test]
    #[ignore = "20 s; prints how often the interval holds"]
    fn the_interval_holds_the_prevalence_in_every_cell() {
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(5);
        for (n, new) in [(500, 2000), (500, 200), (5000, 2000)] {
            for from in [0.5, 0.1, 0.02] {
                for to in [0.1, 0.02] {
                    for ranges in [5, 10, 20] {
                        let (held, sets) = coverage((n, from), (new, to), ranges, 1000, &mut rng);
                        println!("{n} {new}, {from} to {to}, {ranges} ranges: {held} of {sets}");
                        assert!(held >= 0.93 * sets);
                    }
                }
            }
        }
    }

    /// In how many sets the interval holds the prevalence, and how many sets were drawn.
    fn coverage(
        (n, from): (usize, f64),
        (new, to): (usize, f64),
        ranges: usize,
        sets: usize,
        rng: &mut Xoshiro256PlusPlus,
    ) -> (f64, f64) {
        let mut drawn = |n: usize, share: f64| -> Vec<(f64, bool)> {
            let row = |_| {
                let label = rng.random::<f64>() < share;
                let noise: f64 = rand_distr::Distribution::sample(&rand_distr::StandardNormal, &mut *rng);
                (noise + 1.5 * f64::from(u8::from(label)), label)
            };
            (0..n).map(row).collect()
        };
        let (mut held, mut judged) = (0.0, 0.0);
        for _ in 0..sets {
            let mut rows = drawn(n, from);
            rows.sort_by(|a, b| a.0.total_cmp(&b.0));
            let edges: Vec<f64> = (1..ranges).map(|i| rows[i * n / ranges].0).collect();
            let counts = |scores: &mut dyn Iterator<Item = f64>| {
                let mut counts = vec![0; ranges];
                scores.for_each(|score| counts[edges.partition_point(|&edge| edge <= score)] += 1);
                RangeMoments::of(&counts)
            };
            let classes = [false, true]
                .map(|label| counts(&mut rows.iter().filter(|row| row.1 == label).map(|row| row.0)));
            let [Some(negatives), Some(positives)] = classes else { continue };
            let others = counts(&mut drawn(new, to).into_iter().map(|row| row.0)).unwrap();
            let Interval { lo, hi } = interval(&others, [&negatives, &positives]);
            judged += 1.0;
            held += f64::from(u8::from(lo <= to && to <= hi));
        }
        (held, judged)
    }

    proptest! {
        /// The steps of expectation and maximization end there.
        #[test]
        fn is_where_the_em_steps_end(
            probs in proptest::collection::vec(0.02..0.98f64, 5..60), from in 0.1..0.9f64,
        ) {
            let found = EstimatedPrevalence::of(&probs, from).unwrap().value;
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
