//! How well each class conforms to a row of scores.

use calib_core::decision::Conformity;
use calib_core::{Margin, QuantizedScore, Score};

use crate::data::{BinaryData, CodeVectors, DataError, Form, VectorKind, Vectors};
use crate::names::names;
use crate::points::packed;
use crate::stats::ScoreKind;

/// What a class's conformity is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum ConformityScore {
    /// The class's softmax probability.
    Softmax,
    /// The class's logit less the largest logit of the other classes.
    Margin,
}

names!(ConformityScore, "class score":
    Softmax "softmax" "The class's probability",
    Margin "margin" "The class's logit less the largest other one",
);

/// The conformity of every class to every row, as order keys that a device computes, too; at least one row.
///
/// A key is the bits of a probability, the key of a code, the [key of a margin](Margin::key) of floats, or the
/// [key of a difference](Conformity::code_key) of two codes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConformityScores {
    score: ConformityScore,
    classes: usize,
    /// Row-major.
    keys: Vec<u32>,
    predicted: Vec<u16>,
}

impl ConformityScores {
    /// Computes the conformities of floats. The softmax and the differences are f32, as on the device.
    ///
    /// ```
    /// use calib_core::Margin;
    /// use calib_fit::sets::{ConformityScores, ConformityScore};
    /// use calib_fit::{VectorKind, Vectors};
    ///
    /// let logits = Vectors::new(vec![0.0, 2.0, 1.5], 3, VectorKind::Logits)?;
    /// let margins = ConformityScores::of_vectors(&logits, ConformityScore::Margin)?;
    /// let key = |margin| Margin::new(margin).unwrap().key();
    /// assert_eq!(margins.rows().next(), Some(&[key(-2.0), key(0.5), key(-0.5)][..]));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`DataError::MarginOfProbs`] for margins of probabilities.
    pub fn of_vectors(vectors: &Vectors, score: ConformityScore) -> Result<Self, DataError> {
        let keys = match score {
            ConformityScore::Softmax => {
                vectors.vectors().flat_map(|vector| vector.scores().map(Score::to_bits)).collect()
            }
            ConformityScore::Margin if vectors.kind() == VectorKind::Probs => {
                return Err(DataError::MarginOfProbs);
            }
            ConformityScore::Margin => vectors.rows().flat_map(|row| margins(row, margin_key)).collect(),
        };
        let predicted = vectors.top_labels().iter().map(|top| top.class).collect();
        Ok(Self { score, classes: vectors.classes(), keys, predicted })
    }

    /// Computes the margins of codes: exact differences, of which the zero points cancel.
    pub fn of_codes(codes: &CodeVectors) -> Self {
        let key = |code: u16, other: u16| Conformity::code_key(i32::from(code) - i32::from(other));
        Self {
            score: ConformityScore::Margin,
            classes: codes.classes(),
            keys: codes.rows().flat_map(|row| margins(row, key)).collect(),
            predicted: codes.rows().map(|row| codes.top_label_margin(row).class()).collect(),
        }
    }

    /// Takes the codes themselves for conformities: those of probabilities are in their order.
    ///
    /// # Errors
    ///
    /// [`DataError::SoftmaxOfCodes`] for codes of logits.
    pub fn of_code_probs(codes: &CodeVectors) -> Result<Self, DataError> {
        if codes.kind() == VectorKind::Logits {
            return Err(DataError::SoftmaxOfCodes);
        }
        Ok(Self {
            score: ConformityScore::Softmax,
            classes: codes.classes(),
            keys: codes.rows().flatten().map(|&key| key.into()).collect(),
            predicted: codes.rows().map(|row| codes.top_label(row).class()).collect(),
        })
    }

