//! Why nothing was fitted, or not all.

use std::io;

use calib_core::artifact::Method;
use calib_core::vector::MAX_CELLS;

use crate::stats::{ScoreKind, thousands};

/// Why a binary problem of a reduction stays uncalibrated.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum UnfittedReason {
    /// It has too few points.
    #[error("{} of {} observations", thousands(*n), thousands(*needed))]
    TooFewPoints {
        /// How many it has.
        n: usize,
        /// How many it needs.
        needed: usize,
    },
    /// No row is of the class, or every row is.
    #[error("{}", if *.0 { "every label is of it" } else { "no label is of it" })]
    OneLabel(bool),
    /// Its scaling function has no finite optimum.
    #[error(transparent)]
    Scaling(ScalingError),
}

/// Why nothing was fitted.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum FitError {
    /// All labels are the same.
    #[error("all {} labels are {label}: nothing can be learned about the other class", thousands(*n))]
    OneClass {
        /// The label.
        label: u8,
        /// The number of points.
        n: u64,
    },
    /// All points are of one of several classes.
    #[error("all {} labels are {class}: nothing can be learned about the other classes", thousands(*n))]
    OneOfSeveral {
        /// The class.
        class: usize,
        /// The number of points.
        n: u64,
    },
    /// There are fewer than two points a bin.
    #[error("{} too few for {} bins: at least {} are needed", are(*n, "calibration observation"), thousands(*bins), thousands(2 * bins))]
    TooFewPoints {
        /// The number of points.
        n: u64,
        /// The number of bins.
        bins: usize,
    },
    /// The number of bins is 0, or more than a table holds.
    #[error("{0} bins: a table has 1 to 65536")]
    BinCount(usize),
    /// The points per bin are below 2.
    #[error("a bin of {0} is too small: at least 2 observations are needed")]
    RowsPerBin(usize),
    /// The failure probability is not in `(0, 1)`.
    #[error("alpha is {_0:?}: {}", alpha_fault(*_0))]
    Alpha(f64),
    /// No class has enough points.
    #[error(
        "no class was predicted often enough: the most frequent has {} calibration observations, {} are needed",
        thousands(*most),
        thousands(*needed)
    )]
    NoClass {
        /// The number of points of the most frequent class.
        most: u64,
        /// How many would do.
        needed: usize,
    },
    /// There are fewer points than a bin needs.
    #[error("{} calibration observations are too few: {} are needed", thousands(*n), thousands(*needed))]
    FewerThanABin {
        /// The number of points.
        n: u64,
        /// How many would do.
        needed: usize,
    },
    /// The method is for scores of another kind.
    #[error("{method} with these parameters is for {takes}, and the scores are {given}")]
    ScoreKind {
        /// The method.
        method: Method,
        /// What it takes.
        takes: ScoreKind,
        /// What the scores are.
        given: ScoreKind,
    },
    /// Bins of equal width have no edges between these scores.
    #[error(
        "a range from {lowest} to {highest} has no {bins} equal-width bins: both ends are numbers, the second above the \
         first, and edges between them differ as f32"
    )]
    Range {
        /// Where the range begins.
        lowest: f32,
        /// Where it ends.
        highest: f32,
        /// The number of bins.
        bins: usize,
    },
    /// The event rate falls as the score rises, so there is no band.
    #[error(
        "no band: the event rate does not rise with the score. It is at least {at_least:.3} on average at scores from {} to {}, but at most \
         {at_most:.3} at scores from {} to {}", lower[0] as f32, lower[1] as f32, higher[0] as f32, higher[1] as f32
    )]
    NotMonotone {
        /// The first and the last of the lower scores, whose rate is higher.
        lower: [f64; 2],
        /// The lower end of their rate.
        at_least: f64,
        /// The first and the last of the higher scores, whose rate is lower.
        higher: [f64; 2],
        /// The upper end of their rate.
        at_most: f64,
    },
    /// Higher scores go with fewer events, so there is no band.
    #[error("no band: higher scores have fewer events. Reverse the scores first, for example with 1 - score")]
    Reversed,
    /// The method counts points, or does not know what a real weight would mean.
    #[error("{0} counts observations, and real weights are not counts")]
    RealWeights(&'static str),
    /// The temporary file of points that do not fit into memory cannot be read.
    #[error("the temporary file of observations cannot be read: {0}")]
    Spill(std::io::ErrorKind),
    /// A scaling function has no finite optimum.
    #[error(transparent)]
    Scaling(#[from] ScalingError),
    /// A scaling function of vectors was not fitted.
    #[error(transparent)]
    VectorScaling(#[from] VectorScalingError),
    /// The simplex was not divided.
    #[error(transparent)]
    Canonical(#[from] CanonicalError),
}

impl FitError {
    /// Whether an option alone is wrong, whatever the data.
    pub fn is_about_options(&self) -> bool {
        matches!(
            self,
            Self::BinCount(_)
                | Self::RowsPerBin(_)
                | Self::Alpha(_)
                | Self::RealWeights(_)
                | Self::ScoreKind { .. }
                | Self::Range { .. }
                | Self::VectorScaling(VectorScalingError::Penalty(_))
                | Self::Canonical(CanonicalError::Parameter(_))
        )
    }
}

/// A number of things with the verb.
fn are(count: u64, thing: &str) -> String {
    if count == 1 { format!("1 {thing} is") } else { format!("{} {thing}s are", thousands(count)) }
}

fn alpha_fault(alpha: f64) -> &'static str {
    if alpha > 0.0 && alpha < 1.0 { "too near 0 or 1 for an f32" } else { "it must lie between 0 and 1" }
}

impl From<io::Error> for FitError {
    fn from(cause: io::Error) -> Self {
        Self::Spill(cause.kind())
    }
}

/// Why a scaling function was not fitted.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum ScalingError {
    /// Some threshold separates the labels, or all scores are equal.
    #[error("a threshold on the score separates the labels: the best slope is infinite")]
    Separated,
    /// Higher scores go with label 0, or scores would have to be shifted.
    #[error(
        "no temperature above 0 fits: higher scores go with label 0, or the scores lie too far to one side of one half, or of 0 if they are margins"
    )]
    Reversed,
    /// All scores are equal.
    #[error("all scores are equal: no slope can be fitted")]
    AllEqual,
    /// Ever steeper slopes lower the squared loss.
    #[error("the squared loss keeps falling as the slope grows, and the labels hardly contradict this")]
    NoLeastSquares,
    /// The search did not converge.
    #[error("the fit did not converge: the gradient's norm is {0:e}")]
    NotConverged(f64),
}

