//! Whether predictions come from another distribution than the calibration scores.

use super::counts::{are_full, count, total};
use super::marks::Marks;
use super::{LogEvidence, Reference};

/// By how much a sum over `bins + 1` terms may be too large, in units of 2^-24: 200 for each, twice.
const SLACK: i64 = 512;

/// Counts predictions by bin, and says how strongly they speak for another distribution of scores.
///
/// While nothing has changed, the next score falls into bin b with probability (m_b + c_b) / (n + 1 + t). Here m_b are the gaps of
/// the reference, c_b the predictions so far, and t their sum: a Polya urn. The bet against it is (5 + c_b) / (5 B + t). Their
/// ratio,
/// multiplied over all predictions, is the evidence, and a function of the counts alone: P(ever 1/alpha or more) <= alpha over the
/// draw of the calibration scores and of the stream, whatever their distribution, provided that scores do not tie at an edge.
///
/// It does not see that outcomes change while scores do not. Takes 4 bytes a bin and 4 more.
///
/// ```
/// use calib_core::monitor::{LogEvidence, Reference, ShiftMonitor};
///
/// let reference = Reference::new(&[250, 250, 250, 250])?;
/// let mut monitor = ShiftMonitor::<4>::new();
/// let alarm = LogEvidence::of_one_in(20);
/// for _ in 0..40 {
///     monitor.count(3);
///     // Once in a while is enough: every look costs instructions, and none costs certainty.
///     monitor.look(&reference, alarm);
/// }
/// assert_eq!(monitor.alarm_at(), Some(9));
/// assert!(monitor.evidence(&reference).odds() > 1000);
/// # Ok::<(), calib_core::monitor::ReferenceError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct ShiftMonitor<const B: usize> {
    counts: [u32; B],
    marks: Marks,
}

impl<const B: usize> ShiftMonitor<B> {
    /// Makes a monitor that has seen nothing.
    pub const fn new() -> Self {
        Self { counts: [0; B], marks: Marks::new(None, false) }
    }

    /// Makes a monitor that has counted before, from [`ShiftMonitor::counts`] and [`ShiftMonitor::alarm_at`].
    pub const fn resumed(counts: [u32; B], alarm_at: Option<u32>) -> Self {
        Self { counts, marks: Marks::new(alarm_at, are_full(&counts)) }
    }

    /// Counts a prediction whose score is in this bin. A bin that the monitor does not have, and any when a counter
    /// [is full](ShiftMonitor::is_full), is not counted.
    pub fn count(&mut self, bin: usize) {
        // One bin that stops would look like a shift.
        if !self.is_full() && count(&mut self.counts, bin) == Some(true) {
            self.marks.fill();
        }
    }

    /// Returns the predictions of each bin.
    pub const fn counts(&self) -> &[u32; B] {
        &self.counts
    }

    /// Returns the number of all predictions.
    pub fn total(&self) -> u32 {
        total(&self.counts)
    }

    /// Tells whether a counter has reached what it can hold. The monitor then stops counting.
    pub const fn is_full(&self) -> bool {
        self.marks.are_full()
    }

    /// Returns the evidence that scores come from another distribution than the reference: never more than there is, and its
    /// logarithm less by at most 2^-14 for each bin and one more. None if the reference has more bins than the monitor.
    ///
    /// Takes two logarithms a bin and two more.
    pub fn evidence(&self, reference: &Reference<'_>) -> LogEvidence {
        if reference.bins() > B {
            return LogEvidence::NONE;
        }
        let log = reference.ln_bet_to_urn(self.counts.iter().copied(), self.total());
        LogEvidence::from_units(log - SLACK * (reference.bins() as i64 + 1))
    }

    /// Works the evidence out, and raises the alarm if it is as much as this. Once raised, an alarm stays.
    pub fn look(&mut self, reference: &Reference<'_>, alarm: LogEvidence) -> LogEvidence {
        let evidence = self.evidence(reference);
        self.marks.raise(evidence, alarm, self.total());
        evidence
    }

    /// Returns after how many predictions the alarm was raised, if it was: 2^31 - 1 also if after more.
    pub const fn alarm_at(&self) -> Option<u32> {
        self.marks.alarm_at()
    }
}

impl<const B: usize> Default for ShiftMonitor<B> {
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

    const PRIOR: u32 = 5;

    /// The evidence step by step, in doubles.
    fn exact(gaps: &[u32], stream: &[usize]) -> f64 {
        let mut counts = std::vec![0u32; gaps.len()];
        let all: u32 = gaps.iter().sum();
        let mut sum = 0.0;
        for (t, &bin) in stream.iter().enumerate() {
            let bet = f64::from(PRIOR + counts[bin]) / f64::from(PRIOR * gaps.len() as u32 + t as u32);
            let urn = f64::from(gaps[bin] + counts[bin]) / f64::from(all + t as u32);
            sum += libm::log(bet / urn);
            counts[bin] += 1;
        }
        sum
    }

