//! Fitting.

use calib_cli::{FitRequest, Rows, device_scores};
use calib_fit::ScoreKind;
use numpy::PyReadonlyArray1;
use pyo3::prelude::*;

use crate::artifact::PyArtifact;
use crate::errors::{DataError, in_python, of_data, of_refused};
use crate::floats::{Kind, Numbers};
use crate::interrupt::working;

/// An artefact, what was chosen, warnings, and what stays uncalibrated with the reason.
type Made = (PyArtifact, Option<String>, Vec<String>, Vec<(String, String)>);

/// Fits a calibrator: `words` are the options of `calib fit`. Vectors are given row by row, with the number of classes. `classifiers` is
/// by how many classifiers the scores are: of several nothing is guaranteed.
#[pyfunction]
#[pyo3(signature = (words, kind, scores, labels, *, classes=None, weights=None, clusters=None, classifiers=1, monitor_scores=None))]
#[expect(clippy::too_many_arguments, reason = "Python calls it by name")]
pub(crate) fn fit(
    py: Python<'_>,
    words: Vec<String>,
    kind: &str,
    scores: &Bound<'_, PyAny>,
    labels: PyReadonlyArray1<'_, i64>,
    classes: Option<usize>,
    weights: Option<PyReadonlyArray1<'_, f64>>,
    clusters: Option<PyReadonlyArray1<'_, i64>>,
    classifiers: u32,
    monitor_scores: Option<PyReadonlyArray1<'_, f64>>,
) -> PyResult<Made> {
    let request = FitRequest::parse(words).map_err(|refused| of_refused(&refused))?;
    let numbers = Numbers::of(scores)?;
    let (kind, values, classes) = (Kind::named(kind)?, numbers.borrowed()?, classes.unwrap_or(2));
    let of_others = match kind {
        Kind::Binary(kind) => kind,
        // The fit refuses them, whatever they are.
        Kind::Vectors(_) => ScoreKind::Margin,
    };
    let others = match &monitor_scores {
        Some(others) => Some(
            device_scores(of_others, others.as_slice()?)
                .map_err(|cause| DataError::new_err(format!("monitor_scores, {cause}")))?,
        ),
        None => None,
    };
    let rows = Rows {
        labels: labels.as_slice()?,
        weights: weights.as_ref().map(PyReadonlyArray1::as_slice).transpose()?,
        clusters: clusters.as_ref().map(PyReadonlyArray1::as_slice).transpose()?,
        classifiers,
        monitor_scores: others.as_deref(),
    };
    let fitted = working(py, || {
        let scores = values.as_scores(kind, classes).map_err(|cause| of_data(&cause))?;
        request.fit(scores, rows).map_err(|refused| of_refused(&refused))
    })??;
    let warnings = fitted.warnings.iter().map(|warning| in_python(warning)).collect();
    let chosen = fitted.chosen.map(|chosen| in_python(&chosen));
    Ok((PyArtifact::new(fitted.artifact), chosen, warnings, fitted.uncalibrated))
}
