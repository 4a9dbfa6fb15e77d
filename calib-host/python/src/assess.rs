//! Assessing probabilities.

use calib_core::artifact::Reduction;
use calib_host::assess::{
    AssessOptions, Binning, Bootstrap, ClinicalOptions, ExtremeProbs, IntervalKind, Prediction,
    PredictionKind, ProbMatrix, assess as assess_predictions, assess_before_after,
    assess_vectors as assess_matrix, is_surveyed, reliability, survey, validate,
};
use calib_host::stats::Clusters;
use calib_host::stop::check;
use calib_host::{BinaryData, Vectors};
use numpy::{IntoPyArray, PyArray1, PyReadonlyArray1};
use pyo3::prelude::*;
use serde_json::{Value, json};

use crate::apply::applied;
use crate::artifact::PyArtifact;
use crate::errors::{DataError, UsageError, of_data};
use crate::floats::{Kind, Numbers, Slice};
use crate::interrupt::working;

/// How to assess, as Python says it.
#[derive(Clone, Copy)]
struct How {
    binning: Binning,
    norm: f64,
    alpha: f64,
    bootstrap: Option<Bootstrap>,
}

impl How {
    fn new(
        binning: &str,
        n_bins: usize,
        norm: f64,
        alpha: f64,
        resamples: usize,
        intervals: &str,
        seed: u64,
    ) -> PyResult<Self> {
        let refuse = |text: String| Err(UsageError::new_err(text));
        if !(alpha > 0.0 && alpha < 1.0) {
            return refuse("alpha is a fraction between 0 and 1, such as 0.05".into());
        }
        if n_bins == 0 {
            return refuse("n_bins is 1 at least".into());
        }
        if !(norm >= 1.0 && norm.is_finite()) {
            return refuse(format!("norm={norm}: a norm is a number from 1 on"));
        }
        let binning = match binning {
            "uniform" => Binning::EqualWidth(n_bins),
            "quantile" => Binning::EqualMass(n_bins),
            "by-bin" => Binning::ByBin,
            "by-value" => Binning::ByValue,
            _ => {
                return refuse(format!(
                    "binning={binning:?}: there are \"uniform\", \"quantile\", \"by-bin\" and \"by-value\""
                ));
            }
        };
        let kind = match intervals {
            "percentile" => IntervalKind::Percentile,
            "bca" => IntervalKind::Bca,
            _ => return refuse(format!("intervals={intervals:?}: there are \"percentile\" and \"bca\"")),
        };
        let bootstrap = (resamples > 0).then_some(Bootstrap { kind, resamples, seed, alpha });
        Ok(Self { binning, norm, alpha, bootstrap })
    }

    fn options<'c>(&self, clusters: Option<&'c Clusters>) -> AssessOptions<'c> {
        let Self { binning, norm, alpha, bootstrap } = *self;
        AssessOptions { binning, norm, alpha, bootstrap, clusters }
    }
}

const CLINICAL: ClinicalOptions<'static> =
    ClinicalOptions { extremes: ExtremeProbs::LeaveOut, thresholds: &[] };

/// Assesses probabilities of class 1 or, with the predicted classes, of predictions being right, as JSON. `labels` are the true classes.
#[pyfunction]
#[pyo3(signature = (probs, labels, *, predicted=None, bins=None, clusters=None, binning="uniform", n_bins=15, norm=2.0, alpha=0.05,
    resamples=0, intervals="percentile", seed=0))]
