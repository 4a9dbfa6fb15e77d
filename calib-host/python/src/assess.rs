//! Assessing probabilities.

use std::sync::Arc;

use calib_core::artifact::Reduction;
use calib_host::BinaryData;
use calib_host::assess::{
    AssessOptions, Binning, Bootstrap, ClinicalOptions, ExtremeProbs, IntervalKind, Prediction,
    PredictionKind, ProbMatrix, assess as assess_predictions, assess_before_after,
    assess_vectors as assess_matrix, is_surveyed, reliability, survey, validate,
};
use calib_host::stats::Clusters;
use numpy::{IntoPyArray, PyArray1, PyReadonlyArray1};
use pyo3::prelude::*;
use serde_json::{Value, json};

use crate::artifact::PyArtifact;
use crate::errors::{DataError, UsageError, of_data};
use crate::floats::Kind;
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

/// Assesses probabilities of class 1 or, with their classes, of predictions being right, as JSON.
#[pyfunction]
#[pyo3(signature = (probs, hits, *, classes=None, bins=None, clusters=None, binning="uniform", n_bins=15, norm=2.0, alpha=0.05,
    resamples=0, intervals="percentile", seed=0))]
#[expect(clippy::too_many_arguments, reason = "Python calls it by name")]
pub(crate) fn assess(
    py: Python<'_>,
    probs: PyReadonlyArray1<'_, f64>,
    hits: PyReadonlyArray1<'_, bool>,
    classes: Option<PyReadonlyArray1<'_, u16>>,
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
    let (probs, hits) = (probs.as_slice()?.to_vec(), hits.as_slice()?.to_vec());
    check_probs(&probs, hits.len())?;
    let classes = classes.map(|classes| classes.as_slice().map(<[u16]>::to_vec)).transpose()?;
    let bins = bins.map(|bins| bins.as_slice().map(<[u32]>::to_vec)).transpose()?;
    let clusters = clusters.map(|clusters| clusters.as_slice().map(Clusters::new)).transpose()?;
    if how.binning == Binning::ByBin && bins.is_none() {
        return Err(UsageError::new_err("binning=\"by-bin\" needs the bins, or a calibrator that has some"));
    }
    let assessed = working(py, move || {
        let options = how.options(clusters.as_ref());
        if classes.is_none() && bins.is_none() && is_surveyed(&options) {
            let data = BinaryData::new(probs, hits).map_err(|cause| cause.to_string())?;
            let found = survey(&data, &options, &CLINICAL).map_err(|cause| cause.to_string())?;
            return Ok(with_clinical(json!(found.assessment), &json!(found.clinical)));
        }
        let kind = if classes.is_some() { PredictionKind::TopLabel } else { PredictionKind::Binary };
        let row = |(row, (&prob, &hit)): (usize, (&f64, &bool))| Prediction {
            class: classes.as_ref().map_or(1, |classes| classes[row]),
            prob,
            bin: bins.as_ref().map_or(0, |bins| bins[row]),
            hit,
        };
        let rows: Vec<Prediction> = probs.iter().zip(&hits).enumerate().map(row).collect();
        let assessment = json!(assess_predictions(&rows, kind, &options));
        Ok(match kind {
            PredictionKind::Binary => with_clinical(assessment, &json!(validate(&rows, &options, &CLINICAL))),
            PredictionKind::TopLabel => assessment,
        })
    })?;
    assessed.map(|value: Value| value.to_string()).map_err(|cause: String| DataError::new_err(cause))
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
    let (probs, labels) = (probs.as_slice()?.to_vec(), labels.as_slice()?.to_vec());
    check_probs(&probs, labels.len() * classes)?;
    if let Some(row) = labels.iter().position(|&label| usize::from(label) >= classes) {
        let cause = calib_host::data::DataError::Class { row, class: labels[row].into(), classes };
        return Err(of_data(&cause));
    }
    let clusters = clusters.map(|clusters| clusters.as_slice().map(Clusters::new)).transpose()?;
    let matrix = ProbMatrix::new(probs, labels, classes);
    working(py, move || json!(assess_matrix(&matrix, &how.options(clusters.as_ref()))).to_string())
}

