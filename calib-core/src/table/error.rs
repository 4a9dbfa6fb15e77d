//! Why numbers are not a table.

use core::fmt;

/// The largest number of bins: bin indices are `u16`.
pub(crate) const MAX_BINS: usize = 1 << 16;

/// Why numbers are not a table. The payload is the index of the number that is wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[non_exhaustive]
pub enum TableError {
    /// The lengths do not go together: a binned table has one value more than edges.
    Length,
    /// There are more than 65 536 bins.
    TooManyBins,
    /// This edge is NaN, outside `(0, 1]` or no key of the encoding; or this knot, or edge with a word for ties, is NaN, `-0.0` or
    /// outside `[0, 1]`.
    EdgeRange(usize),
    /// This edge or knot is not above the one before it.
    EdgeOrder(usize),
    /// This value is NaN, `-0.0` or outside `[0, 1]`.
    ValueRange(usize),
    /// This value is below the one before it, in a table whose values may not fall.
    ValueOrder(usize),
    /// This slope is not the quotient of the differences between its knots.
    Slope(usize),
    /// This bin's lower bound is above its upper bound.
    Bounds(usize),
}

impl fmt::Display for TableError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let before = |i: &usize| i.saturating_sub(1);
        match self {
            Self::Length => f.write_str("there must be one value more than edges"),
            Self::TooManyBins => write!(f, "more than {} bins", MAX_BINS),
            Self::EdgeRange(i) => write!(f, "edge {i} is out of range"),
            Self::EdgeOrder(i) => write!(f, "edge {i} is not above edge {}", before(i)),
            Self::ValueRange(i) => write!(f, "value {i} is outside [0, 1]"),
            Self::ValueOrder(i) => write!(f, "value {i} is below value {}", before(i)),
            Self::Slope(i) => write!(f, "slope {i} is not that of its knots"),
            Self::Bounds(i) => write!(f, "the lower bound of bin {i} is above its upper bound"),
        }
    }
}

impl core::error::Error for TableError {}
