//! How often each score was seen with each label, by the keys that the device compares.

use std::fmt;

use calib_core::{Margin, QuantizedScore, Score, ScoreEncoding};

use crate::data::BinaryData;
use crate::error::FitError;
use crate::points::Group;
use crate::stats::ScoreKind;

/// One of the two classes of points.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Class {
    /// The points with label 1, of which the sensitivity is a share.
    Positives,
    /// The points with label 0, of which the specificity is a share.
    Negatives,
}

impl fmt::Display for Class {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Positives => "positives",
            Self::Negatives => "negatives",
        })
    }
}

/// Points with a score, by the order key that the device compares: the bits of a probability, the key of a
/// [margin](calib_core::Margin::key) or of a [code](calib_core::QuantizedScore::key).
#[derive(Clone, Debug, PartialEq)]
pub struct KeyedScores {
    /// Ascending, no key twice, no key without points.
    counts: Vec<KeyCount>,
    encoding: ScoreEncoding,
}

/// How many points have a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct KeyCount {
    key: u32,
    /// The numbers of points with label 0 and 1.
    labels: [u64; 2],
}

impl KeyedScores {
    /// Counts scores as the device sees them: rounded to the nearest `f32`.
    ///
    /// ```
    /// use calib_fit::BinaryData;
    /// use calib_fit::operating::KeyedScores;
    ///
    /// let data = BinaryData::of_margins(vec![-1.5, -0.0, 0.0, 2.0], vec![false, true, false, true])?;
    /// let scores = KeyedScores::of_scores(&data)?;
    /// let zero = calib_core::Margin::ZERO.key();
    /// assert_eq!((scores.positives(), scores.positives_from(zero), scores.positives_from(zero + 1)), (2, 2, 1));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`FitError::Spill`] if points that do not fit into memory cannot be read back from their temporary file.
    pub fn of_scores(data: &BinaryData) -> Result<Self, FitError> {
        let groups = data.score_groups()?;
        let key = |score: f64| key_of_score(data.kind(), score as f32);
        let row = |group: &Group| (key(group.score), [group.n - group.positives, group.positives]);
        Ok(Self::of_counts(data.kind().encoding(false), groups.iter().map(row)))
    }

    /// Counts codes, each with its label.
    ///
    /// # Panics
    ///
    /// If a code is of another encoding.
    pub fn of_codes(encoding: ScoreEncoding, rows: impl IntoIterator<Item = (QuantizedScore, bool)>) -> Self {
        let count = |(code, label): (QuantizedScore, bool)| {
            assert_eq!(code.encoding(), encoding);
            (code.key().into(), if label { [0, 1] } else { [1, 0] })
        };
        Self::of_counts(encoding, rows.into_iter().map(count))
    }

    fn of_counts(encoding: ScoreEncoding, rows: impl Iterator<Item = (u32, [u64; 2])>) -> Self {
        let mut rows: Vec<_> = rows.filter(|(_, labels)| *labels != [0, 0]).collect();
        rows.sort_unstable_by_key(|row| row.0);
        let sum = |same: &[(u32, [u64; 2])]| KeyCount {
            key: same[0].0,
            labels: [0, 1].map(|label| same.iter().map(|row| row.1[label]).sum()),
        };
        Self { counts: rows.chunk_by(|a, b| a.0 == b.0).map(sum).collect(), encoding }
    }

    /// Returns what kind of number the scores are on the device.
    pub fn encoding(&self) -> ScoreEncoding {
        self.encoding
    }

    /// Returns the threshold that no score reaches: one above the largest key.
    pub fn never(&self) -> u32 {
        never(self.encoding)
    }

    /// Returns the number of points with label 1.
    pub fn positives(&self) -> u64 {
        self.from(1, 0)
    }

    /// Returns the number of points with label 0.
    pub fn negatives(&self) -> u64 {
        self.from(0, 0)
    }

    /// Returns the number of points with label 1 whose key is at or above a threshold.
    pub fn positives_from(&self, threshold: u32) -> u64 {
        self.from(1, threshold)
    }

    /// Returns the number of points with label 0 whose key is at or above a threshold.
    pub fn negatives_from(&self, threshold: u32) -> u64 {
        self.from(0, threshold)
    }

    fn from(&self, label: usize, threshold: u32) -> u64 {
        let first = self.counts.partition_point(|count| count.key < threshold);
        self.counts[first..].iter().map(|count| count.labels[label]).sum()
    }

