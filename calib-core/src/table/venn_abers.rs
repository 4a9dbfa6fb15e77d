//! Venn-Abers: two probabilities per bin.

use core::marker::PhantomData;

use super::error::TableError;
use super::search::bin_of_float;
use super::values::{BinValues, check_edges, check_rising, within};
use crate::score::{FloatScore, Margin, Score};

/// Venn-Abers over scores in `[0, 1]`.
pub type VennAbersTable<'a> = VennAbersTableOf<'a, Score>;

/// Venn-Abers over margins.
pub type MarginVennAbersTable<'a> = VennAbersTableOf<'a, Margin>;

/// A step table with two probabilities per bin (Vovk and Petej 2014, "Venn-Abers predictors").
///
/// `p0` comes from the isotonic fit with the new point as a negative, `p1` from the fit with it as a positive. One of the two is
/// calibrated: the one for the true label. They are not the ends of a confidence interval: with many calibration
/// points both lie close together, and the true probability of the score mostly lies outside.
///
/// ```
/// use calib_core::Score;
/// use calib_core::table::VennAbersTable;
///
/// let table = VennAbersTable::new(&[0.5], &[0.0, 0.5], &[0.25, 1.0]).unwrap();
/// let (bin, prob, [p0, p1]) = table.lookup(Score::new(0.75)?);
/// assert_eq!((bin, p0, p1), (1, 0.5, 1.0));
/// assert_eq!(prob, 1.0 / (1.0 - 0.5 + 1.0));
/// # Ok::<(), calib_core::ScoreError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct VennAbersTableOf<'a, S> {
    edges: &'a [f32],
    p0: BinValues<'a>,
    p1: BinValues<'a>,
    scores: PhantomData<S>,
}

impl<'a, S: FloatScore> VennAbersTableOf<'a, S> {
    /// Makes a table of `p0.len()` bins from its inner edges and both probabilities of each bin.
    ///
    /// The edges are those of a [step table](crate::table::StepTableOf); there is one less than bins. The probabilities are in `[0, 1]`; neither `p0` nor
    /// `p1` falls from bin to bin, and `p0 <= p1` in each bin.
    ///
    /// # Errors
    ///
    /// The first cause found, with its index.
    pub const fn new(edges: &'a [f32], p0: &'a [f32], p1: &'a [f32]) -> Result<Self, TableError> {
        if let Err(error) = check_edges::<S>(edges) {
            return Err(error);
        }
        let bounds = match (BinValues::new(p0, edges.len()), BinValues::new(p1, edges.len())) {
            (Ok(p0), Ok(p1)) => (p0, p1),
            (Err(error), _) | (_, Err(error)) => return Err(error),
        };
        if let (Err(error), _) | (_, Err(error)) = (check_rising(p0), check_rising(p1)) {
            return Err(error);
        }
        let mut rest = (p0, p1);
        while let (Some((lo, p0_tail)), Some((hi, p1_tail))) = (rest.0.split_first(), rest.1.split_first()) {
            if *lo > *hi {
                return Err(TableError::Bounds(p0.len() - rest.0.len()));
            }
            rest = (p0_tail, p1_tail);
        }
        Ok(Self { edges, p0: bounds.0, p1: bounds.1, scores: PhantomData })
    }

    /// Makes a table of numbers that [`VennAbersTable::new`] accepted before; `None` only if there are no bins.
    #[inline]
    pub(crate) const fn trusted(edges: &'a [f32], p0: &'a [f32], p1: &'a [f32]) -> Option<Self> {
        match (BinValues::trusted(p0), BinValues::trusted(p1)) {
            (Some(p0), Some(p1)) => Some(Self { edges, p0, p1, scores: PhantomData }),
            _ => None,
        }
    }

    /// Returns the number of bins, at least 1.
    pub const fn bins(&self) -> usize {
        self.p0.len()
    }

    /// Returns the bin's index, its probability and `[p0, p1]`, in O(log B).
    ///
    /// The probability is `p1 / (1 - p0 + p1)` in f32, which minimizes the log-loss in the worst case. Where rounding takes it
    /// below `p0` or above `p1`, the probability is that one.
    #[inline]
    pub fn lookup(&self, score: S) -> (u16, f32, [f32; 2]) {
        let bin = bin_of_float::<S>(self.edges, self.p0.len(), score.key());
        let (p0, p1) = (self.p0.get(bin), self.p1.get(bin));
        // The divisor is at least `p1`, and 1 if `p1` is 0: never 0.
        let prob = within(p1 / (1.0 - p0 + p1), p0, p1);
        (bin as u16, prob, [p0, p1])
    }