#[expect(clippy::too_many_arguments, reason = "Python calls it by name")]
pub(crate) fn assess(
    py: Python<'_>,
    probs: &Bound<'_, PyAny>,
    labels: PyReadonlyArray1<'_, i64>,
    predicted: Option<PyReadonlyArray1<'_, i64>>,
    bins: Option<PyReadonlyArray1<'_, u32>>,
    clusters: Option<PyReadonlyArray1<'_, i64>>,
    binning: &str,
    n_bins: usize,
    norm: f64,
    alpha: f64,
    resamples: usize,
    intervals: &str,
    seed: u64,
) -> PyResult<String> {
    let how = How::new(binning, n_bins, norm, alpha, resamples, intervals, seed)?;
    let numbers = Numbers::of(probs)?;
    let (probs, labels) = (numbers.borrowed()?, labels.as_slice()?);
    let predicted = predicted.as_ref().map(PyReadonlyArray1::as_slice).transpose()?;
    let bins = bins.as_ref().map(PyReadonlyArray1::as_slice).transpose()?;
    let clusters = clusters.map(|clusters| clusters.as_slice().map(Clusters::new)).transpose()?;
    if how.binning == Binning::ByBin && bins.is_none() {
        return Err(UsageError::new_err("binning=\"by-bin\" needs the bins, or a calibrator that has some"));
    }
    check_count(probs.len(), labels.len())?;
    check_beside(labels, "predicted classes", predicted.map(<[i64]>::len))?;
    check_beside(labels, "bins", bins.map(<[u32]>::len))?;
    check_beside(labels, "clusters", clusters.as_ref().map(Clusters::rows))?;
    let assessed = working(py, || -> Result<Value, PyErr> {
        let options = how.options(clusters.as_ref());
        if predicted.is_none() && bins.is_none() && is_surveyed(&options) {
            let data = match probs {
                // As the device has them: sorted sooner, and in less memory.
                Slice::F32(probs) => BinaryData::from_device_classes(probs, labels),
                _ => BinaryData::new(check_probs(probs)?, hits(labels, None)?),
            };
            let data = data.map_err(|cause| of_data(&cause))?;
            let found = survey(&data, &options, &CLINICAL);
            let found = found.map_err(|cause| DataError::new_err(cause.to_string()))?;
            return Ok(with_clinical(json!(found.assessment), &json!(found.clinical)));
        }
        let (probs, hits) = (check_probs(probs)?, hits(labels, predicted)?);
        let row = |(row, (&prob, &hit)): (usize, (&f64, &bool))| Prediction {
            class: predicted.map_or(1, |classes| classes[row] as u16),
            prob,
            bin: bins.map_or(0, |bins| bins[row]),
            hit,
        };
        let rows: Vec<Prediction> = probs.iter().zip(&hits).enumerate().map(row).collect();
        let kind = if predicted.is_some() { PredictionKind::TopLabel } else { PredictionKind::Binary };
        let assessment = json!(assess_predictions(&rows, kind, &options));
        Ok(match kind {
            PredictionKind::Binary => with_clinical(assessment, &json!(validate(&rows, &options, &CLINICAL))),
            PredictionKind::TopLabel => assessment,
        })
    })?;
    Ok(assessed?.to_string())
}

/// Whether each label is the predicted class, which is class 1 where none are given: there are two then.
fn hits(labels: &[i64], predicted: Option<&[i64]>) -> PyResult<Vec<bool>> {
    let refused = |(row, &class, classes): (usize, &i64, usize)| {
        of_data(&calib_host::data::DataError::Class { row, class, classes })
    };
    let checked = |classes: usize| {
        move |(row, class): (usize, &i64)| match usize::try_from(*class) {
            Ok(known) if known < classes => Ok(()),
            _ => Err(refused((row, class, classes))),
        }
    };
    match predicted {
        Some(predicted) => {
            predicted.iter().enumerate().try_for_each(checked(u16::MAX.into()))?;
            Ok(predicted.iter().zip(labels).map(|(predicted, label)| predicted == label).collect())
        }
        None => {
            labels.iter().enumerate().try_for_each(checked(2))?;
            Ok(labels.iter().map(|&label| label == 1).collect())
        }
    }
}

fn with_clinical(mut assessment: Value, clinical: &Value) -> Value {
    assessment["clinical"] = clinical.clone();
    assessment
}

/// Assesses vectors of probabilities, given row by row, as JSON.
#[pyfunction]
#[pyo3(signature = (probs, labels, classes, *, clusters=None, binning="uniform", n_bins=15, norm=2.0, alpha=0.05,
    resamples=0, intervals="percentile", seed=0))]
