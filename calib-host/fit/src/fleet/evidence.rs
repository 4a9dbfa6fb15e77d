//! The evidence of counts, by its definition.

use std::fmt;

use serde::ser::{Serialize, SerializeStruct, Serializer};
use statrs::function::gamma::ln_gamma;

use crate::stats::Interval;

/// How much the bet on another distribution begins with in every bin, as on the device.
const PRIOR: f64 = 5.0;
/// How far beyond a bound the alternatives are, of the way to 0 or 1.
const ALTERNATIVES: [f64; 3] = [0.1, 0.2, 0.4];
/// How many units of a bound on the device are 1.
const UNITS: f64 = (1u32 << 30) as f64;

/// An e-value: the evidence against a calibrator, and how much an alert needs.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Evidence {
    /// The natural logarithm of the e-value. 0 is evidence neither for nor against.
    pub log: f64,
    /// The e-value that an alert needs. The probability of a false alert at any time is at most its reciprocal.
    pub rarity: u32,
}

/// What an e-value amounts to, in ascending order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum EvidenceLevel {
    /// Little or no evidence against the calibrator: an e-value below 3, which is barely worth a mention (Jeffreys 1961).
    Quiet,
    /// Weak evidence: an e-value below 10.
    Weak,
    /// More evidence, but not enough for an alert.
    Evidence,
    /// Enough evidence for an alert.
    Alarm,
}

/// The logarithm and the threshold, with what they amount to.
impl Serialize for Evidence {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut fields = serializer.serialize_struct("Evidence", 3)?;
        fields.serialize_field("standing", &self.level().to_string())?;
        fields.serialize_field("log_evidence", &self.log)?;
        fields.serialize_field("alarm_at_odds", &self.rarity)?;
        fields.end()
    }
}

impl Evidence {
    /// Returns what it amounts to.
    pub fn level(&self) -> EvidenceLevel {
        match self.log >= f64::from(self.rarity).ln() {
            true => EvidenceLevel::Alarm,
            false => EvidenceLevel::of_no_alarm(self.log),
        }
    }

    /// Returns the e-value: the wealth of a bettor who began with 1 and bet that something has changed.
    pub fn odds(&self) -> f64 {
        self.log.exp()
    }

    /// Returns the e-value as text.
    pub fn e_value(&self) -> String {
        e_value(self.log)
    }
}

/// Returns an e-value as text, from its natural logarithm.
///
/// ```
/// use calib_fit::fleet::e_value;
///
/// assert_eq!((e_value(0.0), e_value(1000.0)), ("1.0".to_owned(), "10^434.3".to_owned()));
/// ```
pub fn e_value(log: f64) -> String {
    match log.exp() {
        value if value < 1e6 => format!("{value:.1}"),
        // The logarithm is finite where its exponential is not.
        _ => format!("10^{:.1}", log / std::f64::consts::LN_10),
    }
}

impl EvidenceLevel {
    /// What the logarithm of an e-value amounts to if it is not enough for an alert.
    ///
    /// ```
    /// use calib_fit::fleet::EvidenceLevel;
    ///
    /// let of = |odds: f64| EvidenceLevel::of_no_alarm(odds.ln());
    /// assert_eq!([of(2.9), of(3.1), of(10.1)], [EvidenceLevel::Quiet, EvidenceLevel::Weak, EvidenceLevel::Evidence]);
    /// ```
    pub fn of_no_alarm(log: f64) -> Self {
        match log {
            log if log < 3f64.ln() => Self::Quiet,
            log if log < 10f64.ln() => Self::Weak,
            _ => Self::Evidence,
        }
    }
}

/// What it amounts to, and the e-value unless it is quiet.
impl fmt::Display for Evidence {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.level() {
            EvidenceLevel::Quiet => EvidenceLevel::Quiet.fmt(f),
            standing => write!(f, "{standing}, e-value {}", self.e_value()),
        }
    }
}

impl fmt::Display for EvidenceLevel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Quiet => "quiet",
            Self::Weak => "weak evidence",
            Self::Evidence => "evidence",
            Self::Alarm => "alert",
        })
    }
}

