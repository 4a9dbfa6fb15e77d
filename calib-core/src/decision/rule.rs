//! From a probability to an action.

use core::fmt;

use serde::{Deserialize, Serialize};

use super::names::{NameError, Names, behind_name};
use crate::outcome::{BinFlags, Calibrated, Outcome, ProbInterval};
use crate::score::ONE_BITS;
use crate::table::search::count_below;

/// A rule that has an action for every calibrated probability, and one for outcomes without a probability.
///
/// The thresholds `t1 < t2 < ...` divide `[0, 1]` into the intervals `[0, t1]`, `(t1, t2]`, ..., each with an action. The
/// intervals are closed at their upper ends (Gao et al. 2017, Claim 1): a probability that equals a threshold belongs to the
/// interval below.
///
/// A rule borrows its numbers in place from a parsed artifact. A rule that exists is valid, so a decision has no error and no
/// panic.
///
/// ```
/// use calib_core::DecisionRule;
///
/// /// What a device shows for a probability.
/// fn shown<'a>(rule: &DecisionRule<'a>, prob: f32) -> &'a str {
///     rule.action(rule.action_at(prob)).map_or("", |action| action.name)
/// }
/// # mod sample { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/doc/sample.rs")); }
/// # let bytes = sample::with_decision();
/// # let artifact = calib_core::Artifact::parse(bytes.as_bytes()).unwrap();
/// let rule = artifact.decision().unwrap(); // treats from 0.5 up
/// assert_eq!(shown(rule, 0.5), "wait");
/// assert_eq!(shown(rule, 0.75), "treat");
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct DecisionRule<'a> {
    thresholds: &'a [f32],
    /// The action of every interval; one more than thresholds.
    intervals: &'a [u8],
    /// A byte of flags per action.
    flags: &'a [u8],
    /// For every action, the length of its name and its name.
    names: &'a [u8],
    uncalibrated: u8,
    /// The action in place of one that asks for more evidence than there is, plus one; 0 if no action asks for evidence.
    unsure: u8,
}

/// The parts of a rule, not yet checked, for [`ArtifactWriter::decision`](crate::artifact::ArtifactWriter::decision).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DecisionParts<'a> {
    /// The thresholds, strictly ascending in `[0, 1)`; at most 255.
    pub thresholds: &'a [f32],
    /// The action of every interval as an index of `actions`; one more than thresholds, adjacent ones different.
    pub intervals: &'a [u8],
    /// The action for outcomes without a calibrated probability, as an index of `actions`.
    pub uncalibrated: u8,
    /// The action in place of one that [asks for more evidence](Action::if_sure) than there is, as an index of `actions`; `None` if
    /// no action asks for evidence.
    pub unsure: Option<u8>,
    /// The actions, at least one, at most [`DecisionRule::MAX_ACTIONS`].
    pub actions: &'a [Action<'a>],
}

/// An action of a decision rule.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Action<'a> {
    /// The name, of 1 to [`DecisionRule::MAX_NAME_BYTES`] bytes without control characters; no two actions share one.
    pub name: &'a str,
    /// Whether the action raises the alarm.
    pub alarm: bool,
    /// Whether the action leaves the decision to someone else.
    pub abstain: bool,
    /// The evidence that the action asks for: everything that it allows leads to the same action, next to each other (Chow 1970), so it
    /// lies between the same two thresholds. `None` if the probability is enough.
    pub if_sure: Option<SureBy>,
}

/// The evidence that an action asks for.
///
/// It is one or the other, never the narrower of both or what they share: each fails with its own probability, and both hold simultaneously with
/// at least the probability 1 minus the sum of these.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub enum SureBy {
    /// The interval of the bin, or of the range of the score, or everything within epsilon of the probability: what is known of the average over
    /// all scores there.
    Interval,
    /// The [band](crate::artifact::Band) at the score: what is known of this very score, if a higher score never means a lower probability.
    Band,
}

