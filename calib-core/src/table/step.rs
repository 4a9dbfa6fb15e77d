//! Step tables over floats: the form of most binned calibrators on the device.

use core::marker::PhantomData;

use super::error::{MAX_BINS, TableError};
use super::search::bin_of_float;
use super::values::{BinValues, check_edges};
use crate::score::{FloatScore, Margin, Score};

/// A step table over scores in `[0, 1]`: the form of most binned calibrators.
///
/// ```
/// use calib_core::{Score, StepTable};
///
/// let table = StepTable::new(&[0.2, 0.7], &[0.05, 0.4, 0.9]).unwrap();
/// assert_eq!(table.lookup(Score::new(0.7)?), (2, 0.9));
/// # Ok::<(), calib_core::ScoreError>(())
/// ```
pub type StepTable<'a> = StepTableOf<'a, Score>;

/// A step table over margins.
///
/// ```
/// use calib_core::{Margin, MarginTable};
///
/// let table = MarginTable::new(&[-1.5, 0.0], &[0.05, 0.4, 0.9]).unwrap();
/// assert_eq!(table.lookup(Margin::new(-0.0)?), (2, 0.9));
/// assert_eq!(table.lookup(Margin::new(-0.1)?), (1, 0.4));
/// # Ok::<(), calib_core::ScoreError>(())
/// ```
pub type MarginTable<'a> = StepTableOf<'a, Margin>;

/// A step table of `B` probabilities over the bins `[lowest, e1)`, `[e1, e2)`, ..., `[e(B-1), highest]` of scores or margins.
///
/// The table borrows its numbers, from constants or in place from a parsed artifact. A table that exists is valid, so a lookup
/// has no error and no panic.
///
/// The code of the search takes half a kilobyte, because its steps are spelled out for every size up to 1024 bins. A
/// [`FixedTable`](crate::table::FixedTable) takes a fifth.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct StepTableOf<'a, S> {
    edges: &'a [f32],
    values: BinValues<'a>,
    scores: PhantomData<S>,
}

impl<'a, S: FloatScore> StepTableOf<'a, S> {
    /// The largest number of bins: bin indices are `u16`.
    pub const MAX_BINS: usize = MAX_BINS;

    /// Makes a table of `values.len()` bins from its inner edges and its probabilities.
    ///
    /// The edges ascend strictly, those of scores in `(0, 1]`, those of margins among the finite floats but `-0.0`; there is one
    /// less than values. The probabilities are in `[0, 1]`.
    ///
    /// # Errors
    ///
    /// The first cause found, with its index.
    pub const fn new(edges: &'a [f32], values: &'a [f32]) -> Result<Self, TableError> {
        if let Err(error) = check_edges::<S>(edges) {
            return Err(error);
        }
        match BinValues::new(values, edges.len()) {
            Ok(values) => Ok(Self { edges, values, scores: PhantomData }),
            Err(error) => Err(error),
        }
    }

    /// Makes a table of numbers that [`StepTable::new`] accepted before; `None` only if there are no values.
    #[inline]
    pub(crate) const fn trusted(edges: &'a [f32], values: &'a [f32]) -> Option<Self> {
        match BinValues::trusted(values) {
            Some(values) => Some(Self { edges, values, scores: PhantomData }),
            None => None,
        }
    }

    /// Returns the number of bins, at least 1.
    pub const fn bins(&self) -> usize {
        self.values.len()
    }

    /// Returns the bin's index and probability, in O(log B).
    ///
    /// The bin is the number of edges at or below the score.
    // A call would take a fifth as long again.
    #[inline(always)]
    pub fn lookup(&self, score: S) -> (u16, f32) {
        let bin = bin_of_float::<S>(self.edges, self.values.len(), score.key());
        (bin as u16, self.values.get(bin))
    }

    /// Returns the inner edges, strictly ascending; one less than bins.
    pub const fn edges(&self) -> &'a [f32] {
        self.edges
    }

    /// Returns the probabilities, one per bin in bin order.
    pub fn values(&self) -> impl Iterator<Item = f32> + use<'a, S> {
        self.values.iter()
    }

    /// Returns the probability of a bin; 0 beyond the last bin.
    pub(crate) fn value(&self, bin: usize) -> f32 {
        self.values.get(bin)
    }
}

