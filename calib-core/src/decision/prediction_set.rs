//! From a vector of scores to a set of classes that contains the true one with a stated probability.

use core::fmt;

use serde::{Deserialize, Serialize};

use super::class_set::ClassSet;
use crate::score::{
    CodeError, CodeVectorError, Logits, Margin, ONE_BITS, Probs, QuantizedScore, Score, ScoreEncoding,
    TopLabelCodeMargin,
};

/// The prediction sets of an artifact: which classes are in the set of a vector of scores.
///
/// A class `y` is in the set if its conformity `a_y` is at or above a threshold `q`. The threshold is the same for all
/// classes, or each class has its own (split conformal prediction: Vovk, Gammerman and Shafer 2005; Angelopoulos and Bates
/// 2021). Section 35 of an
/// artifact holds the thresholds.
///
/// ```
/// use calib_core::{Artifact, Logits};
///
/// # mod sample { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/doc/sample.rs")); }
/// # let bytes = sample::with_prediction_sets();
/// # let artifact = Artifact::parse(bytes.as_bytes()).unwrap();
/// // Classes whose logit is at most 1 below the largest other one.
/// let sets = artifact.prediction_sets().unwrap();
/// let set = |logits| sets.of_logits(Logits::new(logits).unwrap()).unwrap();
/// assert!(set(&[2.0, 1.5, -3.0]).classes().eq([0, 1]));
/// assert_eq!(set(&[2.0, 0.5, 9.0]).alone(), Some(2));
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct PredictionSets<'a> {
    encoding: ScoreEncoding,
    classes: u16,
    is_binary: bool,
    conformity: Conformity,
    flags: u8,
    alpha: f32,
    confidence: Option<f32>,
    /// A number of rows and a threshold: one pair for all classes, or one a class.
    thresholds: &'a [[u32; 2]],
}

/// How well a class goes with a vector of scores.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub enum Conformity {
    /// The class's own score: a probability, the softmax of a logit, or a code. For a binary score `s` it is `s` for class 1
    /// and `1 - s` for class 0. For a code with key `k` it is `k`, and the greatest key minus `k`.
    Score,
    /// The class's logit less the largest logit of the other classes, in f32 or in codes. Of a binary margin `m` it is `m` for class
    /// 1 and `-m` for class 0.
    Margin,
}

/// A threshold of conformity.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Quantile {
    /// The number of calibration rows: of all classes, or of the class.
    pub rows: u32,
    /// A class is in the set if the key of its conformity is at or above this one; with 0 it always is. The key is the bits
    /// of a probability, a [margin's key](Margin::key), a [code's key](QuantizedScore::key) or the
    /// [key of a difference](Conformity::code_key) of codes.
    pub key: u32,
}

/// The parts of prediction sets, not yet checked, for
/// [`ArtifactWriter::prediction_sets`](crate::artifact::ArtifactWriter::prediction_sets).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SetParts<'a> {
    /// What is compared.
    pub conformity: Conformity,
    /// Whether the predicted class is always in the set.
    pub never_empty: bool,
    /// The probability that the true class is missed, in `(0, 1)`.
    pub alpha: f32,
    /// The probability over the draw of the calibration rows that at most `alpha` of all vectors are missed, in `(0, 1)`. It is `None` if
    /// `alpha` is the probability over the draw of the rows and the vector.
    pub confidence: Option<f32>,
    /// The threshold of all classes.
    pub quantiles: Quantiles<'a>,
}

/// Whether coverage is guaranteed for all classes together or for each.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Quantiles<'a> {
    /// One threshold for all classes.
    All(Quantile),
    /// A threshold for each class, in the order of the classes.
    ByClass(&'a [Quantile]),
}

/// Why bytes or parts are no prediction sets.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[non_exhaustive]
pub enum SetError {
    /// There are too few or too many bytes.
    Length,
    /// The conformity or a flag is unknown, or the scores have no such conformity.
    Kind,
    /// There are more than [`ClassSet::MAX_CLASSES`] classes.
    Classes,
    /// The probability of a miss or the confidence is not in `(0, 1)`.
    Level,
    /// The threshold of this class is above every conformity.
    Threshold(u16),
}

const NEVER_EMPTY: u8 = 1;
const BY_CLASS: u8 = 2;
/// What is added to a difference of codes, so that its key is above 0.
const CODE_OFFSET: i32 = 1 << 16;

