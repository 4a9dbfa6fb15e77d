//! All monitors of one table.

use super::{ChangeMonitor, GuaranteeMonitor, LogEvidence, Reference, ShiftMonitor};
use crate::outcome::ProbInterval;

/// The three monitors of a calibrator's table, for a device that counts what it predicts.
///
/// Takes 16 bytes a bin and 16 more: 256 for 15 bins.
///
/// ```
/// use calib_core::ProbInterval;
/// use calib_core::monitor::{LogEvidence, Reference, TableMonitors};
///
/// let reference = Reference::to_count(&[250, 250, 250, 250])?;
/// let mut monitors = TableMonitors::<4>::new();
/// let (rare, guaranteed) = (LogEvidence::of_one_in(10_000), ProbInterval::new(0.1, 0.2));
/// for _ in 0..40 {
///     monitors.count(3, &reference, rare);
///     monitors.tell(3, true);
/// }
/// let evidence = monitors.look_for_shift(&reference, LogEvidence::of_one_in(20));
/// assert!(evidence.odds() > 1000 && monitors.shift().alarm_at() == Some(40));
/// let evidence = monitors.look_at_guarantee([guaranteed; 4].into_iter(), LogEvidence::of_one_in(100));
/// assert!(evidence.odds() > 1000 && monitors.guarantee().alarm_at() == Some(40));
///
/// // What is kept over a restart.
/// let saved: Vec<u32> = monitors.words().collect();
/// assert_eq!(TableMonitors::restored(&mut saved.into_iter()), Some(monitors));
/// # Ok::<(), calib_core::monitor::ReferenceError>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct TableMonitors<const B: usize> {
    shift: ShiftMonitor<B>,
    change: ChangeMonitor<B>,
    guarantee: GuaranteeMonitor<B>,
}

impl<const B: usize> TableMonitors<B> {
    /// How many words they are saved in.
    pub const WORDS: usize = 4 * B + 4;

    /// Makes monitors that have seen nothing.
    pub const fn new() -> Self {
        Self { shift: ShiftMonitor::new(), change: ChangeMonitor::new(), guarantee: GuaranteeMonitor::new() }
    }

    /// Counts a prediction whose score is in this bin of the reference, and tells whether it raises the alarm of a change.
    pub fn count(&mut self, bin: usize, reference: &Reference<'_>, alarm: LogEvidence) -> bool {
        let is_alarm = self.change.count(bin, &self.shift, reference, alarm);
        self.shift.count(bin);
        is_alarm
    }

    /// Counts the outcome of a prediction that was in this bin of the table. There is none without a prediction: what would be more
    /// outcomes than predictions is not counted. Tells whether it was.
    pub fn tell(&mut self, bin: usize, outcome: bool) -> bool {
        let before = self.guarantee.total();
        if before < self.shift.total() {
            self.guarantee.count(bin, outcome);
        }
        self.guarantee.total() > before
    }

    /// Works the evidence of a shift out, and raises its alarm if it is as much as this.
    pub fn look_for_shift(&mut self, reference: &Reference<'_>, alarm: LogEvidence) -> LogEvidence {
        self.shift.look(reference, alarm)
    }

    /// Works the evidence against the guarantee out, and raises its alarm if it is as much as this.
    pub fn look_at_guarantee(
        &mut self,
        guaranteed: impl Iterator<Item = Option<ProbInterval>>,
        alarm: LogEvidence,
    ) -> LogEvidence {
        self.guarantee.look(guaranteed, alarm)
    }

    /// Returns the monitor of a shift.
    pub const fn shift(&self) -> &ShiftMonitor<B> {
        &self.shift
    }

    /// Returns the monitor of a change.
    pub const fn change(&self) -> &ChangeMonitor<B> {
        &self.change
    }

    /// Returns the monitor of the guarantee.
    pub const fn guarantee(&self) -> &GuaranteeMonitor<B> {
        &self.guarantee
    }

