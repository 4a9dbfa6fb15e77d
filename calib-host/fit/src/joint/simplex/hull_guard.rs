//! The hull of the ROC surface, which calibration must not raise.

use super::model::SimplexCell;
use super::split_search::SteppedPoints;
use crate::stats::{Rows, surface_hull};

/// The hull of the ROC surface of scores among three classes.
///
/// Splits that keep the order of all splits before can still raise it, by thresholds that are no splits. A better ROC surface
/// on the points that were fitted is no merit.
pub(crate) struct HullGuard {
    six_volumes: i128,
}

impl HullGuard {
    /// That of some points; `None` if the classes are not three, or one has no points.
    pub(crate) fn new(points: &SteppedPoints<'_>, some: &[usize]) -> Option<Self> {
        if points.classes != 3 {
            return None;
        }
        let mut rows = Rows::default();
        for &point in some {
            let row = points.row(point);
            let row = std::array::from_fn(|class| row[class].into());
            rows[usize::from(points.labels[point])].push(row);
        }
        (!rows.iter().any(Vec::is_empty)).then(|| Self { six_volumes: surface_hull(&rows).six_volumes() })
    }

    /// Whether the values of regions, at the points in them, have no larger hull.
    ///
    /// The hull of very many different scores is taken from some of the thresholds, and then too small, if anything.
    pub(crate) fn allows(&self, regions: &[SimplexCell]) -> bool {
        /// So fine that values that differ stay apart, and differences fit.
        const STEPS: f64 = (1u64 << 52) as f64;
        let mut rows = Rows::default();
        for region in regions {
            let row = std::array::from_fn(|class| (region.probs[class] * STEPS).round() as i64);
            for (rows, &count) in rows.iter_mut().zip(&region.counts) {
                rows.extend((0..count).map(|_| row));
            }
        }
        surface_hull(&rows).six_volumes() <= self.six_volumes
    }
}