/// The key of a margin of 0.
const ZERO_KEY: u32 = Margin::ZERO.key();
/// The bits of a float except for its sign.
const MAGNITUDE: u32 = !(1 << 31);

/// Returns the greatest magnitude, as bits, of a margin of at most 0 that is at or above a threshold of at most 0. At or below the lowest
/// margin it is everything: differences beyond the lowest float count as that.
#[inline]
const fn farthest(threshold: u32) -> u32 {
    if threshold == ZERO_KEY {
        0
    } else if threshold <= Margin::MIN.key() {
        MAGNITUDE
    } else {
        !threshold & MAGNITUDE
    }
}

/// Tells whether a logit is at most so far below the largest.
#[inline]
fn is_near(logit: f32, largest: f32, farthest: u32) -> bool {
    (logit - largest).to_bits() & MAGNITUDE <= farthest
}

impl Conformity {
    /// Returns the greatest key of a conformity of scores in this encoding; `None` if they have no such conformity.
    const fn greatest_key(self, encoding: &ScoreEncoding, is_binary: bool) -> Option<u32> {
        let codes = match encoding.code_range() {
            Some((lowest, highest)) => Some((highest - lowest) as u32),
            None => None,
        };
        match (self, codes, is_binary) {
            (Self::Score, Some(greatest), _) => Some(greatest),
            (Self::Margin, Some(greatest), false) => Some(greatest + CODE_OFFSET as u32),
            (Self::Margin, Some(_), true) => None,
            // The score of class 1 of two is either a probability or a margin.
            (Self::Score, None, true) if encoding.is_margin() => None,
            (Self::Margin, None, true) if !encoding.is_margin() => None,
            (Self::Score, None, _) => Some(ONE_BITS),
            (Self::Margin, None, _) => Some(Margin::MAX.key()),
        }
    }

    /// Returns the key of a difference of codes.
    ///
    /// ```
    /// use calib_core::decision::Conformity;
    ///
    /// assert!(Conformity::code_key(-65_535) > 0);
    /// assert!(Conformity::code_key(-1) < Conformity::code_key(0));
    /// ```
    #[inline]
    pub const fn code_key(difference: i32) -> u32 {
        difference.wrapping_add(CODE_OFFSET) as u32
    }
}

impl<'a> PredictionSets<'a> {
    /// Checks the payload of a section, which starts at a multiple of 4 in memory, for vectors of so many classes, or binary scores,
    /// in this encoding.
    pub(crate) fn parse(
        payload: &'a [u8],
        encoding: ScoreEncoding,
        classes: u16,
        is_binary: bool,
    ) -> Result<Self, SetError> {
        let words: &[u32] = bytemuck::try_cast_slice(payload).map_err(|_| SetError::Length)?;
        let (&[head, alpha, confidence], words) = words.split_first_chunk().ok_or(SetError::Length)?;
        let [conformity, flags, 0, 0] = head.to_le_bytes() else { return Err(SetError::Kind) };
        let conformity = match conformity {
            0 => Conformity::Score,
            1 => Conformity::Margin,
            _ => return Err(SetError::Kind),
        };
        let greatest = conformity.greatest_key(&encoding, is_binary).ok_or(SetError::Kind)?;
        if flags & !(NEVER_EMPTY | BY_CLASS) != 0 {
            return Err(SetError::Kind);
        }
        if usize::from(classes) > ClassSet::MAX_CLASSES {
            return Err(SetError::Classes);
        }
        // By their bits, because a comparison of floats is a call on cores without an FPU.
        let share = |bits: u32| (1..ONE_BITS).contains(&bits).then_some(f32::from_bits(bits));
        let alpha = share(alpha).ok_or(SetError::Level)?;
        let confidence = match confidence {
            0 => None,
            bits => Some(share(bits).ok_or(SetError::Level)?),
        };
        let (thresholds, rest) = words.as_chunks();
        let expected = if flags & BY_CLASS != 0 { classes } else { 1 };
        if thresholds.len() != usize::from(expected) || !rest.is_empty() {
            return Err(SetError::Length);
        }
        match (0..).zip(thresholds).find(|(_, [_, key])| *key > greatest) {
            Some((class, _)) => Err(SetError::Threshold(class)),
            None => {
                Ok(Self { encoding, classes, is_binary, conformity, flags, alpha, confidence, thresholds })
            }
        }
    }

    /// Returns what is compared.
    pub const fn conformity(&self) -> Conformity {
        self.conformity
    }

