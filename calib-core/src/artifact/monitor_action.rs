//! What a device does on an alarm of its monitors.

use core::fmt;

use serde::{Deserialize, Serialize};

/// What a device does from an alarm on, until it counts anew; without one the alarm is only told when somebody asks.
///
/// It is done on an alarm of a shift or of the guarantee, of any table: the probability that such an alarm is ever false is bounded. An
/// alarm of a change is not acted on, as one comes every so many predictions with nothing wrong.
///
/// The section is mandatory: a reader that does not know it refuses the artifact, and a device without monitors that have room for the
/// calibrator's tables refuses it, too ([`Admission::watched`](crate::slot::Admission::watched)).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[repr(u32)]
pub enum MonitorAction {
    /// The device's alarm stays raised, whatever it predicts. Predictions are answered as before.
    Alarm = 1,
    /// Every prediction is uncalibrated, and so the device's alarm stays raised.
    Uncalibrated = 2,
}

impl MonitorAction {
    /// Reads the payload of a section; `None` if it is none.
    pub(super) fn parse(payload: &[u8]) -> Option<Self> {
        let number = u32::from_le_bytes(payload.try_into().ok()?);
        [Self::Alarm, Self::Uncalibrated].into_iter().find(|&action| action as u32 == number)
    }
}

impl fmt::Display for MonitorAction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Alarm => "alarm",
            Self::Uncalibrated => "uncalibrated",
        })
    }
}
