//! Asking whether rows are independent.

use std::path::Path;

use calib_fit::assess::Prediction;
use calib_fit::data::{BinaryData, Repeats};
use calib_fit::job::Finding;
use calib_fit::stats::Clusters;

use crate::error::sentence;

/// What to warn of if rows do not look independent, unless an option states which belong together.
pub(crate) fn independence_warning(data: &BinaryData, clusters: Option<&Clusters>) -> Option<String> {
    if clusters.is_some() {
        return None;
    }
    // Only points on a disk could fail to be read, and these are not looked at.
    Repeats::noticed_in(data).ok().flatten().map(with_hint)
}

pub(super) fn with_hint(noticed: Repeats) -> String {
    sentence(&Finding::Dependence(noticed), Path::new("-"))
}

/// As [`independence_warning`], of predictions.
pub(crate) fn prediction_warning(rows: &[Prediction], clusters: Option<&Clusters>) -> Option<String> {
    Finding::of_predictions(rows, clusters).map(|finding| sentence(&finding, Path::new("-")))
}
