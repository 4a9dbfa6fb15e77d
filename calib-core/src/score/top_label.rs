//! What a classifier of several classes predicts.

use serde::{Deserialize, Serialize};

use super::float::Score;

/// A predicted class with the classifier's score for it.
///
/// The default, class 0 with score 0, fills the places of a list that is still to be written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct TopLabel {
    /// The predicted class, 0-based.
    pub class: u16,
    /// The classifier's score for that class, not yet calibrated.
    pub score: Score,
}
