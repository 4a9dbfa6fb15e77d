//! Why data are refused.

use calib_core::ScoreError;
use calib_core::artifact::Reduction;
use calib_core::score::{CodeError, LogitsError, MAX_CLASSES, MAX_TOP_K, ProbsError};

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
    /// There are not as many weights, clusters or groups as rows of scores.
    #[error("{scores} rows of scores but {rows} {what}")]
    RowCount {
        /// What differs in number.
        what: &'static str,
        /// How many there are.
        rows: usize,
        /// The number of rows of scores.
        scores: usize,
    },
    /// The rows of a matrix have weights.
    #[error("weights go with scores of class 1: the rows of a matrix have none")]
    MatrixWeights,
    /// Rows with weights or counts are in clusters.
    #[error("one row cannot be drawn from a cluster if rows are weighted or counted")]
    WeightedClusters,
    /// Rows with weights, or of several classes, are in groups.
    #[error("groups go with binary scores that count the same")]
    Groups,
    /// The scores are by no classifier.
    #[error("scores are by 1 classifier at least, not by 0")]
    NoClassifier,
    /// A row has more positives than points.
    #[error("row {row}: {positives} positives of {n} observations")]
    Positives {
        /// The row.
        row: usize,
        /// The number of positives.
        positives: u64,
        /// The number of points.
        n: u64,
    },
    /// Beside the largest weight, those of all rows of a label count as 0.
    #[error(
        "beside the largest weight, {largest:e}, the weights of all rows of label {label} count as 0: divide it, or cap the weights"
    )]
    WeightsApart {
        /// The label.
        label: u8,
        /// The largest weight.
        largest: f64,
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
    #[error("more than 2^53 observations")]
    TooMany,
    /// A score is not in `[0, 1]`, or a margin is not finite.
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
    /// An entry is not a code of the encoding.
    #[error("row {row}, class {class}: {code} is not a code ({cause})")]
    Code {
        /// The row.
        row: usize,
        /// The class.
        class: usize,
        /// The entry.
        code: i64,
        /// What is wrong.
        cause: CodeError,
    },
    /// A code stands for a score that is not in `[0, 1]`.
    #[error(
        "row {row}, class {class}: the code {code} stands for the score {score}, which is outside [0, 1]"
    )]
    CodeScore {
        /// The row.
        row: usize,
        /// The class.
        class: usize,
        /// The code.
        code: i32,
        /// The score.
        score: f32,
    },
    /// The scores that the codes of a row stand for do not sum to one.
    #[error("row {row}: the codes stand for scores that sum to {sum}, not to 1")]
    CodeSum {
        /// The row.
        row: usize,
        /// The sum.
        sum: f32,
    },
    /// There are no calibrators of integer codes under the reduction.
    #[error("there is no {0} calibrator of integer codes")]
    CodeReduction(Reduction),
    /// The top-two margin of a predicted class is no score of other classes.
    #[error("the top-two margin is a score for confidence and top-label only, not for {0}")]
    MarginReduction(Reduction),
    /// Leads are those of logits.
    #[error("the top-two margin is computed from logits, and these are probabilities")]
    MarginOfProbs,
    /// Integer codes of logits have no softmax without floating point.
    #[error("codes of logits have no softmax: their score is the top-two margin")]
    SoftmaxOfCodes,
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
