//! Whether predictions come from another distribution from some time on.

use super::counts::total;
use super::evidence::from_log;
use super::log_ratio::ln_ratio;
use super::{LogEvidence, Reference, ShiftMonitor};

/// What the newest prediction counts, at least: weights grow by a part in 500 with every prediction instead of shrinking all
/// counts, and are halved with all counts when they have doubled.
const LEAST_WEIGHT: u16 = 1 << 15;

/// Notices a change after however long a quiet life: e-CUSUM (Shin, Ramdas and Rinaldo 2024).
///
/// The evidence of [`ShiftMonitor`] is about a whole life, so that a change after a million quiet predictions takes as many to be
/// seen. This one starts again whenever evidence falls below 1, and bets on what the last 500 or so predictions did: half on the
/// urn's probability p_b, half on the share of bin b among counts that fade by 1 - 1/500 a prediction. An alarm at evidence c is
/// false once in c predictions or more rarely, on average over calibration draws and lives. It depends on the order of predictions
/// and is local to a device.
///
/// Takes 4 bytes a bin and 8 more, and a logarithm a prediction.
///
/// ```
/// use calib_core::monitor::{ChangeMonitor, LogEvidence, Reference, ShiftMonitor};
///
/// let reference = Reference::new(&[250, 250, 250, 250])?;
/// let (mut shift, mut change) = (ShiftMonitor::<4>::new(), ChangeMonitor::<4>::new());
/// // On average a false alarm in 10 000 predictions, or fewer.
/// let alarm = LogEvidence::of_one_in(10_000);
/// let stream = (0..2000).map(|i| i % 4).chain([3; 200]);
/// let alarms = stream.filter(|&bin| {
///     let is_alarm = change.count(bin, &shift, &reference, alarm);
///     shift.count(bin);
///     is_alarm
/// });
/// assert!(alarms.count() >= 1);
/// # Ok::<(), calib_core::monitor::ReferenceError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct ChangeMonitor<const B: usize> {
    /// The predictions of each bin, by weight.
    recent: [u32; B],
    /// The logarithm of the evidence since it was last below 1, in units of 2^-24.
    evidence: i32,
    /// What the next prediction counts.
    weight: u16,
    /// For how many predictions there was no alarm, and one more; 0 if there never was one.
    since_alarm: u16,
}

impl<const B: usize> ChangeMonitor<B> {
    /// Makes a monitor that has seen nothing.
    pub const fn new() -> Self {
        Self { recent: [0; B], evidence: 0, weight: LEAST_WEIGHT, since_alarm: 0 }
    }

    /// Counts a prediction whose score is in this bin, and tells whether it raises the alarm: if it does, the evidence starts again.
    ///
    /// `before` has counted all predictions before this one. A bin that the reference does not have is not counted, nor is any
    /// when `before` is full.
    pub fn count(
        &mut self,
        bin: usize,
        before: &ShiftMonitor<B>,
        reference: &Reference<'_>,
        alarm: LogEvidence,
    ) -> bool {
        let known = reference.of(bin).zip(before.counts().get(bin)).zip(self.recent.get_mut(bin));
        let Some(((gaps, &count), recent)) = known.filter(|_| !before.is_full()) else { return false };
        let recent_here = u64::from(*recent);
        *recent = recent.saturating_add(self.weight.into());
        let all_recent = u64::from(total(&self.recent).saturating_sub(self.weight.into()));
        // The bet's ratio to p is (1 + d / D / p) / 2, with p = (gaps + count) / all.
        let urn = all_recent * (u64::from(gaps) + u64::from(count));
        let all = u64::from(reference.gaps()) + u64::from(before.total());
        let increment = if all_recent == 0 {
            0
        } else {
            // Less what a logarithm may be too large by.
            from_log(ln_ratio(urn + recent_here * all, 2 * urn) - 32)
        };
        let evidence = i64::from(self.evidence.max(0)) + increment;
        self.evidence = evidence.clamp(i32::MIN.into(), i32::MAX.into()) as i32;
        self.fade();
        let is_alarm = i64::from(self.evidence) >= alarm.units();
        if is_alarm {
            self.evidence = 0;
            self.since_alarm = 1;
        } else if self.since_alarm > 0 {
            self.since_alarm = self.since_alarm.saturating_add(1);
        }
        is_alarm
    }

