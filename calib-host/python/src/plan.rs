//! Planning.

use calib_fit::Umd;
use calib_fit::guarantee::ValidationPlan;
use calib_fit::job::{PlanOptions, ThresholdPlanOptions, plan as planned, plan_thresholds, plan_validation};
use pyo3::prelude::*;
use serde_json::json;

use crate::errors::{UsageError, of_options};

/// Answers what is not given of points, bins and epsilon, as JSON.
#[pyfunction]
#[pyo3(signature = (*, n, bins, epsilon, rows_per_bin, alpha, classes))]
pub(crate) fn plan(
    n: Option<u64>,
    bins: Option<u64>,
    epsilon: Option<f64>,
    rows_per_bin: Option<u64>,
    alpha: f64,
    classes: Option<u64>,
) -> PyResult<String> {
    let mut options = PlanOptions::default();
    (options.n, options.bins, options.rows_per_bin) = (n, bins, rows_per_bin);
    (options.epsilon, options.alpha, options.classes) = (epsilon, alpha, classes);
    match planned(&options).map_err(|cause| of_options(&cause))?.answer {
        Some(answer) => Ok(json!(answer).to_string()),
        None => Err(UsageError::new_err("give two of n, bins, rows_per_bin and epsilon")),
    }
}

/// Answers how many points a sensitivity or a specificity takes, as JSON.
#[pyfunction]
#[pyo3(signature = (*, sensitivity, specificity, confidence, groups, prevalence))]
pub(crate) fn plan_threshold(
    sensitivity: Option<f64>,
    specificity: Option<f64>,
    confidence: f64,
    groups: u64,
    prevalence: Option<f64>,
) -> PyResult<String> {
    let mut options = ThresholdPlanOptions::default();
    (options.sensitivity, options.specificity, options.confidence) = (sensitivity, specificity, confidence);
    (options.groups, options.prevalence) = (groups, prevalence);
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
