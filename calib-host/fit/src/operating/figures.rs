//! How thresholds do on rows whose labels are known.

use super::scores::KeyedScores;
use crate::stats::Share;

/// How the thresholds of a group do on test rows. Every interval is exact, at the same alpha, and holds by itself.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize)]
pub struct PointFigures {
    /// The positives that are raised or referred, of all positives: the sensitivity that is promised.
    pub sensitivity: Share,
    /// The negatives that are cleared or referred, of all negatives: the specificity that is promised.
    pub specificity: Share,
    /// The positives that are raised, of all positives.
    pub raised_positives: Share,
    /// The negatives that are cleared, of all negatives.
    pub cleared_negatives: Share,
    /// The positives among those raised.
    pub ppv: Share,
    /// The negatives among those cleared.
    pub npv: Share,
}

impl PointFigures {
    /// Judges thresholds, given as keys, by rows that they were not chosen by.
    ///
    /// ```
    /// use calib_fit::BinaryData;
    /// use calib_fit::operating::{KeyedScores, PointFigures};
    ///
    /// let data = BinaryData::new(vec![0.125, 0.5, 0.75, 0.875], vec![false, true, false, true])?;
    /// let scores = KeyedScores::of_scores(&data)?;
    /// let figures = PointFigures::of(0.25f32.to_bits(), 0.75f32.to_bits(), &scores, 0.05);
    /// assert_eq!((figures.sensitivity.count, figures.raised_positives.count), (2, 1));
    /// assert_eq!((figures.ppv.count, figures.ppv.n), (1, 2));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Panics
    ///
    /// If alpha is not in `(0, 1)`, or the lower threshold is above the upper one.
    pub fn of(lower: u32, upper: u32, scores: &KeyedScores, alpha: f64) -> Self {
        assert!(lower <= upper, "{lower} above {upper}");
        let (positives, negatives) = (scores.positives(), scores.negatives());
        let raised = [scores.positives_from(upper), scores.negatives_from(upper)];
        let not_cleared = [scores.positives_from(lower), scores.negatives_from(lower)];
        let cleared = [positives - not_cleared[0], negatives - not_cleared[1]];
        let share = |count, n| Share::new(count, n, alpha);
        Self {
            sensitivity: share(not_cleared[0], positives),
            specificity: share(negatives - raised[1], negatives),
            raised_positives: share(raised[0], positives),
            cleared_negatives: share(cleared[1], negatives),
            ppv: share(raised[0], raised[0] + raised[1]),
            npv: share(cleared[1], cleared[0] + cleared[1]),
        }
    }
}