    /// Returns the evidence of a change since it was last below 1.
    pub const fn evidence(&self) -> LogEvidence {
        LogEvidence::from_units(self.evidence as i64)
    }

    /// Returns the counts, and all else in two words.
    pub(super) const fn words(&self) -> (&[u32; B], [u32; 2]) {
        let weights = (self.since_alarm as u32) << 16 | self.weight as u32;
        (&self.recent, [self.evidence as u32, weights])
    }

    /// Makes the monitor of which [`ChangeMonitor::words`] told.
    pub(super) fn resumed(recent: [u32; B], [evidence, weights]: [u32; 2]) -> Self {
        // Counts weigh that much at least, and their sum is taken for the sum of weights.
        let weight = (weights as u16).max(LEAST_WEIGHT);
        Self { recent, evidence: evidence as i32, weight, since_alarm: (weights >> 16) as u16 }
    }

    /// Returns how many predictions there were since the last alarm, at most 65 534; `None` if there was none.
    pub const fn since_alarm(&self) -> Option<u16> {
        self.since_alarm.checked_sub(1)
    }

    /// Lets all counts so far fade by a part in 500, by what the next one counts.
    fn fade(&mut self) {
        // 131 / 65 536 is 1 / 500.3. The bet is a distribution whatever the weights are.
        let weight = u32::from(self.weight);
        let grown = weight + ((weight * 131 + (1 << 15)) >> 16);
        self.weight = u16::try_from(grown).unwrap_or_else(|_| {
            self.recent.iter_mut().for_each(|count| *count /= 2);
            (grown / 2) as u16
        });
    }
}

impl<const B: usize> Default for ChangeMonitor<B> {
    fn default() -> Self {
        Self::new()
    }
}

#[cfg(test)]
mod tests {
    use std::vec::Vec;

    use proptest::prelude::*;

    use super::*;

    extern crate std;

    #[test]
    fn it_takes_68_bytes_for_15_bins() {
        assert_eq!(size_of::<ChangeMonitor<15>>(), 68);
    }

    /// Given the past, the expected factor of the next prediction is 1 while nothing is wrong.
    #[test]
    fn the_bet_is_fair() {
        let gaps = [30, 1, 200];
        let reference = Reference::new(&gaps).unwrap();
        let (mut shift, mut change) = (ShiftMonitor::<3>::new(), ChangeMonitor::<3>::new());
        for t in 0..3000u32 {
            let all = f64::from(reference.gaps() + shift.total());
            let factors = (0..3).map(|bin| {
                // From evidence that does not fall below 1.
                let mut next = ChangeMonitor { evidence: 20 << 24, ..change.clone() };
                next.count(bin, &shift, &reference, LogEvidence::from_units(i64::MAX));
                let log = (next.evidence - (20 << 24)) as f64 / LogEvidence::UNITS as f64;
                f64::from(gaps[bin] + shift.counts()[bin]) / all * libm::exp(log)
            });
            let expected: f64 = factors.sum();
            assert!(expected <= 1.0 && expected > 1.0 - 1e-6, "{t}: {expected}");
            let bin = (t.wrapping_mul(2_654_435_761) >> 16) as usize % 3;
            change.count(bin, &shift, &reference, LogEvidence::of_one_in(1 << 20));
            shift.count(bin);
        }
    }

    #[test]
    fn an_alarm_starts_it_anew_and_is_remembered() {
        let reference = Reference::new(&[500, 500]).unwrap();
        let (mut shift, mut change) = (ShiftMonitor::<2>::new(), ChangeMonitor::<2>::new());
        let alarm = LogEvidence::of_one_in(100);
        assert_eq!(change.since_alarm(), None);
        change.count(0, &shift, &reference, alarm);
        shift.count(0);
        assert_eq!(change.since_alarm(), None);
        let first = (0..100).position(|_| {
            let is_alarm = change.count(1, &shift, &reference, alarm);
            shift.count(1);
            is_alarm
        });
        assert!(first.is_some_and(|first| first > 5), "{first:?}");
        assert_eq!((change.evidence(), change.since_alarm()), (LogEvidence::NONE, Some(0)));
        assert!(!change.count(0, &shift, &reference, alarm));
        assert_eq!(change.since_alarm(), Some(1));
    }

