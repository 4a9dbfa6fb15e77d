//! Figures that some rows do not determine.

use std::fmt;

use serde::{Serialize, Serializer};

use crate::assess::EstimateWithInterval;

/// Why a figure has no value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Undefined {
    /// Every probability is 0 or 1, and these rows are left out.
    #[error("no row is left: every probability is exactly 0 or 1")]
    NoRows,
    /// All labels are equal.
    #[error("all labels are {}", u8::from(*.0))]
    OneLabel(bool),
    /// All probabilities are equal.
    #[error("all probabilities are equal")]
    OneValue,
    /// The probabilities separate the labels, up to ties: the estimate is infinite.
    #[error("the probabilities separate the labels: the estimate is infinite")]
    Separated,
    /// A spline in the probabilities separates some of the labels: its estimate is infinite, which does not say that the probabilities
    /// themselves separate them.
    #[error("the estimate of a spline is infinite: over a stretch of the probabilities all labels are equal")]
    SplineSeparated,
    /// The probabilities have too few different quantiles for a spline.
    #[error("a spline needs three different knots and as many different probabilities: there are {0}")]
    FewKnots(usize),
    /// All probabilities are 0.
    #[error("nothing is expected: all probabilities are 0")]
    NothingExpected,
    /// All probabilities are 0, 1/2 or 1, where the statistic has no variance.
    #[error("it has no variance: every probability is 0, 1/2 or 1")]
    NoVariance,
    /// No row meets the condition that the figure is a share of.
    #[error("there is no row that it could be a share of")]
    NoDenominator,
    /// A ratio of two shares that are both 0.
    #[error("it is the ratio of two shares that are both 0")]
    NothingOverNothing,
}

impl Serialize for Undefined {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

/// A figure, or why it has no value.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[serde(untagged)]
pub enum Figure<T = EstimateWithInterval> {
    /// The figure.
    Defined(T),
    /// There is none.
    Undefined {
        /// Why.
        undefined: Undefined,
    },
}

impl<T> Figure<T> {
    /// Returns the figure, or why there is none.
    ///
    /// # Errors
    ///
    /// If the rows do not determine it.
    pub fn get(&self) -> Result<&T, Undefined> {
        match self {
            Self::Defined(figure) => Ok(figure),
            Self::Undefined { undefined } => Err(*undefined),
        }
    }
}

/// The figure, or why there is none.
impl<T: fmt::Display> fmt::Display for Figure<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Defined(figure) => figure.fmt(f),
            Self::Undefined { undefined } => write!(f, "undefined: {undefined}"),
        }
    }
}

impl<T> From<Result<T, Undefined>> for Figure<T> {
    fn from(result: Result<T, Undefined>) -> Self {
        match result {
            Ok(figure) => Self::Defined(figure),
            Err(undefined) => Self::Undefined { undefined },
        }
    }
}
