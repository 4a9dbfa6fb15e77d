//! Logistic regression, binary and multinomial.

use calib_core::score::sigmoid;
use calib_core::wire::{MAX_VALUES, Refusal};
use calib_core::{ClassifierId, Logits, Score};

use crate::{Classifier, Features, Output, Scratch, Task};

/// A linear classifier over standardized features, made while compiling and kept in flash.
///
/// The logit of output `o` is `bias[o] + sum_i weights[o][i] * ((x[i] - mean[i]) * inv_scale[i])` in f32,
/// summed in index order from 0 with the bias last, and without fused operations: the same bits on every
/// target. With one output the score of class 1 is the logit's sigmoid; with more there is a logit per class.
#[derive(Clone, Debug, PartialEq)]
pub struct LinearClassifier<const FEATURES: usize, const OUTPUTS: usize> {
    name: &'static str,
    id: ClassifierId,
    mean: [f32; FEATURES],
    inv_scale: [f32; FEATURES],
    weights: [[f32; FEATURES]; OUTPUTS],
    bias: [f32; OUTPUTS],
}

impl<const FEATURES: usize, const OUTPUTS: usize> LinearClassifier<FEATURES, OUTPUTS> {
    /// Makes a classifier. `inv_scale` is one over each feature's standard deviation.
    ///
    /// More than 128 features or outputs, or none, do not compile.
    pub const fn new(
        name: &'static str,
        id: ClassifierId,
        mean: [f32; FEATURES],
        inv_scale: [f32; FEATURES],
        weights: [[f32; FEATURES]; OUTPUTS],
        bias: [f32; OUTPUTS],
    ) -> Self {
        const {
            assert!(FEATURES > 0 && FEATURES <= MAX_VALUES, "a request holds 1 to 128 features");
            assert!(OUTPUTS > 0 && OUTPUTS <= MAX_VALUES, "a classifier has 1 to 128 outputs");
        }
        Self { name, id, mean, inv_scale, weights, bias }
    }
}

impl<const FEATURES: usize, const OUTPUTS: usize> Classifier for LinearClassifier<FEATURES, OUTPUTS> {
    fn name(&self) -> &str {
        self.name
    }

    fn id(&self) -> ClassifierId {
        self.id
    }

    fn feature_count(&self) -> u16 {
        FEATURES as u16
    }

    fn task(&self) -> Task {
        Task::of_outputs(OUTPUTS as u16)
    }

    fn classify<'s>(&self, features: Features<'_>, scratch: &'s mut Scratch) -> Result<Output<'s>, Refusal> {
        let mut standardized = [0.0; FEATURES];
        let layer = LinearLayer {
            mean: &self.mean,
            inv_scale: &self.inv_scale,
            weights: &self.weights,
            bias: &self.bias,
        };
        layer.write_logits(features, &mut standardized, scratch);
        linear_output(scratch.first_chunk::<OUTPUTS>().map_or(&[], |logits| logits))
    }
}

/// A linear layer over standardized features, of any size: the arithmetic of a [`LinearClassifier`].
#[derive(Clone, Copy, Debug)]
pub struct LinearLayer<'a, R> {
    /// The mean of each feature.
    pub mean: &'a [f32],
    /// One over each feature's standard deviation.
    pub inv_scale: &'a [f32],
    /// A row per output, a weight per feature.
    pub weights: &'a [R],
    /// A number per output.
    pub bias: &'a [f32],
}

impl<R: AsRef<[f32]>> LinearLayer<'_, R> {
    /// Writes a logit per output to the front of `logits`, finite or not; `standardized` has room for the features.
    ///
    /// ```
    /// use calib_firmware::{Features, LinearLayer};
    ///
    /// let layer = LinearLayer { mean: &[1.0, 2.0], inv_scale: &[0.5, 0.25], weights: &[[2.0, -4.0]], bias: &[0.5] };
    /// let mut logits = [0.0];
    /// layer.write_logits(Features::new(&[3.0, 6.0], 2).unwrap(), &mut [0.0; 2], &mut logits);
    /// // (3 - 1) / 2 * 2 - (6 - 2) / 4 * 4 + 0.5
    /// assert_eq!(logits, [-1.5]);
    /// ```
    #[inline]
    pub fn write_logits(&self, features: Features<'_>, standardized: &mut [f32], logits: &mut [f32]) {
        let moments = self.mean.iter().zip(self.inv_scale);
        for ((z, x), (mean, inv_scale)) in standardized.iter_mut().zip(features.iter()).zip(moments) {
            *z = (x - mean) * inv_scale;
        }
        for ((logit, row), bias) in logits.iter_mut().zip(self.weights).zip(self.bias) {
            let mut sum = 0.0;
            for (z, weight) in standardized.iter().zip(row.as_ref()) {
                sum += z * weight;
            }
            *logit = sum + bias;
        }
    }
}

