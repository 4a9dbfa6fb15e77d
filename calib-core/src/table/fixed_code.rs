//! Tables of integer scores whose size is part of their type.

use super::error::TableError;
use super::fixed_search::layout;
use super::values::check_probs;

/// A step table of 16-bit scores for a `const` or `static`, with room for `N` bins, a power of two up to 65 536.
///
/// The table takes `4 N` bytes and no floating point: the probabilities, too, are integers, in units of 1/65 535. The search is
/// the one of [`FixedTable`](crate::table::FixedTable), and so is what the table knows nothing of.
///
/// ```
/// use calib_core::FixedCodeTable;
///
/// const TABLE: FixedCodeTable<2> = match FixedCodeTable::new(&[0x8000], &[0x1999, 0xCCCC]) {
///     Ok(table) => table,
///     Err(_) => panic!("edges ascend from 1, one value more than edges"),
/// };
/// assert_eq!(TABLE.lookup(0x7FFF), (0, 0x1999));
/// assert_eq!(TABLE.lookup(0x8000), (1, 0xCCCC));
/// assert_eq!(FixedCodeTable::<2>::prob(0xCCCC), 0.8);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct FixedCodeTable<const N: usize> {
    /// First the edges' words in the core's layout, then the probabilities. Places beyond the last bin repeat the last
    /// probability.
    words: [[u16; N]; 2],
}

impl<const N: usize> FixedCodeTable<N> {
    /// Makes a table of `values.len()` bins, at most `N`, from its inner edges and its probabilities.
    ///
    /// The edges ascend strictly from 1; there is one less than values. The probabilities are in units of 1/65 535. An `N` that
    /// is no power of two, or is above 65 536, does not compile.
    ///
    /// # Errors
    ///
    /// The first cause found, with its index.
    pub const fn new(edges: &[u16], values: &[u16]) -> Result<Self, TableError> {
        const { assert!(N.is_power_of_two() && N <= 1 << 16, "the room is a power of two up to 65 536") }
        let Some((&last, head)) = values.split_last() else { return Err(TableError::Length) };
        if head.len() != edges.len() {
            return Err(TableError::Length);
        }
        if values.len() > N {
            return Err(TableError::TooManyBins);
        }
        if let Err(error) = check_ascending(edges) {
            return Err(error);
        }
        let mut table = Self { words: [[0; N], [last; N]] };
        let [slots, leaves] = &mut table.words;
        let mut rest: &mut [u16] = slots;
        while let Some((word, slots)) = rest.split_first_mut() {
            let slot = N - 1 - slots.len();
            *word = layout::half_word(slot, edge(edges, layout::edge_in(slot, N)));
            rest = slots;
        }
        let leaves: &mut [u16] = leaves;
        let mut rest = (leaves, values);
        while let (Some((leaf, leaves)), Some((&value, values))) =
            (rest.0.split_first_mut(), rest.1.split_first())
        {
            *leaf = value;
            rest = (leaves, values);
        }
        Ok(table)
    }

    /// Returns the bin's index and its probability in units of 1/65 535, in `log2 N` steps for every score.
    ///
    /// The bin is the number of edges at or below the score.
    #[inline]
    pub fn lookup(&self, score: u16) -> (u16, u16) {
        let (bin, value) = layout::find_half_word(&self.words, score).unwrap_or_default();
        ((bin & (N - 1)) as u16, value)
    }

    /// Turns a probability in units of 1/65 535 into a float in `[0, 1]`.
    pub fn prob(value: u16) -> f32 {
        f32::from(value) / f32::from(u16::MAX)
    }
}

/// A table with an entry for every 8-bit score: the fastest lookup, in 1280 bytes.
///
/// Like [`FixedTable`](crate::table::FixedTable) it knows nothing of bins without calibration points.
///
/// ```
/// use calib_core::table::DirectTable;
///
/// // Scores from 192 up are in the upper of two bins.
/// const TABLE: DirectTable = match DirectTable::new(&[192], &[0.1, 0.8]) {
///     Ok(table) => table,
///     Err(_) => panic!("edges ascend from 1, values lie in [0, 1], one more than edges"),
/// };
/// assert_eq!([TABLE.lookup(191), TABLE.lookup(192)], [(0, 0.1), (1, 0.8)]);
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct DirectTable {
    bins: [u8; 256],
    values: [f32; 256],
}

impl DirectTable {
    /// Makes a table of `values.len()` bins from its inner edges and its probabilities.
    ///
    /// The edges ascend strictly from 1; there is one less than values. The probabilities are in `[0, 1]`.
    ///
    /// # Errors
    ///
    /// The first cause found, with its index.
    pub const fn new(edges: &[u8], values: &[f32]) -> Result<Self, TableError> {
        let Some((&first, mut above)) = values.split_first() else { return Err(TableError::Length) };
        if above.len() != edges.len() {
            return Err(TableError::Length);
        }
        if let Err(error) = check_probs(values) {
            return Err(error);
        }
        let mut table = Self { bins: [0; 256], values: [first; 256] };
        let (mut edges, mut index, mut score) = (edges, 0u8, 0u16);
        let mut value = first;
        let (bins, slots): (&mut [u8], &mut [f32]) = (&mut table.bins, &mut table.values);
        let mut rest = (bins, slots);
        while let (Some((bin, bins)), Some((slot, slots))) =
            (rest.0.split_first_mut(), rest.1.split_first_mut())
        {
            if let (Some((&edge, edges_above)), Some((&next, values_above))) =
                (edges.split_first(), above.split_first())
                && edge as u16 == score
            {
                if edge == 0 {
                    return Err(TableError::EdgeRange(0));
                }
                index += 1;
                (edges, above, value) = (edges_above, values_above, next);
            }
            (*bin, *slot) = (index, value);
            rest = (bins, slots);
            score += 1;
        }
        // An edge that is still left was not above the one before it.
        if edges.is_empty() { Ok(table) } else { Err(TableError::EdgeOrder(index as usize)) }
    }

