//! Scaling functions of a whole vector.

use super::error::VectorError;
use crate::score::{ScoreVector, softmax};
use crate::table::ParameterError;

/// The function `softmax(W x + b)` of a vector `x` of features.
///
/// The function is evaluated in f32 with libm's functions: the same bits on every target. Each sum starts with its intercept and
/// goes from class 0 upwards. The probabilities sum to one up to rounding.
///
/// ```
/// use calib_core::{Logits, VectorCalibrator};
/// use calib_core::vector::{ScalingInput, ScalingShape, VectorScaling};
///
/// let shape = ScalingShape::Vector { weights: &[1.0, 0.5], intercepts: &[0.0, 0.25] };
/// let function = VectorScaling::new(2, ScalingInput::Logits, shape).unwrap();
/// let mut space = [0.0; 2];
/// let logits = Logits::new(&[1.0, 1.5]).unwrap();
/// let probs = VectorCalibrator::Scaled(function).calibrate(logits.into(), None, &mut space).unwrap();
/// assert_eq!(probs.get(0), Some(0.5));
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct VectorScaling<'a> {
    classes: u16,
    input: ScalingInput,
    shape: ScalingShape<'a>,
}

/// The features of a scaling function.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub enum ScalingInput {
    /// The classifier's logits.
    Logits,
    /// The logarithms of the scores, after scores below `clip` are raised to it.
    LogProbs {
        /// The least score, in `(0, 0.5)`.
        clip: f32,
    },
}

/// The parameters of a scaling function of a vector of `L` classes.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[non_exhaustive]
pub enum ScalingShape<'a> {
    /// `W` is `inverse_t` times the identity, and `b` is zero: temperature scaling (Guo et al. 2017).
    Temperature {
        /// One over the temperature, above 0.
        inverse_t: f32,
    },
    /// `W` is diagonal: vector scaling (Guo et al. 2017).
    Vector {
        /// The `L` entries of the diagonal.
        weights: &'a [f32],
        /// The `L` intercepts.
        intercepts: &'a [f32],
    },
    /// `W` is any matrix: matrix scaling (Guo et al. 2017), or Dirichlet calibration (Kull et al. 2019) on log-probabilities.
    Matrix {
        /// `L` rows of `L` entries, a row for the probability of each class.
        weights: &'a [f32],
        /// The `L` intercepts.
        intercepts: &'a [f32],
    },
}

impl<'a> VectorScaling<'a> {
    /// Checks the parameters of a function for this number of classes, at least 2.
    ///
    /// # Errors
    ///
    /// The first cause found.
    pub fn new(classes: u16, input: ScalingInput, shape: ScalingShape<'a>) -> Result<Self, ParameterError> {
        if let ScalingInput::LogProbs { clip } = input
            && !(clip > 0.0 && clip < 0.5)
        {
            return Err(ParameterError::Clip);
        }
        let l = usize::from(classes);
        let finite = |values: &[f32]| values.iter().all(|value| value.is_finite());
        let (finite, sign, length) = match shape {
            ScalingShape::Temperature { inverse_t } => (inverse_t.is_finite(), inverse_t > 0.0, true),
            ScalingShape::Vector { weights, intercepts } => {
                (finite(weights) && finite(intercepts), true, weights.len() == l && intercepts.len() == l)
            }
            ScalingShape::Matrix { weights, intercepts } => {
                let length = Some(weights.len()) == l.checked_mul(l) && intercepts.len() == l;
                (finite(weights) && finite(intercepts), true, length)
            }
        };
        if !length || l < 2 {
            Err(ParameterError::Length)
        } else if !finite {
            Err(ParameterError::NotFinite)
        } else if !sign {
            Err(ParameterError::Sign)
        } else {
            Ok(Self { classes, input, shape })
        }
    }

    /// Returns the number of classes.
    pub const fn classes(&self) -> usize {
        self.classes as usize
    }

    /// Returns what the features are.
    pub const fn input(&self) -> ScalingInput {
        self.input
    }

