//! What a probability becomes at another prevalence.

use super::error::AdjustError;
use crate::stats::{Interval, clopper_pearson};

/// The prevalence of the points that a calibrator was fitted to.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum CalibrationPrevalence {
    /// It is known, as in a sample with a fixed number of cases and controls.
    Stated(f64),
    /// The calibration points are a random sample of their population.
    Counted {
        /// The number of calibration points with label 1.
        positives: u64,
        /// The number of calibration points.
        n: u64,
        /// The probability that the exact interval of the prevalence misses it.
        alpha: f64,
    },
}

/// How probabilities change from one prevalence to another, if scores are distributed among the positives as before, and among
/// the negatives, too: label shift.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Shift {
    /// The prevalence of the calibration points.
    from: f64,
    /// The least and the greatest prevalence that the calibration points may have had.
    ends: [f64; 2],
    /// The probability that they had neither these nor one between.
    alpha: f64,
    to: f64,
}

impl Shift {
    /// Prepares the change to a prevalence.
    ///
    /// # Errors
    ///
    /// A prevalence, a rate or an alpha that is not in `(0, 1)`.
    pub fn new(from: CalibrationPrevalence, to: f64) -> Result<Self, AdjustError> {
        let (from, ends, alpha) = match from {
            CalibrationPrevalence::Stated(from) => (from, [from; 2], 0.0),
            CalibrationPrevalence::Counted { positives, n, alpha } => {
                check("alpha of the calibration prevalence", alpha)?;
                let Interval { lo, hi } = clopper_pearson(positives, n, alpha);
                (positives as f64 / n as f64, [lo, hi], alpha)
            }
        };
        check("calibration prevalence", from)?;
        check("prevalence", to)?;
        Ok(Self { from, ends, alpha, to })
    }

    /// Returns the prevalence of the calibration points, as counted or stated.
    pub fn from(&self) -> f64 {
        self.from
    }

    /// Returns the prevalence to which probabilities are changed.
    pub fn to(&self) -> f64 {
        self.to
    }

    /// Returns the probability that the interval of the calibration prevalence misses it; 0 if it is known.
    pub fn alpha(&self) -> f64 {
        self.alpha
    }

    /// Returns the logarithm of the ratio of the odds: what is added to a logit.
    pub fn ln_ratio(&self) -> f64 {
        ratio(self.from, self.to).ln()
    }

    /// Returns what a probability becomes: `r v / (r v + 1 - v)`, where r is the odds of the new prevalence divided by those of
    /// the old one (Saerens, Latinne and Decaestecker 2002, equation 2.4). It rises with `v`.
    ///
    /// ```
    /// use calib_fit::adjust::{CalibrationPrevalence, Shift};
    ///
    /// let shift = Shift::new(CalibrationPrevalence::Stated(0.5), 0.1)?;
    /// assert!((shift.prob(0.5) - 0.1).abs() < 1e-15);
    /// assert_eq!((shift.prob(0.0), shift.prob(1.0)), (0.0, 1.0));
    /// # Ok::<(), calib_fit::adjust::AdjustError>(())
    /// ```
    pub fn prob(&self, prob: f64) -> f64 {
        shifted(ratio(self.from, self.to), prob)
    }

    /// Returns where a true probability lies that lay in an interval, whatever the calibration prevalence was within its own
    /// interval.
    pub fn interval(&self, interval: Interval) -> Interval {
        // The higher the prevalence was, the lower is what a probability becomes.
        let [least, greatest] = self.ends;
        Interval {
            lo: shifted(ratio(greatest, self.to), interval.lo.max(0.0)),
            hi: shifted(ratio(least, self.to), interval.hi.min(1.0)),
        }
    }
}

fn ratio(from: f64, to: f64) -> f64 {
    to / (1.0 - to) * ((1.0 - from) / from)
}

