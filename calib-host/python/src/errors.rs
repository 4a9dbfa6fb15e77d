//! Errors as Python's exceptions, in the words of Python.

use calib_fit::adjust::AdjustError;
use calib_fit::artifact::RuleError;
use calib_fit::job::{JobError, NotFitted};
use calib_fit::names::Named;
use calib_fit::operating::OperatingError;
use calib_fit::sets::SetError;
use calib_fit::{OptionsError, data};
use pyo3::create_exception;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

create_exception!(calib_host, CalibError, PyValueError, "What calib_host refuses.");
create_exception!(calib_host, UsageError, CalibError, "What is asked for makes no sense.");
create_exception!(calib_host, DataError, CalibError, "The data are of no use.");
create_exception!(calib_host, MismatchError, CalibError, "A calibrator is for scores of another kind.");

/// Why nothing was fitted, and what to do about it.
pub(crate) fn of_not_fitted(cause: &NotFitted) -> PyErr {
    let sentence = match (cause, cause.of_options()) {
        (NotFitted::Options(cause), _) => cause.with_names(name),
        (_, Some(cause)) => format!("scores: {}", cause.with_names(name)),
        (NotFitted::Fit(fit), _) if !fit.is_about_options() => format!("scores: {cause}"),
        (NotFitted::ReferenceScores(_), _) => format!("monitor_scores: {cause}"),
        _ => cause.to_string(),
    };
    let hint = cause.hint().map_or(String::new(), |hint| format!("\n  hint: {}", hint.with_names(name)));
    match cause.is_about_options() {
        true => UsageError::new_err(sentence + &hint),
        false => DataError::new_err(sentence + &hint),
    }
}

/// The name of a field in Python; `data` are the scores.
pub(crate) fn name(field: &str) -> String {
    match (field, field.split_once('=')) {
        _ if field.starts_with("plan(") => "calib_host.plan(n=..., epsilon=0.1)".into(),
        ("data", _) => "scores".into(),
        ("scores" | "margins" | "logits" | "probs", _) => format!("kind={field:?}"),
        (_, Some((field, value))) if value.starts_with(|c: char| c.is_ascii_lowercase()) => {
            format!("{field}={value:?}")
        }
        _ => field.into(),
    }
}

/// What is wrong with data, or with what goes beside them.
pub(crate) fn of_data(error: &data::DataError) -> PyErr {
    let text = error.to_string();
    match error {
        data::DataError::RowCount { .. }
        | data::DataError::MatrixWeights
        | data::DataError::WeightedClusters
        | data::DataError::Groups
        | data::DataError::NoClassifier => UsageError::new_err(text),
        _ => DataError::new_err(text),
    }
}

/// Why options make no sense.
pub(crate) fn of_options(error: &OptionsError) -> PyErr {
    UsageError::new_err(error.with_names(name))
}

/// Why a job has no result.
pub(crate) fn of_job(error: &JobError) -> PyErr {
    let text = error.to_string();
    match error {
        JobError::Mismatch(_)
        | JobError::OtherClasses { .. }
        | JobError::Rule(RuleError::Scores { .. } | RuleError::Groups { .. }) => MismatchError::new_err(text),
        JobError::Adjust(AdjustError::Reduction(_) | AdjustError::Tables(_) | AdjustError::Interpolated) => {
            MismatchError::new_err(text)
        }
        JobError::Options(cause) => of_options(cause),
        JobError::Adjust(AdjustError::Share { .. } | AdjustError::Alpha(_)) => UsageError::new_err(text),
        JobError::Operating(OperatingError::TooFew { .. } | OperatingError::Empty) => {
            DataError::new_err(text)
        }
        JobError::Operating(_) | JobError::Sets(SetError::Share { .. }) => UsageError::new_err(text),
        _ => DataError::new_err(text),
    }
}

/// The value of a name.
pub(crate) fn named<T: Named>(name: &str) -> PyResult<T> {
    T::named(name).map_err(|cause| UsageError::new_err(cause.to_string()))
}
