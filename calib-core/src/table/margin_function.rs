//! Scaling functions of a margin.

use super::scaling::ParameterError;
use crate::score::{Margin, Score, sigmoid};

/// The parameters of a scaling function of a margin, not yet checked.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[non_exhaustive]
pub enum MarginScaling {
    /// `sigmoid(a m + b)`: Platt scaling in its own form (Platt 1999).
    Platt {
        /// The slope.
        a: f32,
        /// The intercept.
        b: f32,
    },
    /// `sigmoid(m * inverse_t)`: temperature scaling, where the margin is a logit.
    Temperature {
        /// One over the temperature, above 0.
        inverse_t: f32,
    },
    /// `sigmoid((a u + b) u + c)` with `u = m * scale + shift`: logistic regression on the margin and its square.
    Quadratic {
        /// The weight of the square.
        a: f32,
        /// The slope.
        b: f32,
        /// The intercept.
        c: f32,
        /// What margins are multiplied by, above 0: they have no scale themselves.
        scale: f32,
        /// What is added to it.
        shift: f32,
    },
}

/// A checked scaling function of a margin, which gives a probability for every margin.
///
/// The function is evaluated in f32 with libm's `expf`, in the order in which the formulas of [`MarginScaling`] are written: the
/// same bits on every target. The probability rises with the margin, or falls if the slope is below 0; a quadratic
/// one may do both.
///
/// ```
/// use calib_core::Margin;
/// use calib_core::table::{MarginFunction, MarginScaling};
///
/// let platt = MarginFunction::new(MarginScaling::Platt { a: 2.0, b: -1.0 }).unwrap();
/// assert_eq!(platt.prob(Margin::new(0.5)?), 0.5);
/// # Ok::<(), calib_core::ScoreError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct MarginFunction(MarginScaling);

impl MarginFunction {
    /// Checks parameters.
    ///
    /// # Errors
    ///
    /// The first cause found.
    pub const fn new(parameters: MarginScaling) -> Result<Self, ParameterError> {
        let (finite, sign) = match parameters {
            MarginScaling::Platt { a, b } => (a.is_finite() && b.is_finite(), true),
            MarginScaling::Temperature { inverse_t } => (inverse_t.is_finite(), inverse_t > 0.0),
            MarginScaling::Quadratic { a, b, c, scale, shift } => (
                a.is_finite() && b.is_finite() && c.is_finite() && scale.is_finite() && shift.is_finite(),
                scale > 0.0,
            ),
        };
        if !finite {
            Err(ParameterError::NotFinite)
        } else if !sign {
            Err(ParameterError::Sign)
        } else {
            Ok(Self(parameters))
        }
    }

    /// Makes a function of parameters that [`MarginFunction::new`] accepted before.
    #[inline]
    pub(crate) const fn trusted(parameters: MarginScaling) -> Self {
        Self(parameters)
    }

    /// Returns the parameters.
    pub const fn parameters(&self) -> MarginScaling {
        self.0
    }

    /// Returns the calibrated probability, in `[0, 1]`.
    #[inline]
    pub fn prob(&self, margin: Margin) -> f32 {
        let z = match self.0 {
            MarginScaling::Platt { a, b } => a * margin.get() + b,
            MarginScaling::Temperature { inverse_t } => margin.get() * inverse_t,
            MarginScaling::Quadratic { a, b, c, scale, shift } => {
                let u = finite(margin.get() * scale + shift);
                (a * u + b) * u + c
            }
        };
        // A product may overflow to an infinity, which a finite intercept leaves as it is, and a sum times 0 is finite: `z` is never
        // NaN.
        sigmoid(z).map_or(0.5, Score::get)
    }
}

/// Returns the nearest finite number, of one that is not NaN.
#[inline]
fn finite(value: f32) -> f32 {
    value.clamp(f32::MIN, f32::MAX)
}

#[cfg(test)]
mod tests {
    extern crate std;

    use proptest::prelude::*;

    use super::*;
    use crate::score::ONE_BITS;

    #[test]
    fn refuses_what_is_no_function() {
        let platt = |a, b| MarginFunction::new(MarginScaling::Platt { a, b }).err();
        assert_eq!(platt(-1.0, f32::MAX), None);
        assert_eq!(platt(f32::NAN, 0.0), Some(ParameterError::NotFinite));
        assert_eq!(platt(0.0, f32::INFINITY), Some(ParameterError::NotFinite));
        let temperature = |inverse_t| MarginFunction::new(MarginScaling::Temperature { inverse_t }).err();
        assert_eq!(temperature(1e-30), None);
        for not_above_0 in [0.0, -0.0, -1.0] {
            assert_eq!(temperature(not_above_0), Some(ParameterError::Sign));
        }
        assert_eq!(temperature(f32::INFINITY), Some(ParameterError::NotFinite));
    }

    /// Zero times an infinity is no number, and there is none.
    #[test]
    fn a_parabola_of_distances_beyond_the_largest_float_is_one() {
        let function = |a| MarginScaling::Quadratic { a, b: 1.0, c: 0.0, scale: 2.0, shift: 1.0 };
        let at_the_end = |a| MarginFunction::new(function(a)).unwrap().prob(Margin::new(f32::MAX).unwrap());
        assert_eq!((at_the_end(0.0), at_the_end(1.0), at_the_end(-1.0)), (1.0, 1.0, 0.0));
    }

    proptest! {
        #[test]
        fn parabolas_are_within_2e_5_of_f64(
            a in -0.1f32..0.1, b in -2.0f32..2.0, c in -3.0f32..3.0, m in -20.0f32..20.0, shift in -5.0f32..5.0,
            scale in 0.1f32..2.0,
        ) {
            let function = MarginFunction::new(MarginScaling::Quadratic { a, b, c, scale, shift }).unwrap();
            let u = f64::from(m) * f64::from(scale) + f64::from(shift);
            let z = (f64::from(a) * u + f64::from(b)) * u + f64::from(c);
            let prob = function.prob(Margin::new(m).unwrap());
            prop_assert!((f64::from(prob) - 1.0 / (1.0 + libm::exp(-z))).abs() <= 2e-5);
        }

        #[test]
        fn usual_functions_are_within_1e_6_of_f64(a in -4.0f32..4.0, b in -4.0f32..4.0, m in -20.0f32..20.0) {
            let function = MarginFunction::new(MarginScaling::Platt { a, b }).unwrap();
            let z = f64::from(a) * f64::from(m) + f64::from(b);
            let prob = function.prob(Margin::new(m).unwrap());
            prop_assert!((f64::from(prob) - 1.0 / (1.0 + libm::exp(-z))).abs() <= 1e-6 * (1.0 + z.abs()));
        }

        #[test]
        fn every_function_gives_probabilities(a in any::<f32>(), b in any::<f32>(), m in any::<f32>()) {
            prop_assume!(a.is_finite() && b.is_finite() && m.is_finite());
            let margin = Margin::new(m).unwrap();
            let platt = MarginFunction::new(MarginScaling::Platt { a, b }).unwrap();
            prop_assert!(platt.prob(margin).to_bits() <= ONE_BITS);
            let parabola = MarginFunction::new(MarginScaling::Quadratic { a, b, c: a, scale: m.abs(), shift: b });
            prop_assert!(parabola.map_or(m == 0.0, |parabola| parabola.prob(margin).to_bits() <= ONE_BITS));
            if let Ok(cooled) = MarginFunction::new(MarginScaling::Temperature { inverse_t: a }) {
                prop_assert!(cooled.prob(margin).to_bits() <= ONE_BITS);
            }
        }
    }
}
