//! Whether outcomes are as frequent as guaranteed.

use core::cmp::Ordering;

use super::LogEvidence;
use super::counts::{are_full, count, total};
use super::evidence::{exp_of_minus, from_log, times};
use super::log_ratio::{ln_ratio, product};
use super::marks::Marks;
use crate::outcome::ProbInterval;

/// How far beyond a bound the alternatives are, in tenths of the way to 0 or 1.
const ALTERNATIVES: [u64; 3] = [1, 2, 4];
/// A probability of 1, as a bound.
const ONE: u64 = 1 << 30;
/// By how much a bet's logarithm may be too large, in units of 2^-24.
const SLACK: i64 = 128;

/// Counts outcomes by bin, and says how strongly they speak against the guarantee that P(Y = 1 | bin) lies in an interval.
///
/// Against either end of every bin's interval there are three bets, on probabilities a tenth, two and four tenths of the way from
/// the end to 0 or 1. The evidence is their mean (Waudby-Smith and Ramdas 2024), a function of the counts alone. If the intervals hold
/// all at once with probability 1 - alpha, then P(ever a false alarm) is at most alpha and what the alarm adds. An end at 0 or
/// 1 cannot be passed, and a bin without a guarantee cannot contradict one: neither has bets.
///
/// Which outcomes become known, and when, must depend neither on the outcome nor on anything within the bin that predicts it:
/// count a prediction when the time to follow it up is over, the same for both outcomes. Takes 8 bytes a bin and 4 more.
///
/// ```
/// use calib_core::ProbInterval;
/// use calib_core::monitor::{LogEvidence, GuaranteeMonitor};
///
/// let guaranteed = [ProbInterval::new(0.0, 0.2), None, ProbInterval::new(0.7, 0.9)];
/// let mut monitor = GuaranteeMonitor::<3>::new();
/// let alarm = LogEvidence::of_one_in(100);
/// // Of the cases that were called likely, half are.
/// for row in 0..80 {
///     monitor.count(2, row % 2 == 0);
///     monitor.look(guaranteed.into_iter(), alarm);
/// }
/// assert!(monitor.alarm_at().is_some());
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct GuaranteeMonitor<const B: usize> {
    labeled: [u32; B],
    positives: [u32; B],
    marks: Marks,
}

impl<const B: usize> GuaranteeMonitor<B> {
    /// Makes a monitor that has seen nothing.
    pub const fn new() -> Self {
        Self { labeled: [0; B], positives: [0; B], marks: Marks::new(None, false) }
    }

    /// Makes a monitor that has counted before, from what [`GuaranteeMonitor::counts`] and [`GuaranteeMonitor::alarm_at`] told. More
    /// positives than outcomes count as as many.
    pub fn resumed(labeled: [u32; B], mut positives: [u32; B], alarm_at: Option<u32>) -> Self {
        for (positives, &labeled) in positives.iter_mut().zip(&labeled) {
            *positives = labeled.min(*positives);
        }
        Self { labeled, positives, marks: Marks::new(alarm_at, are_full(&labeled)) }
    }

    /// Counts the outcome of a prediction whose score was in this bin. A bin that the monitor does not have, and any when a counter
    /// [is full](GuaranteeMonitor::is_full), is not counted.
    pub fn count(&mut self, bin: usize, outcome: bool) {
        if self.is_full() {
            return;
        }
        let Some(was_last) = count(&mut self.labeled, bin) else { return };
        if outcome {
            count(&mut self.positives, bin);
        }
        if was_last {
            self.marks.fill();
        }
    }

    /// Returns the known outcomes of each bin, and how many of them were positive.
    pub fn counts(&self) -> impl Iterator<Item = (u32, u32)> + Clone {
        self.labeled.iter().copied().zip(self.positives.iter().copied())
    }

    /// Returns the number of all known outcomes.
    pub fn total(&self) -> u32 {
        total(&self.labeled)
    }

    /// Tells whether a counter has reached what it can hold. The monitor then stops counting.
    pub const fn is_full(&self) -> bool {
        self.marks.are_full()
    }

