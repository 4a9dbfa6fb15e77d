//! Step tables that divide equal scores between bins at random.

use core::marker::PhantomData;

use super::error::TableError;
use super::search::count_floats_at_or_below;
use super::values::{BinValues, check_edges_with_ties};
use crate::score::{FloatScore, Margin, Score};

/// A randomized step table over scores in `[0, 1]`.
pub type RandomizedTable<'a> = RandomizedTableOf<'a, Score>;

/// A randomized step table over margins.
pub type RandomizedMarginTable<'a> = RandomizedTableOf<'a, Margin>;

/// A step table whose edges are pairs of a score and a random word, for randomized uniform-mass binning (Gupta and Ramdas 2021,
/// Algorithm 2).
///
/// The paper adds a tiny random number to every score, so that equal scores fall on either side of an edge. In floating point
/// such a number is lost or changes the order of scores. Here pairs of score and word are compared lexicographically: the bin
/// is the number of edges at or below the pair. The word is uniform over all `u32` and drawn again for every prediction; it
/// matters only if the score equals an edge.
///
/// ```
/// use calib_core::Score;
/// use calib_core::table::RandomizedTable;
///
/// // Scores of exactly 0.5 belong to the lower bin three times out of four.
/// let table = RandomizedTable::new(&[0.5], &[0xC000_0000], &[0.2, 0.6]).unwrap();
/// let half = Score::new(0.5)?;
/// assert_eq!(table.lookup(half, 0xBFFF_FFFF), (0, 0.2));
/// assert_eq!(table.lookup(half, 0xC000_0000), (1, 0.6));
/// assert!(table.is_tied(half));
/// # Ok::<(), calib_core::ScoreError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct RandomizedTableOf<'a, S> {
    edges: &'a [f32],
    ties: &'a [u32],
    values: BinValues<'a>,
    scores: PhantomData<S>,
}

impl<'a, S: FloatScore> RandomizedTableOf<'a, S> {
    /// Makes a table of `values.len()` bins from the scores and the words of its inner edges, and its probabilities.
    ///
    /// The scores are in `[0, 1]`, margins finite; none is `-0.0`, and they may repeat. The pairs of score and word ascend strictly. The probabilities are in
    /// `[0, 1]`; there is one more than edges. An edge at the score 0 divides scores of exactly 0, which a saturated softmax gives.
    ///
    /// # Errors
    ///
    /// The first cause found, with its index.
    pub const fn new(edges: &'a [f32], ties: &'a [u32], values: &'a [f32]) -> Result<Self, TableError> {
        if edges.len() != ties.len() {
            return Err(TableError::Length);
        }
        if let Err(error) = check_edges_with_ties::<S>(edges, ties) {
            return Err(error);
        }
        match BinValues::new(values, edges.len()) {
            Ok(values) => Ok(Self { edges, ties, values, scores: PhantomData }),
            Err(error) => Err(error),
        }
    }

    /// Makes a table of numbers that [`RandomizedTable::new`] accepted before; `None` only if there are no values.
    #[inline]
    pub(crate) const fn trusted(edges: &'a [f32], ties: &'a [u32], values: &'a [f32]) -> Option<Self> {
        match BinValues::trusted(values) {
            Some(values) => Some(Self { edges, ties, values, scores: PhantomData }),
            None => None,
        }
    }

    /// Returns the number of bins, at least 1.
    pub const fn bins(&self) -> usize {
        self.values.len()
    }

    /// Returns the bin's index and probability, in O(log B). The bin is the number of edges at or below `(score, word)`.
    #[inline]
    pub fn lookup(&self, score: S, word: u32) -> (u16, f32) {
        let bin = self.find(score, word);
        (bin as u16, self.values.get(bin))
    }

    /// Tells whether the score equals an edge: only then does the bin depend on the word.
    pub fn is_tied(&self, score: S) -> bool {
        self.edges.iter().any(|edge| S::key_of(edge.to_bits()) == score.key())
    }

    /// Returns the bin of a score and a word.
    #[inline]
    fn find(&self, score: S, word: u32) -> usize {
        let key = score.key();
        let above = count_floats_at_or_below::<S>(self.edges, key);
        let below_or_equal = self.edges.get(..above).unwrap_or_default();
        if below_or_equal.last().is_none_or(|edge| S::key_of(edge.to_bits()) != key) {
            return above;
        }
        // No score is below 0, and no margin has the key 0.
        let below = key.checked_sub(1).map_or(0, |key| count_floats_at_or_below::<S>(below_or_equal, key));
        let ties = self.ties.get(below..above).unwrap_or_default();
        below + ties.partition_point(|&tie| tie <= word)
    }

