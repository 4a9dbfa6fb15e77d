//! Asking whether rows are independent.

use calib_core::TopLabel;
use calib_fit::assess::Prediction;
use calib_fit::data::{BinaryData, Repeats};
use calib_fit::stats::Clusters;
use calib_fit::{FitError, Vectors};

/// What to warn of if rows do not look independent, unless somebody said which belong together.
pub(crate) fn question_independence(data: &BinaryData, clusters: Option<&Clusters>) -> Option<String> {
    if clusters.is_some() {
        return None;
    }
    // Only points on a disk could fail to be read, and these are not looked at.
    Repeats::noticed_in(data).ok().flatten().map(with_hint)
}

/// As [`question_independence`], of points that may be more than fit into memory, and of any floats.
pub(crate) fn question_points(data: &BinaryData) -> Result<Option<String>, FitError> {
    let rounded = (!data.is_packed()).then(|| data.clone().on_device());
    Ok(Repeats::noticed_anywhere(rounded.as_ref().unwrap_or(data))?.map(with_hint))
}

pub(super) fn with_hint(noticed: Repeats) -> String {
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
pub(crate) fn question_predictions(rows: &[Prediction], clusters: Option<&Clusters>) -> Option<String> {
    if clusters.is_some() {
        return None;
    }
    let (scores, labels) = rows.iter().map(|row| (row.prob, row.hit)).unzip();
    // Without rows there is nothing to ask.
    let data = BinaryData::new(scores, labels).ok()?;
    question_independence(&data.on_device(), None)
}
