//! The values of a table, and the checks that tables share.

use super::error::{MAX_BINS, TableError};
use crate::score::{ONE_BITS, Ordered};

/// Numbers in `[0, 1]`, one per bin, at least one.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub(crate) struct BinValues<'a>(&'a [f32]);

impl<'a> BinValues<'a> {
    /// Takes one value more than there are edges.
    pub(crate) const fn new(values: &'a [f32], edges: usize) -> Result<Self, TableError> {
        let Some((_, head)) = values.split_last() else { return Err(TableError::Length) };
        if head.len() != edges {
            return Err(TableError::Length);
        }
        if values.len() > MAX_BINS {
            return Err(TableError::TooManyBins);
        }
        match check_probs(values) {
            Ok(()) => Ok(Self(values)),
            Err(error) => Err(error),
        }
    }

    /// Takes values that [`BinValues::new`] accepted before; `None` only if there are none.
    #[inline]
    pub(crate) const fn trusted(values: &'a [f32]) -> Option<Self> {
        if values.is_empty() { None } else { Some(Self(values)) }
    }

    /// Returns the value of a bin; 0 beyond the last bin, which no search finds.
    #[inline]
    pub(crate) fn get(&self, bin: usize) -> f32 {
        // As bits, because otherwise the value takes a detour over a floating-point register.
        f32::from_bits(self.0.get(bin).map_or(0, |value| value.to_bits()))
    }

    /// Returns the number of values.
    pub(crate) const fn len(&self) -> usize {
        self.0.len()
    }

    /// All values in bin order.
    pub(crate) fn iter(&self) -> impl Iterator<Item = f32> + use<'a> {
        self.0.iter().copied()
    }
}

/// Returns `value` moved into `[lo, hi]`; `lo` for NaN.
#[inline]
pub(crate) fn within(value: f32, lo: f32, hi: f32) -> f32 {
    if value >= hi {
        hi
    } else if value > lo {
        value
    } else {
        lo
    }
}

/// Checks that every value is in `[0, 1]` and not `-0.0`.
pub(crate) const fn check_probs(values: &[f32]) -> Result<(), TableError> {
    let mut rest = values;
    while let Some((&value, tail)) = rest.split_first() {
        // The pattern of `-0.0`, which would be shown as "-0", is above the one of 1.
        if value.to_bits() > ONE_BITS {
            return Err(TableError::ValueRange(values.len() - rest.len()));
        }
        rest = tail;
    }
    Ok(())
}

/// Checks that no value is below the one before it; [`check_probs`] has accepted them.
pub(crate) const fn check_rising(values: &[f32]) -> Result<(), TableError> {
    let mut below = 0.0;
    let mut rest = values;
    while let Some((&value, tail)) = rest.split_first() {
        if value < below {
            return Err(TableError::ValueOrder(values.len() - rest.len()));
        }
        below = value;
        rest = tail;
    }
    Ok(())
}

/// Tells whether a float can be an edge of a table over margins: it is finite and not `-0.0`.
pub(crate) const fn is_margin_edge(edge: f32) -> bool {
    edge.is_finite() && edge.to_bits() != (-0.0f32).to_bits()
}

/// Checks that every edge is in `(0, 1]`, or of margins finite and not `-0.0`, and above the one before it.
pub(crate) const fn check_edges<S: Ordered>(edges: &[f32]) -> Result<(), TableError> {
    let mut below = if S::IS_MARGIN { f32::NEG_INFINITY } else { 0.0 };
    let mut rest = edges;
    while let Some((&edge, tail)) = rest.split_first() {
        let index = edges.len() - rest.len();
        if !(if S::IS_MARGIN { is_margin_edge(edge) } else { edge > 0.0 && edge <= 1.0 }) {
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

/// Checks that every edge is in `[0, 1]`, or of margins finite, and not `-0.0`, and that the pairs of edge and tie ascend strictly.
pub(crate) const fn check_edges_with_ties<S: Ordered>(edges: &[f32], ties: &[u32]) -> Result<(), TableError> {
    let mut before: Option<(f32, u32)> = None;
    let mut rest = (edges, ties);
    while let (Some((&edge, edges_tail)), Some((&tie, ties_tail))) =
        (rest.0.split_first(), rest.1.split_first())
    {
        let index = edges.len() - rest.0.len();
        // Bit patterns from 0 to 1 are ordered like the floats; those of `-0.0` and NaN are above.
        if !(if S::IS_MARGIN { is_margin_edge(edge) } else { edge.to_bits() <= ONE_BITS }) {
            return Err(TableError::EdgeRange(index));
        }
        if let Some((edge_before, tie_before)) = before
            && (edge < edge_before || (edge == edge_before && tie <= tie_before))
        {
            return Err(TableError::EdgeOrder(index));
        }
        before = Some((edge, tie));
        rest = (edges_tail, ties_tail);
    }
    Ok(())
}