/// Why bytes or parts are not a decision rule. The payload is the index of what is wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[non_exhaustive]
pub enum DecisionError {
    /// There are too few or too many bytes, or the intervals are not one more than the thresholds.
    Length,
    /// There is no action, or there are more than [`DecisionRule::MAX_ACTIONS`].
    Actions,
    /// This threshold is NaN, `-0.0` or outside `[0, 1)`.
    ThresholdRange(u8),
    /// This threshold is not above the one before it.
    ThresholdOrder(u8),
    /// This interval has an action that does not exist, or the same action as the interval before it.
    Interval(u8),
    /// The action for outcomes without a calibrated probability does not exist.
    Uncalibrated,
    /// The flags of this action are unknown.
    Flags(u8),
    /// The name of this action is empty, too long, not plain text, or the name of another action.
    Name(u8),
    /// A byte is not zero that has no meaning here: there is an action in place of those that ask for evidence, and none does.
    Reserved,
    /// An action asks for evidence, and the action in its place is not there or asks for evidence, too.
    Unsure,
}

const ALARM: u8 = 1;
const ABSTAIN: u8 = 2;
const IF_SURE: u8 = 4;
/// Beside [`IF_SURE`]: by the band, and not by the interval.
const BY_BAND: u8 = 8;

impl<'a> DecisionRule<'a> {
    /// The largest number of actions.
    pub const MAX_ACTIONS: usize = 16;
    /// The largest length of a name in bytes.
    pub const MAX_NAME_BYTES: usize = 24;

    /// Checks the payload of a decision section, which starts at a multiple of 4 in memory.
    pub(crate) fn parse(payload: &'a [u8]) -> Result<Self, DecisionError> {
        let fields = Fields::split(payload)?;
        fields.check()?;
        let Fields { thresholds, intervals, flags, names, uncalibrated, unsure } = fields;
        let thresholds = bytemuck::try_cast_slice(thresholds).map_err(|_| DecisionError::Length)?;
        Ok(Self { thresholds, intervals, flags, names, uncalibrated, unsure })
    }

    /// Checks a payload at any address.
    pub(crate) fn check(payload: &[u8]) -> Result<(), DecisionError> {
        Fields::split(payload)?.check()
    }

    /// Returns the action for an outcome, as an index: the action at its probability, the one in its place if that asks for more
    /// evidence than there is, or the action for outcomes without a probability.
    ///
    /// `band` returns the [band](crate::artifact::Band) at the score, as [`Artifact::band_at`](crate::Artifact::band_at) does. It is called only if
    /// the action asks for the band; if it returns `None`, the action is not taken.
    #[inline]
    pub fn decide(&self, outcome: &Outcome, band: impl FnOnce() -> Option<ProbInterval>) -> u8 {
        let Some(calibrated) = outcome.calibrated() else { return self.uncalibrated };
        let action = self.action_at(calibrated.prob);
        let Some(unsure) = self.unsure().filter(|_| self.has(action, IF_SURE)) else { return action };
        let evidence = if self.has(action, BY_BAND) { band() } else { interval_of(calibrated) };
        if evidence.is_some_and(|evidence| self.is_sure(calibrated.prob, evidence)) { action } else { unsure }
    }

    /// Tells whether everything that the evidence allows lies in the same interval as the probability.
    #[inline(never)]
    fn is_sure(&self, prob: f32, ProbInterval { lo, hi }: ProbInterval) -> bool {
        let at = self.interval_at(prob);
        at.is_some() && self.interval_at(lo) == at && self.interval_at(hi) == at
    }

    /// Returns the action at a probability, as an index, in O(log T) for T thresholds. A number that is no probability gets the
    /// action for outcomes without one.
    #[inline]
    pub fn action_at(&self, prob: f32) -> u8 {
        let action = self.interval_at(prob).and_then(|interval| self.intervals.get(interval));
        action.copied().unwrap_or(self.uncalibrated)
    }

    /// Returns which interval a probability lies in; `None` for a number that is no probability.
    #[inline(always)]
    fn interval_at(&self, prob: f32) -> Option<usize> {
        let bits = match prob.to_bits() {
            // -0.0 is the probability 0.
            0x8000_0000 => 0,
            bits => bits,
        };
        (bits <= ONE_BITS).then(|| count_below(bytemuck::must_cast_slice(self.thresholds), bits))
    }

    /// Tells whether an outcome raises the alarm: the [action](DecisionRule::decide) that is taken does, or there is no calibrated probability.
    #[inline]
    pub fn is_raised_by(&self, outcome: &Outcome, action: u8) -> bool {
        outcome.calibrated().is_none() || self.has(action, ALARM)
    }