    /// Returns the encoding of the scores.
    pub const fn encoding(&self) -> ScoreEncoding {
        self.encoding
    }

    /// Returns the number of classes.
    pub const fn classes(&self) -> u16 {
        self.classes
    }

    /// Tells whether the predicted class is always in the set.
    pub const fn never_empty(&self) -> bool {
        self.flags & NEVER_EMPTY != 0
    }

    /// Tells whether the guarantee is for each class, rather than for all together.
    pub const fn is_by_class(&self) -> bool {
        self.flags & BY_CLASS != 0
    }

    /// Returns the probability that the true class is missed.
    pub const fn alpha(&self) -> f32 {
        self.alpha
    }

    /// Returns the probability, over the draw of the calibration rows, with which at most `alpha` of all vectors are missed. It is `None`
    /// if `alpha` is over the draw of the rows and of the vector.
    pub const fn confidence(&self) -> Option<f32> {
        self.confidence
    }

    /// Returns the threshold of a class; `None` beyond the last class.
    pub fn quantile(&self, class: u16) -> Option<Quantile> {
        let at = if self.is_by_class() { class.into() } else { 0 };
        let &[rows, key] = self.thresholds.get(at).filter(|_| class < self.classes)?;
        Some(Quantile { rows, key })
    }

    /// Returns the set of a binary probability; `None` if the sets are of other scores.
    pub fn of_score(&self, score: Score) -> Option<ClassSet> {
        let other = Score::new(1.0 - score.get()).unwrap_or(Score::ZERO);
        self.is_of(false).then(|| self.pair(other.to_bits(), score.to_bits()))
    }

    /// Returns the set of a binary margin; `None` if the sets are of other scores.
    pub fn of_margin(&self, margin: Margin) -> Option<ClassSet> {
        let other = Margin::new(-margin.get()).unwrap_or(Margin::ZERO);
        self.is_of(true).then(|| self.pair(other.key(), margin.key()))
    }

    /// Returns the set of a binary code; `None` if the sets are of other scores, or of codes of another encoding.
    pub fn of_code(&self, score: QuantizedScore) -> Option<ClassSet> {
        let greatest = self.encoding.max_key()?;
        (self.is_binary && self.encoding == score.encoding())
            .then(|| self.pair(greatest.wrapping_sub(score.key()).into(), score.key().into()))
    }

    /// Returns the set of a vector of logits; `None` if the sets are of other scores, or of another number of classes.
    pub fn of_logits(&self, logits: Logits<'_>) -> Option<ClassSet> {
        if self.is_binary || self.encoding.is_quantized() || logits.classes() != usize::from(self.classes) {
            return None;
        }
        Some(match self.conformity {
            Conformity::Score => {
                let top = || logits.top_label_margin().class;
                self.collect(logits.scores().map(|score| score.to_bits()), top)
            }
            Conformity::Margin if self.is_by_class() => self.of_differences(logits),
            Conformity::Margin => self.of_near(logits),
        })
    }

    /// Returns the set where all classes have the same threshold. If that is not above 0, the predicted class is in, and every other
    /// class whose logit is near enough to the largest: its top-two margin is not asked for.
    fn of_near(&self, logits: Logits<'_>) -> ClassSet {
        let threshold = self.threshold();
        if threshold > ZERO_KEY {
            let top = logits.top_label_margin();
            let is_in = top.margin.key() >= threshold || self.never_empty();
            return is_in.then_some(top.class).into_iter().collect();
        }
        // Keys are compared as integers, because a comparison of floats is a call on cores without an FPU.
        let keys = logits.as_slice().iter().map(|&logit| Margin::key_of_finite(logit));
        let largest = Margin::from_key(keys.max().unwrap_or_default()).unwrap_or_default().get();
        let farthest = farthest(threshold);
        ClassSet::of_slice(logits.as_slice(), |&logit| is_near(logit, largest, farthest))
    }

    /// Returns the set where each class has a separate threshold.
    fn of_differences(&self, logits: Logits<'_>) -> ClassSet {
        let top = logits.top_label_margin();
        let largest = logits.as_slice().get(usize::from(top.class)).copied().unwrap_or_default();
        let pairs = (0..).zip(logits.as_slice()).zip(self.thresholds);
        let is_in = |&((class, &logit), &[_, threshold]): &((u16, &f32), &[u32; 2])| {
            if class == top.class {
                return self.never_empty() || top.margin.key() >= threshold;
            }
            threshold <= ZERO_KEY && is_near(logit, largest, farthest(threshold))
        };
        pairs.filter(is_in).map(|((class, _), _)| class).collect()
    }

