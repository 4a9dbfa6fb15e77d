//! Why data are refused.

use calib_core::{LogitsError, MAX_CLASSES, MAX_TOP_K, ProbsError, Reduction, ScoreError};

/// Why data were refused; `row` is the 0-based index of the data row.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum DataError {
    /// There are no rows.
    #[error("there are no rows")]
    Empty,
    /// Scores and labels differ in number.
    #[error("{scores} rows of scores but {labels} labels")]
    LabelCount {
        /// The number of scores.
        scores: usize,
        /// The number of labels.
        labels: usize,
    },
    /// A row has more positives than points.
    #[error("row {row}: {positives} positives of {n} points")]
    Positives {
        /// The row.
        row: usize,
        /// The number of positives.
        positives: u64,
        /// The number of points.
        n: u64,
    },
    /// A weight is not a number from 0 on.
    #[error("row {row}: the weight {weight} is not a number from 0 on")]
    Weight {
        /// The row.
        row: usize,
        /// The weight.
        weight: f64,
    },
    /// All weights are 0.
    #[error("all weights are 0")]
    NoWeight,
    /// There are more than 2^53 points.
    #[error("more than 2^53 points")]
    TooMany,
    /// A score is not in `[0, 1]`.
    #[error("row {row}: {cause}")]
    Score {
        /// The row.
        row: usize,
        /// What is wrong.
        cause: ScoreError,
    },
    /// A row is not a logit vector.
    #[error("row {row}: {cause}")]
    Logits {
        /// The row.
        row: usize,
        /// What is wrong.
        cause: LogitsError,
    },
    /// A row is not a probability vector.
    #[error("row {row}: {cause}")]
    Probs {
        /// The row.
        row: usize,
        /// What is wrong.
        cause: ProbsError,
    },
    /// A class, predicted or true, is not below the number of classes.
    #[error("row {row}: class {class} is out of range, there are {classes} classes, from 0 on")]
    Class {
        /// The row.
        row: usize,
        /// The class.
        class: i64,
        /// The number of classes.
        classes: usize,
    },
    /// The number of classes is below 2 or above 65 535.
    #[error("{0} classes: a classifier has 2 to {MAX_CLASSES}")]
    ClassCount(usize),
    /// The reduction is for another number of classes, or its number of ranks is out of range.
    #[error("{}", reduction_fault(*reduction, *classes))]
    Reduction {
        /// The reduction.
        reduction: Reduction,
        /// The number of classes.
        classes: usize,
    },
}

fn reduction_fault(reduction: Reduction, classes: usize) -> String {
    match reduction.top_k() {
        Some(k) => format!("{k} ranks: with {classes} classes there are 1 to {}", classes.min(MAX_TOP_K)),
        None => format!("the reduction {reduction} does not go with {classes} classes"),
    }
}
