//! Why nothing was fitted, or not all.

use crate::canonical::CanonicalError;
use crate::scaling::ScalingError;
use crate::vector_scaling::VectorScalingError;

/// Why a binary problem of a reduction stays uncalibrated.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum UnfittedReason {
    /// It has too few points.
    #[error("{n} of {needed} points")]
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
    #[error("all {n} labels are {label}: nothing can be learned about the other class")]
    OneClass {
        /// The label.
        label: u8,
        /// The number of points.
        n: u64,
    },
    /// All points are of one of several classes.
    #[error("all {n} labels are {class}: nothing can be learned about the other classes")]
    OneOfSeveral {
        /// The class.
        class: usize,
        /// The number of points.
        n: u64,
    },
    /// There are fewer than two points a bin.
    #[error("{n} calibration points are too few for {bins} bins: at least {} are needed", 2 * bins)]
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
    #[error("{0} points per bin: at least 2 are needed")]
    PointsPerBin(usize),
    /// The failure probability is not in `(0, 1)`.
    #[error("alpha is {_0:?}: {}", alpha_fault(*_0))]
    Alpha(f64),
    /// No class has enough points.
    #[error(
        "no class was predicted often enough: the most frequent has {most} calibration points, {needed} are needed"
    )]
    NoClass {
        /// The number of points of the most frequent class.
        most: u64,
        /// How many would do.
        needed: usize,
    },
    /// There are fewer points than a bin needs.
    #[error("{n} calibration points are too few: {needed} are needed")]
    FewerThanABin {
        /// The number of points.
        n: u64,
        /// How many would do.
        needed: usize,
    },
    /// The method counts points, or does not know what a real weight would mean.
    #[error("{0} counts points, and real weights are no counts")]
    RealWeights(&'static str),
    /// The temporary file of points that do not fit into memory cannot be read.
    #[error("the temporary file of points cannot be read: {0}")]
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

fn alpha_fault(alpha: f64) -> &'static str {
    if alpha > 0.0 && alpha < 1.0 { "too near 0 or 1 for an f32" } else { "it must lie between 0 and 1" }
}
