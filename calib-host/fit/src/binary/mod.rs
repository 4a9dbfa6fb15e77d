//! Binary calibration methods: from the points of one binary problem to one function of the score.
//!
//! Each method has a file; [`BinaryMethod`] is the list of them and [`Model`] what they fit. Imports `stats`, `error`,
//! `points` and `guarantee`.

mod blend;
mod facts;
mod fixed_width;
mod irp;
mod isotonic;
mod least_squares;
mod margin_scaling;
mod model;
mod scaling;
mod scaling_binning;
mod steps;
mod targets;
mod umd;
mod ums;
mod venn_abers;

use calib_core::artifact::Method;
pub(crate) use facts::Facts;

use crate::error::FitError;
use crate::points::Points;
use crate::stats::{ScoreKind, Seed};

pub(crate) use blend::{ALONE, Shared, exponential_weights};
pub use blend::{Blend, BlendWeight, Gain, TabulatedModel};
pub use fixed_width::{FixedRange, FixedWidth};
pub use isotonic::{InterpolatedModel, Isotonic};
pub use least_squares::Loss;
pub use model::Model;
pub(crate) use model::STEPS;
pub use scaling::{ScalingMethod, ScalingModel};
pub use scaling_binning::ScalingBinning;
pub use steps::{Bin, BinnedModel, CodeModel, RandomizedModel};
pub use umd::{Boundary, BoundaryPoints, Umd};
pub use ums::Ums;
pub use venn_abers::VennAbersModel;

/// A binary calibration method with its parameters.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum BinaryMethod {
    /// Uniform-mass binning, equal scores kept together.
    Umd(Umd),
    /// Uniform-mass binning, ties broken at random at fit and at prediction.
    UmdRandomized(Umd, Seed),
    /// Uniform-mass binning with sample splitting.
    Ums(Ums),
    /// Bins of equal width, of probabilities.
    FixedWidth(FixedWidth),
    /// Bins of equal width between two margins.
    FixedRange(FixedRange),
    /// Isotonic regression as a step function.
    Isotonic(Isotonic),
    /// Isotonic regression, interpolated.
    IsotonicInterpolated(Isotonic),
    /// Isotonic regression, interpolated between the centers of its blocks.
    IsotonicCentered(Isotonic),
    /// Binned means of a scaling function.
    ScalingBinning(ScalingBinning),
    /// A scaling function, fitted to the log-loss.
    Scaling(ScalingMethod),
    /// A scaling function, fitted to the log-loss of Platt's Bayesian targets: see [`Loss::LogOfBayesianTargets`].
    BayesianTargets(ScalingMethod),
    /// A scaling function, fitted to the squared loss.
    LeastSquares(ScalingMethod),
    /// Venn-Abers prediction.
    VennAbers,
    /// None: the score as it is, or the sigmoid of a margin.
    Unchanged,
    /// A weighted mean of several methods' functions.
    Blend(Blend),
}

impl BinaryMethod {
    /// The method's name in the artifact.
    pub fn method(&self) -> Method {
        self.facts().method
    }

    /// Whether the method takes a number of bins, rather than choose it or have none.
    ///
    /// ```
    /// use calib_fit::{BinaryMethod, Isotonic, Umd};
    ///
    /// assert!(BinaryMethod::Umd(Umd::new(10)).has_bins());
    /// assert!(!BinaryMethod::Isotonic(Isotonic::default()).has_bins());
    /// ```
    pub fn has_bins(&self) -> bool {
        self.facts().bins.is_some()
    }

    /// Whether something is guaranteed of a fit to scores that do not tie.
    pub(crate) fn may_guarantee(&self) -> bool {
        self.facts().guarantee.is_some()
    }

    /// What is known of the method, with its parameters, before it meets a point.
    pub(crate) fn facts(&self) -> Facts {
        match self {
            Self::Umd(umd) => umd.facts(),
            Self::UmdRandomized(umd, seed) => umd.randomized_facts(*seed),
            Self::Ums(ums) => ums.facts(),
            Self::FixedWidth(fixed_width) => fixed_width.facts(),
            Self::FixedRange(fixed_range) => fixed_range.facts(),
            Self::Isotonic(isotonic) => isotonic.facts(),
            Self::IsotonicInterpolated(isotonic) => isotonic.interpolated_facts(),
            Self::ScalingBinning(scaling_binning) => scaling_binning.facts(),
            Self::Scaling(scaling) => Loss::Log.facts(*scaling),
            Self::BayesianTargets(scaling) => Loss::LogOfBayesianTargets.facts(*scaling),
            Self::LeastSquares(scaling) => Loss::Squared.facts(*scaling),
            Self::IsotonicCentered(isotonic) => isotonic.centered_facts(),
            Self::VennAbers => VennAbersModel::facts(),
            Self::Blend(blend) => blend.facts(),
            Self::Unchanged => Facts::new(Method::Unchanged, "scaling=none".into()),
        }
    }

    /// The same method with another number of bins, if it has one.
    #[must_use]
    pub(crate) fn with_bins(mut self, number: usize) -> Self {
        match &mut self {
            Self::Umd(Umd { bins, .. })
            | Self::UmdRandomized(Umd { bins, .. }, _)
            | Self::Ums(Ums { bins, .. })
            | Self::FixedWidth(FixedWidth { bins })
            | Self::FixedRange(FixedRange { bins, .. })
            | Self::ScalingBinning(ScalingBinning { bins, .. }) => *bins = number,
            _ => {}
        }
        self
    }

    /// Fits points with scores of this kind and, unless the method takes one, with both labels.
    ///
    /// # Errors
    ///
    /// [`FitError::ScoreKind`] for a method of another kind of score, and those of the method.
    pub(crate) fn fit(&self, points: &(impl Points + ?Sized), kind: ScoreKind) -> Result<Model, FitError> {
        let Facts { method, takes, .. } = self.facts();
        if let Some(takes) = takes.filter(|&takes| takes != kind) {
            return Err(FitError::ScoreKind { method, takes, given: kind });
        }
        Ok(match self {
            Self::Umd(umd) => Model::Steps(umd.fit(points)?),
            Self::UmdRandomized(umd, seed) => Model::Randomized(umd.fit_randomized(points, *seed)?),
            Self::Ums(ums) => Model::Steps(ums.fit(points, kind)?),
            Self::FixedWidth(fixed_width) => Model::Steps(fixed_width.fit(points)?),
            Self::FixedRange(fixed_range) => Model::Steps(fixed_range.fit(points)?),
            Self::Isotonic(isotonic) => Model::Steps(isotonic.fit(points)?),
            Self::IsotonicInterpolated(isotonic) => Model::Interpolated(isotonic.fit_interpolated(points)?),
            Self::ScalingBinning(scaling_binning) => Model::Steps(scaling_binning.fit(points)?),
            Self::Scaling(scaling) => Model::Scaling(Loss::Log.fit(*scaling, points)?),
            Self::BayesianTargets(scaling) => {
                Model::Scaling(Loss::LogOfBayesianTargets.fit(*scaling, points)?)
            }
            Self::LeastSquares(scaling) => Model::Scaling(Loss::Squared.fit(*scaling, points)?),
            Self::IsotonicCentered(isotonic) => Model::Interpolated(isotonic.fit_centered(points)?),
            Self::VennAbers => Model::VennAbers(VennAbersModel::fit(points, kind)?),
            Self::Blend(blend) => blend.fit(points, kind)?,
            Self::Unchanged => Model::unchanged(kind),
        })
    }
}
