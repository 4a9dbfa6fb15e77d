//! Step tables whose size is part of their type: the fastest lookup, without a bounds check or a branch.

use super::error::TableError;
use super::fixed_search::layout;
use super::values::{check_edges, check_probs};
use crate::score::Score;

/// A step table for a `const` or `static`, with room for `N` bins, a power of two up to 65 536.
///
/// The table takes `8 N` bytes. A lookup takes `log2 N` steps of three or four instructions, whatever the score. A table of
/// fewer than `N` bins wastes memory, not time. The edges lie in the order that suits the core's instructions.
///
/// A table knows nothing of its bins' evidence: a bin without calibration points has no probability, and must not be in it. `calib
/// export` refuses to make such a table; an artefact in flash, and the export for C, tell of such bins.
///
/// ```
/// use calib_core::{FixedTable, Score, fixed_table};
///
/// // Three bins, [0, 0.2), [0.2, 0.7) and [0.7, 1], checked while compiling and kept in flash.
/// static TABLE: FixedTable<4> = fixed_table!(&[0.2, 0.7], &[0.05, 0.4, 0.9]);
///
/// assert_eq!(TABLE.lookup(Score::new(0.93)?), (2, 0.9));
/// # Ok::<(), calib_core::ScoreError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct FixedTable<const N: usize> {
    /// First the edges' words in the core's layout, then the bits of the probabilities. Places beyond the last bin repeat the
    /// last probability.
    words: [[u32; N]; 2],
}

impl<const N: usize> FixedTable<N> {
    /// Makes a table of `values.len()` bins, at most `N`, from its inner edges and its probabilities.
    ///
    /// The edges ascend strictly in `(0, 1]`; there is one less than values. The probabilities are in `[0, 1]`. An `N` that is
    /// no power of two, or is above 65 536, does not compile. With [`fixed_table!`](crate::fixed_table) a bad table does not
    /// compile either.
    ///
    /// # Errors
    ///
    /// The first cause found, with its index.
    pub const fn new(edges: &[f32], values: &[f32]) -> Result<Self, TableError> {
        const { assert!(N.is_power_of_two() && N <= 1 << 16, "the room is a power of two up to 65 536") }
        let Some((last, _)) = values.split_last() else { return Err(TableError::Length) };
        if values.len() - 1 != edges.len() {
            return Err(TableError::Length);
        }
        if values.len() > N {
            return Err(TableError::TooManyBins);
        }
        if let Err(error) = check_edges(edges) {
            return Err(error);
        }
        if let Err(error) = check_probs(values) {
            return Err(error);
        }
        let mut table = Self { words: [[0; N], [last.to_bits(); N]] };
        let [slots, leaves] = &mut table.words;
        let mut rest: &mut [u32] = slots;
        while let Some((word, slots)) = rest.split_first_mut() {
            let slot = N - 1 - slots.len();
            *word = layout::word(slot, edge_bits(edges, layout::edge_in(slot, N)));
            rest = slots;
        }
        let leaves: &mut [u32] = leaves;
        let mut rest = (leaves, values);
        while let (Some((leaf, leaves)), Some((value, values))) =
            (rest.0.split_first_mut(), rest.1.split_first())
        {
            *leaf = value.to_bits();
            rest = (leaves, values);
        }
        Ok(table)
    }

    /// Returns the bin's index and probability, in `log2 N` steps for every score.
    ///
    /// The bin is the number of edges at or below the score.
    #[inline]
    pub fn lookup(&self, score: Score) -> (u16, f32) {
        let (bin, bits) = layout::find(&self.words, score.to_bits()).unwrap_or_default();
        (layout::cut_off::<N>(bin), f32::from_bits(bits))
    }

    /// Writes the [lookup](FixedTable::lookup) of every score into `results`; ends with the shorter slice.
    ///
    /// ```
    /// use calib_core::{FixedTable, Score, fixed_table};
    ///
    /// static TABLE: FixedTable<2> = fixed_table!(&[0.5], &[0.1, 0.8]);
    ///
    /// let mut results = [(0, 0.0); 2];
    /// TABLE.lookup_all(&[Score::ONE, Score::ZERO], &mut results);
    /// assert_eq!(results, [(1, 0.8), (0, 0.1)]);
    /// ```
    #[inline]
    pub fn lookup_all(&self, scores: &[Score], results: &mut [(u16, f32)]) {
        for (score, result) in scores.iter().zip(results) {
            let Some((bin, bits)) = layout::find_next(&self.words, score.to_bits()) else { return };
            *result = (bin as u16, f32::from_bits(bits));
        }
    }
}

/// Returns the bits of the edge at an index; `None` if there is no such edge.
const fn edge_bits(edges: &[f32], index: Option<usize>) -> Option<u32> {
    let Some(index) = index else { return None };
    match edges.split_at_checked(index) {
        Some((_, [edge, ..])) => Some(edge.to_bits()),
        _ => None,
    }
}

/// Makes a [`FixedTable`](crate::table::FixedTable) from constant edges and values while compiling.
///
/// ```
/// use calib_core::{FixedTable, fixed_table};
///
/// static TABLE: FixedTable<4> = fixed_table!(&[0.2, 0.7], &[0.1, 0.5, 0.9]);
/// ```
///
/// A bad table does not compile:
///
/// ```compile_fail
/// use calib_core::{FixedTable, fixed_table};
///
/// static DESCENDING: FixedTable<4> = fixed_table!(&[0.7, 0.2], &[0.1, 0.5, 0.9]);
/// ```
#[macro_export]
macro_rules! fixed_table {
    ($edges:expr, $values:expr $(,)?) => {
        const {
            match $crate::FixedTable::new($edges, $values) {
                Ok(table) => table,
                Err(_) => {
                    panic!("edges must ascend strictly in (0, 1], values lie in [0, 1], one more than edges")
                }
            }
        }
    };
}