/// Increasing in the probability; the ratio may be 0 or infinite.
fn shifted(ratio: f64, prob: f64) -> f64 {
    if prob <= 0.0 {
        return 0.0;
    }
    if prob >= 1.0 || ratio == f64::INFINITY {
        return 1.0;
    }
    ratio * prob / (ratio * prob + (1.0 - prob))
}

pub(super) fn check(name: &'static str, value: f64) -> Result<(), AdjustError> {
    if value > 0.0 && value < 1.0 { Ok(()) } else { Err(AdjustError::Share { name, value }) }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn an_unknown_prevalence_widens_both_ends() {
        let counted = CalibrationPrevalence::Counted { positives: 40, n: 100, alpha: 0.05 };
        let (known, counted) =
            (Shift::new(CalibrationPrevalence::Stated(0.4), 0.1).unwrap(), Shift::new(counted, 0.1).unwrap());
        assert_eq!((known.prob(0.3), known.alpha(), counted.alpha()), (counted.prob(0.3), 0.0, 0.05));
        let interval = Interval { lo: -0.1, hi: 0.3 };
        let (narrow, wide) = (known.interval(interval), counted.interval(interval));
        assert_eq!((narrow.lo, wide.lo, narrow.hi), (0.0, 0.0, known.prob(0.3)));
        assert!(wide.hi > narrow.hi);
        let interval = Interval { lo: 0.5, hi: 1.2 };
        let (narrow, wide) = (known.interval(interval), counted.interval(interval));
        assert!(wide.lo < narrow.lo && narrow.lo == known.prob(0.5) && wide.hi == 1.0);
    }

    /// The odds may be divided by as good as nothing, and multiplied by it.
    #[test]
    fn a_ratio_beyond_all_numbers_leaves_a_probability_certain() {
        let least = f64::from_bits(1);
        let up = Shift::new(CalibrationPrevalence::Stated(least), 0.5).unwrap();
        assert_eq!([0.0, 0.3, 1.0].map(|prob| up.prob(prob)), [0.0, 1.0, 1.0]);
        let down = Shift::new(CalibrationPrevalence::Stated(0.5), least).unwrap();
        assert_eq!((down.prob(0.0), down.prob(1.0)), (0.0, 1.0));
        assert!(down.prob(0.3) < 1e-300);
    }

    #[test]
    fn what_is_no_prevalence_is_refused() {
        for bad in [0.0, 1.0, f64::NAN, -0.1] {
            assert!(Shift::new(CalibrationPrevalence::Stated(bad), 0.5).is_err());
            assert!(Shift::new(CalibrationPrevalence::Stated(0.5), bad).is_err());
        }
        for (positives, n, alpha) in [(0, 9, 0.1), (9, 9, 0.1), (4, 9, 1.0), (4, 9, 0.0)] {
            assert!(Shift::new(CalibrationPrevalence::Counted { positives, n, alpha }, 0.5).is_err());
        }
    }

    proptest! {
        /// Bayes' rule, and back again.
        #[test]
        fn is_bayes_rule_and_its_own_reverse(
            from in 0.01..0.99f64, to in 0.01..0.99f64, given_positive in 0.01..1.0f64, given_negative in 0.01..1.0f64,
        ) {
            let prob = |prevalence: f64| {
                prevalence * given_positive / (prevalence * given_positive + (1.0 - prevalence) * given_negative)
            };
            let shift = |from, to| Shift::new(CalibrationPrevalence::Stated(from), to).unwrap();
            prop_assert!((shift(from, to).prob(prob(from)) - prob(to)).abs() < 1e-12);
            prop_assert!((shift(to, from).prob(prob(to)) - prob(from)).abs() < 1e-12);
            let logit = |p: f64| (p / (1.0 - p)).ln();
            let moved = logit(prob(from)) + shift(from, to).ln_ratio();
            prop_assert!((moved - logit(prob(to))).abs() < 1e-9);
        }
    }
}
