//! Deciding by costs.

use std::fmt::Display;

use calib_core::Score;
use calib_core::decision::SureBy;
use calib_fit::decide::{Actions, Cost, CostedAction, Costs, Rule};
use calib_fit::job::{DecideRows, decide as decided, with_rule};
use numpy::PyReadonlyArray1;
use pyo3::prelude::*;
use serde_json::json;

use crate::artifact::PyArtifact;
use crate::errors::{DataError, UsageError, of_job};
use crate::interrupt::working;

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
    if_sure: IfSure,
    interval: Option<(f64, f64)>,
}

/// The evidence that an action asks for.
#[derive(FromPyObject)]
enum IfSure {
    Is(bool),
    By(String),
}

impl IfSure {
    fn by(&self) -> PyResult<Option<SureBy>> {
        match self {
            Self::Is(is_sure) => Ok(is_sure.then_some(SureBy::Interval)),
            Self::By(by) if by == "band" => Ok(Some(SureBy::Band)),
            Self::By(other) => Err(refused(&format!("if_sure is {other:?}: it is True, False or \"band\""))),
        }
    }
}

/// Calibrated rows, NaN where there is no probability, with labels and whether the calibrator was fitted to them.
type DecidedRows<'py> = (PyReadonlyArray1<'py, f32>, Option<Vec<bool>>, bool);

/// Finds the cheapest action for every probability, and puts the rule into an artifact if one is given.
#[pyfunction]
#[pyo3(signature = (actions, *, uncalibrated, unsure, cases, rows, validation, delta, artifact, counter))]
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
    counter: Option<u32>,
) -> PyResult<(Option<PyArtifact>, String)> {
    let costs = costs_of(actions, (uncalibrated, unsure), cases)?;
    let rows = rows.map(decided_rows).transpose()?;
    let validation = validation.map(decided_rows).transpose()?;
    let job = || decided(&costs, rows.as_ref(), validation.as_ref(), delta);
    let decision = working(py, job)?.map_err(|cause| of_job(&cause))?;
    let with = artifact.map(|artifact| with_rule(&artifact.get().stored, &decision, counter)).transpose();
    let with = with.map_err(|cause| of_job(&cause))?;
    Ok((with.map(PyArtifact::new), json!(decision).to_string()))
}

/// Actions with their costs, and the rule if they state one; named are the actions where there is no probability, and where it is unsure.
pub(crate) fn costs_of(
    actions: Vec<Action>,
    (uncalibrated, unsure): (Option<&str>, Option<&str>),
    cases: Option<u64>,
) -> PyResult<Costs> {
    Ok(Costs { stated: stated(&actions)?, actions: costed(actions, uncalibrated, unsure)?, cases })
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
            if_sure: if_sure.by()?,
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

fn refused(cause: &dyn Display) -> PyErr {
    UsageError::new_err(cause.to_string())
}