    /// Returns the evidence against the guarantee: never more than there is. `guaranteed` is each bin's interval, in order, and `None`
    /// of a bin without a guarantee. None without a bet.
    ///
    /// Takes up to eight logarithms a bin, and six exponentials.
    pub fn evidence(&self, guaranteed: impl Iterator<Item = Option<ProbInterval>>) -> LogEvidence {
        let mut mean = Mean::default();
        for (guaranteed, (labeled, positives)) in guaranteed.zip(self.counts()) {
            let Some(ProbInterval { lo, hi }) = guaranteed else { continue };
            let (positives, negatives) = (i64::from(positives), i64::from(labeled - positives));
            // Away from the interval, so that the null holds whatever the bound's float stands for.
            let (low, high) = (scaled_down(lo), scaled_up(hi));
            for tenths in ALTERNATIVES {
                let (less, tenths) = (10 - tenths, tenths);
                let shrunk = ln_ratio(less, 10);
                if (1..ONE).contains(&high) {
                    let grown = ln_ratio(less * high + tenths * ONE, 10 * high);
                    mean.add(times(positives, grown) + times(negatives, shrunk) - SLACK);
                }
                if (1..ONE).contains(&low) {
                    let grown = ln_ratio(10 * ONE - less * low, 10 * (ONE - low));
                    mean.add(times(positives, shrunk) + times(negatives, grown) - SLACK);
                }
            }
        }
        mean.logarithm()
    }

    /// Works the evidence out, and raises the alarm if it is as much as this. Once raised, an alarm stays.
    pub fn look(
        &mut self,
        guaranteed: impl Iterator<Item = Option<ProbInterval>>,
        alarm: LogEvidence,
    ) -> LogEvidence {
        let evidence = self.evidence(guaranteed);
        self.marks.raise(evidence, alarm, self.total());
        evidence
    }

    /// Returns after how many outcomes the alarm was raised, if it was: 2^31 - 1 also if after more.
    pub const fn alarm_at(&self) -> Option<u32> {
        self.marks.alarm_at()
    }
}

impl<const B: usize> Default for GuaranteeMonitor<B> {
    fn default() -> Self {
        Self::new()
    }
}

/// Returns a probability in units of 2^-30, rounded down.
fn scaled_down(prob: f32) -> u64 {
    // Exact except for the rounding: a power of two.
    ((prob * ONE as f32) as u64).min(ONE)
}

/// Returns a probability in units of 2^-30, rounded up.
fn scaled_up(prob: f32) -> u64 {
    let down = scaled_down(prob);
    // At most 24 bits, unless there is no fraction.
    if (down as f32) < prob * ONE as f32 { down + 1 } else { down }
}

/// The mean of numbers whose logarithms come one by one, in units of 2^-24.
#[derive(Default)]
struct Mean {
    largest: i64,
    /// In units of the largest, and of 2^-32.
    sum: u64,
    terms: u64,
}

impl Mean {
    fn add(&mut self, log: i64) {
        let difference = log.abs_diff(self.largest);
        match (self.terms, log.cmp(&self.largest)) {
            (0, _) => (self.largest, self.sum) = (log, 1 << 32),
            (_, Ordering::Greater) => {
                let shrunk = product(self.sum, exp_of_minus(difference)).shifted_right::<32>();
                (self.largest, self.sum) = (log, shrunk + (1 << 32));
            }
            _ => self.sum += exp_of_minus(difference),
        }
        self.terms += 1;
    }

    fn logarithm(&self) -> LogEvidence {
        if self.terms == 0 {
            return LogEvidence::NONE;
        }
        LogEvidence::from_units(self.largest + from_log(ln_ratio(self.sum, self.terms << 32) - 32))
    }
}

#[cfg(test)]
mod tests {
    use std::vec::Vec;

    use proptest::prelude::*;

    use super::*;

    extern crate std;

    /// The evidence in doubles, as the definition has it.
    fn exact(guaranteed: &[Option<(f32, f32)>], counts: &[(u32, u32)]) -> f64 {
        let mut bets = Vec::new();
        for (guaranteed, &(labeled, positives)) in guaranteed.iter().zip(counts) {
            let Some((l, u)) = guaranteed.map(|(l, u)| (f64::from(l), f64::from(u))) else { continue };
            let (s, rest) = (f64::from(positives), f64::from(labeled - positives));
            let bet = |theta: f64, null: f64| {
                s * libm::log(theta / null) + rest * libm::log((1.0 - theta) / (1.0 - null))
            };
            for f in [0.1, 0.2, 0.4] {
                if u > 0.0 && u < 1.0 {
                    bets.push(bet(u + (1.0 - u) * f, u));
                }
                if l > 0.0 && l < 1.0 {
                    bets.push(bet(l * (1.0 - f), l));
                }
            }
        }
        if bets.is_empty() {
            return 0.0;
        }
        let largest = bets.iter().fold(f64::MIN, |largest, &bet| largest.max(bet));
        let sum: f64 = bets.iter().map(|bet| libm::exp(bet - largest)).sum();
        largest + libm::log(sum / bets.len() as f64)
    }