    /// Tells whether a flag of an action is set. An action that does not exist has every flag.
    fn has(&self, action: u8, flag: u8) -> bool {
        self.flags.get(usize::from(action)).is_none_or(|flags| flags & flag != 0)
    }

    /// Returns the thresholds, strictly ascending in `[0, 1)`.
    pub const fn thresholds(&self) -> &'a [f32] {
        self.thresholds
    }

    /// Returns the action of every interval; one more than thresholds.
    pub const fn intervals(&self) -> &'a [u8] {
        self.intervals
    }

    /// Returns the action for outcomes without a calibrated probability.
    pub const fn uncalibrated(&self) -> u8 {
        self.uncalibrated
    }

    /// Returns the action in place of one that asks for more evidence than there is; `None` if no action asks for evidence.
    pub const fn unsure(&self) -> Option<u8> {
        self.unsure.checked_sub(1)
    }

    /// Returns the number of actions, at least 1.
    pub const fn action_count(&self) -> usize {
        self.flags.len()
    }

    /// Returns the actions in the order of their indices.
    pub fn actions(&self) -> impl Iterator<Item = Action<'a>> + use<'a> {
        Names(self.names).zip(self.flags).map(|(name, flags)| Action {
            name: core::str::from_utf8(name).unwrap_or_default(),
            alarm: flags & ALARM != 0,
            abstain: flags & ABSTAIN != 0,
            if_sure: match (flags & IF_SURE != 0, flags & BY_BAND != 0) {
                (false, _) => None,
                (true, false) => Some(SureBy::Interval),
                (true, true) => Some(SureBy::Band),
            },
        })
    }

    /// Returns the action with this index; `None` beyond the last action.
    pub fn action(&self, index: u8) -> Option<Action<'a>> {
        self.actions().nth(index.into())
    }
}

impl SureBy {
    const fn flags(self) -> u8 {
        match self {
            Self::Interval => IF_SURE,
            Self::Band => IF_SURE | BY_BAND,
        }
    }
}

/// Returns what the evidence of a bin or of a range of the score allows; `None` without a guarantee.
fn interval_of(calibrated: &Calibrated) -> Option<ProbInterval> {
    match (calibrated.interval, calibrated.epsilon) {
        // Without an epsilon an interval is no interval of confidence, unless it is that of a range of the score.
        (Some(interval), Some(_)) => Some(interval),
        (Some(interval), None) => Some(interval).filter(|_| calibrated.flags.contains(BinFlags::RANGE)),
        (None, Some(epsilon)) => {
            // A sum is rounded: the next float on the outside is beyond what was meant.
            let (lo, hi) = (calibrated.prob - epsilon, calibrated.prob + epsilon);
            Some(ProbInterval { lo: lo.next_down().max(0.0), hi: hi.next_up().min(1.0) })
        }
        (None, None) => None,
    }
}

impl DecisionParts<'_> {
    /// Writes the payload at the start of `space`, and returns its length; `None` if the payload does not fit, or a number has no
    /// place in the format.
    pub(crate) fn write(&self, space: &mut [u8]) -> Option<usize> {
        let unsure = self.unsure.map_or(0, |unsure| usize::from(unsure) + 1);
        let head = [self.actions.len(), self.thresholds.len(), self.uncalibrated.into(), unsure];
        let thresholds = self.thresholds.iter().flat_map(|threshold| threshold.to_bits().to_le_bytes());
        let flag = |is_set: bool, flag: u8| if is_set { flag } else { 0 };
        let flags = self
            .actions
            .iter()
            .map(|a| flag(a.alarm, ALARM) | flag(a.abstain, ABSTAIN) | a.if_sure.map_or(0, SureBy::flags));
        let names = self.actions.iter().map(|action| action.name.as_bytes());
        let lengths_fit = names.clone().all(|name| name.len() <= DecisionRule::MAX_NAME_BYTES);
        if !lengths_fit || head.iter().any(|&number| number > u8::MAX.into()) {
            return None;
        }
        let names = names.flat_map(|name| core::iter::once(name.len() as u8).chain(name.iter().copied()));
        let head = head.into_iter().map(|number| number as u8);
        let bytes = head.chain(thresholds).chain(self.intervals.iter().copied()).chain(flags).chain(names);
        let mut len = 0;
        let mut space = space.iter_mut();
        for byte in bytes {
            *space.next()? = byte;
            len += 1;
        }
        Some(len)
    }
}

