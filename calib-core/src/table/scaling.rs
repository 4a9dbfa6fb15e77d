//! Scaling functions of one score: a few parameters instead of a table.

use core::fmt;

use crate::score::{Score, sigmoid};

/// The parameters of a scaling function, not yet checked.
///
/// In the formulas `logit(s)` is `ln(s) - ln(1 - s)`, where `s` and `1 - s` are first moved into `[clip, 1 - clip]`.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[non_exhaustive]
pub enum Scaling {
    /// `sigmoid(a logit(s) + b)`: Platt scaling on the logit.
    PlattLogit {
        /// The slope.
        a: f32,
        /// The intercept.
        b: f32,
        /// The distance from 0 and 1 at which scores are clipped, in `(0, 0.5)`.
        clip: f32,
    },
    /// `sigmoid(a s + b)`: Platt scaling on the probability.
    PlattProb {
        /// The slope.
        a: f32,
        /// The intercept.
        b: f32,
    },
    /// `sigmoid(a ln(s) - b ln(1 - s) + c)`: beta calibration (Kull, Silva Filho and Flach 2017). `s` and `1 - s` are clipped
    /// as in the logit.
    Beta {
        /// The weight of `ln(s)`, at least 0.
        a: f32,
        /// The weight of `-ln(1 - s)`, at least 0.
        b: f32,
        /// The intercept.
        c: f32,
        /// The distance from 0 and 1 at which scores are clipped, in `(0, 0.5)`.
        clip: f32,
    },
    /// `sigmoid(logit(s) * inverse_t)`: temperature scaling.
    Temperature {
        /// One over the temperature, above 0.
        inverse_t: f32,
        /// The distance from 0 and 1 at which scores are clipped, in `(0, 0.5)`.
        clip: f32,
    },
    /// `sigmoid((a logit(s) + b) logit(s) + c)`: logistic regression on the logit and its square.
    Quadratic {
        /// The weight of the square.
        a: f32,
        /// The slope.
        b: f32,
        /// The intercept.
        c: f32,
        /// The distance from 0 and 1 at which scores are clipped, in `(0, 0.5)`.
        clip: f32,
    },
    /// `s`: the score as it is.
    Unchanged,
}

/// A checked scaling function, which gives a probability for every score.
///
/// The function is evaluated in f32 with libm's `expf` and `logf`, in the order in which the formulas of [`Scaling`] are
/// written: the same bits on every target. The probability rises with the score, or falls if `a` of a Platt function is below
/// 0; a quadratic one may do both. Up to rounding: between close scores it may turn by a few units in the last place.
///
/// ```
/// use calib_core::Score;
/// use calib_core::table::{Scaling, ScalingFunction};
///
/// let cooled = ScalingFunction::new(Scaling::Temperature { inverse_t: 0.5, clip: 1e-6 }).unwrap();
/// let prob = cooled.prob(Score::new(0.9)?);
/// assert!((prob - 0.75).abs() < 1e-6);
/// # Ok::<(), calib_core::ScoreError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct ScalingFunction(Scaling);

/// Why parameters are not a [`ScalingFunction`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[non_exhaustive]
pub enum ParameterError {
    /// A parameter is NaN or infinite.
    NotFinite,
    /// A weight of a beta function is below 0, or an inverse temperature not above 0.
    Sign,
    /// The clip is outside `(0, 0.5)`.
    Clip,
    /// The number of weights or of intercepts does not go with the number of classes.
    Length,
}