    /// Returns all counters, as [`TableMonitors::restored`] takes them.
    pub fn words(&self) -> impl Iterator<Item = u32> + Clone + '_ {
        let alarms = [self.shift.alarm_at(), self.guarantee.alarm_at()].map(Option::unwrap_or_default);
        let (recent, of_change) = self.change.words();
        let outcomes = self.guarantee.counts().flat_map(|(labeled, positives)| [labeled, positives]);
        let all = self.shift.counts().iter().copied().chain(alarms).chain(recent.iter().copied());
        all.chain(of_change).chain(outcomes)
    }

    /// Takes [`TableMonitors::WORDS`] words over; `None` if there are fewer.
    pub fn restored(words: &mut (impl Iterator<Item = u32> + ?Sized)) -> Option<Self> {
        let counts = taken(words)?;
        // An alarm is raised by a prediction: one at 0 is none to a monitor.
        let [of_shift, of_guarantee] = taken::<2>(words)?.map(Some);
        let (recent, of_change) = (taken(words)?, taken(words)?);
        let (mut labeled, mut positives) = ([0; B], [0; B]);
        for (labeled, positives) in labeled.iter_mut().zip(&mut positives) {
            [*labeled, *positives] = taken(words)?;
        }
        Some(Self {
            shift: ShiftMonitor::resumed(counts, of_shift),
            change: ChangeMonitor::resumed(recent, of_change),
            guarantee: GuaranteeMonitor::resumed(labeled, positives, of_guarantee),
        })
    }
}

/// The next words; `None` if there are fewer.
fn taken<const N: usize>(words: &mut (impl Iterator<Item = u32> + ?Sized)) -> Option<[u32; N]> {
    let mut taken = [0; N];
    for word in &mut taken {
        *word = words.next()?;
    }
    Some(taken)
}

#[cfg(test)]
mod tests {
    use std::vec::Vec;

    use proptest::prelude::*;

    use super::*;

    extern crate std;

    #[test]
    fn they_take_256_bytes_for_15_bins_and_are_saved_in_as_many() {
        assert_eq!(size_of::<TableMonitors<15>>(), 256);
        assert_eq!(4 * TableMonitors::<15>::WORDS, 256);
    }

    #[test]
    fn there_are_no_more_outcomes_than_predictions() {
        let reference = Reference::to_count(&[9, 9]).unwrap();
        let mut monitors = TableMonitors::<3>::new();
        assert!(!monitors.tell(1, true));
        monitors.count(0, &reference, LogEvidence::of_one_in(2));
        assert!(!monitors.tell(3, true), "there is no such bin");
        // A monitor may have separate bins: which of the table's the prediction was in is not known.
        assert!(monitors.tell(1, true));
        assert!(!monitors.tell(1, true) && !monitors.tell(0, false));
        assert!(monitors.guarantee().counts().eq([(0, 0), (1, 1), (0, 0)]));
    }

    #[test]
    fn words_that_are_too_few_are_not_read() {
        let words: Vec<u32> = TableMonitors::<2>::new().words().collect();
        assert_eq!(words.len(), TableMonitors::<2>::WORDS);
        for len in 0..words.len() {
            let (short, _) = words.split_at(len);
            assert_eq!(TableMonitors::<2>::restored(&mut short.iter().copied()), None);
        }
        assert_eq!(TableMonitors::restored(&mut words.into_iter()), Some(TableMonitors::<2>::new()));
    }

    proptest! {
        /// The same as the separate monitors, and as one that was saved and restored in between.
        #[test]
        fn are_the_monitors_by_themselves(
            stream in prop::collection::vec((0usize..4, any::<bool>()), 1..400),
            restart in 0usize..400,
        ) {
            let gaps = [3, 40, 7, 12];
            let (reference, alarm) = (Reference::new(&gaps).unwrap(), LogEvidence::of_one_in(8));
            let to_count = Reference::to_count(&gaps).unwrap();
            let guaranteed = || [ProbInterval::new(0.2, 0.4); 4].into_iter();
            let mut all = TableMonitors::<4>::new();
            let (mut shift, mut change, mut guarantee) =
                (ShiftMonitor::<4>::new(), ChangeMonitor::<4>::new(), GuaranteeMonitor::<4>::new());
            for (at, (bin, outcome)) in stream.into_iter().enumerate() {
                let is_alarm = change.count(bin, &shift, &reference, alarm);
                shift.count(bin);
                guarantee.count(bin, outcome);
                prop_assert_eq!(all.count(bin, &to_count, alarm), is_alarm);
                prop_assert!(all.tell(bin, outcome));
                prop_assert_eq!(all.look_for_shift(&to_count, alarm), shift.look(&reference, alarm));
                prop_assert_eq!(all.look_at_guarantee(guaranteed(), alarm), guarantee.look(guaranteed(), alarm));
                if at == restart {
                    let words: Vec<u32> = all.words().collect();
                    all = TableMonitors::restored(&mut words.into_iter()).unwrap();
                }
            }
            prop_assert_eq!((all.shift(), all.change(), all.guarantee()), (&shift, &change, &guarantee));
        }
    }
}
