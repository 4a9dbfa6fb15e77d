//! The jobs of calib-fit, with arrays: the artefact that they make, and what is said of it as JSON.

use std::fmt::Display;

use calib_core::{ClassifierId, Score};
use calib_fit::artifact::{MonitorBins, Monitoring};
use calib_fit::decide::{Actions, Cost, CostedAction, Costs, Rule};
use calib_fit::job::{
    AdjustOptions, CompareOptions, DecideRows, SetOptions, Target, ThresholdOptions, adjust as adjusted,
    compare as compared, decide as decided, sets as sets_of, threshold as thresholds, with_rule,
};
use calib_fit::names::Named;
use calib_fit::operating::Sharing;
use calib_fit::{ArtifactOptions, StoredArtifact};
use numpy::PyReadonlyArray1;
use pyo3::prelude::*;
use serde_json::json;

use crate::artifact::PyArtifact;
use crate::data::PyDataset;
use crate::errors::{DataError, UsageError, of_job};
use crate::floats::{Kind, Numbers};
use crate::interrupt::working;

/// An artefact, and what is said of it as JSON.
type Made = (PyArtifact, String);

/// A calibrator, and the counter of what is made from it.
type Parent<'py> = Option<Bound<'py, PyArtifact>>;

/// The counter of what is made from an artefact.
fn counter_of(stored: &StoredArtifact, counter: Option<u32>) -> PyResult<u32> {
    counter.ok_or_else(|| {
        UsageError::new_err(format!(
            "counter is needed where an artefact is made from another one: that of the calibrator is {}, and a device refuses a lower \
             one than it holds",
            stored.artifact().counter()
        ))
    })
}

/// Where a rule goes: beside a calibrator, or into an artefact of its own for a classifier.
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
        None => Target::Alone(ArtifactOptions {
            classifier: classifier.map(ClassifierId),
            counter: counter.unwrap_or(0),
            ..ArtifactOptions::default()
        }),
    })
}

fn named<T: Named>(name: &str) -> PyResult<T> {
    T::named(name).map_err(|cause| refused(&cause))
}

fn all_named<T: Named>(names: Option<Vec<String>>) -> PyResult<Option<Vec<T>>> {
    names.map(|names| names.iter().map(|name| named(name)).collect()).transpose()
}

fn refused(cause: &dyn Display) -> PyErr {
    UsageError::new_err(cause.to_string())
}

/// Finds thresholds of binary scores.
#[pyfunction]
#[pyo3(signature = (data, parent, *, counter, classifier, sensitivity, specificity, confidence, common_threshold, prevalence, refer_raises, seed))]
#[expect(clippy::too_many_arguments, reason = "Python calls it by name")]
pub(crate) fn threshold(
    py: Python<'_>,
    data: &Bound<'_, PyDataset>,
    parent: Parent<'_>,
    counter: Option<u32>,
    classifier: Option<[u8; 8]>,
    sensitivity: Option<f64>,
    specificity: Option<f64>,
    confidence: f64,
    common_threshold: bool,
    prevalence: Option<f64>,
    refer_raises: bool,
    seed: u64,
) -> PyResult<Made> {
    let mut options = ThresholdOptions::default();
    (options.sensitivity, options.specificity, options.confidence) = (sensitivity, specificity, confidence);
    options.sharing = if common_threshold { Sharing::Common } else { Sharing::Own };
    (options.prevalence, options.refer_raises, options.seed) = (prevalence, refer_raises, seed);
    let (data, target) = (&data.get().data, target(parent.as_ref(), counter, classifier)?);
    let found = working(py, || thresholds(data, &options, &target))?.map_err(|cause| of_job(&cause))?;
    Ok((PyArtifact::new(found.artifact), json!(found.summary).to_string()))
}

/// Finds prediction sets.
#[pyfunction]
#[pyo3(signature = (data, parent, *, counter, classifier, alpha, by_class, confidence, never_empty, class_score))]
#[expect(clippy::too_many_arguments, reason = "Python calls it by name")]
pub(crate) fn sets(
    py: Python<'_>,
    data: &Bound<'_, PyDataset>,
    parent: Parent<'_>,
    counter: Option<u32>,
    classifier: Option<[u8; 8]>,
    alpha: f64,
    by_class: bool,
    confidence: Option<f64>,
    never_empty: bool,
    class_score: Option<&str>,
) -> PyResult<Made> {
    let mut options = SetOptions::default();
    (options.alpha, options.confidence) = (alpha, confidence);
    (options.by_class, options.never_empty) = (by_class, never_empty);
    options.class_score = class_score.map(named).transpose()?;
    let (data, target) = (&data.get().data, target(parent.as_ref(), counter, classifier)?);
    let found = working(py, || sets_of(data, &options, &target))?.map_err(|cause| of_job(&cause))?;
    Ok((PyArtifact::new(found.artifact), json!(found.summary).to_string()))
}

