//! From a score to a verdict, by thresholds whose accuracy is guaranteed.

use core::fmt;
use core::marker::PhantomData;

use serde::{Deserialize, Serialize};

use crate::score::{EncodingError, FloatScore, Margin, ONE_BITS, QuantizedScore, ScoreEncoding};

/// What thresholds say of a score.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[repr(u8)]
pub enum Verdict {
    /// The score is below the lower threshold: class 0.
    Negative,
    /// The score is from the lower threshold up and below the upper one: someone else decides.
    Refer,
    /// The score is from the upper threshold up: class 1.
    Positive,
}

/// The thresholds of one group, over probabilities ([`Score`](crate::score::Score)) or [margins](Margin).
///
/// A verdict takes two comparisons of integers. Where the lower threshold equals the upper one, no score is referred.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct OperatingPoint<S> {
    lower: u32,
    upper: u32,
    scores: PhantomData<S>,
}

/// The thresholds of one group, over integer codes.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct CodeOperatingPoint {
    lower: u32,
    upper: u32,
    encoding: ScoreEncoding,
}

/// The thresholds of an artifact: one group's, or each group's own, with what is guaranteed of them.
///
/// The thresholds are of the score itself, so they need no calibrated probability. Section 33 of an artifact holds them.
///
/// ```
/// use calib_core::decision::Verdict;
/// use calib_core::{Artifact, Score};
///
/// # mod sample { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/doc/sample.rs")); }
/// # let bytes = sample::with_operating_point();
/// # let artifact = Artifact::parse(bytes.as_bytes()).unwrap();
/// // Positive from 0.625 up, negative below 0.25.
/// let point = artifact.operating_points().unwrap().point::<Score>(0).unwrap();
/// assert_eq!(point.verdict(Score::new(0.625)?), Verdict::Positive);
/// assert_eq!(point.verdict(Score::new(0.5)?), Verdict::Refer);
/// assert_eq!(point.verdict(Score::new(0.0)?), Verdict::Negative);
/// # Ok::<(), calib_core::ScoreError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct OperatingPoints<'a> {
    encoding: ScoreEncoding,
    groups: u8,
    refers: bool,
    flags: u8,
    /// For each group the lower threshold, and the upper one if scores are referred: a key with four counts.
    thresholds: &'a [[u32; 5]],
    guarantees: &'a [[u32; 4]],
}

/// A threshold with the calibration rows on both sides.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Threshold {
    /// The least key at or above the threshold: the bits of a probability, the [key](Margin::key) of a margin or the
    /// [key](QuantizedScore::key) of a code. One above the greatest key is a threshold that no score reaches.
    pub key: u32,
    /// The rows of class 1.
    pub positives: u32,
    /// The rows of class 1 whose score is at or above the threshold.
    pub positives_above: u32,
    /// The rows of class 0.
    pub negatives: u32,
    /// The rows of class 0 whose score is at or above the threshold.
    pub negatives_above: u32,
}

/// The thresholds of a group with their counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Thresholds {
    /// Scores below it are negative.
    pub lower: Threshold,
    /// Scores from it up are positive. Equal to the lower one, or above.
    pub upper: Threshold,
}

/// What can be guaranteed of a threshold.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[non_exhaustive]
pub enum Accuracy {
    /// The share of class 1 that is not negative: of the lower threshold.
    Sensitivity,
    /// The share of class 0 that is not positive: of the upper threshold.
    Specificity,
    /// The share of class 1 among the positive: of the upper threshold.
    PositivePredictiveValue,
    /// The share of class 0 among the negative: of the lower threshold.
    NegativePredictiveValue,
}

/// A guarantee: the accuracy is at least `level`, with this confidence over the draw of the calibration rows.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct AccuracyGuarantee {
    /// What is guaranteed.
    pub accuracy: Accuracy,
    /// The least share, in `(0, 1)`.
    pub level: f32,
    /// The probability with which the guarantee holds, in `(0, 1)`; of several groups for all of them together.
    pub confidence: f32,
    /// The share of class 1 for which a predictive value is guaranteed, in `(0, 1)`. It is `None` if it is the one of the calibration rows,
    /// or the accuracy does not depend on it.
    pub prevalence: Option<f32>,
}

/// The parts of operating points, not yet checked, for
/// [`ArtifactWriter::operating_points`](crate::artifact::ArtifactWriter::operating_points).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct OperatingParts<'a> {
    /// The thresholds of each group, 1 to 255.
    pub groups: &'a [Thresholds],
    /// Whether a score that is referred raises the alarm, as a positive one does.
    pub refer_raises: bool,
    /// What is guaranteed, 1 to 4.
    pub guarantees: &'a [AccuracyGuarantee],
}