/// The fields of a payload as bytes.
struct Fields<'a> {
    thresholds: &'a [u8],
    intervals: &'a [u8],
    flags: &'a [u8],
    names: &'a [u8],
    uncalibrated: u8,
    unsure: u8,
}

impl<'a> Fields<'a> {
    fn split(payload: &'a [u8]) -> Result<Self, DecisionError> {
        let (&[actions, count, uncalibrated, unsure], rest) =
            payload.split_first_chunk().ok_or(DecisionError::Length)?;
        if actions == 0 || usize::from(actions) > DecisionRule::MAX_ACTIONS {
            return Err(DecisionError::Actions);
        }
        let cut = |bytes: &'a [u8], len: usize| bytes.split_at_checked(len).ok_or(DecisionError::Length);
        let (thresholds, rest) = cut(rest, 4 * usize::from(count))?;
        let (intervals, rest) = cut(rest, usize::from(count) + 1)?;
        let (flags, names) = cut(rest, actions.into())?;
        Ok(Self { thresholds, intervals, flags, names, uncalibrated, unsure })
    }

    fn check(&self) -> Result<(), DecisionError> {
        let mut below = None;
        for (i, &threshold) in (0..=u8::MAX).zip(self.thresholds.as_chunks().0) {
            // Bit patterns are ordered like the floats, with negative numbers above all others.
            let bits = u32::from_le_bytes(threshold);
            if bits >= ONE_BITS {
                return Err(DecisionError::ThresholdRange(i));
            }
            if below.is_some_and(|below| bits <= below) {
                return Err(DecisionError::ThresholdOrder(i));
            }
            below = Some(bits);
        }
        let is_there = |action: u8| usize::from(action) < self.flags.len();
        let mut before = None;
        for (i, &action) in (0..=u8::MAX).zip(self.intervals) {
            if !is_there(action) || before == Some(action) {
                return Err(DecisionError::Interval(i));
            }
            before = Some(action);
        }
        if !is_there(self.uncalibrated) {
            return Err(DecisionError::Uncalibrated);
        }
        self.check_actions()?;
        self.check_unsure()
    }

    /// Checks that there is an action in place of those that ask for evidence, which asks for none, and that it is there for a reason.
    fn check_unsure(&self) -> Result<(), DecisionError> {
        let asks = |flags: &u8| flags & IF_SURE != 0;
        match (self.flags.iter().any(asks), self.unsure.checked_sub(1)) {
            (false, None) => Ok(()),
            (false, Some(_)) => Err(DecisionError::Reserved),
            (true, unsure) => match unsure.and_then(|unsure| self.flags.get(usize::from(unsure))) {
                Some(flags) if !asks(flags) => Ok(()),
                _ => Err(DecisionError::Unsure),
            },
        }
    }

    fn check_actions(&self) -> Result<(), DecisionError> {
        let mut rest = self.names;
        for (i, &flags) in (0..=u8::MAX).zip(self.flags) {
            let has_no_meaning = flags & (IF_SURE | BY_BAND) == BY_BAND;
            if has_no_meaning || flags & !(ALARM | ABSTAIN | IF_SURE | BY_BAND) != 0 {
                return Err(DecisionError::Flags(i));
            }
            rest = behind_name(self.names, i, rest, DecisionRule::MAX_NAME_BYTES).map_err(
                |cause| match cause {
                    NameError::Length => DecisionError::Length,
                    NameError::Name => DecisionError::Name(i),
                },
            )?;
        }
        if rest.is_empty() { Ok(()) } else { Err(DecisionError::Length) }
    }
}

