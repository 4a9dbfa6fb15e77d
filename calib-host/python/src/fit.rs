//! Fitting.

use calib_fit::data::device_scores;
use calib_fit::dataset::{Dataset, Rows};
use calib_fit::error::UnfittedReason;
use calib_fit::fit::Unfitted;
use calib_fit::job::{self, FittedModel, ScoresOf};
use calib_fit::stats::Clusters;
use calib_fit::{Fit, FitError, ScoreKind};
use numpy::PyReadonlyArray1;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::artifact::PyArtifact;
use crate::data::scores_of;
use crate::errors::{DataError, UsageError, name, of_data, of_not_fitted};
use crate::floats::{Kind, Numbers, Slice};
use crate::interrupt::working;
use crate::options::Options;

/// An artifact, what was chosen, warnings, and what stays uncalibrated with the reason.
type Made = (PyArtifact, Option<String>, Vec<String>, Vec<(String, String)>);

/// Fits a calibrator. Vectors are given row by row, with the number of classes. `classifiers` is by how many classifiers the scores are: of
/// several nothing is guaranteed.
#[pyfunction]
#[pyo3(signature = (options, kind, scores, labels, *, classes=None, weights=None, clusters=None, classifiers=1, monitor_scores=None))]
#[expect(clippy::too_many_arguments, reason = "Python calls it by name")]
pub(crate) fn fit(
    py: Python<'_>,
    options: Bound<'_, PyDict>,
    kind: &str,
    scores: &Bound<'_, PyAny>,
    labels: PyReadonlyArray1<'_, i64>,
    classes: Option<usize>,
    weights: Option<PyReadonlyArray1<'_, f64>>,
    clusters: Option<PyReadonlyArray1<'_, i64>>,
    classifiers: u32,
    monitor_scores: Option<PyReadonlyArray1<'_, f64>>,
) -> PyResult<Made> {
    let options = Options(options);
    let numbers = Numbers::of(scores)?;
    let (kind, values, classes) = (Kind::named(kind)?, numbers.borrowed()?, classes.unwrap_or(2));
    let (encoding, labels) = (options.encoding()?, labels.as_slice()?);
    let are_codes = matches!(values, Slice::I64(_));
    if are_codes && encoding.is_none() {
        return Err(UsageError::new_err(
            "integer codes need score_encoding: a type, a scale and a zero point",
        ));
    }
    let (of, of_others) = match kind {
        Kind::Binary(kind) => (ScoresOf::Binary { kind, encoding, by_group: false }, kind),
        // The fit refuses other scores, whatever they are.
        Kind::Vectors(kind) => (ScoresOf::Classes { kind, are_codes }, ScoreKind::Margin),
    };
    let others = match &monitor_scores {
        Some(others) => Some(
            device_scores(of_others, others.as_slice()?)
                .map_err(|cause| DataError::new_err(format!("monitor_scores, {cause}")))?,
        ),
        None => None,
    };
    let options = options.fit(of, others)?;
    let rows = Rows::new(labels)
        .weights(weights.as_ref().map(PyReadonlyArray1::as_slice).transpose()?)
        .clusters(clusters.as_ref().map(|names| names.as_slice().map(Clusters::new)).transpose()?)
        .classifiers(classifiers)
        .in_any_order(true);
    let fitted = working(py, || {
        let scores = scores_of(kind, values, classes, encoding);
        let data = scores.and_then(|scores| Dataset::new(scores, rows)).map_err(|cause| of_data(&cause))?;
        job::fit(&data, &options).map_err(|cause| of_not_fitted(&cause))
    })??;
    let mut warnings: Vec<String> = fitted.findings.iter().map(|finding| finding.with_names(name)).collect();
    let chosen = fitted.chosen.map(|chosen| chosen.with_names(name));
    let uncalibrated: Vec<(String, String)> = match &fitted.model {
        FittedModel::Tables(fit) => {
            warnings.extend(of_unfitted(fit));
            fit.unfitted().iter().map(|one| (fit.table_name(one.table), one.reason.to_string())).collect()
        }
        FittedModel::Joint(_) => Vec::new(),
    };
    Ok((PyArtifact::new(fitted.artifact), chosen, warnings, uncalibrated))
}

/// Uncalibrated tables that are named one by one.
const NAMED: usize = 3;

/// What stays uncalibrated, and what to do about it.
fn of_unfitted(fit: &Fit) -> Option<String> {
    let unfitted = fit.unfitted();
    let one = |one: &Unfitted| format!("{} ({})", fit.table_name(one.table), one.reason);
    let mut named = unfitted.iter().take(NAMED).map(one).collect::<Vec<_>>().join("; ");
    match unfitted.len() {
        0 => return None,
        1..=NAMED => {}
        more => named += &format!("; and {} more", more - NAMED),
    }
    let hint = unfitted.iter().find_map(|one| match &one.reason {
        UnfittedReason::Scaling(cause) => Some(FitError::Scaling(*cause).hint()?.with_names(name)),
        _ => Some("add calibration data of it".to_owned()),
    });
    let hint = hint.map_or(String::new(), |hint| format!("\n  hint: {hint}"));
    Some(format!("Uncalibrated: {named}. Without a calibrator, the probability is NaN.{hint}"))
}