    /// Returns the set of a vector of probabilities; `None` if the sets are of other scores, or of another number of classes.
    pub fn of_probs(&self, probs: Probs<'_>) -> Option<ClassSet> {
        let is_of = !self.is_binary && !self.encoding.is_quantized() && self.conformity == Conformity::Score;
        (is_of && probs.classes() == usize::from(self.classes))
            .then(|| self.collect(probs.scores().map(|score| score.to_bits()), || probs.top_label().class))
    }

    /// Returns the set of the codes of all classes, in their order, given as [keys](QuantizedScore::key).
    ///
    /// # Errors
    ///
    /// The first number that is no code of the encoding, or another number of classes; [`CodeVectorError::Code`] for class 0 if the
    /// sets are over floats, or binary.
    pub fn of_keys(&self, keys: &[u16]) -> Result<ClassSet, CodeVectorError> {
        if self.is_binary {
            return Err(CodeVectorError::Code(0, CodeError::Encoding));
        }
        let largest = keys.iter().copied().max().unwrap_or_default();
        if keys.len() != usize::from(self.classes)
            || self.encoding.max_key().is_none_or(|most| largest > most)
        {
            TopLabelCodeMargin::from_keys(self.encoding, keys)?;
            return Err(CodeVectorError::ClassCount(keys.len()));
        }
        // What is compared with a key: the threshold itself, or the threshold of the difference plus the largest key.
        let least = |threshold: u32| match self.conformity {
            Conformity::Score => threshold as i32,
            Conformity::Margin => (threshold as i32).wrapping_sub(CODE_OFFSET).wrapping_add(largest.into()),
        };
        let mut set = if self.is_by_class() {
            let pairs = (0..).zip(keys).zip(self.thresholds);
            let is_in =
                |&((_, &key), &[_, threshold]): &((u16, &u16), &[u32; 2])| i32::from(key) >= least(threshold);
            pairs.filter(is_in).map(|((class, _), _)| class).collect()
        } else {
            let least = least(self.threshold());
            ClassSet::of_slice(keys, |&key| i32::from(key) >= least)
        };
        self.correct(&mut set, keys);
        Ok(set)
    }

    /// Puts the predicted class of codes in or out: of margins it is by its top-two margin, which the others' difference from the largest code
    /// is not.
    fn correct(&self, set: &mut ClassSet, keys: &[u16]) {
        let is_margin = self.conformity == Conformity::Margin;
        // A top-two margin is not below 0, so only a threshold above 0 leaves the predicted class out.
        let is_asked = self.never_empty()
            || is_margin && (self.is_by_class() || self.threshold() > Conformity::code_key(0));
        if !is_asked {
            return;
        }
        let Ok(top) = TopLabelCodeMargin::from_keys(self.encoding, keys) else { return };
        let threshold = self.quantile(top.class()).map_or(0, |quantile| quantile.key);
        if self.never_empty() || is_margin && Conformity::code_key(top.top2_margin().into()) >= threshold {
            set.insert(top.class());
        } else if is_margin {
            set.remove(top.class());
        }
    }

    /// Returns the threshold of all classes. There is one: without it every class would be in the set, which misses none.
    fn threshold(&self) -> u32 {
        self.thresholds.first().map_or(0, |&[_, threshold]| threshold)
    }

    /// Tells whether the sets are of a binary classifier's floats of this kind.
    fn is_of(&self, is_margin: bool) -> bool {
        self.is_binary && !self.encoding.is_quantized() && self.encoding.is_margin() == is_margin
    }

    /// Returns the set of two classes with these keys.
    fn pair(&self, class_0: u32, class_1: u32) -> ClassSet {
        self.collect([class_0, class_1].into_iter(), || u16::from(class_1 > class_0))
    }

    #[inline]
    fn collect(&self, keys: impl Iterator<Item = u32>, predicted: impl FnOnce() -> u16) -> ClassSet {
        let mut set = ClassSet::default();
        if self.is_by_class() {
            for (class, (key, &[_, threshold])) in (0..).zip(keys.zip(self.thresholds)) {
                if key >= threshold {
                    set.insert(class);
                }
            }
        } else {
            let threshold = self.threshold();
            (0..).zip(keys).filter(|&(_, key)| key >= threshold).for_each(|(class, _)| set.insert(class));
        }
        if self.never_empty() {
            set.insert(predicted());
        }
        set
    }
}