/// Makes a calibrator for another prevalence, which is estimated from what the calibrator gives for other scores if it is not stated.
#[pyfunction]
#[pyo3(signature = (artifact, kind, *, counter, prevalence, probs, calibration_prevalence, prevalence_alpha, bootstrap, seed, monitor_scores, monitor_bins))]
#[expect(clippy::too_many_arguments, reason = "Python calls it by name")]
pub(crate) fn adjust(
    py: Python<'_>,
    artifact: &Bound<'_, PyArtifact>,
    kind: &str,
    counter: Option<u32>,
    prevalence: Option<f64>,
    probs: Option<PyReadonlyArray1<'_, f64>>,
    calibration_prevalence: Option<f64>,
    prevalence_alpha: f64,
    bootstrap: usize,
    seed: u64,
    monitor_scores: Option<&Bound<'_, PyAny>>,
    monitor_bins: Option<u16>,
) -> PyResult<Made> {
    let stored = &*artifact.get().stored;
    let mut options = AdjustOptions::default();
    (options.prevalence, options.calibration_prevalence) = (prevalence, calibration_prevalence);
    (options.prevalence_alpha, options.bootstrap, options.seed) = (prevalence_alpha, bootstrap, seed);
    options.counter = counter_of(stored, counter)?;
    options.monitors = match (Kind::named(kind)?, monitor_scores, monitor_bins) {
        (_, None, None) => None,
        (Kind::Binary(kind), Some(scores), Some(bins)) => {
            let numbers = Numbers::of(scores)?;
            let scores = numbers.borrowed()?.scores(kind).ok_or_else(|| refused(&"codes have no monitors"))?;
            let of_scores = |cause: &dyn Display| DataError::new_err(format!("monitor_scores, {cause}"));
            let scores = scores.map_err(|cause| of_scores(&cause))?;
            let bins = MonitorBins::of_scores(kind, &scores, bins.into()).map_err(|cause| of_scores(&cause))?;
            Some(Monitoring { bins: Some(bins), ..Monitoring::default() })
        }
        _ => return Err(refused(&"monitor_scores of binary scores go with monitor_bins")),
    };
    let probs = probs.as_ref().map(PyReadonlyArray1::as_slice).transpose()?;
    let made = working(py, || adjusted(stored, &options, probs))?.map_err(|cause| of_job(&cause))?;
    Ok((PyArtifact::new(made.artifact), json!(made.summary).to_string()))
}

/// An action with its costs, and the interval of probabilities in which it is taken, if that is stated.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub(crate) struct Action {
    name: String,
    positive: f64,
    negative: f64,
    start_up: f64,
    alarm: bool,
    abstain: bool,
    if_sure: bool,
    interval: Option<(f64, f64)>,
}

/// Calibrated rows, NaN where there is no probability, with labels and whether the calibrator was fitted to them.
type DecidedRows<'py> = (PyReadonlyArray1<'py, f32>, Option<Vec<bool>>, bool);

/// Finds the cheapest action for every probability, and puts the rule into an artefact if one is given.
#[pyfunction]
#[pyo3(signature = (actions, *, uncalibrated, unsure, cases, rows, validation, delta, artifact))]
#[expect(clippy::too_many_arguments, reason = "Python calls it by name")]
pub(crate) fn decide(
    py: Python<'_>,
    actions: Vec<Action>,
    uncalibrated: Option<&str>,
    unsure: Option<&str>,
    cases: Option<u64>,
    rows: Option<DecidedRows<'_>>,
    validation: Option<DecidedRows<'_>>,
    delta: f64,
    artifact: Option<&Bound<'_, PyArtifact>>,
) -> PyResult<(Option<PyArtifact>, String)> {
    let costs = Costs { stated: stated(&actions)?, actions: costed(actions, uncalibrated, unsure)?, cases };
    let rows = rows.map(decided_rows).transpose()?;
    let validation = validation.map(decided_rows).transpose()?;
    let job = || decided(&costs, rows.as_ref(), validation.as_ref(), delta);
    let decision = working(py, job)?.map_err(|cause| of_job(&cause))?;
    let with = artifact.map(|artifact| with_rule(&artifact.get().stored, &decision)).transpose();
    let with = with.map_err(|cause| of_job(&cause))?;
    Ok((with.map(PyArtifact::new), json!(decision).to_string()))
}