    /// A bet whose ratio is 1, of which a logarithm may be told too large.
    #[test]
    fn an_increment_is_rounded_down() {
        let reference = Reference::new(&[500, 500]).unwrap();
        let mut change = ChangeMonitor::<2>::resumed([1 << 20; 2], [0, LEAST_WEIGHT.into()]);
        change.count(0, &ShiftMonitor::new(), &reference, LogEvidence::of_one_in(9));
        assert_eq!(change.evidence().units(), -1);
    }

    /// By 131 parts in 65 536, rounded to the nearest.
    #[test]
    fn the_next_prediction_counts_a_part_in_500_more() {
        for (weight, next) in [(LEAST_WEIGHT, 32_834), (40_000, 40_080), (50_021, 50_121), (65_404, 65_535)] {
            let mut change = ChangeMonitor::<2>::resumed([0; 2], [0, weight.into()]);
            change.fade();
            assert_eq!(change.weight, next, "{weight}");
        }
        // Beyond 16 bits all is halved.
        let mut change = ChangeMonitor::<2>::resumed([7, 100], [0, 65_405]);
        change.fade();
        assert_eq!((change.weight, change.recent), (32_768, [3, 50]));
    }

    #[test]
    fn a_weight_that_was_never_saved_is_the_least() {
        for saved in [0, 1, LEAST_WEIGHT - 1] {
            let resumed = ChangeMonitor::<2>::resumed([0; 2], [0, saved.into()]);
            assert_eq!((resumed.weight, resumed.since_alarm()), (LEAST_WEIGHT, None));
        }
    }

    #[test]
    fn what_is_in_no_bin_changes_nothing() {
        let reference = Reference::new(&[500, 500]).unwrap();
        let (shift, mut change) = (ShiftMonitor::<3>::new(), ChangeMonitor::<3>::new());
        let fresh = change.clone();
        let full = ShiftMonitor::resumed([u32::MAX / 3; 3], None);
        for (bin, before) in [(2, &shift), (3, &shift), (usize::MAX, &shift), (0, &full)] {
            assert!(!change.count(bin, before, &reference, LogEvidence::NONE));
            assert_eq!(change, fresh);
        }
    }

    proptest! {
        /// The same as in doubles with counts that fade.
        #[test]
        fn is_e_cusum(
            gaps in prop::collection::vec(1u32..300, 2..=6),
            stream in prop::collection::vec(0usize..6, 0..3000),
        ) {
            let stream: Vec<usize> = stream.into_iter().map(|bin| bin % gaps.len()).collect();
            let reference = Reference::new(&gaps).unwrap();
            let (mut shift, mut change) = (ShiftMonitor::<6>::new(), ChangeMonitor::<6>::new());
            let (mut faded, mut evidence) = ([0.0f64; 6], 0.0f64);
            for bin in stream {
                let p = f64::from(gaps[bin] + shift.counts()[bin])
                    / f64::from(reference.gaps() + shift.total());
                let sum: f64 = faded.iter().sum();
                let share = if sum > 0.0 { faded[bin] / sum } else { p };
                evidence = evidence.max(0.0) + libm::log((p + share) / 2.0 / p);
                faded.iter_mut().for_each(|count| *count *= 1.0 - 1.0 / 500.0);
                faded[bin] += 1.0;
                // What 32 bits hold ends at 128.
                if change.count(bin, &shift, &reference, LogEvidence::from_units(100 << 24)) {
                    prop_assert!((evidence - 100.0).abs() < 2.0);
                    evidence = 0.0;
                }
                shift.count(bin);
                let found = f64::from(change.evidence) / LogEvidence::UNITS as f64;
                prop_assert!((found - evidence).abs() < 0.02 + 0.01 * evidence.abs(), "{found} {evidence}");
            }
        }
    }
}
