//! Asking whether rows are independent.

use std::io;
use std::path::Path;

use calib_core::TopLabel;
use calib_host::Vectors;
use calib_host::assess::Prediction;
use calib_host::data::{BinaryData, Repeats};
use calib_host::files::Place;
use calib_host::stats::Clusters;

use crate::cli::error::Error;
use crate::cli::out::warn;

/// Warns if rows do not look independent, unless somebody said which belong together.
pub(crate) fn question_independence(data: &BinaryData, clusters: Option<&Clusters>) -> io::Result<()> {
    if clusters.is_some() {
        return Ok(());
    }
    // Only points on a disk could fail to be read, and these are not looked at.
    let noticed = Repeats::noticed_in(data).ok().flatten();
    warn(noticed.map(with_hint).as_slice())
}

/// As [`question_independence`], of points that may be more than fit into memory, and of any floats.
pub(crate) fn question_points(data: &BinaryData) -> Result<(), Error> {
    let rounded = (!data.is_packed()).then(|| data.clone().on_device());
    let noticed = Repeats::noticed_anywhere(rounded.as_ref().unwrap_or(data));
    let noticed = noticed.map_err(|cause| Error::Fit { place: Place::file(Path::new("")).into(), cause })?;
    Ok(warn(noticed.map(with_hint).as_slice())?)
}

fn with_hint(noticed: Repeats) -> String {
    format!("{noticed} Then name the patient with --cluster-column.")
}

/// What vectors predict, with what came of it.
pub(crate) fn predictions(vectors: &Vectors, labels: &[i64]) -> Vec<Prediction> {
    let rows = vectors.top_labels().zip(labels);
    let prediction = |(top, &label): (TopLabel, &i64)| Prediction {
        class: top.class,
        prob: top.score.get().into(),
        bin: 0,
        hit: i64::from(top.class) == label,
    };
    rows.map(prediction).collect()
}

/// As [`question_independence`], of predictions.
pub(crate) fn question_predictions(rows: &[Prediction], clusters: Option<&Clusters>) -> io::Result<()> {
    let (scores, labels) = rows.iter().map(|row| (row.prob, row.hit)).unzip();
    match BinaryData::new(scores, labels) {
        Ok(data) => question_independence(&data.on_device(), clusters),
        // There are none.
        Err(_) => Ok(()),
    }
}
