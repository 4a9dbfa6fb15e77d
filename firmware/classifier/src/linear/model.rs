//! A checked linear classifier.

use std::fs;
use std::path::Path;

use calib_core::wire::{MAX_VALUES, Refusal};
use calib_core::{ClassifierId, Score};
use calib_firmware::{Classifier, Features, LinearLayer, Output, Scratch, Task, linear_output};
use serde::{Deserialize, Serialize};

use super::{LinearParameters, ModelError, ModelFault};

/// A checked linear classifier, which computes the same bits as the
/// [`LinearClassifier`](calib_firmware::LinearClassifier) that a board is built with.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "LinearParameters", into = "LinearParameters")]
pub struct LinearModel {
    parameters: LinearParameters,
    inv_scale: Vec<f32>,
}

impl LinearModel {
    /// Checks the parameters: lengths, finiteness, scales above 0 and a threshold in `[0, 1]`.
    ///
    /// # Errors
    ///
    /// The first cause found.
    pub fn new(parameters: LinearParameters) -> Result<Self, ModelFault> {
        let LinearParameters { name, mean, scale, weights, bias, alarm, .. } = &parameters;
        if name.is_empty() || name.len() > 32 {
            return Err(ModelFault::Name);
        }
        if mean.is_empty() || mean.len() > MAX_VALUES {
            return Err(ModelFault::FeatureCount(mean.len()));
        }
        if weights.is_empty() || weights.len() > MAX_VALUES {
            return Err(ModelFault::OutputCount(weights.len()));
        }
        check("mean", mean, mean.len())?;
        check("scale", scale, mean.len())?;
        for (output, row) in weights.iter().enumerate() {
            check(&format!("weights[{output}]"), row, mean.len())?;
        }
        check("bias", bias, weights.len())?;
        let inv_scale: Vec<f32> = scale.iter().map(|scale| 1.0 / scale).collect();
        if let Some(feature) = inv_scale.iter().position(|inv| !(inv.is_finite() && *inv > 0.0)) {
            return Err(ModelFault::Scale(feature));
        }
        if !(0.0..=1.0).contains(&alarm.threshold()) {
            return Err(ModelFault::Alarm(alarm.threshold()));
        }
        Ok(Self { parameters, inv_scale })
    }

    /// Reads a file.
    ///
    /// # Errors
    ///
    /// If it cannot be read, or does not hold a linear classifier.
    pub fn load(path: impl AsRef<Path>) -> Result<Self, ModelError> {
        let path = path.as_ref();
        let text = fs::read_to_string(path).map_err(|error| ModelError::Io(path.into(), error))?;
        serde_json::from_str(&text).map_err(|error| ModelError::Content(path.into(), error))
    }

    /// Writes a file; [`LinearModel::load`] gives back the same bits.
    ///
    /// # Errors
    ///
    /// If it cannot be written.
    pub fn save(&self, path: impl AsRef<Path>) -> Result<(), ModelError> {
        let path = path.as_ref();
        let text =
            serde_json::to_string_pretty(self).map_err(|error| ModelError::Content(path.into(), error))?;
        fs::write(path, text + "\n").map_err(|error| ModelError::Io(path.into(), error))
    }

    /// The parameters, checked.
    pub const fn parameters(&self) -> &LinearParameters {
        &self.parameters
    }

    /// One over each feature's scale, as the device multiplies by it.
    pub fn inv_scale(&self) -> &[f32] {
        &self.inv_scale
    }

    /// The linear outputs, one per row of weights, finite or not.
    ///
    /// # Errors
    ///
    /// [`Refusal::FeatureCount`] and [`Refusal::Feature`].
    pub fn logits(&self, features: &[f32]) -> Result<Vec<f32>, Refusal> {
        let features = Features::new(features, self.feature_count())?;
        let mut logits = vec![0.0; self.parameters.bias.len()];
        self.write_logits(features, &mut logits);
        Ok(logits)
    }

    /// The score of class 1.
    ///
    /// # Errors
    ///
    /// As [`LinearModel::logits`], [`Refusal::Score`] if the logit is not finite, and [`Refusal::Kind`] if the
    /// classifier is not binary.
    pub fn score(&self, features: &[f32]) -> Result<Score, Refusal> {
        match linear_output(&self.logits(features)?)? {
            Output::Score(score) => Ok(score),
            _ => Err(Refusal::Kind { classes: self.task().classes() }),
        }
    }

    fn write_logits(&self, features: Features<'_>, logits: &mut [f32]) {
        let LinearParameters { mean, weights, bias, .. } = &self.parameters;
        let layer = LinearLayer { mean, inv_scale: &self.inv_scale, weights, bias };
        layer.write_logits(features, &mut vec![0.0; mean.len()], logits);
    }
}

/// Checks a list's length and that its numbers are finite.
fn check(list: &str, values: &[f32], needed: usize) -> Result<(), ModelFault> {
    if values.len() != needed {
        return Err(ModelFault::Length(list.to_string(), needed, values.len()));
    }
    match values.iter().position(|value| !value.is_finite()) {
        Some(index) => Err(ModelFault::NotFinite(format!("{list}[{index}]"))),
        None => Ok(()),
    }
}

impl Classifier for LinearModel {
    fn name(&self) -> &str {
        &self.parameters.name
    }