#[cfg(test)]
mod tests {
    extern crate std;

    use std::vec::Vec;

    use proptest::prelude::*;

    use super::super::fixed_search::tree;
    use super::*;
    use crate::score::ONE_BITS;
    use crate::test_size::step;

    #[test]
    fn refuses_what_is_no_table() {
        let new = FixedTable::<4>::new;
        assert_eq!(new(&[], &[]), Err(TableError::Length));
        assert_eq!(new(&[0.5], &[0.1]), Err(TableError::Length));
        assert_eq!(new(&[0.1, 0.2, 0.3, 0.4], &[0.5; 5]), Err(TableError::TooManyBins));
        assert_eq!(new(&[0.0], &[0.1, 0.2]), Err(TableError::EdgeRange(0)));
        assert_eq!(new(&[0.5, 0.5], &[0.1, 0.2, 0.3]), Err(TableError::EdgeOrder(1)));
        assert_eq!(new(&[0.5], &[0.1, f32::NAN]), Err(TableError::ValueRange(1)));
        assert!(new(&[], &[1.0]).is_ok());
    }

    #[test]
    fn takes_8_bytes_a_bin() {
        assert_eq!(size_of::<FixedTable<16>>(), 16 * 8);
        assert_eq!(size_of::<FixedTable<64>>(), 64 * 8);
    }

    fn agrees_with_a_scan<const N: usize>(edges: &[u32], probes: &[u32]) {
        let edges: Vec<f32> = edges.iter().take(N - 1).copied().map(f32::from_bits).collect();
        let values: Vec<f32> = (0..=edges.len()).map(|i| i as f32 / 65_536.0).collect();
        let table = FixedTable::<N>::new(&edges, &values).unwrap();
        // The layout of Arm, on whatever core this is.
        let mut arm = [[0; N]; 2];
        for (slot, word) in arm[0].iter_mut().enumerate() {
            *word = tree::word(slot, edge_bits(&edges, tree::edge_in(slot, N)));
        }
        let around = edges.iter().flat_map(|edge| [edge.next_down(), *edge, edge.next_up().min(1.0)]);
        let others = probes.iter().copied().map(f32::from_bits);
        for probe in around.chain(others).chain([0.0, f32::from_bits(1), 1.0f32.next_down(), 1.0]) {
            let scan = edges.iter().filter(|&&edge| edge <= probe).count();
            let score = Score::new(probe).unwrap();
            let mut results = [(0, 0.0); 2];
            table.lookup_all(&[score], &mut results);
            assert_eq!(results, [(scan as u16, values[scan]), (0, 0.0)], "{probe}");
            assert_eq!(table.lookup(score), (scan as u16, values[scan]), "{probe}");
            assert_eq!(tree::find(&arm, probe.to_bits()), Some((scan, 0)), "{probe}");
            assert_eq!(tree::find_next(&arm, probe.to_bits()), Some((scan, 0)), "{probe}");
            assert_eq!(tree::cut_off::<N>(scan), scan as u16);
        }
    }

    #[test]
    fn every_number_of_bins_agrees_with_a_scan() {
        for bins in (1..=64u32).step_by(step(21)) {
            let edges: Vec<u32> = (1..bins).map(|i| (i as f32 / bins as f32).to_bits()).collect();
            agrees_with_a_scan::<64>(&edges, &[]);
        }
    }

    proptest! {
        #[test]
        fn lookup_counts_the_edges_at_or_below(
            edges in proptest::collection::btree_set(1..=ONE_BITS, 0..1100 / step(64)),
            probes in proptest::collection::vec(0..=ONE_BITS, 50 / step(5)),
        ) {
            let edges: Vec<u32> = edges.into_iter().collect();
            agrees_with_a_scan::<1>(&edges, &probes);
            agrees_with_a_scan::<2>(&edges, &probes);
            agrees_with_a_scan::<4>(&edges, &probes);
            agrees_with_a_scan::<8>(&edges, &probes);
            agrees_with_a_scan::<16>(&edges, &probes);
            agrees_with_a_scan::<32>(&edges, &probes);
            agrees_with_a_scan::<128>(&edges, &probes);
            agrees_with_a_scan::<256>(&edges, &probes);
            agrees_with_a_scan::<512>(&edges, &probes);
            agrees_with_a_scan::<1024>(&edges, &probes);
            agrees_with_a_scan::<2048>(&edges, &probes);
        }
    }

    #[test]
    fn the_largest_table_agrees_with_a_scan() {
        const BINS: usize = 65_536 / step(64);
        let edges: Vec<u32> = (1..65_536).step_by(step(65)).map(|i| i * 16_000).collect();
        let edges: Vec<f32> = edges.into_iter().map(f32::from_bits).collect();
        let values: Vec<f32> = (0..=edges.len()).map(|i| i as f32 / 65_536.0).collect();
        // On the heap: half a megabyte is much for a test's stack.
        let table = std::boxed::Box::new(FixedTable::<BINS>::new(&edges, &values).unwrap());
        for i in (0..=ONE_BITS).step_by(9973 * step(1009)) {
            let scan = edges.partition_point(|edge| edge.to_bits() <= i);
            assert_eq!(table.lookup(Score::new(f32::from_bits(i)).unwrap()), (scan as u16, values[scan]));
        }
    }
}