/// Makes a [`StepTable`](crate::table::StepTable) from constant edges and values while compiling.
///
/// ```
/// use calib_core::{StepTable, step_table};
///
/// static TABLE: StepTable<'static> = step_table!(&[0.2, 0.7], &[0.1, 0.5, 0.9]);
/// ```
///
/// A bad table does not compile:
///
/// ```compile_fail
/// use calib_core::{StepTable, step_table};
///
/// static DESCENDING: StepTable<'static> = step_table!(&[0.7, 0.2], &[0.1, 0.5, 0.9]);
/// ```
#[macro_export]
macro_rules! step_table {
    ($edges:expr, $values:expr $(,)?) => {
        const {
            match $crate::StepTable::new($edges, $values) {
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

    use super::*;

    #[test]
    fn refuses_what_is_no_table() {
        let new = StepTable::new;
        assert_eq!(new(&[], &[]), Err(TableError::Length));
        assert_eq!(new(&[0.5], &[0.1]), Err(TableError::Length));
        assert_eq!(new(&[0.0], &[0.1, 0.2]), Err(TableError::EdgeRange(0)));
        assert_eq!(new(&[0.5, f32::NAN], &[0.1, 0.2, 0.3]), Err(TableError::EdgeRange(1)));
        assert_eq!(new(&[0.5, 0.5], &[0.1, 0.2, 0.3]), Err(TableError::EdgeOrder(1)));
        assert_eq!(new(&[0.5], &[0.1, 1.1]), Err(TableError::ValueRange(1)));
        assert_eq!(new(&[0.5], &[f32::NAN, 0.1]), Err(TableError::ValueRange(0)));
        assert_eq!(new(&[0.5], &[-0.0, 0.1]), Err(TableError::ValueRange(0)));
        assert!(new(&[], &[1.0]).is_ok());
    }

    #[test]
    fn the_last_bin_is_closed_and_an_edge_belongs_to_the_bin_above() {
        let table = step_table!(&[0.25, 1.0], &[0.0, 0.5, 1.0]);
        let at = |x| table.lookup(Score::new(x).unwrap());
        assert_eq!(at(0.0), (0, 0.0));
        assert_eq!(at(0.25f32.next_down()), (0, 0.0));
        assert_eq!(at(0.25), (1, 0.5));
        assert_eq!(at(1.0f32.next_down()), (1, 0.5));
        assert_eq!(at(1.0), (2, 1.0));
    }

    #[test]
    fn a_table_over_margins_takes_any_finite_edges() {
        let new = MarginTable::new;
        assert_eq!(new(&[-0.0], &[0.1, 0.2]), Err(TableError::EdgeRange(0)));
        assert_eq!(new(&[0.5, f32::INFINITY], &[0.1, 0.2, 0.3]), Err(TableError::EdgeRange(1)));
        assert_eq!(new(&[f32::NAN], &[0.1, 0.2]), Err(TableError::EdgeRange(0)));
        assert_eq!(new(&[-1.0, -2.0], &[0.1, 0.2, 0.3]), Err(TableError::EdgeOrder(1)));
        let table = new(&[f32::MIN, 0.0, f32::MAX], &[0.1, 0.2, 0.3, 0.4]).unwrap();
        let bin = |value| table.lookup(Margin::new(value).unwrap()).0;
        assert_eq!([f32::MIN, f32::MIN.next_up(), -f32::from_bits(1)].map(bin), [1, 1, 1]);
        assert_eq!([-0.0, 0.0, f32::MAX.next_down(), f32::MAX].map(bin), [2, 2, 2, 3]);
    }

    proptest! {
        /// The lookup is the linear scan "how many edges are at or below the score".
        #[test]
        fn lookup_counts_the_edges_at_or_below(
            edges in proptest::collection::btree_set(1u32..=0x3F80_0000, 0..200),
            probe in 0u32..=0x3F80_0000,
        ) {
            let edges: Vec<f32> = edges.into_iter().map(f32::from_bits).collect();
            let values: Vec<f32> = (0..=edges.len()).map(|i| i as f32 / edges.len().max(1) as f32).collect();
            let table = StepTable::new(&edges, &values).unwrap();
            let mut probes = std::vec![f32::from_bits(probe), 0.0, 1.0];
            for &edge in &edges {
                probes.extend([edge.next_down(), edge, edge.next_up().min(1.0)]);
            }
            for probe in probes {
                let scan = edges.iter().filter(|&&edge| edge <= probe).count();
                prop_assert_eq!(table.lookup(Score::new(probe).unwrap()), (scan as u16, values[scan]));
            }
        }
    }
}
