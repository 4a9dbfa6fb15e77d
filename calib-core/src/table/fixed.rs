//! Step tables whose size is part of their type: the fastest lookup, without a bounds check or a branch.

use core::marker::PhantomData;

use super::error::TableError;
use super::fixed_search::layout;
use super::values::{check_edges, check_probs};
use crate::score::{FloatScore, Margin, Ordered, Score, key_of_bits};

/// A separate [step table](FixedTableOf) over scores in `[0, 1]`.
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
pub type FixedTable<const N: usize> = FixedTableOf<N, Score>;

/// A separate [step table](FixedTableOf) over margins.
///
/// ```
/// use calib_core::{FixedMarginTable, Margin, fixed_margin_table};
///
/// static TABLE: FixedMarginTable<4> = fixed_margin_table!(&[-1.5, 0.0], &[0.05, 0.4, 0.9]);
///
/// assert_eq!(TABLE.lookup(Margin::new(-0.0)?), (2, 0.9));
/// # Ok::<(), calib_core::ScoreError>(())
/// ```
pub type FixedMarginTable<const N: usize> = FixedTableOf<N, Margin>;

/// A step table for a `const` or `static`, with room for `N` bins, a power of two up to 65 536.
///
/// The table takes `8 N` bytes. A lookup takes `log2 N` steps of three or four instructions, whatever the score. A table of
/// fewer than `N` bins wastes memory, not time. The edges lie in the order that suits the core's instructions.
///
/// A table knows nothing of its bins' evidence: a bin without calibration points has no probability, and must not be in it. `calib
/// export` refuses to make such a table; an artifact in flash, and the export for C, tell of such bins.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct FixedTableOf<const N: usize, S> {
    /// First the edges' words in the core's layout, then the bits of the probabilities. Places beyond the last bin repeat the
    /// last probability.
    words: [[u32; N]; 2],
    scores: PhantomData<S>,
}

impl<const N: usize, S: FloatScore> FixedTableOf<N, S> {
    /// Makes a table of `values.len()` bins, at most `N`, from its inner edges and its probabilities.
    ///
    /// The edges are those of a [step table](crate::table::StepTableOf); there is one less than values. The probabilities are in
    /// `[0, 1]`. An `N` that is no power of two, or is above 65 536, does not compile. With [`fixed_table!`](crate::fixed_table) a bad table does not
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
        if let Err(error) = check_edges::<S>(edges) {
            return Err(error);
        }
        if let Err(error) = check_probs(values) {
            return Err(error);
        }
        let mut table = Self { words: [[0; N], [last.to_bits(); N]], scores: PhantomData };
        let [slots, leaves] = &mut table.words;
        let mut rest: &mut [u32] = slots;
        while let Some((word, slots)) = rest.split_first_mut() {
            let slot = N - 1 - slots.len();
            let edge = edge_key::<S>(edges, layout::edge_in(slot, N));
            *word = if S::IS_MARGIN {
                layout::word::<true>(slot, edge)
            } else {
                layout::word::<false>(slot, edge)
            };
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
}

// Written out for each kind of score: generic code takes up to five more instructions.
impl<const N: usize> FixedTableOf<N, Score> {
    /// Returns the bin's index and probability, in `log2 N` steps for every score.
    ///
    /// The bin is the number of edges at or below the score.
    #[inline]
    pub fn lookup(&self, score: Score) -> (u16, f32) {
        let (bin, bits) = layout::find::<false, N>(&self.words, score.to_bits()).unwrap_or_default();
        (layout::cut_off::<N>(bin), f32::from_bits(bits))
    }

    /// Writes the [lookup](FixedTableOf::lookup) of every score into `results`; ends with the shorter slice.
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
            let Some((bin, bits)) = layout::find_next::<false, N>(&self.words, score.to_bits()) else {
                return;
            };
            *result = (bin as u16, f32::from_bits(bits));
        }
    }
}

impl<const N: usize> FixedTableOf<N, Margin> {
    /// Returns the bin's index and probability, in `log2 N` steps for every margin.
    ///
    /// The bin is the number of edges at or below the margin.
    #[inline]
    pub fn lookup(&self, margin: Margin) -> (u16, f32) {
        let key = margin.signed_zero_key();
        let (bin, bits) = layout::find::<true, N>(&self.words, key).unwrap_or_default();
        (layout::cut_off::<N>(bin), f32::from_bits(bits))
    }

    /// Writes the lookup of every margin into `results`; ends with the shorter slice.
    #[inline]
    pub fn lookup_all(&self, margins: &[Margin], results: &mut [(u16, f32)]) {
        for (margin, result) in margins.iter().zip(results) {
            let key = margin.signed_zero_key();
            let Some((bin, bits)) = layout::find_next::<true, N>(&self.words, key) else { return };
            *result = (bin as u16, f32::from_bits(bits));
        }
    }
}