    #[test]
    fn a_mean_is_rounded_down_and_never_lost() {
        let mean = |logs: &[i64]| {
            let mut mean = Mean::default();
            logs.iter().for_each(|&log| mean.add(log));
            mean.logarithm().units()
        };
        assert_eq!((mean(&[]), mean(&[7]), mean(&[7, 7]), mean(&[-7; 6])), (0, 6, 6, -8));
        // However small all of them are.
        let far = -100 << 24;
        assert_eq!((mean(&[far]), mean(&[far, far, far])), (far - 1, far - 1));
        assert_eq!(mean(&[far, 0]), mean(&[0, far]));
    }

    /// All bets are lost: the first one, too, is far below 1.
    #[test]
    fn outcomes_that_are_as_guaranteed_speak_for_the_guarantee() {
        let counts = [(2000, 600), (3000, 800)];
        let guaranteed = [Some((0.2, 0.4)); 2];
        let monitor = GuaranteeMonitor::resumed([2000, 3000], [600, 800], None);
        let found = log(monitor.evidence(guaranteed.into_iter().map(|ends| ends.and_then(interval))));
        let exact = exact(&guaranteed, &counts);
        assert!(exact < -24.0 && found <= exact && found > exact - 1e-3, "{found} {exact}");
    }

    fn interval((lo, hi): (f32, f32)) -> Option<ProbInterval> {
        ProbInterval::new(lo, hi)
    }

    fn log(evidence: LogEvidence) -> f64 {
        evidence.units() as f64 / LogEvidence::UNITS as f64
    }

    /// At either end of the guarantee the expected evidence is at most 1, over all outcomes of a bin; far beyond it is not.
    #[test]
    fn the_bets_are_fair_or_worse_within_the_guarantee() {
        let guaranteed = (0.25, 0.5);
        let expected = |prob: f64| {
            let n = 12u32;
            let mut choices = 1.0;
            let mut sum = 0.0;
            for s in 0..=n {
                let monitor = GuaranteeMonitor::<1>::resumed([n], [s], None);
                let evidence = libm::exp(log(monitor.evidence([interval(guaranteed)].into_iter())));
                sum += choices * prob.powi(s as i32) * (1.0 - prob).powi((n - s) as i32) * evidence;
                choices *= f64::from(n - s) / f64::from(s + 1);
            }
            sum
        };
        for prob in [0.25, 0.3, 0.4, 0.5] {
            assert!(expected(prob) <= 1.0, "{prob}: {}", expected(prob));
        }
        assert!(expected(0.8) > 3.0 && expected(0.02) > 1.3, "{} {}", expected(0.8), expected(0.02));
    }

    #[test]
    fn what_cannot_be_broken_has_no_bets() {
        let monitor = GuaranteeMonitor::<3>::resumed([90; 3], [45; 3], None);
        let guaranteed = [interval((0.0, 1.0)), None, interval((1.0, 1.0))];
        assert_eq!(monitor.evidence(guaranteed.into_iter()), LogEvidence::NONE);
        assert_eq!(monitor.evidence(core::iter::empty()), LogEvidence::NONE);
    }

    #[test]
    fn bounds_are_rounded_away_from_the_interval() {
        for prob in [0.1f32, 0.3, 1e-6, 1e-9, 1e-12, 0.999_999_94, 1.0, 0.0, 0.5] {
            let (down, up) = (scaled_down(prob), scaled_up(prob));
            let exact = f64::from(prob) * ONE as f64;
            assert!(down as f64 <= exact && exact <= up as f64 && up - down <= 1, "{prob}");
        }
        assert_eq!((scaled_down(0.5), scaled_up(0.5), scaled_up(1.0)), (ONE / 2, ONE / 2, ONE));
    }