    /// Returns the inner edges, strictly ascending; one less than bins.
    pub const fn edges(&self) -> &'a [f32] {
        self.edges
    }

    /// Returns the lower probabilities, one per bin in bin order.
    pub fn p0(&self) -> impl Iterator<Item = f32> + use<'a, S> {
        self.p0.iter()
    }

    /// Returns the upper probabilities, one per bin in bin order.
    pub fn p1(&self) -> impl Iterator<Item = f32> + use<'a, S> {
        self.p1.iter()
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
        let new = VennAbersTable::new;
        assert_eq!(new(&[], &[], &[]), Err(TableError::Length));
        assert_eq!(new(&[], &[0.5], &[]), Err(TableError::Length));
        assert_eq!(new(&[0.5], &[0.1, 0.2], &[0.3]), Err(TableError::Length));
        assert_eq!(new(&[1.5], &[0.1, 0.2], &[0.3, 0.4]), Err(TableError::EdgeRange(0)));
        assert_eq!(new(&[0.5, 0.5], &[0.1; 3], &[0.3; 3]), Err(TableError::EdgeOrder(1)));
        assert_eq!(new(&[0.5], &[0.2, 0.1], &[0.3, 0.4]), Err(TableError::ValueOrder(1)));
        assert_eq!(new(&[0.5], &[0.1, 0.2], &[0.4, 0.3]), Err(TableError::ValueOrder(1)));
        assert_eq!(new(&[0.5], &[0.1, 0.5], &[0.3, 0.4]), Err(TableError::Bounds(1)));
        assert_eq!(new(&[0.5], &[0.1, 0.2], &[0.3, f32::NAN]), Err(TableError::ValueRange(1)));
        assert!(new(&[], &[0.5], &[0.5]).is_ok());
    }

    #[test]
    fn certainty_is_kept() {
        let table = VennAbersTable::new(&[0.5], &[0.0, 1.0], &[0.0, 1.0]).unwrap();
        assert_eq!(table.lookup(Score::ZERO), (0, 0.0, [0.0, 0.0]));
        assert_eq!(table.lookup(Score::ONE), (1, 1.0, [1.0, 1.0]));
    }

    proptest! {
        /// The bin is that of the linear scan, and the probability that of f64 and within its interval.
        #[test]
        fn lookup_agrees_with_a_scan_and_f64(
            edges in proptest::collection::btree_set(1..=ONE_BITS, 0..100),
            mut p0 in proptest::collection::vec(0..=ONE_BITS, 100),
            mut p1 in proptest::collection::vec(0..=ONE_BITS, 100),
            probe in 0..=ONE_BITS,
        ) {
            let edges: Vec<f32> = edges.into_iter().map(f32::from_bits).collect();
            for (lo, hi) in p0.iter_mut().zip(&mut p1) {
                (*lo, *hi) = (*lo.min(hi), *lo.max(hi));
            }
            // Sorting each keeps every pair in order.
            p0.sort_unstable();
            p1.sort_unstable();
            let [p0, p1] = [p0, p1].map(|p| p.into_iter().take(edges.len() + 1).map(f32::from_bits).collect::<Vec<_>>());
            let table = VennAbersTable::new(&edges, &p0, &p1).unwrap();
            let around = edges.iter().flat_map(|&edge| [edge.next_down(), edge, edge.next_up().min(1.0)]);
            for probe in around.chain([f32::from_bits(probe), 0.0, 1.0]) {
                let scan = edges.iter().filter(|&&edge| edge <= probe).count();
                let (bin, prob, both) = table.lookup(Score::new(probe).unwrap());
                prop_assert_eq!(usize::from(bin), scan);
                prop_assert_eq!(both, [p0[scan], p1[scan]]);
                prop_assert!(p0[scan] <= prob && prob <= p1[scan]);
                let (lo, hi) = (f64::from(p0[scan]), f64::from(p1[scan]));
                prop_assert!((f64::from(prob) - hi / (1.0 - lo + hi)).abs() <= 2e-7);
            }
        }
    }
}
