//! What a binary method fits.

use calib_core::ScoreEncoding;

use super::blend::TabulatedModel;
use super::facts::{Bound, Facts};
use super::isotonic::InterpolatedModel;
use super::scaling::ScalingModel;
use super::steps::{Bin, BinnedModel, CodeModel, RandomizedModel};
use super::venn_abers::VennAbersModel;
use crate::guarantee::{gr21_corollary1, gr21_theorem3, sample_split};
use crate::stats::ScoreKind;

/// The most steps of a table of a smooth function: values differ from a function that rises from 0 to 1 by at most 0.008.
pub(crate) const STEPS: usize = 64;

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
    /// Two step functions, p0 and p1.
    VennAbers(VennAbersModel),
    /// A step function of integer codes.
    Codes(CodeModel),
    /// A function in steps that are no bins.
    Tabulated(TabulatedModel),
}

impl Model {
    /// The scores of this kind as they are.
    pub(crate) fn unchanged(kind: ScoreKind) -> Self {
        Self::Scaling(ScalingModel::unchanged(kind))
    }

    /// The bins, if the function is a step function of the score (and a random word).
    pub fn bins(&self) -> &[Bin] {
        match self {
            Self::Steps(model) => &model.bins,
            Self::Randomized(model) => &model.bins,
            Self::Codes(model) => &model.bins,
            _ => &[],
        }
    }

    /// A smooth function of scores of this kind in at most so many steps that are equal in value; `None` if it is none.
    pub(crate) fn in_steps(&self, kind: ScoreKind, steps: usize) -> Option<TabulatedModel> {
        let of =
            |function: &dyn Fn(f64) -> f64, turn| TabulatedModel::of_function(function, turn, kind, steps);
        match self {
            Self::Scaling(model) => Some(of(&|score| model.prob(score), model.turning_point())),
            Self::Interpolated(model) => Some(of(&|score| model.prob(score), None)),
            _ => None,
        }
    }

    /// The step function, if it is one.
    pub fn steps(&self) -> Option<&BinnedModel> {
        match self {
            Self::Steps(model) => Some(model),
            _ => None,
        }
    }

    /// The function in steps that are no bins, if it is one.
    pub(crate) fn tabulated(&self) -> Option<&TabulatedModel> {
        match self {
            Self::Tabulated(model) => Some(model),
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
            Self::Tabulated(model) => model.values.len(),
        }
    }

    /// What is known of the fit once it is there, as parameters; empty if the method says it all.
    pub(crate) fn parameters(&self) -> String {
        match self {
            Self::Tabulated(model) => model.parameters(),
            _ => String::new(),
        }
    }

    /// Returns the encoding of the codes that the function takes; `None` if it takes floats.
    pub fn code_encoding(&self) -> Option<ScoreEncoding> {
        match self {
            Self::Codes(model) => Some(model.encoding),
            _ => None,
        }
    }

    /// Returns what the paper of the method guarantees of the fit, by a method with these facts, to `n` points, with a union bound
    /// over `all_bins` bins. It is `None` if the theorem does not hold.
    pub(crate) fn papers_epsilon(&self, facts: &Facts, n: u64, all_bins: u64, alpha: f64) -> Option<f64> {
        let (_, bound) = facts.guarantee?;
        if self.ties_merged() {
            return None;
        }
        let rows_per_bin = n / facts.bins? as u64;
        Some(match bound {
            Bound::LeftOut => gr21_theorem3(rows_per_bin, all_bins, alpha),
            Bound::Kept => gr21_corollary1(rows_per_bin, all_bins, alpha),
            Bound::FewestPoints => {
                let fewest = self.bins().iter().map(|bin| bin.n).filter(|&n| n > 0).min()?;
                sample_split(fewest, all_bins, alpha)
            }
        })
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
