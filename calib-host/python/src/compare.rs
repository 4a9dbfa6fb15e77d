//! Comparing methods.

use std::str::FromStr;

use calib_fit::job::{CompareOptions, compare as compared};
use calib_fit::names::UnknownName;
use pyo3::prelude::*;
use serde_json::json;

use crate::data::PyDataset;
use crate::errors::{UsageError, named, of_job};
use crate::interrupt::working;

/// Compares methods: what was found as JSON.
#[pyfunction]
#[pyo3(signature = (
    data, test, *, methods, reductions, bins, rows_per_bin, class_scores, claim, metric, epsilon, alpha, folds, repeats, bootstrap, seed,
    same_rows,
))]
#[expect(clippy::too_many_arguments, reason = "Python calls it by name")]
pub(crate) fn compare(
    py: Python<'_>,
    data: &Bound<'_, PyDataset>,
    test: Option<&Bound<'_, PyDataset>>,
    methods: Option<Vec<String>>,
    reductions: Option<Vec<String>>,
    bins: Option<usize>,
    rows_per_bin: Option<usize>,
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
    (options.contenders.bins, options.contenders.rows_per_bin) = (bins, rows_per_bin);
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

fn all_named<T: FromStr<Err = UnknownName>>(names: Option<Vec<String>>) -> PyResult<Option<Vec<T>>> {
    let value =
        |name: &String| name.parse().map_err(|cause: UnknownName| UsageError::new_err(cause.to_string()));
    names.map(|names| names.iter().map(value).collect()).transpose()
}