/// Why bytes or parts are not operating points. The payload is the index of what is wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[non_exhaustive]
pub enum OperatingPointError {
    /// There are too few or too many bytes, or no groups.
    Length,
    /// A flag is unknown.
    Flags,
    /// A threshold of this group is above the greatest, or the lower one is above the upper one.
    Threshold(u8),
    /// The counts of this group contradict each other.
    Counts(u8),
    /// This guarantee is of no known kind, or its numbers are not in `(0, 1)`.
    Guarantee(u8),
}

const REFER_RAISES: u8 = 1;

impl<S: FloatScore> OperatingPoint<S> {
    /// Returns what the thresholds say of a score.
    #[inline]
    pub fn verdict(&self, score: S) -> Verdict {
        verdict(self.lower, self.upper, score.key())
    }
}

impl CodeOperatingPoint {
    /// Returns what the thresholds say of a code.
    ///
    /// # Errors
    ///
    /// If the score is in another encoding.
    #[inline]
    pub fn verdict(&self, score: QuantizedScore) -> Result<Verdict, EncodingError> {
        EncodingError::check(self.encoding, score)?;
        Ok(verdict(self.lower, self.upper, score.key().into()))
    }
}

#[inline(always)]
const fn verdict(lower: u32, upper: u32, key: u32) -> Verdict {
    if key >= upper {
        Verdict::Positive
    } else if key >= lower {
        Verdict::Refer
    } else {
        Verdict::Negative
    }
}

impl<'a> OperatingPoints<'a> {
    /// Checks the payload of a section, which starts at a multiple of 4 in memory, for scores in this encoding.
    pub(crate) fn parse(payload: &'a [u8], encoding: ScoreEncoding) -> Result<Self, OperatingPointError> {
        let words: &[u32] = bytemuck::try_cast_slice(payload).map_err(|_| OperatingPointError::Length)?;
        let (&head, words) = words.split_first().ok_or(OperatingPointError::Length)?;
        let [groups, per_group, flags, guarantees] = head.to_le_bytes();
        if groups == 0 || !(1..=2).contains(&per_group) || !(1..=4).contains(&guarantees) {
            return Err(OperatingPointError::Length);
        }
        if flags & !REFER_RAISES != 0 {
            return Err(OperatingPointError::Flags);
        }
        let count = usize::from(groups) * usize::from(per_group);
        let (thresholds, rest) = words.split_at_checked(5 * count).ok_or(OperatingPointError::Length)?;
        let (thresholds, _) = thresholds.as_chunks();
        let (found, rest) = rest.as_chunks();
        if found.len() != usize::from(guarantees) || !rest.is_empty() {
            return Err(OperatingPointError::Length);
        }
        let points = Self { encoding, groups, refers: per_group == 2, flags, thresholds, guarantees: found };
        points.check()?;
        Ok(points)
    }

    fn check(&self) -> Result<(), OperatingPointError> {
        let never = never(&self.encoding);
        for (group, Thresholds { lower, upper }) in (0..=u8::MAX).zip(self.all()) {
            // Of several groups one may need a single threshold where another refers.
            let ascends = lower == upper || self.refers && lower.key < upper.key;
            if !ascends || upper.key > never {
                return Err(OperatingPointError::Threshold(group));
            }
            let fewer = upper.positives_above <= lower.positives_above
                && upper.negatives_above <= lower.negatives_above;
            let same = (lower.positives, lower.negatives) == (upper.positives, upper.negatives);
            let within = lower.positives_above <= lower.positives && lower.negatives_above <= lower.negatives;
            if !(fewer && same && within) {
                return Err(OperatingPointError::Counts(group));
            }
        }
        match (0..=u8::MAX).zip(self.guarantees).find(|(_, words)| guarantee(words).is_none()) {
            Some((at, _)) => Err(OperatingPointError::Guarantee(at)),
            None => Ok(()),
        }
    }

    /// Returns the encoding of the scores.
    pub const fn encoding(&self) -> ScoreEncoding {
        self.encoding
    }

    /// Returns the number of groups, at least 1.
    pub const fn groups(&self) -> usize {
        self.groups as usize
    }

    /// Tells whether there are scores that are referred.
    pub const fn refers(&self) -> bool {
        self.refers
    }