    /// The next key of a score above a key, or the threshold that no score reaches.
    pub(super) fn above(&self, key: u32) -> u32 {
        // Right below 0.0 there is no key: -0.0 has that of 0.0.
        let is_gap = self.encoding.is_margin() && key + 1 == Margin::ZERO.key() - 1;
        if is_gap { Margin::ZERO.key() } else { key + 1 }
    }

    /// The key of the `k + 1`-th lowest point with label 1.
    pub(super) fn positive_from_below(&self, k: u64) -> Option<u32> {
        nth(self.counts.iter(), 1, k)
    }

    /// The key of the `k + 1`-th highest point with label 0.
    pub(super) fn negative_from_above(&self, k: u64) -> Option<u32> {
        nth(self.counts.iter().rev(), 0, k)
    }
}

/// The key of the first point of which `k` with the same label come before.
fn nth<'c>(counts: impl Iterator<Item = &'c KeyCount>, label: usize, k: u64) -> Option<u32> {
    let mut passed = 0;
    for count in counts {
        passed += count.labels[label];
        if passed > k {
            return Some(count.key);
        }
    }
    None
}

/// Returns the key of a score that was checked: `-0.0` has that of `0.0`.
pub(crate) fn key_of_score(kind: ScoreKind, score: f32) -> u32 {
    match kind {
        ScoreKind::Probability => Score::new(score).unwrap_or(Score::ZERO).to_bits(),
        ScoreKind::Margin => Margin::new(score).unwrap_or(Margin::ZERO).key(),
    }
}

/// One above the largest key of an encoding.
pub(crate) fn never(encoding: ScoreEncoding) -> u32 {
    match encoding.code_range() {
        Some((lowest, highest)) => (highest - lowest + 1) as u32,
        None if encoding.is_margin() => Margin::MAX.key() + 1,
        None => Score::ONE.to_bits() + 1,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_kinds_of_scores_are_counted_by_their_keys() {
        let labels = vec![true, false, true, false, true];
        let probs = vec![-0.0, 0.0, 1.0, 0.25, 0.25];
        let plain = BinaryData::new(probs.clone(), labels.clone()).unwrap();
        let scores = KeyedScores::of_scores(&plain).unwrap();
        assert_eq!(KeyedScores::of_scores(&plain.on_device()), Ok(scores.clone()));
        let quarter = 0.25f32.to_bits();
        assert_eq!(scores.never(), 0x3F80_0001);
        assert_eq!((scores.positives(), scores.negatives()), (3, 2));
        assert_eq!((scores.positives_from(quarter), scores.positives_from(quarter + 1)), (2, 1));
        assert_eq!((scores.negatives_from(0), scores.negatives_from(1)), (2, 1));
        assert_eq!(
            [0, 1, 2, 3].map(|k| scores.positive_from_below(k)),
            [Some(0), Some(quarter), Some(0x3F80_0000), None]
        );
        assert_eq!([0, 1, 2].map(|k| scores.negative_from_above(k)), [Some(quarter), Some(0), None]);

        let margins = BinaryData::of_margins(probs, labels).unwrap();
        let margins = KeyedScores::of_scores(&margins).unwrap();
        assert_eq!((margins.never(), margins.positive_from_below(0)), (0xFF80_0000, Some(1 << 31)));
        let key = |value: f32| Margin::new(value).unwrap().key();
        let tiny = f32::from_bits(1);
        for (score, next) in [(-tiny, 0.0), (0.0, tiny), (-1.0, -1.0f32.next_down()), (1.0, 1.0f32.next_up())]
        {
            assert_eq!(margins.above(key(score)), key(next), "{score}");
        }
        assert_eq!(margins.above(key(f32::MAX)), margins.never());
        assert_eq!(scores.above(0x3F80_0000), scores.never());

        let encoding = ScoreEncoding::I8 { scale: 3.0, zero_point: 0 };
        let code = |(code, label)| (QuantizedScore::new(encoding, code).unwrap(), label);
        let codes = KeyedScores::of_codes(encoding, [(127, true), (-128, false), (127, false)].map(code));
        assert_eq!(
            (codes.never(), codes.negative_from_above(0), codes.negative_from_above(1)),
            (256, Some(255), Some(0))
        );
        assert_eq!(never(ScoreEncoding::U16 { scale: 1.0, zero_point: 0 }), 65_536);
    }
}