/// Assesses the same rows before and after calibration, as JSON. For one probability a row.
#[pyfunction]
#[pyo3(signature = (artifact, kind, scores, before, labels, *, classes=None, clusters=None, binning="uniform", n_bins=15, norm=2.0,
    alpha=0.05, resamples=0, intervals="percentile", seed=0))]
#[expect(clippy::too_many_arguments, reason = "Python calls it by name")]
pub(crate) fn assess_calibrated(
    py: Python<'_>,
    artifact: &Bound<'_, PyArtifact>,
    kind: &str,
    scores: &Bound<'_, PyAny>,
    before: PyReadonlyArray1<'_, f64>,
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
    let numbers = crate::floats::Numbers::of(scores)?;
    let stored = Arc::clone(&artifact.get().stored);
    let (kind, values) = (Kind::named(kind)?, numbers.borrowed()?);
    let after = py.detach(|| crate::apply::applied(&stored, kind, values, classes, seed));
    let after = after.map_err(|cause| cause.error(&artifact.get().stored))?;
    let (before, labels) = (before.as_slice()?.to_vec(), labels.as_slice()?.to_vec());
    if after.probs.len() != labels.len() || before.len() != labels.len() {
        let (scores, labels) = (before.len(), labels.len());
        return Err(of_data(&calib_host::data::DataError::LabelCount { scores, labels }));
    }
    let clusters = clusters.map(|clusters| clusters.as_slice().map(Clusters::new)).transpose()?;
    let kind = match artifact.get().stored.artifact().header().reduction {
        Reduction::Binary => PredictionKind::Binary,
        _ => PredictionKind::TopLabel,
    };
    let kept: Vec<usize> = (0..labels.len()).filter(|&row| !after.probs[row].is_nan()).collect();
    if kept.is_empty() {
        return Err(DataError::new_err("the calibrator leaves all rows uncalibrated"));
    }
    working(py, move || {
        let row = |prob: &dyn Fn(usize) -> f64| -> Vec<Prediction> {
            let of = |&row: &usize| {
                let class = after.classes.as_ref().map_or(1, |classes| classes[row]);
                let hit = labels[row] == i64::from(class);
                Prediction { class, prob: prob(row), bin: after.bins[row], hit }
            };
            kept.iter().map(of).collect()
        };
        let rows_before = row(&|row| before[row]);
        let rows_after = row(&|row| after.probs[row].into());
        let clusters = clusters.map(|clusters| clusters.part(kept.iter().copied()));
        let options = how.options(clusters.as_ref());
        let mut both = json!(assess_before_after(&rows_before, &rows_after, kind, &options, &options));
        both["uncalibrated"] = (labels.len() - kept.len()).into();
        both.to_string()
    })
}

/// Shares that came true, mean probabilities, and the numbers of predictions, by bins that hold some.
type Curve<'py> = (Bound<'py, PyArray1<f64>>, Bound<'py, PyArray1<f64>>, Bound<'py, PyArray1<u64>>);

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
    check_probs(probs, hits.len())?;
    let bins = py.detach(|| {
        let of = |(&prob, &hit): (&f64, &bool)| Prediction { class: 1, prob, bin: 0, hit };
        let rows: Vec<Prediction> = probs.iter().zip(hits).map(of).collect();
        reliability(&rows, PredictionKind::Binary, how.binning, how.alpha)
    });
    let rates: Vec<f64> = bins.iter().map(|bin| bin.rate).collect();
    let means: Vec<f64> = bins.iter().map(|bin| bin.mean_prob).collect();
    let counts: Vec<u64> = bins.iter().map(|bin| bin.n).collect();
    Ok((rates.into_pyarray(py), means.into_pyarray(py), counts.into_pyarray(py)))
}

/// That there are probabilities, a label for each.
fn check_probs(probs: &[f64], labels: usize) -> PyResult<()> {
    if probs.is_empty() {
        return Err(of_data(&calib_host::data::DataError::Empty));
    }
    if probs.len() != labels {
        return Err(of_data(&calib_host::data::DataError::LabelCount { scores: probs.len(), labels }));
    }
    match probs.iter().position(|prob| !(0.0..=1.0).contains(prob)) {
        Some(at) => Err(DataError::new_err(format!("row {at}: {} is no probability in [0, 1]", probs[at]))),
        None => Ok(()),
    }
}
