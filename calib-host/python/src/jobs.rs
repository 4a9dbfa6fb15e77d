//! Thresholds, sets, and another prevalence: the artifact that is made, and what is said of it as JSON.

use std::fmt::Display;

use calib_core::ClassifierId;
use calib_fit::artifact::{MonitorBins, Monitoring};
use calib_fit::job::{
    AdjustOptions, SetOptions, Target, ThresholdOptions, adjust as adjusted, sets as sets_of,
    threshold as thresholds,
};
use calib_fit::operating::Sharing;
use calib_fit::{ArtifactOptions, StoredArtifact};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use serde_json::json;

use crate::apply::calibrated_rows;
use crate::artifact::PyArtifact;
use crate::data::PyDataset;
use crate::errors::{DataError, UsageError, of_job};
use crate::floats::{Kind, Numbers};
use crate::interrupt::working;
use crate::options::Options;

/// An artifact, and what is said of it as JSON.
type Made = (PyArtifact, String);

/// A calibrator, and the counter of what is made from it.
type Parent<'py> = Option<Bound<'py, PyArtifact>>;

/// The counter of what is made from an artifact.
fn counter_of(stored: &StoredArtifact, counter: Option<u32>) -> PyResult<u32> {
    counter.ok_or_else(|| {
        UsageError::new_err(format!(
            "counter is required for an artifact made from another one: the calibrator has the rollback counter {}, and a device rejects a \
             lower one than its own",
            stored.artifact().counter()
        ))
    })
}

/// Where a rule goes: beside a calibrator, or into a separate artifact for a classifier.
fn target<'a>(
    parent: Option<&'a Bound<'_, PyArtifact>>,
    counter: Option<u32>,
    classifier: Option<[u8; 8]>,
) -> PyResult<Target<'a>> {
    Ok(match parent {
        Some(parent) => {
            let stored = &*parent.get().stored;
            Target::Beside(stored, counter_of(stored, counter)?)
        }
        None => Target::Alone(Box::new(
            ArtifactOptions::default().classifier(classifier.map(ClassifierId)).counter(counter.unwrap_or(0)),
        )),
    })
}

fn refused(cause: &dyn Display) -> PyErr {
    UsageError::new_err(cause.to_string())
}

/// Finds thresholds of binary scores.
#[pyfunction]
#[pyo3(signature = (data, parent, *, counter, classifier, **options))]
pub(crate) fn threshold(
    py: Python<'_>,
    data: &Bound<'_, PyDataset>,
    parent: Parent<'_>,
    counter: Option<u32>,
    classifier: Option<[u8; 8]>,
    options: Option<Bound<'_, PyDict>>,
) -> PyResult<Made> {
    let given = Options::of(py, options);
    let mut options = ThresholdOptions::default().by_name(|name| given.given(name))?;
    options.sharing = match given.get("common_threshold")? {
        Some(true) => Sharing::Common,
        _ => Sharing::Own,
    };
    let (data, target) = (&data.get().data, target(parent.as_ref(), counter, classifier)?);
    let found = working(py, || thresholds(data, &options, &target))?.map_err(|cause| of_job(&cause))?;
    Ok((PyArtifact::new(found.artifact), json!(found.summary).to_string()))
}

/// Finds prediction sets, and what is to be warned of.
#[pyfunction]
#[pyo3(signature = (data, parent, *, counter, classifier, **options))]
pub(crate) fn sets(
    py: Python<'_>,
    data: &Bound<'_, PyDataset>,
    parent: Parent<'_>,
    counter: Option<u32>,
    classifier: Option<[u8; 8]>,
    options: Option<Bound<'_, PyDict>>,
) -> PyResult<(PyArtifact, String, Option<String>)> {
    let given = Options::of(py, options);
    let options = SetOptions::default().by_name(|name| given.given(name))?;
    let (data, target) = (&data.get().data, target(parent.as_ref(), counter, classifier)?);
    let found = working(py, || sets_of(data, &options, &target))?.map_err(|cause| of_job(&cause))?;
    let warning = found.summary.warning().map(|warning| warning.to_string());
    Ok((PyArtifact::new(found.artifact), json!(found.summary).to_string(), warning))
}

/// Makes a calibrator for another prevalence, which is estimated from other scores if it is not stated.
#[pyfunction]
#[pyo3(signature = (artifact, kind, *, counter, prevalence, estimate_from, classes, calibration_prevalence, prevalence_alpha, seed, monitor_scores, monitor_bins))]
#[expect(clippy::too_many_arguments, reason = "Python calls it by name")]
pub(crate) fn adjust(
    py: Python<'_>,
    artifact: &Bound<'_, PyArtifact>,
    kind: &str,
    counter: Option<u32>,
    prevalence: Option<f64>,
    estimate_from: Option<&Bound<'_, PyAny>>,
    classes: Option<usize>,
    calibration_prevalence: Option<f64>,
    prevalence_alpha: f64,
    seed: u64,
    monitor_scores: Option<&Bound<'_, PyAny>>,
    monitor_bins: Option<u16>,
) -> PyResult<Made> {
    let stored = &*artifact.get().stored;
    let mut options = AdjustOptions::default();
    (options.prevalence, options.calibration_prevalence) = (prevalence, calibration_prevalence);
    options.prevalence_alpha = prevalence_alpha;
    options.counter = counter_of(stored, counter)?;
    options.monitors = match (Kind::named(kind)?, monitor_scores, monitor_bins) {
        (_, None, None) => None,
        (Kind::Binary(kind), Some(scores), Some(bins)) => {
            let numbers = Numbers::of(scores)?;
            let scores =
                numbers.borrowed()?.scores(kind).ok_or_else(|| refused(&"codes have no monitors"))?;
            let of_scores = |cause: &dyn Display| DataError::new_err(format!("monitor_scores, {cause}"));
            let scores = scores.map_err(|cause| of_scores(&cause))?;
            let bins =
                MonitorBins::of_scores(kind, &scores, bins.into()).map_err(|cause| of_scores(&cause))?;
            Some(Monitoring::default().bins(Some(bins)))
        }
        _ => return Err(refused(&"monitor_scores of binary scores go with monitor_bins")),
    };
    let rows = estimate_from.map(|scores| {
        calibrated_rows(stored, Kind::named(kind)?, Numbers::of(scores)?.borrowed()?, classes, seed)
    });
    let rows = rows.transpose()?;
    let made =
        working(py, || adjusted(stored, &options, rows.as_deref()))?.map_err(|cause| of_job(&cause))?;
    Ok((PyArtifact::new(made.artifact), json!(made.summary).to_string()))
}
