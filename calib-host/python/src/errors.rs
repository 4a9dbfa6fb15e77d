//! Errors as Python's exceptions, in the words of Python.

use calib_cli::{Fault, Refused};
use calib_fit::adjust::AdjustError;
use calib_fit::artifact::RuleError;
use calib_fit::job::JobError;
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

/// Options that have other names in Python.
const NAMES: [(&str, &str); 6] = [
    ("cluster-column", "clusters"),
    ("group-column", "groups"),
    ("logits", "kind=\"logits\""),
    ("margins", "kind=\"margins\""),
    ("probs", "kind=\"probs\""),
    ("scores", "kind=\"scores\""),
];

/// Why nothing was fitted.
pub(crate) fn of_refused(refused: &Refused) -> PyErr {
    let text = in_python(&refused.to_string());
    match refused.fault {
        Fault::Options => UsageError::new_err(text),
        Fault::Data => DataError::new_err(text),
        Fault::Mismatch => MismatchError::new_err(text),
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
    let text = in_python(&error.to_string());
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
        JobError::Mismatch(_) | JobError::Rule(RuleError::Scores { .. } | RuleError::Groups { .. }) => {
            MismatchError::new_err(text)
        }
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

/// A sentence of the command with the names of options as Python has them: `points_per_bin` for `--points-per-bin`.
#[pyfunction]
pub(crate) fn in_python(text: &str) -> String {
    let mut parts = text.split("--");
    let mut said = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let end = part.find(|c: char| !(c.is_ascii_lowercase() || c == '-')).unwrap_or(part.len());
        let option = part[..end].trim_end_matches('-');
        if option.is_empty() || said.ends_with(|c: char| c.is_alphanumeric()) {
            said += "--";
            said += part;
            continue;
        }
        let renamed = NAMES.iter().find(|(name, _)| *name == option).map(|(_, name)| (*name).to_owned());
        said += &renamed.unwrap_or_else(|| option.replace('-', "_"));
        said += &part[option.len()..];
    }
    said
}
