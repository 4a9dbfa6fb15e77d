//! Planning.

use calib_fit::guarantee::{ClassPlan, Plan};
use pyo3::prelude::*;
use serde_json::json;

use crate::errors::UsageError;

/// Answers what is not given of points, bins and epsilon, as JSON.
#[pyfunction]
#[pyo3(signature = (*, n=None, bins=None, epsilon=None, points_per_bin=None, alpha=0.1, classes=None))]
pub(crate) fn plan(
    n: Option<u64>,
    bins: Option<u64>,
    epsilon: Option<f64>,
    points_per_bin: Option<u64>,
    alpha: f64,
    classes: Option<u64>,
) -> PyResult<String> {
    let refuse = |text: &str| Err(UsageError::new_err(text.to_owned()));
    if !(alpha > 0.0 && alpha < 1.0) {
        return refuse("alpha is a fraction between 0 and 1, such as 0.05");
    }
    if epsilon.is_some_and(|epsilon| !(epsilon > 0.0 && epsilon < 1.0)) {
        return refuse("epsilon is a deviation between 0 and 1, such as 0.05");
    }
    if classes == Some(0) {
        return refuse("alpha is divided among 1 class at least");
    }
    let plan = match (n, bins, epsilon, points_per_bin, classes) {
        (Some(n), None, None, Some(k), Some(classes)) => {
            return match ClassPlan::new(n, k, alpha, classes) {
                Some(plan) => Ok(json!(plan).to_string()),
                None => refuse("points_per_bin is 2 at least, and n at most"),
            };
        }
        (Some(n), None, Some(epsilon), None, Some(classes)) => {
            return match ClassPlan::fewest_points_per_bin(n, alpha, classes, epsilon) {
                Some(plan) => Ok(json!(plan).to_string()),
                None => refuse("so few points do not have that epsilon, with one bin either"),
            };
        }
        (_, _, _, _, Some(_)) => return refuse("of classes give n with points_per_bin or epsilon"),
        (Some(n), Some(bins), None, None, None) => Plan::new(n, bins, alpha),
        (Some(n), None, Some(epsilon), None, None) => Plan::most_bins(n, alpha, epsilon),
        (None, Some(bins), Some(epsilon), None, None) => Plan::fewest_points(bins, alpha, epsilon),
        (None, None, Some(epsilon), Some(k), None) => Plan::most_bins_of(k, alpha, epsilon),
        _ => return refuse("give two of n, bins and epsilon, or points_per_bin with epsilon"),
    };
    match plan {
        Some(plan) => Ok(json!(plan).to_string()),
        None if epsilon.is_some() => refuse("so few points do not have that epsilon, with one bin either"),
        None => refuse("a bin needs at least 2 points"),
    }
}