    /// Returns a group's thresholds with their counts; `None` beyond the last group.
    #[inline]
    pub fn thresholds(&self, group: usize) -> Option<Thresholds> {
        let (lower, upper) = self.words(group)?;
        Some(Thresholds { lower: threshold(lower), upper: threshold(upper) })
    }

    #[inline]
    fn words(&self, group: usize) -> Option<(&'a [u32; 5], &'a [u32; 5])> {
        let per_group = 1 + usize::from(self.refers);
        let at = group.checked_mul(per_group)?;
        Some((self.thresholds.get(at)?, self.thresholds.get(at.checked_add(per_group - 1)?)?))
    }

    /// Returns the thresholds of all groups in their order.
    pub fn all(&self) -> impl Iterator<Item = Thresholds> + use<'a> {
        let points = *self;
        (0..self.groups()).map_while(move |group| points.thresholds(group))
    }

    /// Returns what is guaranteed.
    pub fn guarantees(&self) -> impl Iterator<Item = AccuracyGuarantee> + use<'a> {
        self.guarantees.iter().filter_map(guarantee)
    }

    /// Returns the thresholds of a group over probabilities or margins; `None` beyond the last group, and if the thresholds are of
    /// another kind of score.
    #[inline]
    pub fn point<S: FloatScore>(&self, group: usize) -> Option<OperatingPoint<S>> {
        let is_of_kind = !self.encoding.is_quantized() && self.encoding.is_margin() == S::IS_MARGIN;
        let ([lower, ..], [upper, ..]) = self.words(group).filter(|_| is_of_kind)?;
        Some(OperatingPoint { lower: *lower, upper: *upper, scores: PhantomData })
    }

    /// Returns the thresholds of a group over codes; `None` beyond the last group, and if the thresholds are over floats.
    #[inline]
    pub fn code_point(&self, group: usize) -> Option<CodeOperatingPoint> {
        let ([lower, ..], [upper, ..]) = self.words(group).filter(|_| self.encoding.is_quantized())?;
        Some(CodeOperatingPoint { lower: *lower, upper: *upper, encoding: self.encoding })
    }

    /// Tells whether a verdict raises the alarm: a positive one does, and one that refers if the artifact says so.
    pub const fn is_raised_by(&self, verdict: Verdict) -> bool {
        match verdict {
            Verdict::Positive => true,
            Verdict::Refer => self.refer_raises(),
            Verdict::Negative => false,
        }
    }

    /// Tells whether a score that is referred raises the alarm.
    pub const fn refer_raises(&self) -> bool {
        self.flags & REFER_RAISES != 0
    }
}

/// Returns the threshold that no score in this encoding reaches.
pub const fn never(encoding: &ScoreEncoding) -> u32 {
    match encoding.code_range() {
        Some((lowest, highest)) => (highest - lowest) as u32 + 1,
        None if encoding.is_margin() => Margin::MAX.key() + 1,
        None => ONE_BITS + 1,
    }
}

const fn threshold(words: &[u32; 5]) -> Threshold {
    let [key, positives, positives_above, negatives, negatives_above] = *words;
    Threshold { key, positives, positives_above, negatives, negatives_above }
}

fn guarantee(&[accuracy, level, confidence, prevalence]: &[u32; 4]) -> Option<AccuracyGuarantee> {
    // By their bits, because a comparison of floats is a call on cores without an FPU.
    let share = |bits: u32| (1..ONE_BITS).contains(&bits).then_some(f32::from_bits(bits));
    let accuracy = match accuracy {
        0 => Accuracy::Sensitivity,
        1 => Accuracy::Specificity,
        2 => Accuracy::PositivePredictiveValue,
        3 => Accuracy::NegativePredictiveValue,
        _ => return None,
    };
    let is_predictive =
        matches!(accuracy, Accuracy::PositivePredictiveValue | Accuracy::NegativePredictiveValue);
    let prevalence = match prevalence {
        0 => None,
        bits if is_predictive => Some(share(bits)?),
        _ => return None,
    };
    Some(AccuracyGuarantee { accuracy, level: share(level)?, confidence: share(confidence)?, prevalence })
}

