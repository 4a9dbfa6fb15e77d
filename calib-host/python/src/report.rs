//! Reports.

use calib_fit::decide::ReportedRule;
use calib_io::report::{Labels, Origin, ReportRequest, report_of};
use pyo3::prelude::*;

use crate::artifact::PyArtifact;
use crate::assess::of_assess;
use crate::data::PyDataset;
use crate::decide::{Action, costs_of};
use crate::errors::{MismatchError, UsageError, named};
use crate::interrupt::working;

/// The title of the page, the model, the date and a note.
type Named = (Option<String>, Option<String>, Option<String>, Option<String>);

/// Makes a report: as JSON, and as a page.
#[pyfunction]
#[pyo3(signature = (
    artifact, calibration, test, *, command, labels, bins, alpha, bootstrap, seed, extreme_probs, drawn_classes, same_rows, actions,
    uncalibrated, unsure,
))]
#[expect(clippy::too_many_arguments, reason = "Python calls it by name")]
pub(crate) fn report(
    py: Python<'_>,
    artifact: &Bound<'_, PyArtifact>,
    calibration: &Bound<'_, PyDataset>,
    test: &Bound<'_, PyDataset>,
    command: String,
    labels: Named,
    bins: usize,
    alpha: f64,
    bootstrap: Option<usize>,
    seed: u64,
    extreme_probs: &str,
    drawn_classes: usize,
    same_rows: bool,
    actions: Option<Vec<Action>>,
    uncalibrated: Option<&str>,
    unsure: Option<&str>,
) -> PyResult<(String, String)> {
    let stored = &*artifact.get().stored;
    let refused = |text: &str| Err(UsageError::new_err(text.to_owned()));
    match (bins, bootstrap) {
        (0 | 1001.., _) => return refused("bins is a number from 1 to 1000"),
        (_, Some(0)) => return refused("bootstrap is 1 or more"),
        _ if !(alpha > 0.0 && alpha < 1.0) => {
            return refused("alpha is a fraction between 0 and 1, such as 0.05");
        }
        _ => {}
    }
    let costs = actions.map(|actions| costs_of(actions, (uncalibrated, unsure), None)).transpose()?;
    let mut how = ReportRequest::default();
    (how.bins, how.alpha, how.bootstrap, how.seed) = (bins, alpha, bootstrap, seed);
    (how.extremes, how.drawn_classes, how.same_rows) = (named(extreme_probs)?, drawn_classes, same_rows);
    how.rule = ReportedRule::of(&stored.artifact(), costs.as_ref())
        .map_err(|cause| MismatchError::new_err(format!("the actions do not fit the artifact: {cause}")))?;
    let rows = [calibration, test].map(|rows| rows.get());
    how.warnings = rows.iter().filter_map(|rows| rows.warning()).collect();
    let (rows, origin) = (rows.map(|rows| &rows.data), Origin { command, ..Origin::default() });
    let made = working(py, || report_of(stored, rows, origin, &how))?;
    let mut report = made.map_err(|cause| of_assess(&cause))?;
    let (title, model, date, note) = labels;
    report.labels = Labels { title, model, date, note };
    let page = report.html().map_err(|cause| UsageError::new_err(cause.to_string()))?;
    let json = report.to_json().map_err(|cause| UsageError::new_err(cause.to_string()))?;
    Ok((json.to_string(), page))
}
