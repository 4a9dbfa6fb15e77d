//! What a classifier of several classes predicts, by its logits alone.

use serde::{Deserialize, Serialize};

use super::margin::Margin;

/// A predicted class with the top-two margin of the logits: the largest logit minus the second largest.
///
/// Finding both takes comparisons and one subtraction, and no exponential.
/// [`Logits::top_label_margin`](super::Logits::top_label_margin) finds them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct TopLabelMargin {
    /// The predicted class, 0-based.
    pub class: u16,
    /// The top-two margin of the logits, at least 0.
    pub margin: Margin,
}