impl OperatingParts<'_> {
    /// Returns the words of the payload; `None` if a number has no place in the format.
    pub(crate) fn words(&self) -> Option<impl Iterator<Item = u32>> {
        let refers = self.groups.iter().any(|group| group.lower.key != group.upper.key);
        let head = [
            u8::try_from(self.groups.len()).ok()?,
            1 + u8::from(refers),
            if self.refer_raises { REFER_RAISES } else { 0 },
            u8::try_from(self.guarantees.len()).ok()?,
        ];
        let words = |t: Threshold| {
            [t.key, t.positives, t.positives_above, t.negatives, t.negatives_above].into_iter()
        };
        let upper = move |t: Threshold| refers.then(|| words(t)).into_iter().flatten();
        let thresholds =
            self.groups.iter().flat_map(move |group| words(group.lower).chain(upper(group.upper)));
        let guarantees = self.guarantees.iter().flat_map(|guarantee| {
            [
                guarantee.accuracy as u32,
                guarantee.level.to_bits(),
                guarantee.confidence.to_bits(),
                guarantee.prevalence.map_or(0, f32::to_bits),
            ]
        });
        Some(core::iter::once(u32::from_le_bytes(head)).chain(thresholds).chain(guarantees))
    }
}

impl fmt::Display for Accuracy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Sensitivity => "sensitivity",
            Self::Specificity => "specificity",
            Self::PositivePredictiveValue => "positive predictive value",
            Self::NegativePredictiveValue => "negative predictive value",
        })
    }
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Negative => "negative",
            Self::Refer => "refer",
            Self::Positive => "positive",
        })
    }
}

impl fmt::Display for OperatingPointError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Length => f.write_str("their length is not that of their parts"),
            Self::Flags => f.write_str("a flag is unknown"),
            Self::Threshold(group) => write!(f, "a threshold of group {group} is out of range or of order"),
            Self::Counts(group) => write!(f, "the counts of group {group} contradict each other"),
            Self::Guarantee(i) => write!(f, "guarantee {i} is of no known kind, or not in (0, 1)"),
        }
    }
}

impl core::error::Error for OperatingPointError {}

#[cfg(test)]
mod tests {
    extern crate std;

    use std::string::ToString;
    use std::vec::Vec;

    use proptest::prelude::*;

    use super::*;
    use crate::score::Score;

    const F32: ScoreEncoding = ScoreEncoding::F32;
    const GUARANTEES: &[AccuracyGuarantee] = &[
        AccuracyGuarantee { accuracy: Accuracy::Sensitivity, level: 0.95, confidence: 0.9, prevalence: None },
        AccuracyGuarantee {
            accuracy: Accuracy::PositivePredictiveValue,
            level: 0.5,
            confidence: 0.9,
            prevalence: Some(0.25),
        },
    ];

    fn at(key: u32, positives_above: u32, negatives_above: u32) -> Threshold {
        Threshold { key, positives: 60, positives_above, negatives: 100, negatives_above }
    }

    fn single(key: u32) -> Thresholds {
        Thresholds { lower: at(key, 60, 9), upper: at(key, 60, 9) }
    }

    fn payload(parts: &OperatingParts<'_>) -> Vec<u32> {
        parts.words().unwrap().collect()
    }

