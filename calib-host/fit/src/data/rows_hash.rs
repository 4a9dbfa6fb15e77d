//! The rows of a data set as one number, whatever their order.

use std::iter::Sum;
use std::ops::{Add, AddAssign};

use twox_hash::XxHash3_128;

/// A 128-bit hash of a multiset of rows, each of which has a score, or a vector of scores, and a label.
///
/// It is the sum of the hashes (XXH3) of the rows, modulo 2^128: the order of the rows does not matter, one pass is enough, and the
/// hashes of two parts add up to the hash of both. Equal hashes mean equal rows, but by an accident of probability
/// 2^-128, or by intent: the hash is no defense against anyone who looks for a collision. Sets that overlap without
/// being equal have hashes that tell nothing: [`RowsDigest`](super::RowsDigest) does.
///
/// ```
/// use calib_fit::data::RowsHash;
///
/// let row = RowsHash::of_score;
/// let (one, other) = (row(0.25, false), row(0.75, true));
/// assert_eq!(one + other, other + one);
/// assert_ne!(one + other, one + row(0.75, false));
/// assert_eq!(one + one, one.times(2));
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RowsHash(u128);

impl RowsHash {
    /// Returns the hash of a row with one score, as the device sees it.
    pub fn of_score(score: f32, label: bool) -> Self {
        let mut row = [0; 8];
        let (front, back) = row.split_at_mut(4);
        front.copy_from_slice(&(score + 0.0).to_bits().to_le_bytes());
        back.copy_from_slice(&u32::from(label).to_le_bytes());
        Self(XxHash3_128::oneshot(&row))
    }

    /// Returns the hash of a row that is a vector of words, with its label.
    pub(super) fn of_vector(row: impl Iterator<Item = u32>, label: i64, bytes: &mut Vec<u8>) -> Self {
        bytes.clear();
        row.for_each(|word| bytes.extend(word.to_le_bytes()));
        bytes.extend(label.to_le_bytes());
        Self(XxHash3_128::oneshot(bytes))
    }

    /// Half of the bits.
    pub(super) fn low(self) -> u64 {
        self.0 as u64
    }

    /// Returns the hash of so many equal rows.
    #[must_use]
    pub fn times(self, count: u64) -> Self {
        Self(self.0.wrapping_mul(count.into()))
    }

    /// Returns the hash as bytes, the lowest first.
    pub fn to_bytes(self) -> [u8; 16] {
        self.0.to_le_bytes()
    }

    /// Reads what [`RowsHash::to_bytes`] wrote.
    pub fn from_bytes(bytes: [u8; 16]) -> Self {
        Self(u128::from_le_bytes(bytes))
    }
}

impl Add for RowsHash {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self(self.0.wrapping_add(other.0))
    }
}

impl AddAssign for RowsHash {
    fn add_assign(&mut self, other: Self) {
        *self = *self + other;
    }
}