    /// While nothing is wrong the expected evidence is 1, at every time: over all streams of an urn.
    #[test]
    fn the_bet_is_fair() {
        fn expected(gaps: &[u32], monitor: &ShiftMonitor<3>, length: u32) -> f64 {
            let reference = Reference::new(gaps).unwrap();
            if monitor.total() == length {
                let log = monitor.evidence(&reference).units() as f64 / LogEvidence::UNITS as f64;
                return libm::exp(log);
            }
            let all = f64::from(reference.gaps() + monitor.total());
            let next = (0..3).map(|bin| {
                let mut next = monitor.clone();
                next.count(bin);
                f64::from(gaps[bin] + monitor.counts[bin]) / all * expected(gaps, &next, length)
            });
            next.sum()
        }
        for gaps in [[1, 1, 1], [2, 5, 1], [40, 1, 300]] {
            for length in [1, 4, 8] {
                let expected = expected(&gaps, &ShiftMonitor::new(), length);
                assert!(expected <= 1.0 && expected > 0.999, "{gaps:?}, {length}: {expected}");
            }
        }
    }

    #[test]
    fn counters_stop_before_they_overflow() {
        let limit = u32::MAX / 2;
        let mut monitor = ShiftMonitor::resumed([limit - 1, 3], None);
        monitor.count(0);
        assert!(monitor.is_full());
        assert_eq!(ShiftMonitor::resumed(*monitor.counts(), None), monitor);
        let full = monitor.clone();
        monitor.count(0);
        monitor.count(1);
        monitor.count(7);
        assert_eq!(monitor, full);
        let reference = Reference::new(&[1 << 30, 1 << 30]).unwrap();
        assert!(monitor.evidence(&reference) > LogEvidence::of_one_in(1 << 31));
    }

    #[test]
    fn it_takes_64_bytes_for_15_bins() {
        assert_eq!(size_of::<ShiftMonitor<15>>(), 64);
    }

    /// With counts as large as counters hold, computed with 50 digits and rounded down: the reported value is never above that. It is below by no more
    /// than stated. Without the slack, it would be above in each of these cases.
    #[test]
    fn large_counts_are_rounded_to_the_valid_side() {
        fn check<const B: usize>(gaps: [u32; B], counts: [u32; B], exact: i64) {
            let monitor = ShiftMonitor::resumed(counts, None);
            let reference = Reference::new(&gaps).unwrap();
            let found = monitor.evidence(&reference).units();
            let terms = B as i64 + 1;
            let rounded = reference.ln_bet_to_urn(counts.into_iter(), monitor.total());
            assert_eq!(rounded - found, SLACK * terms, "what every term may be too large by");
            assert!(found <= exact && exact - found <= terms * (LogEvidence::UNITS >> 14), "{found} {exact}");
            assert!(found + SLACK * terms > exact, "this case needs no slack: {found} {exact}");
        }
        check([2559, 4224], [1_641_764_782, 727_008_939], 23_961_962_447);
        check([667_708, 541_870], [840_266_820, 349_907_006], 1_071_528_244_644);
        check(
            [310, 326, 88, 216, 212],
            [158_124_286, 224_253_222, 185_109_826, 193_310_365, 229_930_559],
            1_518_363_078,
        );
        check(
            [326, 153, 244, 259, 79, 353, 216, 111, 93, 309, 326, 88, 100, 200, 352],
            [
                259_412_685,
                254_640_651,
                257_359_305,
                252_773_738,
                265_470_896,
                281_315_220,
                224_030_146,
                268_465_841,
                172_955_697,
                222_911_578,
                284_493_262,
                204_887_576,
                262_341_344,
                271_216_035,
                147_647_217,
            ],
            6_691_200_448,
        );
    }

    #[test]
    fn a_reference_of_more_bins_says_nothing() {
        let mut monitor = ShiftMonitor::<2>::new();
        (0..50).for_each(|_| monitor.count(1));
        assert_eq!(monitor.evidence(&Reference::new(&[9, 9, 9]).unwrap()), LogEvidence::NONE);
    }

    proptest! {
        /// Never above the evidence of the bets one by one, and hardly below it.
        #[test]
        fn counts_alone_give_the_evidence(
            gaps in prop::collection::vec(1u32..2000, 2..=15),
            stream in prop::collection::vec(0usize..15, 0..400),
        ) {
            let stream: Vec<usize> = stream.into_iter().map(|bin| bin % gaps.len()).collect();
            let mut monitor = ShiftMonitor::<15>::new();
            stream.iter().for_each(|&bin| monitor.count(bin));
            let reference = Reference::new(&gaps).unwrap();
            let found = monitor.evidence(&reference).units() as f64 / LogEvidence::UNITS as f64;
            let exact = exact(&gaps, &stream);
            prop_assert!(found <= exact && exact - found < 2e-3, "{found} {exact}");
        }
    }
}