    /// Computes the conformities of the classes 0 and 1 to one code a row: the key is the conformity of class 1, and the largest key
    /// less it the conformity of class 0.
    ///
    /// ```
    /// use calib_core::{QuantizedScore, ScoreEncoding};
    /// use calib_fit::sets::ConformityScores;
    ///
    /// let code = QuantizedScore::new(ScoreEncoding::I8 { scale: 1.0, zero_point: 0 }, -28)?;
    /// assert_eq!(ConformityScores::of_binary_codes(&[code]).rows().next(), Some(&[155, 100][..]));
    /// # Ok::<(), calib_core::score::CodeError>(())
    /// ```
    pub fn of_binary_codes(codes: &[QuantizedScore]) -> Self {
        let keys = |code: &QuantizedScore| {
            let greatest = code.encoding().code_range().map_or(0, |(lowest, highest)| highest - lowest);
            let key = u32::from(code.key());
            [greatest.cast_unsigned() - key, key]
        };
        let keys: Vec<[u32; 2]> = codes.iter().map(keys).collect();
        let predicted = keys.iter().map(|[zero, one]| u16::from(one > zero)).collect();
        Self { score: ConformityScore::Softmax, classes: 2, keys: keys.concat(), predicted }
    }

    /// Computes the conformities of the classes 0 and 1 to one score a row, in the order of the data: a probability `p` is that
    /// of class 1, and `1 - p`, in f32, that of class 0. A margin `m` is that of class 1, and `-m` that of class 0. The labels are
    /// given back, too.
    ///
    /// # Errors
    ///
    /// [`DataError::Positives`] if a row stands for several points, or the points are on a disk.
    pub fn of_scores(data: &BinaryData) -> Result<(Self, Vec<u16>), DataError> {
        let rows: Vec<(f32, bool)> = match data.form() {
            Form::Packed(points) => {
                points.iter().map(|&point| (packed::score(point) as f32, packed::label(point))).collect()
            }
            Form::Sorted(points) => {
                points.iter().map(|point| (packed::score(point) as f32, packed::label(point))).collect()
            }
            Form::Rows(rows) => {
                let single = |(row, &(score, n, positives)): (usize, &(f64, u64, u64))| match n {
                    1 => Ok((score as f32, positives == 1)),
                    _ => Err(DataError::Positives { row, positives, n }),
                };
                rows.iter().enumerate().map(single).collect::<Result<_, _>>()?
            }
            Form::Spilled(points) => {
                return Err(DataError::Positives { row: 0, positives: 0, n: points.len() });
            }
        };
        let (score, of_scores): (_, fn(f32) -> [u32; 2]) = match data.kind() {
            ScoreKind::Probability => (ConformityScore::Softmax, |p| [1.0 - p, p].map(prob_key)),
            ScoreKind::Margin => (ConformityScore::Margin, |m| [-m, m].map(|value| margin_key(value, 0.0))),
        };
        let keys: Vec<[u32; 2]> = rows.iter().map(|row| of_scores(row.0)).collect();
        let predicted = keys.iter().map(|[zero, one]| u16::from(one > zero)).collect();
        let labels = rows.iter().map(|row| row.1.into()).collect();
        Ok((Self { score, classes: 2, keys: keys.concat(), predicted }, labels))
    }

    /// Returns what the conformities are.
    pub fn score(&self) -> ConformityScore {
        self.score
    }

    /// Returns the number of classes, at least 2.
    pub fn classes(&self) -> usize {
        self.classes
    }

    /// Returns the number of rows, at least 1.
    #[expect(clippy::len_without_is_empty, reason = "never empty")]
    pub fn len(&self) -> usize {
        self.predicted.len()
    }

    /// Returns the keys of each row, one a class.
    pub fn rows(&self) -> impl ExactSizeIterator<Item = &[u32]> {
        self.keys.chunks_exact(self.classes)
    }

    /// Returns the predicted class of each row: the one with the largest logit or probability, of equal ones the lowest.
    pub fn predicted(&self) -> &[u16] {
        &self.predicted
    }
}

fn prob_key(prob: f32) -> u32 {
    Score::new(prob).unwrap_or(Score::ZERO).to_bits()
}

/// The key of a difference, which is taken to the nearer end if it is beyond the largest `f32`.
fn margin_key(logit: f32, other: f32) -> u32 {
    let difference = logit - other;
    let end = if difference > 0.0 { Margin::MAX } else { Margin::MIN };
    Margin::new(difference).unwrap_or(end).key()
}

