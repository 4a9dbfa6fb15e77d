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
    fn a_threshold_belongs_above() {
        let (below, above) = (0.25f32.next_down(), 0.25f32.next_up());
        for (prob, at_least, is_below) in [
            (0.0, false, true),
            (below, false, true),
            (0.25, true, false),
            (above, true, false),
            (1.0, true, false),
        ] {
            let raised =
                [AlarmRule::AtLeast(0.25), AlarmRule::Below(0.25)].map(|rule| rule.is_raised_by(prob));
            assert_eq!(raised, [at_least, is_below], "{prob}");
        }
        assert_eq!((AlarmRule::AtLeast(0.25).threshold(), AlarmRule::Below(0.75).threshold()), (0.25, 0.75));
    }

    #[test]
    fn a_threshold_that_is_no_number_always_raises() {
        for prob in [0.0, 0.5, 1.0] {
            assert!(AlarmRule::AtLeast(f32::NAN).is_raised_by(prob));
            assert!(AlarmRule::Below(f32::NAN).is_raised_by(prob));
            assert!(AlarmRule::AtLeast(prob).is_raised_by(f32::NAN));
            assert!(AlarmRule::Below(prob).is_raised_by(f32::NAN));
        }
    }
}