impl SetParts<'_> {
    /// Returns the words of the payload.
    pub(crate) fn words(&self) -> impl Iterator<Item = u32> {
        let (one, several, scope) = match self.quantiles {
            Quantiles::All(quantile) => (Some(quantile), &[][..], 0),
            Quantiles::ByClass(quantiles) => (None, quantiles, BY_CLASS),
        };
        let flags = if self.never_empty { NEVER_EMPTY | scope } else { scope };
        let head = u32::from_le_bytes([self.conformity as u8, flags, 0, 0]);
        let confidence = self.confidence.map_or(0, f32::to_bits);
        let quantiles = one.into_iter().chain(several.iter().copied());
        [head, self.alpha.to_bits(), confidence]
            .into_iter()
            .chain(quantiles.flat_map(|Quantile { rows, key }| [rows, key]))
    }
}

impl fmt::Display for SetError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Length => f.write_str("their length is not that of their parts"),
            Self::Kind => f.write_str("a flag is unknown, or the scores have no such conformity"),
            Self::Classes => write!(f, "there are more than {} classes", ClassSet::MAX_CLASSES),
            Self::Level => f.write_str("the probability of a miss or the confidence is not in (0, 1)"),
            Self::Threshold(class) => write!(f, "the threshold of class {class} is above every conformity"),
        }
    }
}

impl core::error::Error for SetError {}

#[cfg(test)]
mod tests {
    extern crate std;

    use std::string::ToString;
    use std::vec;
    use std::vec::Vec;

    use proptest::prelude::*;

    use super::*;

    const I8: ScoreEncoding = ScoreEncoding::I8 { scale: 0.25, zero_point: 3 };
    const FLOATS: ScoreEncoding = ScoreEncoding::F32;

    fn words(conformity: Conformity, never_empty: bool, quantiles: Quantiles<'_>) -> Vec<u32> {
        SetParts { conformity, never_empty, alpha: 0.1, confidence: None, quantiles }.words().collect()
    }