    /// Returns the parameters.
    pub const fn shape(&self) -> ScalingShape<'a> {
        self.shape
    }

    /// Returns how many floats of memory
    /// [`VectorCalibrator::calibrate`](crate::calibrator::VectorCalibrator::calibrate) takes: `L`, or `2 L` for a matrix on
    /// log-probabilities.
    pub const fn space(&self) -> usize {
        match (self.shape, self.input) {
            (ScalingShape::Matrix { .. }, ScalingInput::LogProbs { .. }) => 2 * self.classes(),
            _ => self.classes(),
        }
    }

    /// Returns the feature of a score: the logarithm of the score or of `clip`, whichever is greater.
    pub fn log_prob(score: f32, clip: f32) -> f32 {
        libm::logf(if score > clip { score } else { clip })
    }

    /// Writes the probabilities of all classes into `probs`, which has a place per class. `more` is the rest of
    /// [`VectorScaling::space`].
    ///
    /// A sum that overflows becomes the largest number of its sign, a sum that is NaN the lowest number.
    pub(crate) fn calibrate(
        &self,
        vector: ScoreVector<'_>,
        probs: &mut [f32],
        more: &mut [f32],
    ) -> Result<(), VectorError> {
        match (self.input, vector) {
            (ScalingInput::Logits, ScoreVector::Logits(logits)) => self.scale(logits.as_slice(), probs),
            (ScalingInput::Logits, ScoreVector::Probs(_)) => return Err(VectorError::NotLogits),
            (ScalingInput::LogProbs { clip }, _) => {
                vector.write_scores(probs);
                probs.iter_mut().for_each(|score| *score = Self::log_prob(*score, clip));
                if matches!(self.shape, ScalingShape::Matrix { .. }) {
                    more.iter_mut().zip(&*probs).for_each(|(feature, prob)| *feature = *prob);
                    self.scale(more, probs);
                } else {
                    self.scale_in_place(probs);
                }
            }
        }
        softmax::in_place(probs);
        Ok(())
    }

    /// Writes `W x + b`.
    fn scale(&self, features: &[f32], scaled: &mut [f32]) {
        if let ScalingShape::Matrix { weights, intercepts } = self.shape {
            let mut weights = weights.iter();
            for (place, &intercept) in scaled.iter_mut().zip(intercepts) {
                // The features come first in the zip: where they end, it must not have taken a weight already.
                let sum =
                    features.iter().zip(&mut weights).fold(intercept, |sum, (x, weight)| sum + weight * x);
                *place = bounded(sum);
            }
        } else {
            for (place, &feature) in scaled.iter_mut().zip(features) {
                *place = feature;
            }
            self.scale_in_place(scaled);
        }
    }

    /// Replaces the features by `W x + b` for a diagonal `W`.
    fn scale_in_place(&self, places: &mut [f32]) {
        match self.shape {
            ScalingShape::Temperature { inverse_t } => {
                places.iter_mut().for_each(|place| *place = bounded(*place * inverse_t));
            }
            ScalingShape::Vector { weights, intercepts } => {
                for ((place, weight), intercept) in places.iter_mut().zip(weights).zip(intercepts) {
                    *place = bounded(intercept + weight * *place);
                }
            }
            ScalingShape::Matrix { .. } => {}
        }
    }
}

/// Makes a sum finite that may have overflowed.
fn bounded(sum: f32) -> f32 {
    if sum.is_nan() { f32::MIN } else { sum.clamp(f32::MIN, f32::MAX) }
}

#[cfg(test)]
mod tests {
    extern crate std;

    use std::vec;
    use std::vec::Vec;

    use proptest::prelude::*;

    use super::*;
    use crate::calibrator::VectorCalibrator;
    use crate::score::{ClassCountError, Logits, Probs};

    const LOG_PROBS: ScalingInput = ScalingInput::LogProbs { clip: 1e-6 };

    #[test]
    fn refuses_what_is_no_function() {
        let new = |shape| VectorScaling::new(2, ScalingInput::Logits, shape).map(|_| ());
        let vector = |weights, intercepts| ScalingShape::Vector { weights, intercepts };
        let matrix = |weights, intercepts| ScalingShape::Matrix { weights, intercepts };
        assert_eq!(new(vector(&[1.0], &[0.0, 0.0])), Err(ParameterError::Length));
        assert_eq!(new(matrix(&[1.0, 0.0], &[0.0, 0.0])), Err(ParameterError::Length));
        assert_eq!(new(vector(&[1.0, f32::NAN], &[0.0, 0.0])), Err(ParameterError::NotFinite));
        assert_eq!(new(matrix(&[1.0; 4], &[f32::INFINITY, 0.0])), Err(ParameterError::NotFinite));
        assert_eq!(new(ScalingShape::Temperature { inverse_t: 0.0 }), Err(ParameterError::Sign));
        let one = VectorScaling::new(1, ScalingInput::Logits, ScalingShape::Temperature { inverse_t: 1.0 });
        assert_eq!(one.map(|_| ()), Err(ParameterError::Length));
        let clip = ScalingInput::LogProbs { clip: 0.0 };
        let clipped = VectorScaling::new(2, clip, ScalingShape::Temperature { inverse_t: 1.0 });
        assert_eq!(clipped.map(|_| ()), Err(ParameterError::Clip));
    }