    /// Returns the scores of the inner edges, ascending; one less than bins.
    pub const fn edges(&self) -> &'a [f32] {
        self.edges
    }

    /// Returns the words of the inner edges, ascending among equal scores.
    pub const fn ties(&self) -> &'a [u32] {
        self.ties
    }

    /// Returns the probabilities, one per bin in bin order.
    pub fn values(&self) -> impl Iterator<Item = f32> + use<'a, S> {
        self.values.iter()
    }

    /// Returns the probability of a bin; 0 beyond the last bin.
    #[inline]
    pub(crate) fn value(&self, bin: usize) -> f32 {
        self.values.get(bin)
    }
}

#[cfg(test)]
mod tests {
    extern crate std;

    use std::vec::Vec;

    use proptest::prelude::*;

    use super::*;
    use crate::score::ONE_BITS;

    #[test]
    fn refuses_what_is_no_table() {
        let new = RandomizedTable::new;
        assert_eq!(new(&[], &[], &[]), Err(TableError::Length));
        assert_eq!(new(&[0.5], &[], &[0.1, 0.2]), Err(TableError::Length));
        assert_eq!(new(&[0.5], &[1], &[0.1]), Err(TableError::Length));
        for bad in [-0.0, -0.5, 1.0f32.next_up(), f32::NAN] {
            let edges = [bad];
            assert_eq!(
                RandomizedTable::new(&edges, &[1], &[0.1, 0.2]),
                Err(TableError::EdgeRange(0)),
                "{bad}"
            );
        }
        assert_eq!(new(&[0.0, 0.0], &[1, 1], &[0.1; 3]), Err(TableError::EdgeOrder(1)));
        assert_eq!(new(&[0.5, f32::NAN], &[1, 2], &[0.1; 3]), Err(TableError::EdgeRange(1)));
        assert_eq!(new(&[0.5, 0.4], &[1, 2], &[0.1; 3]), Err(TableError::EdgeOrder(1)));
        assert_eq!(new(&[0.5, 0.5], &[2, 2], &[0.1; 3]), Err(TableError::EdgeOrder(1)));
        assert_eq!(new(&[0.5, 0.5], &[2, 1], &[0.1; 3]), Err(TableError::EdgeOrder(1)));
        assert_eq!(new(&[0.5], &[1], &[0.1, 1.1]), Err(TableError::ValueRange(1)));
        assert!(new(&[0.5, 0.5, 0.6], &[0, u32::MAX, 0], &[0.1; 4]).is_ok());
        assert!(new(&[0.0, 0.0, 1.0], &[0, u32::MAX, 0], &[0.1; 4]).is_ok());
        assert!(new(&[], &[], &[1.0]).is_ok());
    }

    #[test]
    fn scores_of_exactly_0_are_divided_by_the_word() {
        let table = RandomizedTable::new(&[0.0, 0.0, 1.0], &[7, 9, 5], &[0.1, 0.2, 0.3, 0.4]).unwrap();
        let at = |score, word| table.lookup(Score::new(score).unwrap(), word).0;
        assert_eq!([0, 6, 7, 8, 9, u32::MAX].map(|word| at(0.0, word)), [0, 0, 1, 1, 2, 2]);
        assert_eq!([0, u32::MAX].map(|word| at(f32::from_bits(1), word)), [2, 2]);
        assert_eq!([4, 5].map(|word| at(1.0, word)), [2, 3]);
        assert!(table.is_tied(Score::ZERO) && table.is_tied(Score::ONE));
    }

    proptest! {
        /// The lookup is the linear scan "how many pairs are at or below the pair".
        #[test]
        fn lookup_counts_the_pairs_at_or_below(
            // Few scores, so that many repeat, 0 and 1 among them.
            pairs in proptest::collection::btree_set((0u32..=20, any::<u32>()), 0..60),
            probe in 0..=ONE_BITS,
            word in any::<u32>(),
        ) {
            let edges: Vec<f32> = pairs.iter().map(|(score, _)| *score as f32 / 20.0).collect();
            let ties: Vec<u32> = pairs.iter().map(|(_, tie)| *tie).collect();
            let values: Vec<f32> = (0..=edges.len()).map(|i| i as f32 / 100.0).collect();
            let table = RandomizedTable::new(&edges, &ties, &values).unwrap();

            let mut probes = std::vec![(f32::from_bits(probe), word), (0.0, word), (1.0, word), (1.0, 0)];
            for (&edge, &tie) in edges.iter().zip(&ties) {
                let words = [tie.wrapping_sub(1), tie, tie.wrapping_add(1), 0, u32::MAX, word];
                probes.extend(words.map(|word| (edge, word)));
                probes.extend([(edge.next_down().max(0.0), u32::MAX), (edge.next_up().min(1.0), 0)]);
            }
            for (probe, word) in probes {
                let scan = edges.iter().zip(&ties).filter(|(e, t)| (**e, **t) <= (probe, word)).count();
                let score = Score::new(probe).unwrap();
                prop_assert_eq!(table.lookup(score, word), (scan as u16, values[scan]));
                prop_assert_eq!(table.is_tied(score), edges.contains(&probe));
            }
        }
    }
}