    fn parsed(words: &[u32], encoding: ScoreEncoding, classes: u16) -> Result<PredictionSets<'_>, SetError> {
        PredictionSets::parse(bytemuck::cast_slice(words), encoding, classes, false)
    }

    fn binary(words: &[u32], encoding: ScoreEncoding) -> Result<PredictionSets<'_>, SetError> {
        PredictionSets::parse(bytemuck::cast_slice(words), encoding, 2, true)
    }

    const fn at(key: u32) -> Quantile {
        Quantile { rows: 9, key }
    }

    fn margin_key(value: f32) -> u32 {
        Margin::new(value).unwrap().key()
    }

    #[test]
    fn a_binary_score_has_a_set_of_none_one_or_both() {
        let classes = |set: Option<ClassSet>| set.unwrap().classes().collect::<Vec<_>>();
        let strict = words(Conformity::Score, false, Quantiles::All(at(0.75f32.to_bits())));
        let sets = binary(&strict, FLOATS).unwrap();
        let of = |score| classes(sets.of_score(Score::new(score).unwrap()));
        assert_eq!((of(0.75), of(0.5), of(0.25)), (std::vec![1], std::vec![], std::vec![0]));
        let lax = words(Conformity::Score, false, Quantiles::All(at(0.25f32.to_bits())));
        let sets = binary(&lax, FLOATS).unwrap();
        assert_eq!(classes(sets.of_score(Score::new(0.5).unwrap())), [0, 1]);
        assert_eq!(sets.of_margin(Margin::ZERO), None);
        // With the same threshold for both classes a tie goes to the lower class.
        let never = words(Conformity::Score, true, Quantiles::All(at(0.75f32.to_bits())));
        for (score, predicted) in [(0.5, 0), (0.375, 0), (0.625, 1)] {
            let set = binary(&never, FLOATS).unwrap().of_score(Score::new(score).unwrap());
            assert_eq!(classes(set), [predicted]);
        }

        let by_class = words(Conformity::Margin, false, Quantiles::ByClass(&[at(0), at(margin_key(2.0))]));
        let sets = binary(&by_class, ScoreEncoding::Margin).unwrap();
        let of = |margin| classes(sets.of_margin(Margin::new(margin).unwrap()));
        assert_eq!((of(2.0), of(1.9), of(f32::MIN)), (std::vec![0, 1], std::vec![0], std::vec![0]));

        let codes = words(Conformity::Score, false, Quantiles::All(at(200)));
        let sets = binary(&codes, I8).unwrap();
        let of = |code| classes(sets.of_code(QuantizedScore::new(I8, code).unwrap()));
        assert_eq!(
            (of(72), of(71), of(-73), of(-72)),
            (std::vec![1], std::vec![], std::vec![0], std::vec![])
        );
        let u8 = ScoreEncoding::U8 { scale: 0.25, zero_point: 3 };
        let other = QuantizedScore::new(u8, 3).unwrap();
        assert_eq!(sets.of_code(other), None);
    }

    /// A conformity that equals its threshold is in, and one next below is out.
    #[test]
    fn ties_are_in_the_set() {
        let classes = |set: ClassSet| set.classes().collect::<Vec<_>>();
        let three = |key: u32| [at(key); 3];
        let set = |quantiles: Quantiles<'_>, logits: [f32; 3]| {
            let words = words(Conformity::Margin, false, quantiles);
            let sets = parsed(&words, ScoreEncoding::F32, 3).unwrap();
            classes(sets.of_logits(Logits::new(&logits).unwrap()).unwrap())
        };
        // Both of two equal logits have the margin 0.
        assert_eq!(set(Quantiles::All(at(margin_key(0.0))), [1.0, 1.0, 0.0]), [0, 1]);
        assert_eq!(set(Quantiles::ByClass(&three(margin_key(0.0))), [1.0, 1.0, 0.0]), [0, 1]);
        // A top-two margin of 2.
        let next = margin_key(2.0f32.next_up());
        assert_eq!(set(Quantiles::All(at(margin_key(2.0))), [3.0, 1.0, 0.0]), [0]);
        assert_eq!(set(Quantiles::All(at(next)), [3.0, 1.0, 0.0]), [0; 0]);
        assert_eq!(set(Quantiles::ByClass(&three(margin_key(2.0))), [3.0, 1.0, 0.0]), [0]);
        assert_eq!(set(Quantiles::ByClass(&three(next)), [3.0, 1.0, 0.0]), [0; 0]);
        // The same of codes.
        let u8 = ScoreEncoding::U8 { scale: 0.25, zero_point: 3 };
        let of_codes = |quantiles: Quantiles<'_>, keys: [u16; 3]| {
            let words = words(Conformity::Margin, false, quantiles);
            classes(parsed(&words, u8, 3).unwrap().of_keys(&keys).unwrap())
        };
        for (top2_margin, set) in [(1, vec![0]), (2, vec![0]), (3, vec![])] {
            let key = Conformity::code_key(top2_margin);
            assert_eq!(of_codes(Quantiles::All(at(key)), [5, 3, 0]), set, "{top2_margin}");
            assert_eq!(of_codes(Quantiles::ByClass(&three(key)), [5, 3, 0]), set, "{top2_margin}");
        }
        assert_eq!(of_codes(Quantiles::All(at(Conformity::code_key(0))), [5, 5, 0]), [0, 1]);
    }

    /// The other class of a binary score has the margin with the other sign.
    #[test]
    fn one_class_is_in_the_set_of_a_margin_that_is_large_enough() {
        let words = words(Conformity::Margin, false, Quantiles::All(at(margin_key(1.0))));
        let sets = binary(&words, ScoreEncoding::Margin).unwrap();
        for (margin, expected) in
            [(2.0, vec![1]), (1.0, vec![1]), (0.5, vec![]), (-0.5, vec![]), (-1.0, vec![0]), (-2.0, vec![0])]
        {
            let set = sets.of_margin(Margin::new(margin).unwrap()).unwrap();
            assert_eq!(set.classes().collect::<Vec<_>>(), expected, "{margin}");
        }
    }

    #[test]
    fn refuses_what_is_no_prediction_set() {
        let good = words(Conformity::Margin, false, Quantiles::ByClass(&[at(1), at(2), at(3)]));
        assert!(parsed(&good, I8, 3).is_ok());
        assert_eq!(parsed(&good, I8, 4), Err(SetError::Length));
        assert_eq!(binary(&good, I8), Err(SetError::Kind));
        assert_eq!(binary(&good, FLOATS), Err(SetError::Kind));
        let score = words(Conformity::Score, false, Quantiles::All(at(1)));
        assert_eq!(binary(&score, ScoreEncoding::Margin), Err(SetError::Kind));
        assert_eq!(parsed(&score, FLOATS, 129), Err(SetError::Classes));
        assert!(parsed(&score, FLOATS, 128).is_ok());
        for (encoding, conformity, greatest) in [
            (FLOATS, Conformity::Score, ONE_BITS),
            (FLOATS, Conformity::Margin, Margin::MAX.key()),
            (I8, Conformity::Score, 255),
            (I8, Conformity::Margin, 255 + (1 << 16)),
        ] {
            let most = words(conformity, false, Quantiles::ByClass(&[at(0), at(greatest)]));
            assert!(parsed(&most, encoding, 2).is_ok());
            let over = words(conformity, false, Quantiles::ByClass(&[at(0), at(greatest + 1)]));
            assert_eq!(parsed(&over, encoding, 2), Err(SetError::Threshold(1)));
        }
        for (at, value) in [(0, 2), (0, 4 << 8), (0, 1 << 16), (0, 1 << 24)] {
            let mut bad = score.clone();
            bad[at] = value;
            assert_eq!(parsed(&bad, FLOATS, 3), Err(SetError::Kind));
        }
        for (at, value) in [(1, 0.0f32), (1, 1.0), (1, f32::NAN), (2, 1.0), (2, -0.5)] {
            let mut bad = score.clone();
            bad[at] = value.to_bits();
            assert_eq!(parsed(&bad, FLOATS, 3), Err(SetError::Level));
        }
        let bytes: &[u8] = bytemuck::cast_slice(&good);
        for len in 0..bytes.len() {
            assert_eq!(PredictionSets::parse(&bytes[..len], I8, 3, false), Err(SetError::Length), "{len}");
        }
    }

    #[test]
    fn probabilities_are_in_the_set_from_the_threshold_on() {
        let probs = Probs::new(&[0.5, 0.3, 0.2]).unwrap();
        let of = |never_empty, quantiles: Quantiles<'_>| {
            let words = words(Conformity::Score, never_empty, quantiles);
            let sets = parsed(&words, FLOATS, 3).unwrap();
            let codes = QuantizedScore::new(I8, 1).unwrap();
            assert_eq!((sets.of_code(codes), sets.of_score(Score::ONE)), (None, None));
            sets.of_probs(probs).unwrap().classes().collect::<Vec<_>>()
        };
        let all = |prob: f32| Quantiles::All(at(prob.to_bits()));
        assert_eq!(of(false, all(0.3)), [0, 1]);
        assert_eq!(of(false, all(0.6)), [0; 0]);
        assert_eq!(of(true, all(0.6)), [0]);
        let by_class = [0.6f32, 0.4, 0.1].map(|prob| at(prob.to_bits()));
        assert_eq!(of(false, Quantiles::ByClass(&by_class)), [2]);
        assert_eq!(of(true, Quantiles::ByClass(&by_class)), [0, 2]);
        // Sets of scores of three classes are of no two, and those of codes of no probabilities.
        let words = words(Conformity::Score, false, all(0.3));
        let two = Probs::new(&[0.5, 0.5]).unwrap();
        assert_eq!(parsed(&words, FLOATS, 3).unwrap().of_probs(two), None);
        let codes = self::words(Conformity::Score, false, Quantiles::All(at(1)));
        assert_eq!(parsed(&codes, I8, 3).unwrap().of_probs(probs), None);
    }

    #[test]
    fn what_is_told_names_the_class_and_the_most_classes() {
        assert!(SetError::Threshold(7).to_string().contains("class 7"));
        assert!(SetError::Classes.to_string().contains("128"));
    }

    #[test]
    fn sets_are_of_one_kind_of_score() {
        let margin = words(Conformity::Margin, false, Quantiles::All(at(margin_key(-1.0))));
        let sets = parsed(&margin, FLOATS, 3).unwrap();
        assert_eq!(sets.of_probs(Probs::new(&[0.5, 0.25, 0.25]).unwrap()), None);
        assert_eq!(sets.of_logits(Logits::new(&[0.5, 0.25]).unwrap()), None);
        assert_eq!(sets.of_keys(&[1, 2, 3]), Err(CodeVectorError::Code(0, CodeError::Encoding)));
        assert_eq!(sets.quantile(2), Some(at(margin_key(-1.0))));
        assert_eq!(sets.quantile(3), None);
        let of_two = words(Conformity::Score, false, Quantiles::All(at(1)));
        let several = parsed(&of_two, FLOATS, 2).unwrap();
        assert_eq!((several.of_score(Score::ONE), several.of_margin(Margin::ZERO)), (None, None));
        let one = binary(&of_two, FLOATS).unwrap();
        assert_eq!(one.of_logits(Logits::new(&[0.5, 0.25]).unwrap()), None);
        assert_eq!(one.of_probs(Probs::new(&[0.5, 0.5]).unwrap()), None);
        assert_eq!(
            binary(&of_two, I8).unwrap().of_keys(&[1, 2]),
            Err(CodeVectorError::Code(0, CodeError::Encoding))
        );
    }

    /// The conformity of every class by its definition.
    fn differences(values: &[i64]) -> Vec<i64> {
        (0..values.len())
            .map(|y| {
                let others = values.iter().enumerate().filter(|&(other, _)| other != y);
                values[y] - others.map(|(_, &value)| value).max().unwrap()
            })
            .collect()
    }

    proptest! {
        #[test]
        fn codes_are_in_the_set_by_the_definition(
            keys in proptest::collection::vec(0u16..256, 2..20),
            threshold in -256i32..256,
            never_empty: bool,
        ) {
            let values: Vec<i64> = keys.iter().map(|&key| key.into()).collect();
            let largest = values.iter().max().unwrap();
            let predicted = values.iter().position(|value| value == largest).unwrap();
            let all = words(Conformity::Margin, never_empty, Quantiles::All(at(Conformity::code_key(threshold))));
            let set = parsed(&all, I8, keys.len() as u16);
            if let Ok(sets) = set {
                let set = sets.of_keys(&keys).unwrap();
                for (y, difference) in differences(&values).into_iter().enumerate() {
                    let expected = difference >= threshold.into() || never_empty && y == predicted;
                    prop_assert_eq!(set.contains(y as u16), expected);
                }
            } else {
                prop_assert!(threshold > 255);
            }
            let by_score = words(Conformity::Score, false, Quantiles::All(at(threshold.unsigned_abs() & 255)));
            let set = parsed(&by_score, I8, keys.len() as u16).unwrap().of_keys(&keys).unwrap();
            for (y, &value) in values.iter().enumerate() {
                prop_assert_eq!(set.contains(y as u16), value >= i64::from(threshold.unsigned_abs() & 255));
            }
        }

        #[test]
        fn logits_are_in_the_set_by_the_definition(
            logits in proptest::collection::vec(
                prop_oneof![-8.0f32..8.0, (-3i8..3).prop_map(f32::from), Just(f32::MAX), Just(f32::MIN)], 2..20),
            threshold in -4.0f32..4.0,
        ) {
            let logits = Logits::new(&logits).unwrap();
            let all = words(Conformity::Margin, false, Quantiles::All(at(margin_key(threshold))));
            let set = parsed(&all, FLOATS, logits.classes() as u16).unwrap().of_logits(logits).unwrap();
            for (y, logit) in logits.as_slice().iter().enumerate() {
                let others = logits.as_slice().iter().enumerate().filter(|&(other, _)| other != y);
                let largest = others.map(|(_, &logit)| logit).fold(f32::NEG_INFINITY, f32::max);
                let conformity = (logit - largest).clamp(f32::MIN, f32::MAX);
                prop_assert_eq!(set.contains(y as u16), conformity >= threshold);
            }
            // Each class has a threshold of its own.
            let thresholds: Vec<f32> = (0..logits.classes()).map(|y| threshold - y as f32).collect();
            let quantiles: Vec<Quantile> = thresholds.iter().map(|&t| at(margin_key(t))).collect();
            let by_class = words(Conformity::Margin, false, Quantiles::ByClass(&quantiles));
            let set = parsed(&by_class, FLOATS, logits.classes() as u16).unwrap().of_logits(logits).unwrap();
            for (y, (logit, &threshold)) in logits.as_slice().iter().zip(&thresholds).enumerate() {
                let others = logits.as_slice().iter().enumerate().filter(|&(other, _)| other != y);
                let largest = others.map(|(_, &logit)| logit).fold(f32::NEG_INFINITY, f32::max);
                let conformity = (logit - largest).clamp(f32::MIN, f32::MAX);
                prop_assert_eq!(set.contains(y as u16), conformity >= threshold);
            }
            let by_score = words(Conformity::Score, false, Quantiles::All(at(0.125f32.to_bits())));
            let set = parsed(&by_score, FLOATS, logits.classes() as u16).unwrap().of_logits(logits).unwrap();
            for (y, score) in (0..).zip(logits.scores()) {
                prop_assert_eq!(set.contains(y), score.get() >= 0.125);
            }
        }
    }
}