impl ScalingFunction {
    /// Checks parameters.
    ///
    /// # Errors
    ///
    /// The first cause found.
    pub const fn new(parameters: Scaling) -> Result<Self, ParameterError> {
        let (finite, sign, clip) = match parameters {
            Scaling::PlattLogit { a, b, clip } => (a.is_finite() && b.is_finite(), true, clip),
            // No logit, nothing to clip.
            Scaling::PlattProb { a, b } => (a.is_finite() && b.is_finite(), true, 0.25),
            Scaling::Beta { a, b, c, clip } => {
                (a.is_finite() && b.is_finite() && c.is_finite(), a >= 0.0 && b >= 0.0, clip)
            }
            Scaling::Temperature { inverse_t, clip } => (inverse_t.is_finite(), inverse_t > 0.0, clip),
            Scaling::Quadratic { a, b, c, clip } => {
                (a.is_finite() && b.is_finite() && c.is_finite(), true, clip)
            }
            Scaling::Unchanged => (true, true, 0.25),
        };
        if !finite {
            Err(ParameterError::NotFinite)
        } else if !sign {
            Err(ParameterError::Sign)
        } else if !(clip > 0.0 && clip < 0.5) {
            Err(ParameterError::Clip)
        } else {
            Ok(Self(parameters))
        }
    }

    /// Makes a function of parameters that [`ScalingFunction::new`] accepted before.
    #[inline]
    pub(crate) const fn trusted(parameters: Scaling) -> Self {
        Self(parameters)
    }

    /// Returns the parameters.
    pub const fn parameters(&self) -> Scaling {
        self.0
    }

    /// Returns the calibrated probability, in `[0, 1]`.
    pub fn prob(&self, score: Score) -> f32 {
        self.evaluate(score)
    }

    /// Returns the calibrated probability; inlined, so that the caller need not move the parameters.
    #[inline(always)]
    pub(crate) fn evaluate(&self, score: Score) -> f32 {
        let z = match self.0 {
            Scaling::PlattLogit { a, b, clip } => a * logit(score, clip) + b,
            Scaling::PlattProb { a, b } => a * score.get() + b,
            Scaling::Beta { a, b, c, clip } => {
                let (ln_s, ln_not_s) = logs(score, clip);
                a * ln_s - b * ln_not_s + c
            }
            Scaling::Temperature { inverse_t, clip } => logit(score, clip) * inverse_t,
            Scaling::Quadratic { a, b, c, clip } => {
                let z = logit(score, clip);
                (a * z + b) * z + c
            }
            Scaling::Unchanged => return score.get(),
        };
        // `z` may overflow to an infinity but is never NaN, so the fallback is never taken: a logit is finite, and only one of
        // `ln(s)` and `ln(1 - s)` can be below -1, so infinities of opposite signs never meet, and a sum times 0 is finite.
        sigmoid(z).map_or(0.5, Score::get)
    }
}

/// Returns `ln(s)` and `ln(1 - s)`, clipped and finite.
#[inline]
fn logs(score: Score, clip: f32) -> (f32, f32) {
    // With a clip below 3e-8, `1 - clip` rounds to 1; `1 - s` of the score 1 is still clipped from below.
    let clipped = |value: f32| {
        let top = 1.0 - clip;
        if value < clip {
            clip
        } else if value > top {
            top
        } else {
            value
        }
    };
    (libm::logf(clipped(score.get())), libm::logf(clipped(1.0 - score.get())))
}

#[inline]
fn logit(score: Score, clip: f32) -> f32 {
    let (ln_s, ln_not_s) = logs(score, clip);
    ln_s - ln_not_s
}

impl fmt::Display for ParameterError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::NotFinite => "a parameter is NaN or infinite",
            Self::Sign => "a weight is below 0, or an inverse temperature not above 0",
            Self::Clip => "the clip is outside (0, 0.5)",
            Self::Length => "the numbers of weights or intercepts do not go with the number of classes",
        })
    }
}

impl core::error::Error for ParameterError {}

#[cfg(test)]
mod tests {
    extern crate std;

    use std::vec::Vec;

    use proptest::prelude::*;

    use super::*;
    use crate::score::ONE_BITS;
    use crate::test_size::step;