/// For each class the key of its entry and the largest entry of the other classes.
fn margins<T: Copy + PartialOrd>(row: &[T], key: impl Fn(T, T) -> u32) -> Vec<u32> {
    let (mut top, mut second) = (0, 1);
    if row[second] > row[top] {
        (top, second) = (second, top);
    }
    for class in 2..row.len() {
        if row[class] > row[top] {
            (top, second) = (class, top);
        } else if row[class] > row[second] {
            second = class;
        }
    }
    let other = |class: usize| row[if class == top { second } else { top }];
    (0..row.len()).map(|class| key(row[class], other(class))).collect()
}

#[cfg(test)]
mod tests {
    use calib_core::ScoreEncoding;
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn codes_are_subtracted_exactly() {
        let encoding = ScoreEncoding::I8 { scale: 0.5, zero_point: 7 };
        let codes = CodeVectors::of_logits(&[-128, 127, 127, 5, 5, -128], 3, encoding).unwrap();
        let found = ConformityScores::of_codes(&codes);
        let key = Conformity::code_key;
        let rows: Vec<_> = found.rows().collect();
        assert_eq!(rows, [[key(-255), key(0), key(0)], [key(0), key(0), key(-133)]]);
        assert_eq!((found.predicted(), found.len(), found.classes()), (&[1, 0][..], 2, 3));
        assert!(key(-255) < key(-1) && key(-1) < key(0) && key(0) < key(255));
    }

    #[test]
    fn a_score_is_two_classes() {
        let labels = vec![true, false, true];
        let probs = BinaryData::new(vec![0.25, -0.0, 0.5], labels.clone()).unwrap();
        for data in [probs.clone(), probs.on_device()] {
            let (found, given) = ConformityScores::of_scores(&data).unwrap();
            let bits = f32::to_bits;
            let rows: Vec<_> = found.rows().collect();
            assert_eq!(rows, [[bits(0.75), bits(0.25)], [bits(1.0), 0], [bits(0.5), bits(0.5)]]);
            assert_eq!((found.predicted(), given), (&[0, 0, 0][..], vec![1, 0, 1]));
        }
        let margins = BinaryData::of_margins(vec![2.0, -0.0, -3e38], labels).unwrap();
        let (found, _) = ConformityScores::of_scores(&margins).unwrap();
        let key = |value: f32| Margin::new(value).unwrap().key();
        let rows: Vec<_> = found.rows().collect();
        assert_eq!(rows, [[key(-2.0), key(2.0)], [key(0.0), key(0.0)], [key(3e38), key(-3e38)]]);
        assert_eq!((found.predicted(), found.score()), (&[1, 0, 0][..], ConformityScore::Margin));
        let counts = BinaryData::from_counts(vec![(0.5, 2, 1)]).unwrap();
        assert!(ConformityScores::of_scores(&counts).is_err());
    }

    proptest! {
        /// The definition, and the device's own top-two margin of the predicted class.
        #[test]
        fn margins_are_over_the_largest_other(
            logits in proptest::collection::vec(prop_oneof![-3i8..3, Just(100)], 2..9).prop_map(|row| row.into_iter().map(|z| f32::from(z) * 3.4e36).collect::<Vec<_>>()),
        ) {
            let classes = logits.len();
            let vectors = Vectors::new(logits.clone(), classes, VectorKind::Logits).unwrap();
            let found = ConformityScores::of_vectors(&vectors, ConformityScore::Margin).unwrap();
            let row = found.rows().next().unwrap();
            for class in 0..classes {
                let others = logits.iter().enumerate().filter(|(other, _)| *other != class).map(|(_, &z)| z);
                let difference = logits[class] - others.fold(f32::NEG_INFINITY, f32::max);
                prop_assert_eq!(row[class], Margin::new(difference.clamp(f32::MIN, f32::MAX)).unwrap().key());
            }
            let top = calib_core::Logits::new(&logits).unwrap().top_label_margin();
            prop_assert_eq!((found.predicted()[0], row[usize::from(top.class)]), (top.class, top.margin.key()));
            let softmax = ConformityScores::of_vectors(&vectors, ConformityScore::Softmax).unwrap();
            let mut probs = vec![0.0; classes];
            calib_core::Logits::new(&logits).unwrap().write_softmax(&mut probs).unwrap();
            prop_assert_eq!(softmax.rows().next().unwrap(), probs.iter().map(|p| p.to_bits()).collect::<Vec<_>>());
        }
    }
}
