//! What a monitor has come to: an alarm, and full counters.

use super::LogEvidence;

/// The bit that tells of full counters.
const FULL: u32 = 1 << 31;

/// After how many predictions or outcomes an alarm was raised, 0 if it was not, and whether a counter is full: in one word, so that counting looks
/// at that one alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub(super) struct Marks(u32);

impl Marks {
    /// Those of a monitor that has raised its alarm after so many, if it has, and whose counters are full or not.
    pub(super) const fn new(alarm_at: Option<u32>, are_full: bool) -> Self {
        let alarm_at = match alarm_at {
            Some(at) => in_31_bits(at),
            None => 0,
        };
        Self(if are_full { alarm_at | FULL } else { alarm_at })
    }

    /// Raises the alarm if there is as much evidence as `alarm` after so many. Once raised, it stays as it is.
    pub(super) fn raise(&mut self, evidence: LogEvidence, alarm: LogEvidence, total: u32) {
        if evidence >= alarm && self.alarm_at().is_none() {
            self.0 |= in_31_bits(total);
        }
    }

    /// After how many the alarm was raised: 2^31 - 1 also if after more.
    pub(super) const fn alarm_at(self) -> Option<u32> {
        match self.0 & !FULL {
            0 => None,
            at => Some(at),
        }
    }

    /// Notes that a counter is full.
    pub(super) fn fill(&mut self) {
        self.0 |= FULL;
    }

    pub(super) const fn are_full(self) -> bool {
        self.0 & FULL != 0
    }
}

const fn in_31_bits(at: u32) -> u32 {
    if at < FULL { at } else { FULL - 1 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_alarm_keeps_its_time() {
        let (level, more) = (LogEvidence::of_one_in(20), LogEvidence::of_one_in(40));
        for are_full in [false, true] {
            let mut marks = Marks::new(None, are_full);
            marks.raise(LogEvidence::of_one_in(19), level, 6);
            assert_eq!(marks.alarm_at(), None);
            marks.raise(level, level, 7);
            marks.raise(more, level, 8);
            assert_eq!((marks.alarm_at(), Marks::new(marks.alarm_at(), are_full)), (Some(7), marks));
            assert_eq!(marks.are_full(), are_full);
            marks.fill();
            assert!(marks.are_full() && marks.alarm_at() == Some(7));
            for at in [FULL - 1, FULL, u32::MAX] {
                let mut late = Marks::new(None, are_full);
                late.raise(level, level, at);
                assert_eq!((late.alarm_at(), late.are_full()), (Some(FULL - 1), are_full));
                assert_eq!(Marks::new(Some(at), are_full), late);
            }
        }
    }
}
