//! From a probability to an alarm.

use core::cmp::Ordering;

use serde::{Deserialize, Serialize};

/// Which calibrated probabilities raise the alarm.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub enum AlarmRule {
    /// This one and those above: class 1 of a binary classifier is likely.
    AtLeast(f32),
    /// Those below this one: a prediction is not to be trusted.
    Below(f32),
}

impl AlarmRule {
    /// Whether this calibrated probability raises the alarm. A threshold that is NaN always does.
    pub fn is_raised_by(self, prob: f32) -> bool {
        match self {
            Self::AtLeast(threshold) => prob.partial_cmp(&threshold) != Some(Ordering::Less),
            Self::Below(threshold) => {
                !matches!(prob.partial_cmp(&threshold), Some(Ordering::Equal | Ordering::Greater))
            }
        }
    }

    /// The probability at which the rule changes its mind.
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