    fn parsed(words: &[u32], encoding: ScoreEncoding) -> Result<OperatingPoints<'_>, OperatingPointError> {
        OperatingPoints::parse(bytemuck::cast_slice(words), encoding)
    }

    fn refusal(
        groups: &[Thresholds],
        guarantees: &[AccuracyGuarantee],
        encoding: ScoreEncoding,
    ) -> OperatingPointError {
        let parts = OperatingParts { groups, refer_raises: false, guarantees };
        parsed(&payload(&parts), encoding).unwrap_err()
    }

    #[test]
    fn a_threshold_belongs_above() {
        let groups =
            [Thresholds { lower: at(0.25f32.to_bits(), 60, 50), upper: at(0.5f32.to_bits(), 30, 2) }];
        let parts = OperatingParts { groups: &groups, refer_raises: true, guarantees: GUARANTEES };
        let words = payload(&parts);
        let points = parsed(&words, F32).unwrap();
        let point = points.point::<Score>(0).unwrap();
        let of = |value: f32| point.verdict(Score::new(value).unwrap());
        assert_eq!([0.0, -0.0, 0.25f32.next_down()].map(of), [Verdict::Negative; 3]);
        assert_eq!([0.25, 0.5f32.next_down()].map(of), [Verdict::Refer; 2]);
        assert_eq!([0.5, 1.0].map(of), [Verdict::Positive; 2]);
        assert!(points.guarantees().eq(GUARANTEES.iter().copied()));
        assert_eq!((points.groups(), points.thresholds(0), points.thresholds(1)), (1, Some(groups[0]), None));
        let raised = [Verdict::Negative, Verdict::Refer, Verdict::Positive].map(|v| points.is_raised_by(v));
        assert_eq!(raised, [false, true, true]);
        let quiet = payload(&OperatingParts { refer_raises: false, ..parts });
        assert!(!parsed(&quiet, F32).unwrap().is_raised_by(Verdict::Refer));
    }

    #[test]
    fn never_is_never_reached_and_0_always() {
        let i8 = ScoreEncoding::I8 { scale: 0.1, zero_point: 0 };
        let u16 = ScoreEncoding::U16 { scale: 0.1, zero_point: 0 };
        for (encoding, greatest) in [
            (F32, ONE_BITS),
            (ScoreEncoding::RoundedF32, ONE_BITS),
            (ScoreEncoding::Margin, Margin::MAX.key()),
            (ScoreEncoding::RoundedMargin, Margin::MAX.key()),
            (i8, 255),
            (u16, 65_535),
        ] {
            assert_eq!(never(&encoding), greatest + 1);
            let words = payload(&OperatingParts {
                groups: &[single(greatest + 1), single(0)],
                refer_raises: false,
                guarantees: GUARANTEES,
            });
            let points = parsed(&words, encoding).unwrap();
            let verdicts = |group| {
                (
                    points.point::<Score>(group).map(|p| p.verdict(Score::ONE)),
                    points.point::<Margin>(group).map(|p| p.verdict(Margin::MAX)),
                    points.code_point(group).map(|p| {
                        let key = greatest.min(u16::MAX.into()) as u16;
                        p.verdict(QuantizedScore::from_key(encoding, key).unwrap()).unwrap()
                    }),
                )
            };
            for (group, verdict) in [(0, Verdict::Negative), (1, Verdict::Positive)] {
                let (score, margin, code) = verdicts(group);
                let is = (!encoding.is_quantized(), encoding.is_margin());
                assert_eq!(score, (is == (true, false)).then_some(verdict), "{encoding}");
                assert_eq!(margin, (is == (true, true)).then_some(verdict), "{encoding}");
                assert_eq!(code, (!is.0).then_some(verdict), "{encoding}");
            }
            assert_eq!(verdicts(2), (None, None, None));
            let beyond = refusal(&[single(0), single(greatest + 2)], GUARANTEES, encoding);
            assert_eq!(beyond, OperatingPointError::Threshold(1));
        }
        let other = QuantizedScore::new(u16, 3).unwrap();
        let words =
            payload(&OperatingParts { groups: &[single(3)], refer_raises: false, guarantees: GUARANTEES });
        let point = parsed(&words, i8).unwrap().code_point(0).unwrap();
        assert_eq!(point.verdict(other), Err(EncodingError { expected: i8, got: u16 }));
    }

    #[test]
    fn refuses_what_is_no_operating_point() {
        use OperatingPointError as E;
        let refused = |groups: &[Thresholds]| refusal(groups, GUARANTEES, F32);
        let pair = |lower, upper| Thresholds { lower, upper };
        assert_eq!(refused(&[]), E::Length);
        assert_eq!(refused(&[pair(at(9, 60, 9), at(8, 60, 9))]), E::Threshold(0));
        // One group refers, so both have two thresholds.
        assert_eq!(
            refused(&[pair(at(7, 60, 9), at(8, 60, 9)), pair(at(5, 60, 9), at(5, 60, 8))]),
            E::Threshold(1)
        );
        let mixed = OperatingParts {
            groups: &[pair(at(7, 60, 9), at(8, 60, 9)), single(5)],
            refer_raises: true,
            guarantees: GUARANTEES,
        };
        assert!(OperatingPoints::parse(bytemuck::cast_slice(&payload(&mixed)), F32).is_ok());
        assert_eq!(refused(&[pair(at(7, 59, 9), at(8, 60, 9))]), E::Counts(0));
        assert_eq!(refused(&[pair(at(7, 60, 8), at(8, 60, 9))]), E::Counts(0));
        assert_eq!(refused(&[pair(at(7, 61, 9), at(8, 60, 9))]), E::Counts(0));
        assert_eq!(refused(&[pair(at(7, 60, 101), at(8, 60, 9))]), E::Counts(0));
        let fewer = Threshold { positives: 50, positives_above: 40, ..at(8, 60, 9) };
        assert_eq!(refused(&[pair(at(7, 60, 9), fewer)]), E::Counts(0));
        for bad in [0.0, 1.0, -0.5, f32::NAN] {
            let level = AccuracyGuarantee { level: bad, ..GUARANTEES[0] };
            let confidence = AccuracyGuarantee { confidence: bad, ..GUARANTEES[0] };
            let prevalence = AccuracyGuarantee { prevalence: Some(bad), ..GUARANTEES[1] };
            for guarantee in [level, confidence] {
                assert_eq!(refusal(&[single(1)], &[GUARANTEES[0], guarantee], F32), E::Guarantee(1));
            }
            if bad != 0.0 {
                assert_eq!(refusal(&[single(1)], &[prevalence], F32), E::Guarantee(0));
            }
        }
        let idle = AccuracyGuarantee { prevalence: Some(0.5), ..GUARANTEES[0] };
        assert_eq!(refusal(&[single(1)], &[idle], F32), E::Guarantee(0));
        assert_eq!(refusal(&[single(1)], &[], F32), E::Length);
        assert_eq!(refusal(&[single(1)], &[GUARANTEES[0]; 5], F32), E::Length);
        let mut words =
            payload(&OperatingParts { groups: &[single(1)], refer_raises: true, guarantees: GUARANTEES });
        words[6] = 4;
        assert_eq!(parsed(&words, F32), Err(E::Guarantee(0)));
        words[0] |= 2 << 16;
        assert_eq!(parsed(&words, F32), Err(E::Flags));
    }

    /// Every accuracy, of which only the predictive values have a prevalence.
    #[test]
    fn guarantees_are_read_as_they_were_written() {
        for (accuracy, has_prevalence, name) in [
            (Accuracy::Sensitivity, false, "sensitivity"),
            (Accuracy::Specificity, false, "specificity"),
            (Accuracy::PositivePredictiveValue, true, "positive predictive value"),
            (Accuracy::NegativePredictiveValue, true, "negative predictive value"),
        ] {
            let prevalence = has_prevalence.then_some(0.125);
            let guarantee = AccuracyGuarantee { accuracy, level: 0.75, confidence: 0.95, prevalence };
            let parts =
                OperatingParts { groups: &[single(1)], refer_raises: false, guarantees: &[guarantee] };
            let words = payload(&parts);
            assert!(parsed(&words, F32).unwrap().guarantees().eq([guarantee]), "{name}");
            assert_eq!(accuracy.to_string(), name);
        }
    }

    #[test]
    fn one_group_that_refers_is_enough_to_refer() {
        let pair = Thresholds { lower: at(7, 60, 9), upper: at(8, 60, 9) };
        for (groups, refers) in [([single(7), single(8)], false), ([single(7), pair], true)] {
            let parts = OperatingParts { groups: &groups, refer_raises: false, guarantees: GUARANTEES };
            let words = payload(&parts);
            let points = parsed(&words, F32).unwrap();
            assert_eq!(points.refers(), refers);
            assert!(points.all().eq(groups));
        }
    }

    #[test]
    fn what_is_told_names_the_verdict_and_the_place() {
        let verdicts = [Verdict::Negative, Verdict::Refer, Verdict::Positive].map(|v| v.to_string());
        assert_eq!(verdicts, ["negative", "refer", "positive"]);
        use OperatingPointError as E;
        assert!(E::Threshold(3).to_string().contains("group 3"));
        assert!(E::Counts(3).to_string().contains("group 3"));
        assert!(E::Guarantee(3).to_string().contains("guarantee 3"));
        assert!(E::Length.to_string().contains("length") && E::Flags.to_string().contains("flag"));
    }

    #[test]
    fn every_truncation_and_every_extension_is_refused() {
        let words =
            payload(&OperatingParts { groups: &[single(1); 3], refer_raises: true, guarantees: GUARANTEES });
        let bytes: &[u8] = bytemuck::cast_slice(&words);
        for len in 0..bytes.len() {
            let cut = OperatingPoints::parse(&bytes[..len], F32);
            assert_eq!(cut, Err(OperatingPointError::Length), "{len}");
        }
        let longer = [&words[..], &[0]].concat();
        assert_eq!(parsed(&longer, F32), Err(OperatingPointError::Length));
    }

    proptest! {
        #[test]
        fn no_bytes_panic(words in proptest::collection::vec(any::<u32>(), 0..60), head in 0u32..0x0405_0303) {
            let mut words = words;
            if let Some(first) = words.first_mut() {
                *first = head;
            }
            if let Ok(points) = parsed(&words, F32) {
                prop_assert_eq!(points.all().count(), points.groups());
            }
        }
    }
}
