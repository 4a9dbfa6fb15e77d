//! From a probability to an alarm.

use core::cmp::Ordering;

use serde::{Deserialize, Serialize};

/// A threshold that says which calibrated probabilities raise the alarm.
///
/// ```
/// use calib_core::AlarmRule;
///
/// assert!(AlarmRule::AtLeast(0.25).is_raised_by(0.25));
/// assert!(!AlarmRule::Below(0.25).is_raised_by(0.25));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub enum AlarmRule {
    /// Probabilities at or above this one: class 1 of a binary classifier is likely.
    AtLeast(f32),
    /// Probabilities below this one: the prediction is not to be trusted.
    Below(f32),
}

impl AlarmRule {
    /// Tells whether a calibrated probability raises the alarm. If the threshold or the probability is NaN, it does.
    pub fn is_raised_by(self, prob: f32) -> bool {
        match self {
            Self::AtLeast(threshold) => prob.partial_cmp(&threshold) != Some(Ordering::Less),
            Self::Below(threshold) => {
                !matches!(prob.partial_cmp(&threshold), Some(Ordering::Equal | Ordering::Greater))
            }
        }
    }

    /// Returns the threshold.
    pub const fn threshold(self) -> f32 {
        match self {
            Self::AtLeast(threshold) | Self::Below(threshold) => threshold,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_threshold_that_is_no_number_always_raises() {
        for prob in [0.0, 0.5, 1.0] {
            assert!(AlarmRule::AtLeast(f32::NAN).is_raised_by(prob));
            assert!(AlarmRule::Below(f32::NAN).is_raised_by(prob));
        }
    }
}