/// Computes how strongly predictions speak for another distribution than the calibration scores: the logarithm of the evidence of
/// [`ShiftMonitor`](calib_core::monitor::ShiftMonitor), which rounds it down. `gaps` are the reference's, and `counts` the predictions of
/// each bin.
///
/// Take n + 1 gaps, m of them in a bin with c of t predictions. It is the product over all predictions of (5 + c) / (5 B + t) to
/// (m + c) / (n + 1 + t). The counts are those before each prediction: a function of the counts alone. Below 10^-4 off for 10^9
/// predictions.
///
/// ```
/// let quiet = calib_fit::fleet::shift_evidence(&[250, 250, 250, 250], &[10, 11, 9, 10]);
/// let shifted = calib_fit::fleet::shift_evidence(&[250, 250, 250, 250], &[0, 0, 0, 40]);
/// assert!(quiet < 0.0 && shifted > 1000f64.ln());
/// ```
///
/// # Panics
///
/// If there is not a count for every bin.
pub fn shift_evidence(gaps: &[u32], counts: &[u64]) -> f64 {
    assert_eq!(gaps.len(), counts.len(), "a count for every bin");
    let (all, total) = (sum(gaps.iter().map(|&gaps| gaps.into())), sum(counts.iter().copied()));
    let of_bet = PRIOR * gaps.len() as f64;
    let bins = gaps.iter().zip(counts).map(|(&gaps, &count)| {
        let (gaps, count) = (f64::from(gaps), count as f64);
        risen(PRIOR, count) - risen(gaps, count)
    });
    bins.sum::<f64>() - risen(of_bet, total) + risen(all, total)
}

/// The logarithm of `from (from + 1) ... (from + steps - 1)`.
fn risen(from: f64, steps: f64) -> f64 {
    ln_gamma(from + steps) - ln_gamma(from)
}

fn sum(counts: impl Iterator<Item = u64>) -> f64 {
    counts.sum::<u64>() as f64
}

/// Computes how strongly outcomes speak against the guarantee: the logarithm of the evidence of
/// [`GuaranteeMonitor`](calib_core::monitor::GuaranteeMonitor), which rounds it down. Every bin has the interval that was guaranteed, if one was, its
/// outcomes and how many of them were positive. `None` where there is nothing to bet against.
///
/// ```
/// use calib_fit::fleet::guarantee_evidence;
/// use calib_fit::stats::Interval;
///
/// let guaranteed = Some(Interval { lo: 0.7, hi: 0.9 });
/// assert!(guarantee_evidence([(guaranteed, 80, 40)]).unwrap() > 100f64.ln());
/// assert!(guarantee_evidence([(guaranteed, 80, 64)]).unwrap() < 0.0);
/// assert_eq!(guarantee_evidence([(None, 80, 40)]), None);
/// ```
pub fn guarantee_evidence(bins: impl IntoIterator<Item = (Option<Interval>, u64, u64)>) -> Option<f64> {
    let mut bets = Vec::new();
    for (guaranteed, labeled, positives) in bins {
        let Some(guaranteed) = guaranteed else { continue };
        // As the device has them: away from the interval, in units of 2^-30.
        let (lo, hi) = ((guaranteed.lo * UNITS).floor() / UNITS, (guaranteed.hi * UNITS).ceil() / UNITS);
        let (positives, negatives) = (positives as f64, labeled.saturating_sub(positives) as f64);
        let mut bet = |theta: f64, bound: f64| {
            bets.push(positives * (theta / bound).ln() + negatives * ((1.0 - theta) / (1.0 - bound)).ln());
        };
        for part in ALTERNATIVES {
            // An end at 0 or 1 cannot be passed.
            if hi > 0.0 && hi < 1.0 {
                bet(hi + (1.0 - hi) * part, hi);
            }
            if lo > 0.0 && lo < 1.0 {
                bet(lo * (1.0 - part), lo);
            }
        }
    }
    let largest = bets.iter().copied().reduce(f64::max)?;
    let sum: f64 = bets.iter().map(|bet| (bet - largest).exp()).sum();
    Some(largest + (sum / bets.len() as f64).ln())
}

#[cfg(test)]
mod tests {
    use calib_core::ProbInterval;
    use calib_core::monitor::{GuaranteeMonitor, LogEvidence, Reference, ShiftMonitor};
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn standings_are_told_by_odds() {
        let standing = |odds: f64| Evidence { log: odds.ln(), rarity: 20 }.level();
        assert_eq!(
            [0.5, 1.01, 2.9, 3.1, 9.9, 10.1, 19.9, 20.1].map(standing),
            [
                EvidenceLevel::Quiet,
                EvidenceLevel::Quiet,
                EvidenceLevel::Quiet,
                EvidenceLevel::Weak,
                EvidenceLevel::Weak,
                EvidenceLevel::Evidence,
                EvidenceLevel::Evidence,
                EvidenceLevel::Alarm,
            ]
        );
        assert_eq!(Evidence { log: 2.5f64.ln(), rarity: 2 }.level(), EvidenceLevel::Alarm);
        assert_eq!(Evidence { log: 20f64.ln(), rarity: 20 }.level(), EvidenceLevel::Alarm);
    }

    /// Over all streams of an urn the expected evidence is 1: the bet is fair.
    #[test]
    fn the_bet_on_a_shift_is_fair() {
        const GAPS: [u32; 3] = [4, 2, 7];
        fn expected(counts: [u64; 3], left: u32) -> f64 {
            if left == 0 {
                return shift_evidence(&GAPS, &counts).exp();
            }
            let (all, total) = (sum(GAPS.iter().map(|&gaps| gaps.into())), sum(counts.iter().copied()));
            let step = |bin: usize| {
                let mut after = counts;
                after[bin] += 1;
                (f64::from(GAPS[bin]) + counts[bin] as f64) / (all + total) * expected(after, left - 1)
            };
            (0..3).map(step).sum()
        }
        for length in 0..7 {
            let mean = expected([0; 3], length);
            assert!((mean - 1.0).abs() < 1e-10, "{length} {mean}");
        }
    }

