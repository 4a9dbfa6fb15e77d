//! Step tables in 16-bit numbers.

use super::error::TableError;
use super::fraction;
use super::search::bin_of;
use crate::score::{FloatScore, QuantizedScore, ScoreEncoding};

/// A step table of 4 bytes per bin: the edges are 16-bit keys, the probabilities multiples of 1/32 768.
///
/// The keys are those of integer codes, or the [rounded keys](crate::score::Score::rounded_key) of floats under
/// [`ScoreEncoding::RoundedF32`], or the upper halves of the [keys of margins](crate::score::Margin::rounded_key) under
/// [`ScoreEncoding::RoundedMargin`].
///
/// ```
/// use calib_core::{Score, ScoreEncoding};
/// use calib_core::table::CompactTable;
///
/// // Scores from about 0.5 up have the probability 3/4.
/// let table = CompactTable::new(&[32_768], &[3277, 24_576], ScoreEncoding::RoundedF32).unwrap();
/// assert_eq!(table.lookup_score(Score::new(0.7)?), (1, 0.75));
/// assert_eq!(table.lookup_score(Score::new(0.2)?).0, 0);
/// # Ok::<(), calib_core::ScoreError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct CompactTable<'a> {
    edges: &'a [u16],
    /// One more than edges.
    values: &'a [u16],
}

impl<'a> CompactTable<'a> {
    /// The value that stands for the probability 1.
    pub const ONE: u16 = 1 << 15;

    /// Makes a table of `values.len()` bins from its inner edges and its values.
    ///
    /// The edges are keys of the encoding, above 0 and strictly ascending; there is one less than values. The values are at
    /// most [`CompactTable::ONE`].
    ///
    /// # Errors
    ///
    /// The first cause found, with its index. If the encoding has no keys, no edge is in range.
    pub const fn new(
        edges: &'a [u16],
        values: &'a [u16],
        encoding: ScoreEncoding,
    ) -> Result<Self, TableError> {
        let Some(max_key) = encoding.max_key() else { return Err(TableError::EdgeRange(0)) };
        let Some((_, head)) = values.split_last() else { return Err(TableError::Length) };
        if head.len() != edges.len() {
            return Err(TableError::Length);
        }
        let mut below = 0;
        let mut rest = edges;
        while let Some((&edge, tail)) = rest.split_first() {
            let index = edges.len() - rest.len();
            if edge == 0 || edge > max_key {
                return Err(TableError::EdgeRange(index));
            }
            if edge <= below {
                return Err(TableError::EdgeOrder(index));
            }
            below = edge;
            rest = tail;
        }
        let mut rest = values;
        while let Some((&value, tail)) = rest.split_first() {
            if value > Self::ONE {
                return Err(TableError::ValueRange(values.len() - rest.len()));
            }
            rest = tail;
        }
        Ok(Self { edges, values })
    }

    /// Makes a table of numbers that [`CompactTable::new`] accepted before; `None` only if there are no values.
    #[inline]
    pub(crate) const fn trusted(edges: &'a [u16], values: &'a [u16]) -> Option<Self> {
        if values.is_empty() { None } else { Some(Self { edges, values }) }
    }

    /// Returns the value nearest to a probability in `[0, 1]`; the two differ by at most 2^-16.
    ///
    /// ```
    /// use calib_core::table::CompactTable;
    ///
    /// assert_eq!(CompactTable::prob(CompactTable::nearest(0.75)), 0.75);
    /// ```
    pub const fn nearest(prob: f64) -> u16 {
        (prob * Self::ONE as f64 + 0.5) as u16
    }

    /// Returns the probability for which a value stands, exactly.
    #[inline(always)]
    pub fn prob(value: u16) -> f32 {
        fraction::float(value)
    }

    /// Returns the number of bins, at least 1.
    pub const fn bins(&self) -> usize {
        self.values.len()
    }

    /// Returns the bin's index and probability, in O(log B). The code is in the encoding for which the table was made.
    // As `find`: with two callers the compiler that optimizes for size would call it.
    #[inline(always)]
    pub fn lookup(&self, score: QuantizedScore) -> (u16, f32) {
        self.find(score.key())
    }

    /// Takes the rounded key of a score or margin, and returns the bin's index and probability, in O(log B). The score is of the
    /// kind for which the table was made.
    #[inline]
    pub fn lookup_score(&self, score: impl FloatScore) -> (u16, f32) {
        self.find(score.rounded_key())
    }

    /// Returns the bin of a key, which is the number of edges at or below the key, and the bin's probability.
    // A call would take a fifth as long again.
    #[inline(always)]
    pub(crate) fn find(&self, key: u16) -> (u16, f32) {
        let bin = bin_of(self.edges, self.values.len(), key.into());
        (bin as u16, self.value(bin))
    }