    /// The same function in f64.
    fn exact(scaling: Scaling, score: f32) -> f64 {
        let s = f64::from(score);
        let logs = |clip: f32| {
            let clip = f64::from(clip);
            let s = s.clamp(clip, 1.0 - clip);
            (libm::log(s), libm::log(1.0 - s))
        };
        let logit = |clip| {
            let (ln_s, ln_not_s) = logs(clip);
            ln_s - ln_not_s
        };
        let z = match scaling {
            Scaling::PlattLogit { a, b, clip } => f64::from(a) * logit(clip) + f64::from(b),
            Scaling::PlattProb { a, b } => f64::from(a) * s + f64::from(b),
            Scaling::Beta { a, b, c, clip } => {
                let (ln_s, ln_not_s) = logs(clip);
                f64::from(a) * ln_s - f64::from(b) * ln_not_s + f64::from(c)
            }
            Scaling::Temperature { inverse_t, clip } => logit(clip) * f64::from(inverse_t),
            Scaling::Quadratic { a, b, c, clip } => {
                let z = logit(clip);
                (f64::from(a) * z + f64::from(b)) * z + f64::from(c)
            }
            Scaling::Unchanged => return s,
        };
        1.0 / (1.0 + libm::exp(-z))
    }

    /// Parameters as fits give them.
    fn usual() -> impl Strategy<Value = Scaling> {
        let clip = || prop_oneof![Just(1e-7f32), Just(1e-6), Just(1e-3), Just(0.25), 1e-7f32..0.49];
        prop_oneof![
            (0.0f32..4.0, -4.0f32..4.0, clip()).prop_map(|(a, b, clip)| Scaling::PlattLogit { a, b, clip }),
            (0.0f32..20.0, -10.0f32..10.0).prop_map(|(a, b)| Scaling::PlattProb { a, b }),
            (0.0f32..4.0, 0.0f32..4.0, -4.0f32..4.0, clip()).prop_map(|(a, b, c, clip)| Scaling::Beta {
                a,
                b,
                c,
                clip
            }),
            (0.05f32..5.0, clip()).prop_map(|(inverse_t, clip)| Scaling::Temperature { inverse_t, clip }),
            Just(Scaling::Unchanged),
        ]
    }

    /// Any finite parameters, however absurd.
    fn any_finite() -> impl Strategy<Value = Scaling> {
        let finite = || any::<f32>().prop_filter("finite", |value| value.is_finite());
        let clip = || (1u32..0x3F00_0000).prop_map(f32::from_bits);
        prop_oneof![
            (finite(), finite(), clip()).prop_map(|(a, b, clip)| Scaling::PlattLogit { a, b, clip }),
            (finite(), finite()).prop_map(|(a, b)| Scaling::PlattProb { a, b }),
            (finite(), finite(), finite(), clip()).prop_map(|(a, b, c, clip)| Scaling::Beta {
                a: a.abs(),
                b: b.abs(),
                c,
                clip
            }),
            (finite(), finite(), finite(), clip()).prop_map(|(a, b, c, clip)| Scaling::Quadratic {
                a,
                b,
                c,
                clip
            }),
            (finite(), clip()).prop_filter_map("above 0", |(inverse_t, clip)| {
                (inverse_t != 0.0).then(|| Scaling::Temperature { inverse_t: inverse_t.abs(), clip })
            }),
        ]
    }