#[expect(clippy::too_many_arguments, reason = "Python calls it by name")]
pub(crate) fn assess_vectors(
    py: Python<'_>,
    probs: PyReadonlyArray1<'_, f64>,
    labels: PyReadonlyArray1<'_, u16>,
    classes: usize,
    clusters: Option<PyReadonlyArray1<'_, i64>>,
    binning: &str,
    n_bins: usize,
    norm: f64,
    alpha: f64,
    resamples: usize,
    intervals: &str,
    seed: u64,
) -> PyResult<String> {
    let how = How::new(binning, n_bins, norm, alpha, resamples, intervals, seed)?;
    let (probs, labels) = (probs.as_slice()?, labels.as_slice()?);
    check_count(probs.len() / classes.max(1), labels.len())?;
    if let Some(row) = labels.iter().position(|&label| usize::from(label) >= classes) {
        let cause = calib_host::data::DataError::Class { row, class: labels[row].into(), classes };
        return Err(of_data(&cause));
    }
    let clusters = clusters.map(|clusters| clusters.as_slice().map(Clusters::new)).transpose()?;
    check_beside(labels, "clusters", clusters.as_ref().map(Clusters::rows))?;
    working(py, || {
        if let Some(at) = first_improbable(probs) {
            let (row, class) = (at / classes, at % classes);
            let text = format!("row {row}, class {class}: {} is no probability in [0, 1]", probs[at]);
            return Err(DataError::new_err(text));
        }
        let matrix = ProbMatrix::new(probs.to_vec(), labels.to_vec(), classes);
        Ok(json!(assess_matrix(&matrix, &how.options(clusters.as_ref()))).to_string())
    })?
}

/// Assesses the same rows before and after calibration, as JSON. For one probability a row.
#[pyfunction]
#[pyo3(signature = (artifact, kind, scores, labels, *, classes=None, clusters=None, binning="uniform", n_bins=15, norm=2.0,
    alpha=0.05, resamples=0, intervals="percentile", seed=0))]
#[expect(clippy::too_many_arguments, reason = "Python calls it by name")]
pub(crate) fn assess_calibrated(
    py: Python<'_>,
    artifact: &Bound<'_, PyArtifact>,
    kind: &str,
    scores: &Bound<'_, PyAny>,
    labels: PyReadonlyArray1<'_, i64>,
    classes: Option<usize>,
    clusters: Option<PyReadonlyArray1<'_, i64>>,
    binning: &str,
    n_bins: usize,
    norm: f64,
    alpha: f64,
    resamples: usize,
    intervals: &str,
    seed: u64,
) -> PyResult<String> {
    let how = How::new(binning, n_bins, norm, alpha, resamples, intervals, seed)?;
    let numbers = Numbers::of(scores)?;
    let stored = &*artifact.get().stored;
    let (kind, values, labels) = (Kind::named(kind)?, numbers.borrowed()?, labels.as_slice()?);
    let rows = values.len() / classes.unwrap_or(1);
    check_count(rows, labels.len())?;
    let clusters = clusters.map(|clusters| clusters.as_slice().map(Clusters::new)).transpose()?;
    check_beside(labels, "clusters", clusters.as_ref().map(Clusters::rows))?;
    let predictions = match stored.artifact().header().reduction {
        Reduction::Binary => PredictionKind::Binary,
        _ => PredictionKind::TopLabel,
    };
    working(py, || {
        let after = applied(stored, kind, values, classes, seed).map_err(|cause| cause.error(stored))?;
        let kept: Vec<usize> = (0..rows).filter(|&row| !after.probs[row].is_nan()).collect();
        if kept.is_empty() {
            return Err(DataError::new_err("the calibrator leaves all rows uncalibrated"));
        }
        let rows_of = |probs: &[f32]| -> Vec<Prediction> {
            check();
            let of = |&row: &usize| {
                let class = after.classes.as_ref().map_or(1, |classes| classes[row]);
                let hit = labels[row] == i64::from(class);
                Prediction { class, prob: probs[row].into(), bin: after.bins[row], hit }
            };
            kept.iter().map(of).collect()
        };
        let (rows_before, rows_after) = (rows_of(&after.before), rows_of(&after.probs));
        let clusters = clusters.map(|clusters| clusters.part(kept.iter().copied()));
        let options = how.options(clusters.as_ref());
        let mut both = json!(assess_before_after(&rows_before, &rows_after, predictions, &options, &options));
        both["uncalibrated"] = (rows - kept.len()).into();
        Ok(both.to_string())
    })?
}