    fn id(&self) -> ClassifierId {
        self.parameters.id
    }

    fn feature_count(&self) -> u16 {
        self.parameters.mean.len() as u16
    }

    fn task(&self) -> Task {
        Task::of_outputs(self.parameters.bias.len() as u16)
    }

    fn classify<'s>(&self, features: Features<'_>, scratch: &'s mut Scratch) -> Result<Output<'s>, Refusal> {
        self.write_logits(features, scratch);
        linear_output(scratch.get(..self.parameters.bias.len()).unwrap_or_default())
    }
}

impl TryFrom<LinearParameters> for LinearModel {
    type Error = ModelFault;

    fn try_from(parameters: LinearParameters) -> Result<Self, ModelFault> {
        Self::new(parameters)
    }
}

impl From<LinearModel> for LinearParameters {
    fn from(model: LinearModel) -> Self {
        model.parameters
    }
}

#[cfg(test)]
mod tests {
    use calib_core::score::sigmoid;
    use calib_firmware::LinearClassifier;

    use super::super::AlarmRule;
    use super::*;

    const JSON: &str = r#"{"name": "fever", "id": "00112233aabbccdd", "mean": [37.0, 80.1],
        "scale": [0.5, 12.3], "weights": [[1.5, 0.25]], "bias": [-1.0], "alarm": {"at_least": 0.5}}"#;

    fn fault(edit: impl FnOnce(&mut LinearParameters)) -> ModelFault {
        let mut parameters: LinearParameters = serde_json::from_str(JSON).unwrap();
        edit(&mut parameters);
        LinearModel::new(parameters).unwrap_err()
    }

    #[test]
    fn refuses_what_is_no_classifier() {
        assert_eq!(fault(|p| p.name.clear()), ModelFault::Name);
        assert_eq!(fault(|p| p.mean.clear()), ModelFault::FeatureCount(0));
        assert_eq!(fault(|p| p.mean = vec![0.0; 129]), ModelFault::FeatureCount(129));
        assert_eq!(fault(|p| p.weights.clear()), ModelFault::OutputCount(0));
        assert_eq!(fault(|p| p.scale.truncate(1)), ModelFault::Length("scale".into(), 2, 1));
        assert_eq!(fault(|p| p.weights[0].push(1.0)), ModelFault::Length("weights[0]".into(), 2, 3));
        assert_eq!(fault(|p| p.bias.push(1.0)), ModelFault::Length("bias".into(), 1, 2));
        assert_eq!(fault(|p| p.weights[0][1] = f32::NAN), ModelFault::NotFinite("weights[0][1]".into()));
        assert_eq!(fault(|p| p.scale[1] = 0.0), ModelFault::Scale(1));
        assert_eq!(fault(|p| p.scale[0] = -1.0), ModelFault::Scale(0));
        assert_eq!(fault(|p| p.scale[0] = 1e-45), ModelFault::Scale(0));
        assert_eq!(fault(|p| p.alarm = AlarmRule::Below(1.5)), ModelFault::Alarm(1.5));
    }

    #[test]
    fn files_keep_every_bit_and_name_what_is_wrong() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("classifier.json");
        let mut parameters: LinearParameters = serde_json::from_str(JSON).unwrap();
        parameters.mean = vec![f32::MIN_POSITIVE, 0.1 + 0.2];
        parameters.alarm = AlarmRule::Below(0.8);
        let model = LinearModel::new(parameters).unwrap();
        model.save(&path).unwrap();
        assert_eq!(LinearModel::load(&path).unwrap(), model);

        for (from, to, message) in [
            ("00112233aabbccdd", "+0112233aabbccdd", "16 hexadecimal digits"),
            ("37.0, 80.1", "37.0", "scale has 2 numbers where 1 are needed"),
            ("12.3", "1e300", "out of range"),
            ("at_least", "above", "unknown variant `above`"),
        ] {
            fs::write(&path, JSON.replace(from, to)).unwrap();
            let error = LinearModel::load(&path).unwrap_err().to_string();
            assert!(error.contains("classifier.json") && error.contains(message), "{error}");
        }
        assert!(matches!(LinearModel::load(folder.path().join("none")), Err(ModelError::Io(..))));
    }

    #[test]
    fn computes_the_same_bits_as_the_classifier_in_flash() {
        let model: LinearModel = serde_json::from_str(JSON).unwrap();
        let flash = LinearClassifier::<2, 1>::new(
            "fever",
            model.id(),
            [37.0, 80.1],
            [1.0 / 0.5, 1.0 / 12.3],
            [[1.5, 0.25]],
            [-1.0],
        );
        for i in -300i16..300 {
            let x = [f32::from(i) * 0.37, f32::from(i) * -1.21];
            let features = Features::new(&x, 2).unwrap();
            let (mut a, mut b) = ([0.0; MAX_VALUES], [0.0; MAX_VALUES]);
            assert_eq!(model.classify(features, &mut a), flash.classify(features, &mut b));
            assert_eq!(model.score(&x).ok(), sigmoid(model.logits(&x).unwrap()[0]));
        }
        assert_eq!(model.score(&[0.0]), Err(Refusal::FeatureCount { expected: 2, got: 1 }));
    }
}