impl fmt::Display for DecisionError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Length => f.write_str("its length is not that of its parts"),
            Self::Actions => {
                write!(f, "the number of actions is not from 1 to {}", DecisionRule::MAX_ACTIONS)
            }
            Self::ThresholdRange(i) => write!(f, "threshold {i} is outside [0, 1)"),
            Self::ThresholdOrder(i) => write!(f, "threshold {i} is not above the one before it"),
            Self::Interval(i) => write!(f, "interval {i} has no action, or that of the one before it"),
            Self::Uncalibrated => f.write_str("the action for the uncalibrated is not there"),
            Self::Flags(i) => write!(f, "the flags of action {i} are unknown"),
            Self::Name(i) => write!(f, "the name of action {i} is empty, too long, not plain text, or taken"),
            Self::Reserved => f.write_str("a byte is not zero that has no meaning here"),
            Self::Unsure => {
                f.write_str("there is no action in place of those that ask for evidence, or it asks for some")
            }
        }
    }
}

impl core::error::Error for DecisionError {}

#[cfg(test)]
mod tests {
    extern crate std;

    use std::string::{String, ToString};
    use std::vec::Vec;

    use proptest::prelude::*;

    use super::*;
    use crate::outcome::{BinFlags, Uncalibrated};

    const WAIT: Action<'_> = Action { name: "wait", alarm: false, abstain: false, if_sure: None };
    const ASK: Action<'_> = Action { name: "ask", alarm: false, abstain: true, if_sure: None };
    const ACT: Action<'_> = Action { name: "act", alarm: true, abstain: false, if_sure: None };
    const PARTS: DecisionParts<'_> = DecisionParts {
        thresholds: &[0.25, 0.75],
        intervals: &[0, 1, 2],
        uncalibrated: 1,
        unsure: None,
        actions: &[WAIT, ASK, ACT],
    };

    /// A payload at a multiple of 4 in memory.
    fn payload(parts: &DecisionParts<'_>) -> Vec<u32> {
        let mut words = std::vec![0u32; 512];
        let len = parts.write(bytemuck::cast_slice_mut(&mut words)).unwrap();
        words.insert(0, len as u32);
        words
    }

    fn bytes(words: &[u32]) -> &[u8] {
        &bytemuck::cast_slice(&words[1..])[..words[0] as usize]
    }

    fn refusal(parts: DecisionParts<'_>) -> DecisionError {
        DecisionRule::parse(bytes(&payload(&parts))).unwrap_err()
    }

    fn calibrated(prob: f32) -> Outcome {
        Outcome::Calibrated(Calibrated { prob, bin: 0, epsilon: None, flags: BinFlags::NONE, interval: None })
    }

    #[test]
    fn a_threshold_belongs_below() {
        let words = payload(&PARTS);
        let rule = DecisionRule::parse(bytes(&words)).unwrap();
        let at = |prob| rule.decide(&calibrated(prob), || None);
        assert_eq!([0.0, -0.0, 0.25f32.next_down(), 0.25].map(at), [0; 4]);
        assert_eq!([0.25f32.next_up(), 0.5, 0.75].map(at), [1; 3]);
        assert_eq!([0.75f32.next_up(), 1.0].map(at), [2; 2]);
        assert!(rule.actions().eq([WAIT, ASK, ACT]));
        assert_eq!((rule.action(2), rule.action(3)), (Some(ACT), None));
        let raised = |prob| rule.is_raised_by(&calibrated(prob), at(prob));
        assert_eq!([0.1, 0.5, 0.9].map(raised), [false, false, true]);
    }

    #[test]
    fn without_a_probability_it_is_the_stated_action_and_the_alarm() {
        let words = payload(&PARTS);
        let rule = DecisionRule::parse(bytes(&words)).unwrap();
        let midpoint =
            Calibrated { prob: 0.1, bin: 0, epsilon: None, flags: BinFlags::EMPTY, interval: None };
        let reasons = [Uncalibrated::Class, Uncalibrated::EmptyBin, Uncalibrated::ZeroSum];
        for outcome in reasons.map(Outcome::Uncalibrated).into_iter().chain([Outcome::Calibrated(midpoint)]) {
            assert_eq!(
                (rule.decide(&outcome, || None), rule.is_raised_by(&outcome, 0)),
                (1, true),
                "{outcome:?}"
            );
        }
        for no_prob in [f32::NAN, -f32::NAN, f32::INFINITY, -1e-45, -1.0, 1.0f32.next_up()] {
            assert_eq!(rule.action_at(no_prob), 1, "{no_prob}");
        }
    }

    #[test]
    fn an_action_that_asks_for_evidence_gives_way_without_it() {
        let act = Action { if_sure: Some(SureBy::Interval), ..ACT };
        let parts = DecisionParts { actions: &[WAIT, ASK, act], unsure: Some(1), ..PARTS };
        let words = payload(&parts);
        let rule = DecisionRule::parse(bytes(&words)).unwrap();
        assert_eq!((rule.unsure(), rule.action(2)), (Some(1), Some(act)));
        let plain = |prob, epsilon, interval| {
            let flags = BinFlags::NONE;
            let outcome = Outcome::Calibrated(Calibrated { prob, bin: 0, epsilon, flags, interval });
            rule.decide(&outcome, || panic!("nobody asks for the band"))
        };
        // Acts above 0.75. The epsilon is rounded to the outside, an interval is taken as it is.
        assert_eq!(plain(0.9, Some(0.125), None), 2);
        assert_eq!(plain(0.875, Some(0.125), None), 1);
        assert_eq!(plain(1.0, Some(0.2), None), 2);
        assert_eq!(plain(0.9, None, None), 1);
        let interval = |lo, hi| ProbInterval::new(lo, hi);
        assert_eq!(plain(0.9, Some(0.5), interval(0.75f32.next_up(), 1.0)), 2);
        assert_eq!(plain(0.9, Some(0.01), interval(0.75, 1.0)), 1);
        // Venn-Abers' p0 and p1 are no evidence.
        assert_eq!(plain(0.9, None, interval(0.85, 0.95)), 1);
        // Actions that ask for none are not looked at.
        assert_eq!(plain(0.25, Some(0.9), None), 0);
        assert!(rule.is_raised_by(&Outcome::Uncalibrated(Uncalibrated::Class), 0));
        let raised = |epsilon| rule.is_raised_by(&calibrated(0.9), plain(0.9, epsilon, None));
        assert_eq!((raised(Some(0.125)), raised(None)), (true, false));

        assert_eq!(refusal(DecisionParts { unsure: None, ..parts }), DecisionError::Unsure);
        assert_eq!(refusal(DecisionParts { unsure: Some(2), ..parts }), DecisionError::Unsure);
        assert_eq!(refusal(DecisionParts { unsure: Some(3), ..parts }), DecisionError::Unsure);
        assert_eq!(refusal(DecisionParts { unsure: Some(1), ..PARTS }), DecisionError::Reserved);
    }

    /// Both ends of what the epsilon allows must lie where the action is taken.
    #[test]
    fn the_lowest_action_needs_evidence_that_the_probability_is_no_higher() {
        let wait = Action { if_sure: Some(SureBy::Interval), ..WAIT };
        let words = payload(&DecisionParts { actions: &[wait, ASK, ACT], unsure: Some(1), ..PARTS });
        let rule = DecisionRule::parse(bytes(&words)).unwrap();
        let at = |prob, epsilon| {
            let flags = BinFlags::NONE;
            let found = Calibrated { prob, bin: 0, epsilon: Some(epsilon), flags, interval: None };
            rule.decide(&Outcome::Calibrated(found), || None)
        };
        assert_eq!([at(0.125, 0.0625), at(0.125, 0.125), at(0.125, 0.25)], [0, 1, 1]);
        assert_eq!((rule.action_count(), rule.actions().count()), (3, 3));
    }

    /// As many actions, thresholds and bytes of a name as the format has room for.
    #[test]
    fn the_largest_rule_is_written_and_read() {
        let names: Vec<String> = (0..DecisionRule::MAX_ACTIONS).map(|i| std::format!("{i}")).collect();
        let actions: Vec<Action<'_>> = names.iter().map(|name| Action { name, ..WAIT }).collect();
        let thresholds: Vec<f32> = (0..255u8).map(|i| f32::from(i) / 256.0).collect();
        let intervals: Vec<u8> = (0..=255u8).map(|i| i % 2).collect();
        let parts = DecisionParts {
            thresholds: &thresholds,
            intervals: &intervals,
            uncalibrated: 1,
            unsure: None,
            actions: &actions,
        };
        let words = payload(&parts);
        let rule = DecisionRule::parse(bytes(&words)).unwrap();
        assert_eq!((rule.thresholds(), rule.intervals()), (&*thresholds, &*intervals));
        assert!(rule.actions().eq(actions.iter().copied()));
        let more: Vec<f32> = (0..256u16).map(|i| f32::from(i) / 512.0).collect();
        assert_eq!(DecisionParts { thresholds: &more, ..parts }.write(&mut [0; 4096]), None);
    }

    #[test]
    fn what_is_told_names_the_place_and_the_most_actions() {
        use DecisionError as E;
        assert!(E::Actions.to_string().contains("1 to 16"));
        for (error, place) in [
            (E::ThresholdRange(3), "threshold 3"),
            (E::ThresholdOrder(3), "threshold 3"),
            (E::Interval(3), "interval 3"),
            (E::Flags(3), "action 3"),
            (E::Name(3), "action 3"),
        ] {
            assert!(error.to_string().contains(place), "{error}");
        }
    }

    /// The interval of the bin does not help the band, nor the band the interval: each fails by itself.
    #[test]
    fn an_action_that_asks_for_the_band_is_taken_by_nothing_else() {
        let act = Action { if_sure: Some(SureBy::Band), ..ACT };
        let ask = Action { if_sure: Some(SureBy::Interval), ..ASK };
        let parts = DecisionParts { actions: &[WAIT, ask, act], unsure: Some(0), ..PARTS };
        let words = payload(&parts);
        let rule = DecisionRule::parse(bytes(&words)).unwrap();
        assert!(rule.actions().eq([WAIT, ask, act]));
        let narrow = ProbInterval { lo: 0.875, hi: 0.9375 };
        let at = |prob, interval, band: Option<ProbInterval>| {
            let c = Calibrated { prob, bin: 0, epsilon: Some(0.001), flags: BinFlags::NONE, interval };
            rule.decide(&Outcome::Calibrated(c), || band)
        };
        let ends = |lo, hi| Some(ProbInterval { lo, hi });
        for interval in [None, Some(narrow), ends(0.0, 1.0)] {
            assert_eq!(at(0.9, interval, Some(narrow)), 2);
            assert_eq!(at(0.9, interval, ends(0.75f32.next_up(), 1.0)), 2);
            assert_eq!(at(0.9, interval, ends(0.75, 1.0)), 0);
            assert_eq!(at(0.9, interval, None), 0);
            // The probability may lie outside the band, which still tells that the action is right, or that another one is.
            assert_eq!(at(1.0, interval, Some(narrow)), 2);
            assert_eq!(at(0.9, interval, ends(0.125, 0.25)), 0);
        }
        for band in [None, ends(0.0, 1.0), ends(0.5, 0.5)] {
            assert_eq!(at(0.5, ends(0.375, 0.625), band), 1);
            assert_eq!(at(0.5, ends(0.125, 0.625), band), 0);
        }
        // By the band, and not if sure: nobody writes that.
        let mut words = words;
        let flags = 4 + 8 + 3;
        bytemuck::cast_slice_mut::<u32, u8>(&mut words[1..])[flags] = BY_BAND;
        assert_eq!(DecisionRule::parse(bytes(&words)), Err(DecisionError::Flags(0)));
    }

    #[test]
    fn a_single_action_needs_no_threshold() {
        let words = payload(&DecisionParts {
            thresholds: &[],
            intervals: &[0],
            uncalibrated: 0,
            unsure: None,
            actions: &[ACT],
        });
        let rule = DecisionRule::parse(bytes(&words)).unwrap();
        assert_eq!([0.0, 0.5, 1.0].map(|prob| rule.action_at(prob)), [0; 3]);
    }

    #[test]
    fn refuses_what_is_no_rule() {
        use DecisionError as E;
        assert_eq!(refusal(DecisionParts { actions: &[], ..PARTS }), E::Actions);
        assert_eq!(refusal(DecisionParts { actions: &[ACT; 17], ..PARTS }), E::Actions);
        for bad in [1.0, 1.5, f32::NAN, f32::INFINITY, -0.0, -0.5] {
            assert_eq!(refusal(DecisionParts { thresholds: &[0.25, bad], ..PARTS }), E::ThresholdRange(1));
        }
        assert_eq!(refusal(DecisionParts { thresholds: &[0.5, 0.5], ..PARTS }), E::ThresholdOrder(1));
        assert_eq!(refusal(DecisionParts { thresholds: &[0.5, 0.25], ..PARTS }), E::ThresholdOrder(1));
        assert_eq!(refusal(DecisionParts { intervals: &[0, 0, 2], ..PARTS }), E::Interval(1));
        assert_eq!(refusal(DecisionParts { intervals: &[0, 1, 3], ..PARTS }), E::Interval(2));
        assert_eq!(refusal(DecisionParts { uncalibrated: 3, ..PARTS }), E::Uncalibrated);
        let long = [WAIT, ASK, Action { name: "more than twenty-four bytes", ..ACT }];
        assert_eq!(DecisionParts { actions: &long, ..PARTS }.write(&mut [0; 256]), None);
        let name = String::from_iter(['é'; 12]);
        let longest = [WAIT, ASK, Action { name: &name, ..ACT }];
        let words = payload(&DecisionParts { actions: &longest, ..PARTS });
        assert!(DecisionRule::parse(bytes(&words)).is_ok());
        for name in ["", "wait", "a\nb", "\u{7f}"] {
            let parts = DecisionParts { actions: &[WAIT, ASK, Action { name, ..ACT }], ..PARTS };
            assert_eq!(refusal(parts), E::Name(2), "{name:?}");
        }
    }

    #[test]
    fn every_truncation_and_every_extension_is_refused() {
        let words = payload(&PARTS);
        let whole = bytes(&words);
        for len in 0..whole.len() {
            assert_eq!(DecisionRule::parse(&whole[..len]), Err(DecisionError::Length), "{len}");
        }
        let longer = &bytemuck::cast_slice::<u32, u8>(&words[1..])[..whole.len() + 1];
        assert_eq!(DecisionRule::parse(longer), Err(DecisionError::Length));
        assert_eq!(PARTS.write(&mut std::vec![0; whole.len() - 1]), None);
    }

    proptest! {
        /// The action is the one of the linear scan "how many thresholds are below the probability".
        #[test]
        fn decides_as_a_scan_does(
            thresholds in proptest::collection::btree_set(0u32..ONE_BITS, 0..40 / crate::test_size::step(5)),
            actions in proptest::collection::vec(0u8..5, 40),
            probe in 0u32..=ONE_BITS,
        ) {
            let thresholds: Vec<f32> = thresholds.into_iter().map(f32::from_bits).collect();
            // Adjacent ones differ, as each is above the one before by 1 to 5 modulo 6.
            let mut last = 0;
            let intervals: Vec<u8> = actions.iter().take(thresholds.len() + 1)
                .map(|step| { last = (last + 1 + step) % 6; last }).collect();
            let names = ["a", "b", "c", "d", "e", "f"];
            let actions = names.map(|name| Action { name, alarm: false, abstain: false, if_sure: None });
            let words = payload(&DecisionParts {
                thresholds: &thresholds, intervals: &intervals, uncalibrated: 5, unsure: None, actions: &actions,
            });
            let rule = DecisionRule::parse(bytes(&words)).unwrap();
            let mut probes = std::vec![f32::from_bits(probe), 0.0, 1.0];
            for &t in &thresholds {
                probes.extend([t.next_down().max(0.0), t, t.next_up()]);
            }
            for probe in probes {
                let scan = thresholds.iter().filter(|&&t| t < probe).count();
                prop_assert_eq!(rule.action_at(probe), intervals[scan]);
            }
        }

        #[test]
        fn no_bytes_panic(bytes in proptest::collection::vec(any::<u32>(), 0..40), head in 0u8..4, cut in 0usize..4) {
            let mut bytes = bytes;
            if let Some(first) = bytes.first_mut() {
                *first = *first & 0x0003_0303 | u32::from(head);
            }
            let all: &[u8] = bytemuck::cast_slice(&bytes);
            if let Ok(rule) = DecisionRule::parse(&all[..all.len().saturating_sub(cut)]) {
                prop_assert!(rule.actions().count() == rule.action_count());
                prop_assert!(usize::from(rule.action_at(0.5)) < rule.action_count());
            }
        }
    }
}
