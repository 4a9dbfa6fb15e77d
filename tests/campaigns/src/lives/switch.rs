//! Who switches devices off, and when.

use std::fmt;

use calib_core::monitor::{LogEvidence, Reference, ShiftMonitor};
use calib_core::wire::Persistence;
use rand_xoshiro::Xoshiro256PlusPlus;

use crate::lives::device::{BINS, Device, GAPS, uniform};

/// Who switches a device off.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Switch {
    /// Nobody.
    Never,
    /// Everybody, after so many predictions.
    Every(u32),
    /// Chance, after a prediction with a probability of one in so many.
    AtRandom(u32),
    /// Somebody who asks for the counters after every prediction, and wants an alarm.
    WhoSeesCounters,
    /// Somebody who sees every score, too.
    WhoSeesScores,
}

/// Somebody at the switch.
pub(crate) struct Operator {
    switch: Switch,
    since_start: u32,
    /// The evidence as it was told last, and before that.
    told: [LogEvidence; 2],
    /// What the counters are if nothing is lost.
    seen: ShiftMonitor<BINS>,
}

impl Switch {
    pub(crate) fn operator(self) -> Operator {
        Operator { switch: self, since_start: 0, told: [LogEvidence::NONE; 2], seen: ShiftMonitor::new() }
    }

    /// Whether the bound on false alarms holds against him where a device saves after so many predictions.
    pub const fn is_covered(self, every: u32) -> bool {
        every == 1 || !matches!(self, Self::WhoSeesScores)
    }
}

impl Operator {
    /// Whether he switches the device off after a prediction in this bin.
    pub(crate) fn switches_off(
        &mut self,
        device: &mut Device,
        bin: u16,
        random: &mut Xoshiro256PlusPlus,
    ) -> bool {
        self.since_start += 1;
        let is_off = match self.switch {
            Switch::Never => false,
            Switch::Every(predictions) => self.since_start >= predictions,
            Switch::AtRandom(rarity) => uniform(random) * f64::from(rarity) <= 1.0,
            Switch::WhoSeesCounters => self.dislikes_what_is_told(device),
            Switch::WhoSeesScores => self.dislikes_what_came(device, bin),
        };
        if is_off {
            self.since_start = 0;
        }
        is_off
    }

    /// He lets a device go on as long as the evidence grows from one answer to the next, and drops what is not saved yet when it fell.
    fn dislikes_what_is_told(&mut self, device: &mut Device) -> bool {
        let counters = device.counters();
        if self.told[0] != counters.shift.evidence {
            self.told = [counters.shift.evidence, self.told[0]];
        }
        matches!(counters.persistence, Persistence::SavedExcept(1..)) && self.told[0] < self.told[1]
    }

    /// He works out what the evidence would be, and drops predictions before the save that would keep them if it fell since the last one.
    fn dislikes_what_came(&mut self, device: &mut Device, bin: u16) -> bool {
        let counters = device.counters();
        let reference = Reference::new(&GAPS).expect("there are gaps");
        let saved = counters.shift.evidence;
        let Persistence::SavedExcept(unsaved) = counters.persistence else { return false };
        if unsaved == 0 {
            let counts = core::array::from_fn(|bin| counters.predictions[bin]);
            self.seen = ShiftMonitor::resumed(counts, None);
            return false;
        }
        self.seen.count(bin.into());
        self.seen.evidence(&reference) < saved && (unsaved + 1).is_power_of_two()
    }
}

impl fmt::Display for Switch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Never => f.write_str("never"),
            Self::Every(predictions) => write!(f, "every {predictions}"),
            Self::AtRandom(rarity) => write!(f, "at random, 1 in {rarity}"),
            Self::WhoSeesCounters => f.write_str("by who sees the counters"),
            Self::WhoSeesScores => f.write_str("by who sees each score"),
        }
    }
}