    #[test]
    fn refuses_what_is_no_function() {
        use ParameterError::{Clip, NotFinite, Sign};
        let platt = |a, b, clip| ScalingFunction::new(Scaling::PlattLogit { a, b, clip }).err();
        assert_eq!(platt(-1.0, 0.0, 0.25), None);
        assert_eq!(platt(f32::NAN, 0.0, 0.25), Some(NotFinite));
        assert_eq!(platt(1.0, f32::INFINITY, 0.25), Some(NotFinite));
        for clip in [0.0, -0.0, -0.1, 0.5, f32::NAN, f32::INFINITY] {
            assert_eq!(platt(1.0, 0.0, clip), Some(Clip), "{clip}");
        }
        assert_eq!(platt(1.0, 0.0, f32::from_bits(1)), None);
        let prob = |a, b| ScalingFunction::new(Scaling::PlattProb { a, b }).err();
        assert_eq!((prob(-1.0, 2.0), prob(1.0, f32::NAN)), (None, Some(NotFinite)));
        let beta = |a, b, c| ScalingFunction::new(Scaling::Beta { a, b, c, clip: 0.1 }).err();
        assert_eq!(
            (beta(0.0, 0.0, -1.0), beta(-0.1, 1.0, 0.0), beta(1.0, -0.1, 0.0)),
            (None, Some(Sign), Some(Sign))
        );
        assert_eq!(beta(1.0, 1.0, f32::NEG_INFINITY), Some(NotFinite));
        let temperature =
            |inverse_t| ScalingFunction::new(Scaling::Temperature { inverse_t, clip: 0.1 }).err();
        assert_eq!((temperature(0.1), temperature(0.0), temperature(-1.0)), (None, Some(Sign), Some(Sign)));
    }

    #[test]
    fn what_is_unchanged_keeps_its_bits() {
        let same = ScalingFunction::new(Scaling::Unchanged).unwrap();
        for bits in (0..=ONE_BITS).step_by(step(1 << 16)) {
            assert_eq!(same.prob(Score::new(f32::from_bits(bits)).unwrap()).to_bits(), bits);
        }
    }

    #[test]
    fn temperature_one_changes_nothing() {
        let same = ScalingFunction::new(Scaling::Temperature { inverse_t: 1.0, clip: 1e-7 }).unwrap();
        for i in (0..=1000).step_by(step(20)) {
            let score = Score::new(i as f32 / 1000.0).unwrap();
            assert!((same.prob(score) - score.get()).abs() <= 5e-7, "{score:?}");
        }
    }

    proptest! {
        #[test]
        fn within_1e_6_of_f64_and_never_falls_by_more_than_rounding(
            scaling in usual(),
            bits in proptest::collection::vec(0..=ONE_BITS, 0..100),
            shares in proptest::collection::vec(0.0f32..1.0, 0..100),
        ) {
            let function = ScalingFunction::new(scaling).unwrap();
            let mut scores: Vec<f32> = bits.into_iter().map(f32::from_bits).chain(shares).collect();
            scores.extend([0.0, f32::from_bits(1), 0.5, 1.0f32.next_down(), 1.0]);
            scores.sort_by(f32::total_cmp);
            let mut before = 0.0f32;
            for score in scores {
                let prob = function.prob(Score::new(score).unwrap());
                prop_assert!((f64::from(prob) - exact(scaling, score)).abs() <= 1e-6, "{} {}", score, prob);
                // Two roundings of the exact function apart.
                prop_assert!(prob >= before - 1e-6 * before.max(1e-6), "{} {} {}", score, prob, before);
                before = prob;
            }
        }

        /// A parabola may turn, and is where f64 has it.
        #[test]
        fn parabolas_are_within_2e_6_of_f64(
            a in -0.1f32..0.1, b in -2.0f32..2.0, c in -3.0f32..3.0, clip in 1e-7f32..0.4, bits in 0..=ONE_BITS,
        ) {
            let scaling = Scaling::Quadratic { a, b, c, clip };
            let prob = ScalingFunction::new(scaling).unwrap().prob(Score::new(f32::from_bits(bits)).unwrap());
            prop_assert!((f64::from(prob) - exact(scaling, f32::from_bits(bits))).abs() <= 2e-6);
        }

        #[test]
        fn every_function_gives_probabilities(scaling in any_finite(), bits in 0..=ONE_BITS) {
            let function = ScalingFunction::new(scaling).unwrap();
            for score in [f32::from_bits(bits), 0.0, 1.0] {
                let prob = function.prob(Score::new(score).unwrap());
                prop_assert!(prob.to_bits() <= ONE_BITS, "{} {}", score, prob);
            }
        }
    }
}