/// The output of a linear classifier: the sigmoid of a single logit, and of several the logits themselves.
///
/// ```
/// use calib_core::Score;
/// use calib_firmware::{Output, Task, linear_output};
///
/// assert_eq!(linear_output(&[0.0]), Ok(Output::Score(Score::new(0.5).unwrap())));
/// assert!(Task::TopLabel { classes: 3 }.gives(&linear_output(&[0.0, 1.0, -1.0]).unwrap()));
/// // An infinite logit is a fault, not certainty.
/// assert!(linear_output(&[f32::INFINITY]).is_err());
/// ```
///
/// # Errors
///
/// [`Refusal::Score`] if a single logit is not finite, and [`Refusal::Logits`] if several are none.
pub fn linear_output(logits: &[f32]) -> Result<Output<'_>, Refusal> {
    match *logits {
        [logit] => score(logit).map(Output::Score),
        _ => Logits::new(logits).map(Output::Logits).map_err(Refusal::Logits),
    }
}

/// The sigmoid of a finite logit; an infinite one is a fault, not certainty.
fn score(logit: f32) -> Result<Score, Refusal> {
    match sigmoid(logit) {
        Some(score) if logit.is_finite() => Ok(score),
        _ => Score::new(logit).map_err(Refusal::Score),
    }
}

#[cfg(test)]
mod tests {
    use calib_core::ScoreError;
    use calib_core::score::LogitsError;

    use super::*;

    const ID: ClassifierId = ClassifierId([7; 8]);

    fn classify<const F: usize, const O: usize>(
        classifier: &LinearClassifier<F, O>,
        features: [f32; F],
    ) -> Result<std::vec::Vec<f32>, Refusal> {
        let mut scratch = [0.0; MAX_VALUES];
        let features = Features::new(&features, classifier.feature_count())?;
        let output = classifier.classify(features, &mut scratch)?;
        assert!(classifier.task().gives(&output));
        Ok(match output {
            Output::Score(score) => std::vec![score.get()],
            _ => scratch[..O].to_vec(),
        })
    }

    #[test]
    fn one_output_is_a_score() {
        const BINARY: LinearClassifier<2, 1> =
            LinearClassifier::new("b", ID, [1.0, 2.0], [0.5, 0.25], [[2.0, -4.0]], [0.5]);
        assert_eq!(BINARY.task(), Task::Binary);
        // (3 - 1) / 2 * 2 - (6 - 2) / 4 * 4 + 0.5
        assert_eq!(classify(&BINARY, [3.0, 6.0]), Ok(std::vec![sigmoid(-1.5).unwrap().get()]));
    }

    #[test]
    fn several_outputs_are_logits() {
        let several =
            LinearClassifier::new("s", ID, [0.0], [2.0], [[1.0], [-1.0], [0.0]], [0.0, 1.0, f32::MIN]);
        assert_eq!(several.task(), Task::TopLabel { classes: 3 });
        assert_eq!(classify(&several, [3.0]), Ok(std::vec![6.0, -5.0, f32::MIN]));
    }

    #[test]
    fn an_output_that_is_not_finite_is_refused() {
        let binary = LinearClassifier::new("b", ID, [0.0; 2], [1.0; 2], [[1.0, 1.0]], [0.0]);
        assert_eq!(classify(&binary, [f32::MAX; 2]), Err(Refusal::Score(ScoreError::Infinite)));
        let overflowing = LinearClassifier::new("b", ID, [0.0; 2], [2.0; 2], [[1.0, 1.0]], [0.0]);
        assert_eq!(classify(&overflowing, [f32::MAX, f32::MIN]), Err(Refusal::Score(ScoreError::NaN)));
        let several = LinearClassifier::new("s", ID, [0.0], [4.0], [[0.0], [1.0]], [0.0; 2]);
        assert_eq!(classify(&several, [f32::MAX]), Err(Refusal::Logits(LogitsError::NaN(0))));
        let several = LinearClassifier::new("s", ID, [0.0], [1.0], [[0.5], [4.0]], [0.0; 2]);
        assert_eq!(classify(&several, [f32::MAX]), Err(Refusal::Logits(LogitsError::Infinite(1))));
    }
}
