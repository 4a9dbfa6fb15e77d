//! What a binary method fits.

use calib_core::ScoreEncoding;

use super::isotonic::InterpolatedModel;
use super::scaling::ScalingModel;
use super::steps::{Bin, BinnedModel, CodeModel, RandomizedModel};
use super::venn_abers::VennAbersModel;

/// What a binary method fits.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Model {
    /// A step function.
    Steps(BinnedModel),
    /// A step function with ties broken at random.
    Randomized(RandomizedModel),
    /// A piecewise linear function.
    Interpolated(InterpolatedModel),
    /// A smooth function.
    Scaling(ScalingModel),
    /// Two step functions, the ends of an interval.
    VennAbers(VennAbersModel),
    /// A step function of integer codes.
    Codes(CodeModel),
}

impl Model {
    /// The bins, if the function is a step function of the score (and a random word).
    pub fn bins(&self) -> &[Bin] {
        match self {
            Self::Steps(model) => &model.bins,
            Self::Randomized(model) => &model.bins,
            Self::Codes(model) => &model.bins,
            _ => &[],
        }
    }

    /// The step function, if it is one.
    pub fn steps(&self) -> Option<&BinnedModel> {
        match self {
            Self::Steps(model) => Some(model),
            _ => None,
        }
    }

    /// The number of bins, knots or steps that the table on the device has; 0 for a scaling function.
    pub(crate) fn len(&self) -> usize {
        match self {
            Self::Steps(model) => model.bins.len(),
            Self::Randomized(model) => model.bins.len(),
            Self::Interpolated(model) => model.scores.len(),
            Self::Scaling(_) => 0,
            Self::VennAbers(model) => model.p0.len(),
            Self::Codes(model) => model.values.len(),
        }
    }

    /// What kind of number the function takes.
    pub fn encoding(&self) -> ScoreEncoding {
        match self {
            Self::Codes(model) => model.encoding,
            _ => ScoreEncoding::F32,
        }
    }

    /// Whether equal scores straddled a boundary and were merged.
    pub(crate) fn ties_merged(&self) -> bool {
        match self {
            Self::Steps(model) => model.ties_merged,
            Self::Codes(model) => model.ties_merged,
            _ => false,
        }
    }
}

/// What kind of number a table of 16-bit numbers takes: codes as they are, a float rounded.
pub(crate) fn in_compact_table(encoding: ScoreEncoding) -> ScoreEncoding {
    if encoding == ScoreEncoding::F32 { ScoreEncoding::RoundedF32 } else { encoding }
}