    /// At the end of what is guaranteed the expected evidence is 1 for that end's bets, and within it less.
    #[test]
    fn the_bets_on_outcomes_are_fair_or_worse() {
        let guaranteed = |lo, hi| Some(Interval { lo, hi });
        let choose = [1.0, 6.0, 15.0, 20.0, 15.0, 6.0, 1.0];
        let expected = |guaranteed: Option<Interval>, truth: f64| -> f64 {
            let outcomes = (0u64..7).map(|s| {
                let likelihood = choose[s as usize] * truth.powi(s as i32) * (1.0 - truth).powi(6 - s as i32);
                likelihood * guarantee_evidence([(guaranteed, 6, s)]).unwrap().exp()
            });
            outcomes.sum()
        };
        assert!((expected(guaranteed(0.0, 0.5), 0.5) - 1.0).abs() < 1e-12);
        assert!((expected(guaranteed(0.25, 1.0), 0.25) - 1.0).abs() < 1e-12);
        for truth in [0.25, 0.3, 0.4, 0.5] {
            assert!(expected(guaranteed(0.25, 0.5), truth) <= 1.0, "{truth}");
        }
        assert!(expected(guaranteed(0.25, 0.5), 0.75) > 1.2);
        assert_eq!(guarantee_evidence([(guaranteed(0.0, 1.0), 9, 3)]), None);
    }

    fn log(evidence: LogEvidence) -> f64 {
        evidence.units() as f64 / LogEvidence::UNITS as f64
    }

    proptest! {
        /// What a device says is what its counts say, rounded down by at most 2^-14 a bin and one more.
        #[test]
        fn a_device_says_the_same_of_a_shift(
            bins in proptest::collection::vec((1u32..3000, 0u64..4000), 2..12),
        ) {
            let gaps: Vec<u32> = bins.iter().map(|bin| bin.0).collect();
            let counts: Vec<u64> = bins.iter().map(|bin| bin.1).collect();
            let mut on_device = [0; 12];
            for (on_device, &count) in on_device.iter_mut().zip(&counts) {
                *on_device = count as u32;
            }
            let monitor = ShiftMonitor::resumed(on_device, None);
            let device = log(monitor.evidence(&Reference::new(&gaps).unwrap()));
            let exact = shift_evidence(&gaps, &counts);
            let slack = (gaps.len() + 1) as f64 / 16384.0;
            prop_assert!(device <= exact + 1e-9 && exact <= device + slack + 1e-9, "{device} {exact}");
        }

        /// Counts say the same in whatever order they came: one by one, or at once.
        #[test]
        fn steps_add_up(gaps in proptest::collection::vec(1u32..50, 2..5), stream in proptest::collection::vec(0usize..4, 0..60)) {
            let mut counts = vec![0u64; gaps.len()];
            let mut total = 0.0;
            let all: u32 = gaps.iter().sum();
            for (t, bin) in stream.into_iter().map(|bin| bin % gaps.len()).enumerate() {
                let bet = (PRIOR + counts[bin] as f64) / (PRIOR * gaps.len() as f64 + t as f64);
                total += (bet / ((f64::from(gaps[bin]) + counts[bin] as f64) / (f64::from(all) + t as f64))).ln();
                counts[bin] += 1;
            }
            prop_assert!((total - shift_evidence(&gaps, &counts)).abs() < 1e-9);
        }

        #[test]
        fn a_device_says_the_same_of_outcomes(
            bins in proptest::collection::vec((0.0f32..=1.0, 0.0f32..=1.0, 0u32..3000, 0.0f64..=1.0), 1..10),
        ) {
            let mut on_device = ([0; 10], [0; 10]);
            let mut exact = Vec::new();
            let mut guaranteed = Vec::new();
            for (bin, &(a, b, labeled, share)) in bins.iter().enumerate() {
                let positives = (f64::from(labeled) * share) as u32;
                (on_device.0[bin], on_device.1[bin]) = (labeled, positives);
                let (lo, hi) = (a.min(b), a.max(b));
                guaranteed.push(ProbInterval::new(lo, hi));
                let interval = Interval { lo: lo.into(), hi: hi.into() };
                exact.push((Some(interval), labeled.into(), positives.into()));
            }
            let monitor = GuaranteeMonitor::resumed(on_device.0, on_device.1, None);
            let device = log(monitor.evidence(guaranteed.into_iter()));
            let exact = guarantee_evidence(exact).unwrap_or_default();
            prop_assert!(device <= exact + 1e-6, "{device} {exact}");
        }
    }
}
