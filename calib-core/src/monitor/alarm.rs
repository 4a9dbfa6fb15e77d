//! When an alarm was raised.

use super::LogEvidence;

/// After how many predictions or outcomes an alarm was raised; 0 if it was not.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub(super) struct AlarmAt(u32);

impl AlarmAt {
    pub(super) const fn new(at: Option<u32>) -> Self {
        match at {
            Some(at) => Self(at),
            None => Self(0),
        }
    }

    /// Raises the alarm if there is as much evidence as `alarm` after so many. Once raised, it stays as it is.
    pub(super) fn raise(&mut self, evidence: LogEvidence, alarm: LogEvidence, total: u32) {
        if evidence >= alarm && self.0 == 0 {
            self.0 = total;
        }
    }

    pub(super) const fn get(self) -> Option<u32> {
        if self.0 == 0 { None } else { Some(self.0) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_alarm_keeps_its_time() {
        let (level, more) = (LogEvidence::of_one_in(20), LogEvidence::of_one_in(40));
        let mut alarm = AlarmAt::new(None);
        alarm.raise(LogEvidence::of_one_in(19), level, 6);
        assert_eq!(alarm.get(), None);
        alarm.raise(level, level, 7);
        alarm.raise(more, level, 8);
        assert_eq!((alarm.get(), AlarmAt::new(alarm.get())), (Some(7), alarm));
    }
}