fn costed(actions: Vec<Action>, uncalibrated: Option<&str>, unsure: Option<&str>) -> PyResult<Actions> {
    let cost = |of: &str, name: &str, value: f64| {
        Cost::new(value).map_err(|cause| refused(&format!("the {name} cost of {of}: {cause}")))
    };
    let costed = |action: Action| {
        let Action { name, alarm, abstain, if_sure, .. } = action;
        Ok(CostedAction {
            positive: cost(&name, "positive", action.positive)?,
            negative: cost(&name, "negative", action.negative)?,
            start_up: cost(&name, "start_up", action.start_up)?,
            name,
            alarm,
            abstain,
            if_sure,
        })
    };
    let actions = actions.into_iter().map(costed).collect::<PyResult<_>>()?;
    let actions = Actions::new(actions, uncalibrated).and_then(|actions| actions.with_unsure(unsure));
    actions.map_err(|cause| refused(&cause))
}

/// The rule, if every action has an interval.
fn stated(actions: &[Action]) -> PyResult<Option<Rule>> {
    let interval = |(at, action): (usize, &Action)| action.interval.map(|(above, up_to)| (at, above, up_to));
    let intervals: Vec<_> = actions.iter().enumerate().filter_map(interval).collect();
    match intervals.len() {
        0 => Ok(None),
        n if n == actions.len() => Rule::stated(&intervals).map(Some).map_err(|cause| refused(&cause)),
        _ => Err(refused(&"some actions state an interval with above and up_to, and others do not")),
    }
}

fn decided_rows((probs, labels, is_calibration): DecidedRows<'_>) -> PyResult<DecideRows> {
    let prob = |(row, &prob): (usize, &f32)| match (prob.is_nan(), Score::new(prob)) {
        (true, _) => Ok(None),
        (false, Ok(prob)) => Ok(Some(prob)),
        (false, Err(_)) => Err(DataError::new_err(format!("row {row}: {prob} is no probability"))),
    };
    let probs: Vec<Option<Score>> =
        probs.as_slice()?.iter().enumerate().map(prob).collect::<PyResult<_>>()?;
    if let Some(labels) = labels.as_ref().filter(|labels| labels.len() != probs.len()) {
        let sentence = format!("{} rows of scores but {} labels", probs.len(), labels.len());
        return Err(DataError::new_err(sentence));
    }
    Ok(DecideRows { probs, labels, is_calibration })
}

/// Compares methods.
#[pyfunction]
#[pyo3(signature = (
    data, test, *, methods, reductions, bins, points_per_bin, class_scores, claim, metric, epsilon, alpha, folds, repeats, bootstrap, seed,
    same_rows,
))]
#[expect(clippy::too_many_arguments, reason = "Python calls it by name")]
pub(crate) fn compare(
    py: Python<'_>,
    data: &Bound<'_, PyDataset>,
    test: Option<&Bound<'_, PyDataset>>,
    methods: Option<Vec<String>>,
    reductions: Option<Vec<String>>,
    bins: Option<u16>,
    points_per_bin: Option<u32>,
    class_scores: Option<Vec<String>>,
    claim: Option<&str>,
    metric: &str,
    epsilon: Option<f64>,
    alpha: f64,
    folds: u16,
    repeats: u16,
    bootstrap: u32,
    seed: u64,
    same_rows: bool,
) -> PyResult<String> {
    let mut options = CompareOptions::default();
    options.contenders.methods = all_named(methods)?.unwrap_or_default();
    options.contenders.reductions = all_named(reductions)?;
    (options.contenders.bins, options.contenders.points_per_bin) = (bins, points_per_bin);
    options.contenders.class_scores = all_named(class_scores)?;
    options.claim = claim.map(named).transpose()?;
    options.metric = named(metric)?;
    (options.epsilon, options.alpha) = (epsilon, alpha);
    (options.folds, options.repeats, options.bootstrap) = (folds, repeats, bootstrap);
    (options.seed, options.same_rows) = (seed, same_rows);
    let (data, test) = (&data.get().data, test.map(|test| &test.get().data));
    let found = working(py, || compared(data, test, &options, &|_, _| ()))?;
    Ok(json!(found.map_err(|cause| of_job(&cause))?).to_string())
}
