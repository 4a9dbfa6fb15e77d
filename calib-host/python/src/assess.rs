//! Assessing probabilities.

use calib_cli::{Assessing, Judged, JudgedRows};
use calib_fit::BinaryData;
use calib_fit::assess::{
    Binning, Bootstrap, ExtremeProbs, IntervalKind, Prediction, PredictionKind, ProbMatrix, RowGroups,
    reliability,
};
use calib_fit::stats::Clusters;
use numpy::{IntoPyArray, PyArray1, PyReadonlyArray1};
use pyo3::prelude::*;

use crate::artifact::PyArtifact;
use crate::errors::{DataError, UsageError, in_python, of_data, of_refused};
use crate::floats::{Kind, Numbers, Slice};
use crate::interrupt::working;

/// How to assess.
#[pyclass(frozen, name = "How", module = "calib_host._native")]
pub(crate) struct PyHow(Assessing);

#[pymethods]
impl PyHow {
    #[new]
    #[pyo3(signature = (*, binning, n_bins, norm, alpha, resamples, intervals, seed, extreme_probs, top_k=None))]
    #[expect(clippy::too_many_arguments, reason = "Python calls it by name")]
    fn new(
        binning: &str,
        n_bins: usize,
        norm: f64,
        alpha: f64,
        resamples: usize,
        intervals: &str,
        seed: u64,
        extreme_probs: &str,
        top_k: Option<u16>,
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
        if top_k == Some(0) {
            return refuse("top_k is 1 at least".into());
        }
        let binning = match binning {
            "uniform" => Binning::EqualWidth(n_bins),
            "quantile" => Binning::EqualMass(n_bins),
            "quantile-kumar" => Binning::EqualMassKumar(n_bins),
            "by-bin" => Binning::ByBin,
            "by-value" => Binning::ByValue,
            _ => {
                return refuse(format!(
                    "binning={binning:?}: there are \"uniform\", \"quantile\", \"quantile-kumar\", \"by-bin\" and \"by-value\""
                ));
            }
        };
        let kind = match intervals {
            "percentile" => IntervalKind::Percentile,
            "bca" => IntervalKind::Bca,
            _ => return refuse(format!("intervals={intervals:?}: there are \"percentile\" and \"bca\"")),
        };
        let extremes = match extreme_probs {
            "leave-out" => ExtremeProbs::LeaveOut,
            "clip" => ExtremeProbs::Clip,
            _ => {
                return refuse(format!(
                    "extreme_probs={extreme_probs:?}: there are \"leave-out\" and \"clip\""
                ));
            }
        };
        let bootstrap = (resamples > 0).then_some(Bootstrap { kind, resamples, seed, alpha });
        Ok(Self(Assessing { binning, norm, alpha, bootstrap, seed, top_k, extremes }))
    }
}

/// What was found, as JSON, and what is warned of.
type Found = (String, Vec<String>);

fn in_json(judged: Judged) -> Found {
    let Judged { json, warnings } = judged;
    (json.to_string(), warnings.iter().map(|warning| in_python(warning)).collect())
}