    /// By as much as the bound of a float: in units of 2^-30, 1.07 and 1.61 lie between 1 and 2.
    #[test]
    fn a_bet_is_against_the_bound_beyond_the_float() {
        let monitor = GuaranteeMonitor::<1>::resumed([1000], [40], None);
        let evidence = |bounds| monitor.evidence([interval(bounds)].into_iter());
        let unit = 1.0 / ONE as f32;
        assert_eq!(evidence((0.0, 1e-9)), evidence((0.0, 2.0 * unit)));
        assert_ne!(evidence((0.0, 1e-9)), evidence((0.0, unit)));
        assert_eq!(evidence((1.5e-9, 1.0)), evidence((unit, 1.0)));
        assert_ne!(evidence((1.5e-9, 1.0)), evidence((2.0 * unit, 1.0)));
    }

    #[test]
    fn a_mean_is_rounded_down() {
        let mut mean = Mean::default();
        (0..2).for_each(|_| mean.add(0));
        assert_eq!(mean.logarithm().units(), -1);
    }

    #[test]
    fn counters_stop_before_they_overflow() {
        let limit = u32::MAX / 2;
        let mut monitor = GuaranteeMonitor::<2>::resumed([limit - 1, 5], [limit, 9], Some(7));
        assert_eq!(monitor.counts().last(), Some((5, 5)));
        monitor.count(0, true);
        assert!(monitor.is_full());
        let counts: [[u32; 2]; 2] = [monitor.labeled, monitor.positives];
        assert_eq!(GuaranteeMonitor::resumed(counts[0], counts[1], Some(7)), monitor);
        let full = monitor.clone();
        monitor.count(0, true);
        monitor.count(1, false);
        monitor.count(9, true);
        assert_eq!(monitor, full);
        assert_eq!((monitor.alarm_at(), monitor.total()), (Some(7), limit + 5));
        let guaranteed = [interval((0.1, 0.2)); 2];
        assert!(monitor.evidence(guaranteed.into_iter()) > LogEvidence::of_one_in(1 << 31));
    }

    /// With counts as large as counters hold, computed with 50 digits and rounded down; the bounds are exact in units of 2^-30.
    #[test]
    fn large_counts_are_rounded_to_the_valid_side() {
        for (bounds, labeled, positives, exact) in [
            (
                [(0.25, 0.5), (0.75, 0.875)],
                [1_000_000_000, 1_400_000_000],
                [530_000_000, 1_100_000_000],
                16_692_498_645_977,
            ),
            ([(0.25, 0.5), (0.75, 0.875)], [1_431_655_764, 7], [300_000_001, 3], 102_212_190_031_069),
            (
                [(0.125, 0.375), (0.5, 1.0)],
                [700_000_000, 900_000_000],
                [300_000_000, 400_000_001],
                92_457_244_932_897,
            ),
        ] {
            let monitor = GuaranteeMonitor::<2>::resumed(labeled, positives, None);
            let found = monitor.evidence(bounds.into_iter().map(interval)).units();
            // The slack, and once more what it is for.
            assert!(found <= exact && exact - found <= 2 * SLACK, "{found} {exact}");
        }
    }

    #[test]
    fn it_takes_124_bytes_for_15_bins() {
        assert_eq!(size_of::<GuaranteeMonitor<15>>(), 124);
    }

    fn bounds() -> impl Strategy<Value = Option<(f32, f32)>> {
        let ends = (0u32..=1000, 0u32..=1000);
        let pair = ends.prop_map(|(a, b)| (a.min(b) as f32 / 1000.0, a.max(b) as f32 / 1000.0));
        prop::option::weighted(0.8, pair)
    }

    proptest! {
        /// Never above the definition, and hardly below it.
        #[test]
        fn is_the_mean_of_the_bets(
            guaranteed in prop::collection::vec(bounds(), 15),
            counts in prop::collection::vec((0u32..600, 0u32..600), 15),
        ) {
            let counts: Vec<_> = counts.into_iter().map(|(n, s)| (n.max(s), s.min(n))).collect();
            let labeled = core::array::from_fn(|bin| counts[bin].0);
            let positives = core::array::from_fn(|bin| counts[bin].1);
            let monitor = GuaranteeMonitor::<15>::resumed(labeled, positives, None);
            let found = log(monitor.evidence(guaranteed.iter().map(|bounds| bounds.and_then(interval))));
            let exact = exact(&guaranteed, &counts);
            // Bounds are rounded by up to 2^-30.
            prop_assert!(found <= exact + 1e-9 && exact - found < 2e-3, "{found} {exact}");
        }
    }
}