    /// Returns the score's bin and probability.
    #[inline]
    pub fn lookup(&self, score: u8) -> (u16, f32) {
        let score = usize::from(score);
        // Both have an entry for every score: the compiler sees it, and leaves the fallbacks out.
        let bin = self.bins.get(score).copied().unwrap_or_default();
        (bin.into(), self.values.get(score).copied().unwrap_or_default())
    }
}

/// Returns the edge at an index; `None` if there is no such edge.
const fn edge(edges: &[u16], index: Option<usize>) -> Option<u16> {
    let Some(index) = index else { return None };
    match edges.split_at_checked(index) {
        Some((_, [edge, ..])) => Some(*edge),
        _ => None,
    }
}

/// Checks that every edge is above 0 and above the one before it.
const fn check_ascending(edges: &[u16]) -> Result<(), TableError> {
    let mut below = 0;
    let mut rest = edges;
    while let Some((&edge, tail)) = rest.split_first() {
        let index = edges.len() - rest.len();
        if edge == 0 {
            return Err(TableError::EdgeRange(index));
        }
        if edge <= below {
            return Err(TableError::EdgeOrder(index));
        }
        below = edge;
        rest = tail;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    extern crate std;

    use std::vec::Vec;

    use proptest::prelude::*;

    use super::super::fixed_search::tree;
    use super::*;
    use crate::test_size::{cases, step};

    #[test]
    fn refuses_what_is_no_table() {
        let new = FixedCodeTable::<4>::new;
        assert_eq!(new(&[], &[]), Err(TableError::Length));
        assert_eq!(new(&[1], &[1]), Err(TableError::Length));
        assert_eq!(new(&[0], &[1, 2]), Err(TableError::EdgeRange(0)));
        assert_eq!(new(&[2, 2], &[1, 2, 3]), Err(TableError::EdgeOrder(1)));
        assert_eq!(new(&[1, 2, 3, 4], &[0; 5]), Err(TableError::TooManyBins));
        let new = DirectTable::new;
        assert_eq!(new(&[], &[]), Err(TableError::Length));
        assert_eq!(new(&[1], &[0.1]), Err(TableError::Length));
        assert_eq!(new(&[0], &[0.1, 0.2]), Err(TableError::EdgeRange(0)));
        assert_eq!(new(&[2, 2], &[0.1; 3]), Err(TableError::EdgeOrder(1)));
        assert_eq!(new(&[2, 1], &[0.1; 3]), Err(TableError::EdgeOrder(1)));
        assert_eq!(new(&[2], &[0.1, 1.5]), Err(TableError::ValueRange(1)));
    }

    #[test]
    fn takes_4_bytes_a_bin() {
        assert_eq!(size_of::<FixedCodeTable<16>>(), 16 * 4);
        assert_eq!(size_of::<FixedCodeTable<64>>(), 64 * 4);
        assert_eq!(size_of::<DirectTable>(), 1280);
    }

    /// For all 65 536 scores.
    fn agrees_with_a_scan<const N: usize>(edges: &[u16]) {
        let edges: Vec<u16> = edges.iter().take(N - 1).copied().collect();
        let values: Vec<u16> = (0..=edges.len()).map(|i| i as u16 ^ 0x5A5A).collect();
        let table = FixedCodeTable::<N>::new(&edges, &values).unwrap();
        // The layout of Arm, on whatever core this is.
        let mut arm = std::boxed::Box::new([[0; N]; 2]);
        for (slot, word) in arm[0].iter_mut().enumerate() {
            *word = tree::half_word(slot, edge(&edges, tree::edge_in(slot, N)));
        }
        let mut scan = 0;
        // 1285 divides 65 535.
        for score in (0..=u16::MAX).step_by(step(1285)) {
            scan += edges[scan..].iter().take_while(|&&edge| edge <= score).count();
            assert_eq!(table.lookup(score), (scan as u16, values[scan]));
            assert_eq!(tree::find_half_word(&arm, score), Some((scan, 0)));
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(cases(16)))]

        #[test]
        fn lookup_agrees_with_a_scan_for_all_16_bit_scores(
            edges in proptest::collection::btree_set(1u16.., 0..600 / step(10)),
        ) {
            let edges: Vec<u16> = edges.into_iter().collect();
            agrees_with_a_scan::<1>(&edges);
            agrees_with_a_scan::<2>(&edges);
            agrees_with_a_scan::<16>(&edges);
            agrees_with_a_scan::<64>(&edges);
            agrees_with_a_scan::<1024>(&edges);
        }

        #[test]
        fn direct_lookup_agrees_with_a_scan_for_all_8_bit_scores(
            edges in proptest::collection::btree_set(1u8.., 0..255 / step(5)),
        ) {
            let edges: Vec<u8> = edges.into_iter().collect();
            let values: Vec<f32> = (0..=edges.len()).map(|i| i as f32 / 256.0).collect();
            let table = DirectTable::new(&edges, &values).unwrap();
            for score in (0..=u8::MAX).step_by(step(5)) {
                let scan = edges.iter().filter(|&&edge| edge <= score).count();
                prop_assert_eq!(table.lookup(score), (scan as u16, values[scan]));
            }
        }
    }

    #[test]
    fn every_score_can_have_a_bin_of_its_own() {
        const BINS: usize = 65_536 / step(256);
        agrees_with_a_scan::<BINS>(&(1..=u16::MAX).step_by(step(1285)).collect::<Vec<_>>());
    }
}
