//! Calibration points grouped by score.

use rayon::prelude::*;

use crate::cancel;

/// All calibration points with one score.
///
/// Every binned fit starts from these: a lookup cannot distinguish points with equal scores, so their order must not
/// matter. A row for `n` points of which `positives` have label 1 is the same as those points.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Group {
    /// The score.
    pub score: f64,
    /// The number of points, at least 1.
    pub n: u64,
    /// How many of them have label 1.
    pub positives: u64,
}

/// Groups points, in ascending order of score. `points` are (score, number of points, number of positives).
pub(crate) fn group(mut points: Vec<(f64, u64, u64)>) -> Vec<Group> {
    cancel::check_canceled();
    points.par_sort_unstable_by(|a, b| a.0.total_cmp(&b.0));
    points
        .chunk_by(|a, b| a.0 == b.0)
        .map(|tied| Group {
            // -0.0, which equals 0.0, is no edge that a device reads; 0.0 is.
            score: tied[0].0 + 0.0,
            n: tied.iter().map(|point| point.1).sum(),
            positives: tied.iter().map(|point| point.2).sum(),
        })
        .filter(|group| group.n > 0)
        .collect()
}

/// The number of points and of positives in groups.
pub(crate) fn totals(groups: &[Group]) -> (u64, u64) {
    groups.iter().fold((0, 0), |(n, positives), group| (n + group.n, positives + group.positives))
}
