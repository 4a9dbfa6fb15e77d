//! Scores that monitors compare with, of which nobody needs to know the labels.

use std::path::Path;

use calib_fit::ScoreKind;
use calib_fit::artifact::Monitoring;
use calib_io::files::Location;
use calib_io::input::Table;

use super::files::read_all;
use crate::context::Context;
use crate::error::Error;
use crate::options::MonitorOptions;

/// Reads binary scores of this kind, which need no labels.
pub(crate) fn device_scores(
    path: &Path,
    column: &str,
    kind: ScoreKind,
    cx: &Context,
) -> Result<Vec<f32>, Error> {
    let source = &read_all(&[path], cx)?[0];
    Ok(Table::read_only(source, &[column])?.numbers(column)?.device_scores(kind)?)
}

/// Reads binary scores of this kind, and returns the monitors that compare with them.
pub(crate) fn monitors_of_scores(
    monitors: &MonitorOptions,
    (path, column): (&Path, &str),
    kind: ScoreKind,
    cx: &Context,
) -> Result<Option<Monitoring>, Error> {
    let scores = device_scores(path, column, kind, cx)?;
    monitors.of_scores(kind, &scores, &Location::file(path))
}