/// Returns the key of the edge at an index; `None` if there is no such edge. The key of an edge at the margin 0 is the one of
/// `-0.0`, so that a lookup need not make one zero of both.
const fn edge_key<S: Ordered>(edges: &[f32], index: Option<usize>) -> Option<u32> {
    let Some(index) = index else { return None };
    match edges.split_at_checked(index) {
        Some((_, [edge, ..])) if !S::IS_MARGIN => Some(edge.to_bits()),
        Some((_, [edge, ..])) if edge.to_bits() == 0 => Some(key_of_bits((-0.0f32).to_bits())),
        Some((_, [edge, ..])) => Some(key_of_bits(edge.to_bits())),
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

/// Makes a [`FixedMarginTable`](crate::table::FixedMarginTable) from constant edges and values while compiling. A bad table does
/// not compile.
///
/// ```
/// use calib_core::{FixedMarginTable, fixed_margin_table};
///
/// static TABLE: FixedMarginTable<4> = fixed_margin_table!(&[-2.0, 0.7], &[0.1, 0.5, 0.9]);
/// ```
#[macro_export]
macro_rules! fixed_margin_table {
    ($edges:expr, $values:expr $(,)?) => {
        const {
            match $crate::FixedMarginTable::new($edges, $values) {
                Ok(table) => table,
                Err(_) => {
                    panic!(
                        "edges must ascend strictly and be finite, values lie in [0, 1], one more than edges"
                    )
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
            *word = tree::word::<false>(slot, edge_key::<Score>(&edges, tree::edge_in(slot, N)));
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
            assert_eq!(tree::find::<false, N>(&arm, probe.to_bits()), Some((scan, 0)), "{probe}");
            assert_eq!(tree::find_next::<false, N>(&arm, probe.to_bits()), Some((scan, 0)), "{probe}");
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

    fn margins_agree_with_a_scan<const N: usize>(edges: &[f32], probes: &[f32]) {
        let edges: Vec<f32> = edges.iter().take(N - 1).copied().collect();
        let values: Vec<f32> = (0..=edges.len()).map(|i| i as f32 / 65_536.0).collect();
        let table = FixedMarginTable::<N>::new(&edges, &values).unwrap();
        let mut arm = [[0; N]; 2];
        for (slot, word) in arm[0].iter_mut().enumerate() {
            *word = tree::word::<true>(slot, edge_key::<Margin>(&edges, tree::edge_in(slot, N)));
        }
        let around = edges.iter().flat_map(|edge| [edge.next_down(), *edge, edge.next_up()]);
        let ends = [0.0, -0.0, f32::from_bits(1), -f32::from_bits(1), f32::MAX, f32::MIN];
        for probe in around.chain(probes.iter().copied()).chain(ends) {
            let Ok(margin) = Margin::new(probe) else { continue };
            let scan = edges.iter().filter(|&&edge| edge <= probe).count();
            let mut results = [(0, 0.0)];
            table.lookup_all(&[margin], &mut results);
            assert_eq!(results, [(scan as u16, values[scan])], "{probe}");
            assert_eq!(table.lookup(margin), (scan as u16, values[scan]), "{probe}");
            assert_eq!(tree::find::<true, N>(&arm, margin.signed_zero_key()), Some((scan, 0)), "{probe}");
            assert_eq!(
                tree::find_next::<true, N>(&arm, margin.signed_zero_key()),
                Some((scan, 0)),
                "{probe}"
            );
        }
    }

    proptest! {
        /// Margins of every sign and size; half of the tables have an edge at 0.
        #[test]
        fn a_lookup_of_margins_counts_the_edges_at_or_below(
            edges in proptest::collection::vec(any::<f32>(), 0..300 / step(10)), zero in any::<bool>(),
            probes in proptest::collection::vec(any::<f32>(), 50 / step(5)),
        ) {
            let finite = edges.into_iter().filter(|edge| edge.is_finite()).map(|edge| edge + 0.0);
            let mut edges: Vec<f32> = finite.chain(zero.then_some(0.0)).collect();
            edges.sort_by(f32::total_cmp);
            edges.dedup();
            margins_agree_with_a_scan::<1>(&edges, &probes);
            margins_agree_with_a_scan::<2>(&edges, &probes);
            margins_agree_with_a_scan::<4>(&edges, &probes);
            margins_agree_with_a_scan::<16>(&edges, &probes);
            margins_agree_with_a_scan::<64>(&edges, &probes);
            margins_agree_with_a_scan::<512>(&edges, &probes);
        }

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