/// Assesses probabilities of class 1 or, with the predicted classes, of predictions being right. `labels` are the true classes.
#[pyfunction]
#[pyo3(signature = (how, probs, labels, *, predicted=None, bins=None, clusters=None, groups=None))]
#[expect(clippy::too_many_arguments, reason = "Python calls it by name")]
pub(crate) fn assess(
    py: Python<'_>,
    how: &Bound<'_, PyHow>,
    probs: &Bound<'_, PyAny>,
    labels: PyReadonlyArray1<'_, i64>,
    predicted: Option<PyReadonlyArray1<'_, i64>>,
    bins: Option<PyReadonlyArray1<'_, u32>>,
    clusters: Option<PyReadonlyArray1<'_, i64>>,
    groups: Option<Vec<String>>,
) -> PyResult<Found> {
    let assessing = how.get().0;
    let numbers = Numbers::of(probs)?;
    let (probs, labels) = (numbers.borrowed()?, labels.as_slice()?);
    let predicted = predicted.as_ref().map(PyReadonlyArray1::as_slice).transpose()?;
    let bins = bins.as_ref().map(PyReadonlyArray1::as_slice).transpose()?;
    let clusters = clusters.map(|clusters| clusters.as_slice().map(Clusters::new)).transpose()?;
    let groups = groups.map(RowGroups::new);
    if assessing.binning == Binning::ByBin && bins.is_none() {
        return Err(UsageError::new_err("binning=\"by-bin\" needs the bins, or a calibrator that has some"));
    }
    check_count(probs.len(), labels.len())?;
    check_beside(labels, "predicted classes", predicted.map(<[i64]>::len))?;
    check_beside(labels, "bins", bins.map(<[u32]>::len))?;
    check_beside(labels, "clusters", clusters.as_ref().map(Clusters::rows))?;
    check_beside(labels, "groups", groups.as_ref().map(RowGroups::rows))?;
    let needs_rows = predicted.is_some() || bins.is_some() || clusters.is_some() || groups.is_some();
    let judged = working(py, || -> Result<Judged, PyErr> {
        if !needs_rows && assessing.are_points_enough() {
            let data = match probs {
                // As the device has them: sorted sooner, and in less memory.
                Slice::F32(probs) => BinaryData::from_device_classes(probs, labels),
                _ => BinaryData::new(check_probs(probs)?, hits(labels, None)?),
            };
            let data = data.map_err(|cause| of_data(&cause))?;
            return assessing.points(data).map_err(|refused| of_refused(&refused));
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
        assessing.predictions(rows, kind, (clusters, groups)).map_err(|refused| of_refused(&refused))
    })?;
    judged.map(in_json)
}

/// Whether each label is the predicted class, which is class 1 where none are given: there are two then.
fn hits(labels: &[i64], predicted: Option<&[i64]>) -> PyResult<Vec<bool>> {
    let refused = |(row, &class, classes): (usize, &i64, usize)| {
        of_data(&calib_fit::data::DataError::Class { row, class, classes })
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

/// Assesses vectors of probabilities, given row by row.
#[pyfunction]
#[pyo3(signature = (how, probs, labels, classes, *, clusters=None))]
pub(crate) fn assess_vectors(
    py: Python<'_>,
    how: &Bound<'_, PyHow>,
    probs: PyReadonlyArray1<'_, f64>,
    labels: PyReadonlyArray1<'_, u16>,
    classes: usize,
    clusters: Option<PyReadonlyArray1<'_, i64>>,
) -> PyResult<Found> {
    let assessing = how.get().0;
    let (probs, labels) = (probs.as_slice()?, labels.as_slice()?);
    check_count(probs.len() / classes.max(1), labels.len())?;
    if let Some(row) = labels.iter().position(|&label| usize::from(label) >= classes) {
        let cause = calib_fit::data::DataError::Class { row, class: labels[row].into(), classes };
        return Err(of_data(&cause));
    }
    let clusters = clusters.map(|clusters| clusters.as_slice().map(Clusters::new)).transpose()?;
    check_beside(labels, "clusters", clusters.as_ref().map(Clusters::rows))?;
    let judged = working(py, || {
        if let Some(at) = first_improbable(probs) {
            let (row, class) = (at / classes, at % classes);
            let text = format!("row {row}, class {class}: {} is no probability in [0, 1]", probs[at]);
            return Err(DataError::new_err(text));
        }
        let matrix = ProbMatrix::new(probs.to_vec(), labels.to_vec(), classes);
        assessing.vectors(matrix, clusters).map_err(|refused| of_refused(&refused))
    })?;
    judged.map(in_json)
}

/// Assesses the same rows before and after calibration. `same_rows` lets those be judged that the calibrator was fitted to.
#[pyfunction]
#[pyo3(signature = (artifact, how, kind, scores, labels, *, classes=None, clusters=None, groups=None, same_rows=false))]
#[expect(clippy::too_many_arguments, reason = "Python calls it by name")]
pub(crate) fn assess_calibrated(
    py: Python<'_>,
    artifact: &Bound<'_, PyArtifact>,
    how: &Bound<'_, PyHow>,
    kind: &str,
    scores: &Bound<'_, PyAny>,
    labels: PyReadonlyArray1<'_, i64>,
    classes: Option<usize>,
    clusters: Option<PyReadonlyArray1<'_, i64>>,
    groups: Option<Vec<String>>,
    same_rows: bool,
) -> PyResult<Found> {
    let assessing = how.get().0;
    let numbers = Numbers::of(scores)?;
    let stored = &*artifact.get().stored;
    let (kind, values, labels) = (Kind::named(kind)?, numbers.borrowed()?, labels.as_slice()?);
    let rows = JudgedRows {
        labels,
        clusters: clusters.map(|clusters| clusters.as_slice().map(Clusters::new)).transpose()?,
        groups: groups.map(RowGroups::new),
        same_rows,
    };
    check_beside(labels, "clusters", rows.clusters.as_ref().map(Clusters::rows))?;
    check_beside(labels, "groups", rows.groups.as_ref().map(RowGroups::rows))?;
    let judged = working(py, || {
        let scores = values.as_scores(kind, classes.unwrap_or(2)).map_err(|cause| of_data(&cause))?;
        assessing.calibrated(stored, scores, rows).map_err(|refused| of_refused(&refused))
    })?;
    judged.map(in_json)
}

/// Shares that came true, and mean probabilities, by bins that hold predictions.
type Curve<'py> = (Bound<'py, PyArray1<f64>>, Bound<'py, PyArray1<f64>>);

/// The points of a reliability diagram.
#[pyfunction]
pub(crate) fn calibration_curve<'py>(
    py: Python<'py>,
    probs: PyReadonlyArray1<'py, f64>,
    hits: PyReadonlyArray1<'py, bool>,
    strategy: &str,
    n_bins: usize,
) -> PyResult<Curve<'py>> {
    let binning = match (strategy, n_bins) {
        (_, 0) => return Err(UsageError::new_err("n_bins is 1 at least")),
        ("uniform", _) => Binning::EqualWidth(n_bins),
        ("quantile", _) => Binning::EqualMass(n_bins),
        _ => {
            return Err(UsageError::new_err(format!(
                "strategy={strategy:?}: there are \"uniform\" and \"quantile\""
            )));
        }
    };
    let (probs, hits) = (probs.as_slice()?, hits.as_slice()?);
    check_count(probs.len(), hits.len())?;
    let probs = check_probs(Slice::F64(probs))?;
    let bins = working(py, || {
        let of = |(&prob, &hit): (&f64, &bool)| Prediction { class: 1, prob, bin: 0, hit };
        let rows: Vec<Prediction> = probs.iter().zip(hits).map(of).collect();
        reliability(&rows, PredictionKind::Binary, binning, 0.05)
    })?;
    let rates: Vec<f64> = bins.iter().map(|bin| bin.rate).collect();
    let means: Vec<f64> = bins.iter().map(|bin| bin.mean_prob).collect();
    Ok((rates.into_pyarray(py), means.into_pyarray(py)))
}

/// That there are rows, and a label for each.
fn check_count(scores: usize, labels: usize) -> PyResult<()> {
    if scores == 0 {
        return Err(of_data(&calib_fit::data::DataError::Empty));
    }
    match scores == labels {
        true => Ok(()),
        false => Err(of_data(&calib_fit::data::DataError::LabelCount { scores, labels })),
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
