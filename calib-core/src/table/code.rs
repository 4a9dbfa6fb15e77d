//! Step tables over integer codes.

use super::error::TableError;
use super::search::bin_of;
use super::values::BinValues;
use crate::score::{QuantizedScore, ScoreEncoding};

/// A step table over integer codes: its edges are keys, and finding the bin takes no floating point.
///
/// ```
/// use calib_core::{QuantizedScore, ScoreEncoding};
/// use calib_core::table::CodeTable;
///
/// let softmax = ScoreEncoding::I8 { scale: 1.0 / 256.0, zero_point: -128 };
/// // Codes from 64 up have keys from 192 up, and the probability 0.8.
/// let table = CodeTable::new(&[192], &[0.1, 0.8], softmax).unwrap();
/// assert_eq!(table.lookup(QuantizedScore::new(softmax, 63)?), (0, 0.1));
/// assert_eq!(table.lookup(QuantizedScore::new(softmax, 64)?), (1, 0.8));
/// # Ok::<(), calib_core::score::CodeError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct CodeTable<'a> {
    edges: &'a [u32],
    values: BinValues<'a>,
}

impl<'a> CodeTable<'a> {
    /// Makes a table of `values.len()` bins from its inner edges and its probabilities.
    ///
    /// The edges are [keys](QuantizedScore::key) of the encoding, above 0 and strictly ascending; there is one less than
    /// values. The probabilities are in `[0, 1]`.
    ///
    /// # Errors
    ///
    /// The first cause found, with its index. If the encoding has no codes, no edge is in range.
    pub const fn new(
        edges: &'a [u32],
        values: &'a [f32],
        encoding: ScoreEncoding,
    ) -> Result<Self, TableError> {
        let Some(max_key) = encoding.max_key() else { return Err(TableError::EdgeRange(0)) };
        let mut below = 0;
        let mut rest = edges;
        while let Some((&edge, tail)) = rest.split_first() {
            let index = edges.len() - rest.len();
            if edge == 0 || edge > max_key as u32 {
                return Err(TableError::EdgeRange(index));
            }
            if edge <= below {
                return Err(TableError::EdgeOrder(index));
            }
            below = edge;
            rest = tail;
        }
        match BinValues::new(values, edges.len()) {
            Ok(values) => Ok(Self { edges, values }),
            Err(error) => Err(error),
        }
    }

    /// Makes a table of numbers that [`CodeTable::new`] accepted before; `None` only if there are no values.
    #[inline]
    pub(crate) const fn trusted(edges: &'a [u32], values: &'a [f32]) -> Option<Self> {
        match BinValues::trusted(values) {
            Some(values) => Some(Self { edges, values }),
            None => None,
        }
    }

    /// Returns the number of bins, at least 1.
    pub const fn bins(&self) -> usize {
        self.values.len()
    }

    /// Returns the bin's index and probability, in O(log B). The score is in the encoding for which the table was made.
    #[inline]
    pub fn lookup(&self, score: QuantizedScore) -> (u16, f32) {
        let bin = self.bin(score.key());
        (bin as u16, self.values.get(bin))
    }

    /// Returns the bin of a key: the number of edges at or below the key.
    #[inline]
    pub(crate) fn bin(&self, key: u16) -> usize {
        bin_of(self.edges, self.values.len(), key.into())
    }

    /// Returns the inner edges, strictly ascending; one less than bins.
    pub const fn edges(&self) -> &'a [u32] {
        self.edges
    }

    /// Returns the probabilities, one per bin in bin order.
    pub fn values(&self) -> impl Iterator<Item = f32> + use<'a> {
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
    use crate::test_size::{cases, step};

    const U8: ScoreEncoding = ScoreEncoding::U8 { scale: 1.0 / 255.0, zero_point: 0 };
    const I8: ScoreEncoding = ScoreEncoding::I8 { scale: 1.0 / 256.0, zero_point: -128 };
    const U16: ScoreEncoding = ScoreEncoding::U16 { scale: 1.0 / 65536.0, zero_point: 0 };

    #[test]
    fn refuses_what_is_no_table() {
        let new = CodeTable::new;
        assert_eq!(new(&[], &[], U8), Err(TableError::Length));
        assert_eq!(new(&[7], &[0.1], U8), Err(TableError::Length));
        assert_eq!(new(&[0], &[0.1, 0.2], U8), Err(TableError::EdgeRange(0)));
        assert_eq!(new(&[7, 256], &[0.1; 3], U8), Err(TableError::EdgeRange(1)));
        assert_eq!(new(&[65_536], &[0.1; 2], U16), Err(TableError::EdgeRange(0)));
        assert_eq!(new(&[7, 7], &[0.1; 3], U8), Err(TableError::EdgeOrder(1)));
        assert_eq!(new(&[7], &[0.1, -0.1], U8), Err(TableError::ValueRange(1)));
        assert_eq!(new(&[], &[0.1], ScoreEncoding::F32), Err(TableError::EdgeRange(0)));
        assert!(new(&[1, 255], &[0.1; 3], I8).is_ok());
        assert!(new(&[1, 65_535], &[0.1; 3], U16).is_ok());
    }

    fn agrees_with_a_scan(edges: &[u32], encoding: ScoreEncoding) {
        let values: Vec<f32> = (0..=edges.len()).map(|i| i as f32 / 65_536.0).collect();
        let table = CodeTable::new(edges, &values, encoding).unwrap();
        let mut scan = 0;
        let max_key = encoding.max_key().unwrap();
        for key in (0..=max_key).step_by(step(usize::from(max_key) / 51)) {
            scan += edges[scan..].iter().take_while(|&&edge| edge <= key.into()).count();
            let score = QuantizedScore::from_key(encoding, key).unwrap();
            assert_eq!(table.lookup(score), (scan as u16, values[scan]));
        }
    }

    proptest! {
        #[test]
        fn lookup_agrees_with_a_scan_for_all_8_bit_codes(
            edges in proptest::collection::btree_set(1u32..=255, 0..255 / step(5)),
        ) {
            let edges: Vec<u32> = edges.into_iter().collect();
            agrees_with_a_scan(&edges, U8);
            agrees_with_a_scan(&edges, I8);
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(cases(16)))]

        #[test]
        fn lookup_agrees_with_a_scan_for_all_16_bit_codes(
            edges in proptest::collection::btree_set(1u32..=65_535, 0..300 / step(10)),
        ) {
            agrees_with_a_scan(&edges.into_iter().collect::<Vec<_>>(), U16);
        }
    }

    #[test]
    fn every_code_can_have_a_bin_of_its_own() {
        agrees_with_a_scan(&(1..=255).collect::<Vec<_>>(), I8);
        agrees_with_a_scan(&(1..=65_535).step_by(step(1285)).collect::<Vec<_>>(), U16);
    }
}