/// What vectors say before they are calibrated: the probabilities of all classes, row by row.
#[pyfunction]
pub(crate) fn class_probs<'py>(
    py: Python<'py>,
    kind: &str,
    scores: &Bound<'py, PyAny>,
    classes: usize,
) -> PyResult<Bound<'py, PyArray1<f64>>> {
    let numbers = Numbers::of(scores)?;
    let (Kind::Vectors(kind), Some(entries)) = (Kind::named(kind)?, numbers.borrowed()?.entries()) else {
        return Err(UsageError::new_err("vectors of floats are needed"));
    };
    let probs = working(py, || Ok(Vectors::new(entries, classes, kind)?.probs_f64()))?;
    Ok(probs.map_err(|cause| of_data(&cause))?.into_pyarray(py))
}

/// Shares that came true, and mean probabilities, by bins that hold predictions.
type Curve<'py> = (Bound<'py, PyArray1<f64>>, Bound<'py, PyArray1<f64>>);

/// The points of a reliability diagram.
#[pyfunction]
pub(crate) fn calibration_curve<'py>(
    py: Python<'py>,
    probs: PyReadonlyArray1<'py, f64>,
    hits: PyReadonlyArray1<'py, bool>,
    binning: &str,
    n_bins: usize,
) -> PyResult<Curve<'py>> {
    let how = How::new(binning, n_bins, 1.0, 0.05, 0, "percentile", 0)?;
    let (probs, hits) = (probs.as_slice()?, hits.as_slice()?);
    check_count(probs.len(), hits.len())?;
    let probs = check_probs(Slice::F64(probs))?;
    let bins = working(py, || {
        let of = |(&prob, &hit): (&f64, &bool)| Prediction { class: 1, prob, bin: 0, hit };
        let rows: Vec<Prediction> = probs.iter().zip(hits).map(of).collect();
        reliability(&rows, PredictionKind::Binary, how.binning, how.alpha)
    })?;
    let rates: Vec<f64> = bins.iter().map(|bin| bin.rate).collect();
    let means: Vec<f64> = bins.iter().map(|bin| bin.mean_prob).collect();
    Ok((rates.into_pyarray(py), means.into_pyarray(py)))
}

/// That there are rows, and a label for each.
fn check_count(scores: usize, labels: usize) -> PyResult<()> {
    if scores == 0 {
        return Err(of_data(&calib_host::data::DataError::Empty));
    }
    match scores == labels {
        true => Ok(()),
        false => Err(of_data(&calib_host::data::DataError::LabelCount { scores, labels })),
    }
}

/// That what is given beside the labels is given for each.
fn check_beside<L>(labels: &[L], what: &str, len: Option<usize>) -> PyResult<()> {
    match len {
        Some(len) if len != labels.len() => {
            Err(DataError::new_err(format!("{len} {what} but {} labels", labels.len())))
        }
        _ => Ok(()),
    }
}

/// That all are probabilities.
fn check_probs(probs: Slice<'_>) -> PyResult<Vec<f64>> {
    let probs: Vec<f64> = match probs {
        Slice::F32(probs) => probs.iter().map(|&prob| prob.into()).collect(),
        Slice::F64(probs) => probs.to_vec(),
        Slice::I64(_) => return Err(DataError::new_err("integers are no probabilities")),
    };
    match first_improbable(&probs) {
        Some(at) => Err(DataError::new_err(format!("row {at}: {} is no probability in [0, 1]", probs[at]))),
        None => Ok(probs),
    }
}

/// The first number that is no probability.
fn first_improbable(probs: &[f64]) -> Option<usize> {
    probs.iter().position(|prob| !(0.0..=1.0).contains(prob))
}