impl Sum for RowsHash {
    fn sum<I: Iterator<Item = Self>>(rows: I) -> Self {
        rows.fold(Self::default(), Add::add)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::data::{BinaryCollector, BinaryData, RowsDigest, VectorKind, Vectors, WeightedData};

    fn of(rows: &[(f32, bool)]) -> RowsHash {
        rows.iter().map(|&(score, label)| RowsHash::of_score(score, label)).sum()
    }

    /// Artifacts hold it: it never changes.
    #[test]
    fn the_hash_is_pinned() {
        let hash = of(&[(0.25, false), (0.75, true), (0.75, true)]);
        assert_eq!(hash.to_bytes(), PINNED);
        assert_eq!(RowsHash::from_bytes(PINNED), hash);
        assert_eq!(RowsHash::of_score(-0.0, true), RowsHash::of_score(0.0, true));
    }

    const PINNED: [u8; 16] =
        [0x21, 0x83, 0xB0, 0x61, 0x35, 0xF9, 0x4D, 0xD9, 0x59, 0x8B, 0xAD, 0x1F, 0xDE, 0x7D, 0x53, 0x3E];

    proptest! {
        /// Neither the order of the rows nor how they are divided matters; one label, one score, one row more or less does.
        #[test]
        fn a_multiset_has_one_hash(
            (rows, shuffled) in proptest::collection::vec((0u32..50, any::<bool>()), 1..60)
                .prop_flat_map(|rows| (Just(rows.clone()), Just(rows).prop_shuffle())),
            cut in any::<prop::sample::Index>(), changed in any::<prop::sample::Index>(),
        ) {
            let rows_of = |rows: &[(u32, bool)]| rows.iter().map(|&(s, y)| (s as f32 / 64.0, y)).collect::<Vec<_>>();
            let (rows, shuffled) = (rows_of(&rows), rows_of(&shuffled));
            let hash = of(&rows);
            prop_assert_eq!(of(&shuffled), hash);
            let (front, back) = shuffled.split_at(cut.index(rows.len()));
            prop_assert_eq!(of(front) + of(back), hash);
            let at = changed.index(rows.len());
            for change in [|row: &mut (f32, bool)| row.1 = !row.1, |row: &mut (f32, bool)| row.0 += 1.0 / 128.0] {
                let mut other = rows.clone();
                change(&mut other[at]);
                prop_assert_ne!(of(&other), hash);
            }
            prop_assert_ne!(of(&[&rows[..], &rows[at..=at]].concat()), hash);
            let mut fewer = rows.clone();
            fewer.remove(at);
            prop_assert_ne!(of(&fewer), hash);
        }

        /// However points are kept - packed, on a disk, as counts, with weights - they have the digest of their rows.
        #[test]
        fn every_form_of_the_points_has_the_same_digest(rows in proptest::collection::vec((0u32..50, any::<bool>()), 1..60)) {
            let rows: Vec<(f32, bool)> = rows.into_iter().map(|(s, y)| (s as f32 / 64.0, y)).collect();
            let digest = |times| RowsDigest::of_scores(rows.iter().map(|&(score, label)| (score, label, times)));
            let hash = digest(1);
            prop_assert_eq!(hash.hash, of(&rows));
            let (scores, labels): (Vec<f32>, Vec<bool>) = rows.iter().copied().unzip();
            let wide: Vec<f64> = scores.iter().map(|&score| score.into()).collect();
            prop_assert_eq!(BinaryData::from_device_scores(&scores, &labels).unwrap().rows_digest(), Ok(hash.clone()));
            prop_assert_eq!(BinaryData::new(wide.clone(), labels.clone()).unwrap().rows_digest(), Ok(hash.clone()));
            let mut collector = BinaryCollector::new(0);
            let score = |score| calib_core::Score::new(score).unwrap();
            collector.extend(rows.iter().map(|&(s, y)| (score(s), y))).unwrap();
            prop_assert_eq!(collector.finish().unwrap().unwrap().rows_digest(), Ok(hash.clone()));
            // A row of a table of counts is so many rows.
            let counts = wide.iter().zip(&labels).map(|(&s, &y)| (s, 3, if y { 3 } else { 0 })).collect();
            prop_assert_eq!(BinaryData::from_counts(counts).unwrap().rows_digest(), Ok(digest(3)));
            // What weighs less is a row all the same: what is judged has no weights.
            let weighted: Vec<_> = wide.iter().zip(&labels).map(|(&s, &y)| (s, 0.5 + s, y)).collect();
            let weighted = WeightedData::new(&weighted).unwrap();
            prop_assert_eq!(weighted.rows_digest(), &hash);
        }

        #[test]
        fn vectors_have_a_hash_of_their_rows(
            rows in proptest::collection::vec((-3i8..3, -3i8..3, 0i64..2), 1..30), changed in any::<prop::sample::Index>(),
        ) {
            let hash = |rows: &[(i8, i8, i64)]| {
                let values = rows.iter().flat_map(|row| [f32::from(row.0), f32::from(row.1)]).collect();
                let labels: Vec<i64> = rows.iter().map(|row| row.2).collect();
                Vectors::new(values, 2, VectorKind::Logits).unwrap().rows_digest(&labels)
            };
            let mut turned = rows.clone();
            turned.reverse();
            prop_assert_eq!(hash(&turned), hash(&rows));
            let at = changed.index(rows.len());
            turned = rows.clone();
            turned[at].2 = 1 - turned[at].2;
            prop_assert_ne!(hash(&turned), hash(&rows));
            turned = rows.clone();
            turned[at].1 += 1;
            prop_assert_ne!(hash(&turned), hash(&rows));
        }
    }
}
