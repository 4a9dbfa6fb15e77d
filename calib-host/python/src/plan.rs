//! Planning.

use calib_fit::Umd;
use calib_fit::guarantee::ValidationPlan;
use calib_fit::job::{PlanOptions, ThresholdPlanOptions, plan as planned, plan_thresholds, plan_validation};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use serde_json::json;

use crate::errors::{UsageError, of_options};
use crate::options::Options;

/// Answers what is not given of points, bins and epsilon, as JSON.
#[pyfunction]
#[pyo3(signature = (**options))]
pub(crate) fn plan(py: Python<'_>, options: Option<Bound<'_, PyDict>>) -> PyResult<String> {
    let given = Options::of(py, options);
    let options = PlanOptions::default().by_name(|name| given.given(name))?;
    match planned(&options).map_err(|cause| of_options(&cause))?.answer {
        Some(answer) => Ok(json!(answer).to_string()),
        None => Err(UsageError::new_err("give two of n, bins, rows_per_bin and epsilon")),
    }
}

/// Answers how many points a sensitivity or a specificity takes, as JSON.
#[pyfunction]
#[pyo3(signature = (**options))]
pub(crate) fn plan_threshold(py: Python<'_>, options: Option<Bound<'_, PyDict>>) -> PyResult<String> {
    let given = Options::of(py, options);
    let options = ThresholdPlanOptions::default().by_name(|name| given.given(name))?;
    Ok(json!(plan_thresholds(&options).map_err(|cause| of_options(&cause))?).to_string())
}

/// Answers how many rows a validation takes, as JSON.
#[pyfunction]
#[pyo3(signature = (*, prevalence, auc, se_auc, se_slope, se_intercept))]
pub(crate) fn plan_of_validation(
    prevalence: f64,
    auc: f64,
    se_auc: f64,
    se_slope: f64,
    se_intercept: f64,
) -> PyResult<String> {
    let given = ValidationPlan { prevalence, auc, se_auc, se_slope, se_intercept };
    Ok(json!(plan_validation(given).map_err(|cause| of_options(&cause))?).to_string())
}

/// How many bins suit so many rows.
#[pyfunction]
pub(crate) fn suitable_bins(n: u64) -> usize {
    Umd::suitable_bins(n)
}