    #[test]
    fn refuses_vectors_of_another_kind() {
        let function =
            VectorScaling::new(2, ScalingInput::Logits, ScalingShape::Temperature { inverse_t: 1.0 })
                .unwrap();
        let calibrate = |function, vector: ScoreVector<'_>, len: usize| {
            let space = &mut [0.0; 4][..len];
            VectorCalibrator::Scaled(function).calibrate(vector, None, space).map(|_| ())
        };
        let length = |expected, got| Err(VectorError::Length(ClassCountError { expected, got }));
        let probs = Probs::new(&[0.5, 0.5]).unwrap();
        assert_eq!(calibrate(function, probs.into(), 2), Err(VectorError::NotLogits));
        assert_eq!(calibrate(function, Logits::new(&[0.5; 3]).unwrap().into(), 3), length(2, 3));
        assert_eq!(calibrate(function, Logits::new(&[0.5; 2]).unwrap().into(), 1), length(2, 1));
        let shape = ScalingShape::Matrix { weights: &[1.0, 0.0, 0.0, 1.0], intercepts: &[0.0; 2] };
        let dirichlet = VectorScaling::new(2, LOG_PROBS, shape).unwrap();
        assert_eq!(calibrate(dirichlet, probs.into(), 3), length(4, 3));
        assert_eq!(calibrate(dirichlet, probs.into(), 4), Ok(()));
    }

    #[test]
    fn overflow_leaves_probabilities() {
        let shape = ScalingShape::Matrix { weights: &[3.0, 3.0, 3.0, -3.0], intercepts: &[0.0; 2] };
        let function = VectorScaling::new(2, ScalingInput::Logits, shape).unwrap();
        let mut probs = [0.0; 2];
        for logits in [[f32::MAX, f32::MAX], [f32::MIN, f32::MIN], [f32::MAX, f32::MIN]] {
            function.calibrate(Logits::new(&logits).unwrap().into(), &mut probs, &mut []).unwrap();
            assert!(probs.iter().all(|prob| (0.0..=1.0).contains(prob)), "{probs:?}");
        }
    }

    proptest! {
        /// The formula in f64, and the special cases of one shape by another.
        #[test]
        fn agrees_with_the_formula(
            logits in proptest::collection::vec(-8.0f32..8.0, 2..12),
            raw in proptest::collection::vec(-1.5f32..1.5, 12 * 13), log_probs in any::<bool>(),
        ) {
            let l = logits.len();
            let (weights, intercepts) = (&raw[..l * l], &raw[l * l..l * l + l]);
            let vector = ScoreVector::from(Logits::new(&logits).unwrap());
            let input = if log_probs { LOG_PROBS } else { ScalingInput::Logits };
            let run = |shape| {
                let function = VectorScaling::new(l as u16, input, shape).unwrap();
                let mut space = vec![0.0; function.space()];
                let probs = VectorCalibrator::Scaled(function).calibrate(vector, None, &mut space).unwrap();
                probs.iter().map(Option::unwrap).collect::<Vec<f32>>()
            };
            let features: Vec<f64> = match input {
                ScalingInput::Logits => logits.iter().map(|&z| f64::from(z)).collect(),
                ScalingInput::LogProbs { clip } => {
                    vector.scores().map(|s| libm::log(f64::from(s.get().max(clip)))).collect()
                }
            };
            let scaled: Vec<f64> = (0..l)
                .map(|k| {
                    let row = weights[k * l..(k + 1) * l].iter();
                    f64::from(intercepts[k]) + row.zip(&features).map(|(&w, x)| f64::from(w) * x).sum::<f64>()
                })
                .collect();
            let max = scaled.iter().copied().fold(f64::NEG_INFINITY, f64::max);
            let sum: f64 = scaled.iter().map(|z| libm::exp(z - max)).sum();
            let matrix = run(ScalingShape::Matrix { weights, intercepts });
            for (got, z) in matrix.iter().zip(&scaled) {
                prop_assert!((f64::from(*got) - libm::exp(z - max) / sum).abs() < 1e-4);
            }
            prop_assert!((matrix.iter().sum::<f32>() - 1.0).abs() < 1e-5);

            let inverse_t = 0.7;
            let equal = vec![inverse_t; l];
            let zeros = vec![0.0; l];
            let mut identity = vec![0.0; l * l];
            identity.iter_mut().step_by(l + 1).for_each(|w| *w = inverse_t);
            let temperature = run(ScalingShape::Temperature { inverse_t });
            prop_assert_eq!(&temperature, &run(ScalingShape::Vector { weights: &equal, intercepts: &zeros }));
            prop_assert_eq!(&temperature, &run(ScalingShape::Matrix { weights: &identity, intercepts: &zeros }));
        }
    }
}
