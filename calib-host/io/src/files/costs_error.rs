//! What is wrong with a costs file.

use calib_fit::decide::{ActionsError, CostError, RuleError};

/// What is wrong with a costs file.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum CostsError {
    /// It is not TOML, or a key is missing, unknown or of another type.
    #[error("{0}")]
    Toml(String),
    /// A number is not a cost.
    #[error("{key}: {cause}")]
    Cost {
        /// The key.
        key: &'static str,
        /// Why not.
        cause: CostError,
    },
    /// `cases` is not a positive number.
    #[error("cases = {0}: start-up costs are spread over at least one decision")]
    Cases(i64),
    /// The actions do not go together.
    #[error(transparent)]
    Actions(ActionsError),
    /// One action has an interval, and this one has none.
    #[error("{name:?} has no interval, but {other:?} has: state one for every action, or for none")]
    IntervalMissing {
        /// The action without.
        name: String,
        /// One with.
        other: String,
    },
    /// Two intervals overlap.
    #[error("the interval of {name:?} overlaps that of {other:?} (line {line}) from {from} to {to}")]
    Overlap {
        /// The upper action.
        name: String,
        /// The lower action.
        other: String,
        /// The lower action's line.
        line: u64,
        /// Where the overlap begins.
        from: f64,
        /// Where it ends.
        to: f64,
    },
    /// Stated intervals are not a rule, for another reason.
    #[error("{name:?}: {cause}")]
    Rule {
        /// The action.
        name: String,
        /// Why not.
        cause: RuleError,
    },
}