/// Why no scaling function of vectors was fitted.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum VectorScalingError {
    /// A class has no calibration point.
    #[error("no calibration observation has class {0}: its best intercept is minus infinity")]
    AbsentClass(usize),
    /// All labels are the same.
    #[error("all {0} labels are the same: nothing can be learned")]
    OneClass(usize),
    /// Every vector has equal entries.
    #[error("every vector has equal entries: no temperature can be fitted")]
    AllEqual,
    /// The features separate the labels.
    #[error("the classes can be separated: the best weights are infinite")]
    Separated,
    /// A class's features are all but 0 beside those of another, which may be masked.
    #[error(
        "the logits of class {low} are almost 0 compared with those of class {high}: no matrix of weights can use both"
    )]
    Masked {
        /// The class with the smallest features.
        low: usize,
        /// The class with the largest.
        high: usize,
    },
    /// Higher entries go with other classes.
    #[error("higher entries go with other classes: no temperature above 0 fits")]
    Reversed,
    /// A penalty is negative, infinite or NaN.
    #[error("a penalty of {0}: it is a number from 0 on")]
    Penalty(f64),
    /// The number of parts for cross-validation is below 2 or above the number of points.
    #[error("{folds} parts of {n} observations: cross-validation needs at least 2, with an observation each")]
    Folds {
        /// The number of parts.
        folds: usize,
        /// The number of points.
        n: usize,
    },
    /// The minimization did not converge.
    #[error("the fit did not converge: the gradient's norm is {0:e}")]
    NotConverged(f64),
}

/// Why no partition was fitted.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum CanonicalError {
    /// There would be too many cells.
    #[error("{classes} classes make more than {MAX_CELLS} cells: canonical binning is for few classes")]
    TooManyCells {
        /// The number of classes.
        classes: usize,
    },
    /// A parameter is out of range.
    #[error("{0}")]
    Parameter(&'static str),
    /// There are fewer than two points a cell.
    #[error("{} too few for {bins} cells: at least {} are needed", are(*n as u64, "calibration observation"), 2 * bins)]
    TooFewPoints {
        /// The number of points.
        n: usize,
        /// The number of cells.
        bins: usize,
    },
    /// All labels are the same.
    #[error("all {0} labels are the same: nothing can be learned")]
    OneClass(usize),
    /// There are too many classes for recursive partitioning.
    #[error("{classes} classes: recursive partitioning accepts up to {max}")]
    TooManyClasses {
        /// The number of classes.
        classes: usize,
        /// The most that it takes.
        max: usize,
    },
}
