//! Artifacts of calibrators that others fitted, by their parameters.

use calib_core::ScoreEncoding;
use calib_core::artifact::{ArtifactWriter, Header, HeaderFlags, Method, Provenance, Reduction, WriteError};
use calib_core::vector::{Joint, ScalingInput, ScalingShape, VectorScaling};
use calib_fit::artifact::identity;
use calib_fit::binary::{Bin, BinnedModel, InterpolatedModel, Model, ScalingModel, VennAbersModel};
use calib_fit::{ArtifactOptions, Fit, ScoreKind, StoredArtifact, artifact_bytes};
use pyo3::prelude::*;
use serde_json::Value;

use crate::artifact::PyArtifact;
use crate::errors::{DataError, UsageError};
use crate::floats::Kind;

/// Writes the artifact of a calibrator: for two classes one function, for several a function of each, whose values are divided by
/// their sum. `functions` is JSON: a list of objects with `function` and its parameters.
#[pyfunction]
#[pyo3(signature = (kind, functions, n, origin))]
pub(crate) fn imported(kind: &str, functions: &str, n: u64, origin: &str) -> PyResult<PyArtifact> {
    let functions: Vec<Value> =
        serde_json::from_str(functions).map_err(|cause| UsageError::new_err(cause.to_string()))?;
    let scores = match Kind::named(kind)? {
        Kind::Binary(kind) => kind,
        Kind::Vectors(_) => ScoreKind::Probability,
    };
    let models: Vec<(Method, Model)> = functions.iter().map(model).collect::<PyResult<_>>()?;
    let fit = Fit::imported(models, scores, n, origin);
    let bytes = artifact_bytes(&fit, &ArtifactOptions::default());
    stored(&bytes.map_err(|cause| DataError::new_err(cause.to_string()))?)
}

/// Writes the artifact of a function of vectors: logits, or the logarithms of probabilities of at least `clip`, are multiplied by weights, and
/// intercepts are added before the softmax. One weight and no intercepts are a temperature, one of each a class is vector scaling.
#[pyfunction]
pub(crate) fn imported_scaling(
    kind: &str,
    classes: u16,
    weights: Vec<f32>,
    intercepts: Vec<f32>,
    clip: f32,
    n: u64,
    origin: &str,
) -> PyResult<PyArtifact> {
    let input = match kind {
        "logits" => ScalingInput::Logits,
        _ => ScalingInput::LogProbs { clip },
    };
    let (method, shape) = match (&weights[..], &intercepts[..]) {
        (&[inverse_t], []) => (Method::Temperature, ScalingShape::Temperature { inverse_t }),
        (weights, intercepts) => (Method::VectorScaling, ScalingShape::Vector { weights, intercepts }),
    };
    let function = VectorScaling::new(classes, input, shape).map_err(|cause| {
        DataError::new_err(format!("weights {weights:?}, intercepts {intercepts:?}: {cause}"))
    })?;
    let parameters = format!("imported={origin}");
    let header = Header {
        method,
        reduction: Reduction::Joint,
        encoding: ScoreEncoding::F32,
        classes,
        bins: 0,
        n,
        guarantee: None,
        flags: HeaderFlags::NONE,
        provenance: Provenance {
            data_sha256: [0; 32],
            tool_version: env!("CARGO_PKG_VERSION"),
            parameters: &parameters,
            classifier: None,
        },
    };
    let mut words = vec![0u32; (1 << 10) + weights.len() + intercepts.len()];
    let mut writer = ArtifactWriter::new(bytemuck::cast_slice_mut(&mut words));
    let written = writer
        .header(&header)
        .and_then(|()| writer.joint(&Joint::Scaled(function)))
        .and_then(|()| writer.finish(identity));
    let bytes = written.map_err(|cause: WriteError| DataError::new_err(cause.to_string()))?;
    stored(bytes)
}

fn stored(bytes: &[u8]) -> PyResult<PyArtifact> {
    let stored = StoredArtifact::from_bytes(bytes);
    Ok(PyArtifact::new(stored.map_err(|cause| DataError::new_err(cause.to_string()))?))
}

/// The model of one function.
fn model(function: &Value) -> PyResult<(Method, Model)> {
    let number = |name: &str| {
        function[name].as_f64().ok_or_else(|| UsageError::new_err(format!("the parameter {name} is missing")))
    };
    let list = |name: &str| -> PyResult<Vec<f64>> {
        let values = function[name].as_array().map(|values| values.iter().map(Value::as_f64).collect());
        values.flatten().ok_or_else(|| UsageError::new_err(format!("the parameter {name} is missing")))
    };
    let scaling = |method, model| Ok((method, Model::Scaling(model)));
    match function["function"].as_str().unwrap_or_default() {
        "knots" => Ok((
            Method::IsotonicInterpolated,
            Model::Interpolated(InterpolatedModel { scores: list("scores")?, values: list("values")? }),
        )),
        "venn-abers" => Ok((
            Method::VennAbers,
            Model::VennAbers(VennAbersModel { edges: list("edges")?, p0: list("p0")?, p1: list("p1")? }),
        )),
        "platt-prob" => scaling(Method::Platt, ScalingModel::PlattProb { a: number("a")?, b: number("b")? }),
        "platt-margin" => {
            scaling(Method::Platt, ScalingModel::PlattMargin { a: number("a")?, b: number("b")? })
        }
        // How many points a bin had is not known: it has a value, so it was not empty.
        "steps" => {
            let bins = list("values")?.into_iter().map(|value| Bin { value, n: 1, positives: 0 }).collect();
            let model = BinnedModel { edges: list("edges")?, bins, ties_merged: false };
            Ok((Method::FixedWidth, Model::Steps(model)))
        }
        "beta" => {
            scaling(Method::Beta, ScalingModel::Beta { a: number("a")?, b: number("b")?, c: number("c")? })
        }
        // Its logit is `a ln s - b ln(1 - s) + c`, of which two terms are known at one half.
        "beta-by-half" => {
            let (a, b, half) = (number("a")?, number("b")?, number("at_half")?);
            let c = half.ln() - (-half).ln_1p() - (a - b) * 0.5f64.ln();
            scaling(Method::Beta, ScalingModel::Beta { a, b, c })
        }
        "temperature" => {
            scaling(Method::Temperature, ScalingModel::Temperature { inverse_t: number("inverse_t")? })
        }
        "temperature-margin" => {
            scaling(Method::Temperature, ScalingModel::TemperatureMargin { inverse_t: number("inverse_t")? })
        }
        other => Err(UsageError::new_err(format!("{other:?} is no function"))),
    }
}