    /// Returns the inner edges, strictly ascending; one less than bins.
    pub const fn edges(&self) -> &'a [u16] {
        self.edges
    }

    /// Returns the probabilities, one per bin in bin order.
    pub fn values(&self) -> impl Iterator<Item = f32> + use<'a> {
        self.raw_values().map(Self::prob)
    }

    /// Returns the values as they are stored.
    pub(crate) fn raw_values(&self) -> impl Iterator<Item = u16> + use<'a> {
        self.values.iter().copied()
    }

    /// Returns the probability of a bin; 0 beyond the last bin, which no search finds.
    #[inline]
    pub(crate) fn value(&self, bin: usize) -> f32 {
        Self::prob(self.values.get(bin).copied().unwrap_or_default())
    }
}

#[cfg(test)]
mod tests {
    extern crate std;

    use std::vec::Vec;

    use proptest::prelude::*;

    use super::*;
    use crate::score::{ONE_BITS, Score};
    use crate::test_size::step;

    const U8: ScoreEncoding = ScoreEncoding::U8 { scale: 1.0 / 255.0, zero_point: 0 };
    const U16: ScoreEncoding = ScoreEncoding::U16 { scale: 1.0 / 65_535.0, zero_point: 0 };

    #[test]
    fn refuses_what_is_no_table() {
        let new = CompactTable::new;
        assert_eq!(new(&[], &[], U16), Err(TableError::Length));
        assert_eq!(new(&[7], &[1], U16), Err(TableError::Length));
        assert_eq!(new(&[0], &[1, 2], U16), Err(TableError::EdgeRange(0)));
        assert_eq!(new(&[7, 256], &[1; 3], U8), Err(TableError::EdgeRange(1)));
        assert_eq!(new(&[7, 7], &[1; 3], U16), Err(TableError::EdgeOrder(1)));
        assert_eq!(new(&[7], &[1, 32_769], U16), Err(TableError::ValueRange(1)));
        assert_eq!(new(&[], &[1], ScoreEncoding::F32), Err(TableError::EdgeRange(0)));
        assert!(new(&[1, 65_535], &[0, 5, 32_768], ScoreEncoding::RoundedF32).is_ok());
    }

    #[test]
    fn values_are_exact_and_the_nearest() {
        assert_eq!((CompactTable::prob(0), CompactTable::prob(CompactTable::ONE)), (0.0, 1.0));
        for value in (0..=CompactTable::ONE).step_by(step(16)) {
            assert_eq!(CompactTable::nearest(CompactTable::prob(value).into()), value);
        }
        for i in 0..=1000 {
            let prob = f64::from(i) / 1000.0;
            let stored = f64::from(CompactTable::prob(CompactTable::nearest(prob)));
            assert!((stored - prob).abs() <= 1.0 / 65_536.0, "{prob} {stored}");
        }
    }

    proptest! {
        /// The bin is that of the linear scan over keys, for codes and for floats.
        #[test]
        fn lookup_agrees_with_a_scan(
            edges in proptest::collection::btree_set(1u16..=u16::MAX, 0..200 / step(10)),
            keys in proptest::collection::vec(any::<u16>(), 20),
            bits in proptest::collection::vec(0..=ONE_BITS, 20),
        ) {
            let edges: Vec<u16> = edges.into_iter().collect();
            let values: Vec<u16> = (0..=edges.len() as u16).collect();
            let table = CompactTable::new(&edges, &values, U16).unwrap();
            let scan = |key: u16| edges.iter().filter(|&&edge| edge <= key).count() as u16;
            let around = edges.iter().flat_map(|&edge| [edge - 1, edge, edge.saturating_add(1)]);
            for key in keys.into_iter().chain(around).chain([0, u16::MAX]) {
                let score = QuantizedScore::from_key(U16, key).unwrap();
                prop_assert_eq!(table.lookup(score), (scan(key), CompactTable::prob(values[usize::from(scan(key))])));
            }
            for bits in bits {
                let score = f32::from_bits(bits);
                let bin = scan((f64::from(score) * 65_535.0).round() as u16);
                let got = table.lookup_score(Score::new(score).unwrap()).0;
                // A product that lies halfway between two keys in f32 only may be rounded either way.
                let exact = f64::from(score) * 65_535.0;
                prop_assert!(got == bin || (exact.fract() - 0.5).abs() < 0.01, "{} {} {}", score, got, bin);
            }
        }

        /// Rounding to a key never falls, and every key is its own.
        #[test]
        fn keys_rise_with_the_score(a in 0..=ONE_BITS, b in 0..=ONE_BITS) {
            let key = |bits: u32| Score::new(f32::from_bits(bits)).unwrap().rounded_key();
            prop_assert!(key(a.min(b)) <= key(a.max(b)));
        }
    }

    #[test]
    fn every_key_is_the_nearest_of_its_own_score() {
        for key in (0..=u16::MAX).step_by(step(257)) {
            let score = Score::new((f64::from(key) / 65_535.0) as f32).unwrap();
            assert_eq!(score.rounded_key(), key);
        }
    }
}
