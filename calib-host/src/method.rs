//! The binary calibration methods.

use calib_core::ScoreEncoding;
use calib_core::artifact::{Method, Theorem};

use crate::binned::{Bin, BinnedModel, RandomizedModel};
use crate::codes::CodeModel;
use crate::fit::FitError;
use crate::guarantee::{gr21_corollary1, gr21_theorem3, sample_split};
use crate::isotonic::{InterpolatedModel, Isotonic};
use crate::least_squares::Loss;
use crate::points::Points;
use crate::scaling::{ScalingMethod, ScalingModel};
use crate::scaling_binning::ScalingBinning;
use crate::umd::{Boundary, BoundaryPoints, Umd};
use crate::ums::{FixedWidth, Ums};
use crate::venn_abers::VennAbersModel;

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
    /// Bins of equal width.
    FixedWidth(FixedWidth),
    /// Isotonic regression as a step function.
    Isotonic(Isotonic),
    /// Isotonic regression, interpolated.
    IsotonicInterpolated(Isotonic),
    /// Binned means of a scaling function.
    ScalingBinning(ScalingBinning),
    /// A scaling function, fitted to the log-loss.
    Scaling(ScalingMethod),
    /// A scaling function, fitted to the squared loss.
    LeastSquares(ScalingMethod),
    /// Venn-Abers prediction.
    VennAbers,
}

/// The seed of whatever a fit draws at random.
pub type Seed = u64;

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

impl BinaryMethod {
    /// The method's name in the artefact.
    pub fn method(&self) -> Method {
        match self {
            Self::Umd(umd) if umd.boundary_points == BoundaryPoints::Kept => Method::UmdOriginal,
            Self::Umd(_) => Method::Umd,
            Self::UmdRandomized(..) => Method::UmdRandomized,
            Self::Ums(_) => Method::Ums,
            Self::FixedWidth(_) => Method::FixedWidth,
            Self::Isotonic(Isotonic { max_bins: Some(_), .. }) => Method::Irp,
            Self::Isotonic(_) => Method::Isotonic,
            Self::IsotonicInterpolated(_) => Method::IsotonicInterpolated,
            Self::ScalingBinning(_) => Method::ScalingBinning,
            Self::Scaling(scaling) | Self::LeastSquares(scaling) => match scaling {
                ScalingMethod::PlattLogit | ScalingMethod::PlattProb => Method::Platt,
                ScalingMethod::Beta => Method::Beta,
                ScalingMethod::Temperature => Method::Temperature,
            },
            Self::VennAbers => Method::VennAbers,
        }
    }

    /// The parameters, as `name=value` separated by spaces.
    pub(crate) fn parameters(&self) -> String {
        match self {
            Self::Umd(umd) => format!("bins={} boundary={}", umd.bins, umd.boundary.name()),
            Self::UmdRandomized(umd, seed) => {
                format!("bins={} boundary={} seed={seed}", umd.bins, umd.boundary.name())
            }
            Self::Ums(Ums { bins, seed }) => format!("bins={bins} seed={seed}"),
            Self::FixedWidth(FixedWidth { bins }) => format!("bins={bins}"),
            Self::Isotonic(isotonic) => format!("edges=midpoint{}", isotonic.parameters()),
            Self::IsotonicInterpolated(isotonic) => format!("edges=interpolated{}", isotonic.parameters()),
            Self::ScalingBinning(ScalingBinning { scaling, loss, bins, split_seed }) => {
                let scaling = scaling.parameters(*loss);
                match split_seed {
                    Some(seed) => format!("{scaling} bins={bins} split=3 seed={seed}"),
                    None => format!("{scaling} bins={bins} split=1"),
                }
            }
            Self::Scaling(scaling) => scaling.parameters(Loss::Log),
            Self::LeastSquares(scaling) => scaling.parameters(Loss::Squared),
            Self::VennAbers => String::new(),
        }
    }

    /// The number of bins asked for; `None` if the method chooses them itself or has none.
    pub(crate) fn bins(&self) -> Option<usize> {
        match self {
            Self::Umd(Umd { bins, .. })
            | Self::UmdRandomized(Umd { bins, .. }, _)
            | Self::Ums(Ums { bins, .. })
            | Self::FixedWidth(FixedWidth { bins })
            | Self::ScalingBinning(ScalingBinning { bins, .. }) => Some(*bins),
            _ => None,
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
            | Self::ScalingBinning(ScalingBinning { bins, .. }) => *bins = number,
            _ => {}
        }
        self
    }

    /// The fewest points it can be fitted to.
    pub(crate) fn min_points(&self) -> usize {
        match self {
            Self::Umd(umd) | Self::UmdRandomized(umd, _) => 2 * umd.bins,
            Self::Ums(ums) => 4 * ums.bins,
            Self::ScalingBinning(ScalingBinning { bins, split_seed: None, .. }) => 2 * bins,
            Self::ScalingBinning(ScalingBinning { bins, .. }) => 6 * bins,
            _ => 1,
        }
    }

    /// Fits points with both labels.
    pub(crate) fn fit(&self, points: &(impl Points + ?Sized)) -> Result<Model, FitError> {
        Ok(match self {
            Self::Umd(umd) => Model::Steps(umd.fit(points)?),
            Self::UmdRandomized(umd, seed) => Model::Randomized(umd.fit_randomized(points, *seed)?),
            Self::Ums(ums) => Model::Steps(ums.fit(points)?),
            Self::FixedWidth(fixed_width) => Model::Steps(fixed_width.fit(points)?),
            Self::Isotonic(isotonic) => Model::Steps(isotonic.fit(points)?),
            Self::IsotonicInterpolated(isotonic) => Model::Interpolated(isotonic.fit_interpolated(points)?),
            Self::ScalingBinning(scaling_binning) => Model::Steps(scaling_binning.fit(points)?),
            Self::Scaling(scaling) => Model::Scaling(Loss::Log.fit(*scaling, points)?),
            Self::LeastSquares(scaling) => Model::Scaling(Loss::Squared.fit(*scaling, points)?),
            Self::VennAbers => Model::VennAbers(VennAbersModel::fit(&points.groups()?)),
        })
    }

    /// The theorem that may hold for a fit, whatever the data.
    pub(crate) fn theorem(&self) -> Option<Theorem> {
        match self {
            Self::Umd(umd) if umd.boundary_points == BoundaryPoints::Kept => Some(Theorem::Gr21Corollary1),
            Self::Umd(_) => Some(Theorem::Gr21Theorem3),
            Self::UmdRandomized(..) => Some(Theorem::Gr21Theorem4),
            Self::Ums(_) | Self::FixedWidth(_) => Some(Theorem::SampleSplit),
            _ => None,
        }
    }

    /// What the theorem guarantees for a fit to `n` points, with a union bound over `all_bins` bins; `None` if it does not hold.
    pub(crate) fn epsilon(&self, model: &Model, n: u64, all_bins: u64, alpha: f64) -> Option<f64> {
        let per_bin = |umd: &Umd| n / umd.bins as u64;
        match (self, model) {
            (_, Model::Steps(BinnedModel { ties_merged: true, .. })) => None,
            (Self::Umd(umd), _) if umd.boundary_points == BoundaryPoints::Kept => {
                Some(gr21_corollary1(per_bin(umd), all_bins, alpha))
            }
            // The conditional part of Theorem 4 is Theorem 3, up to an arbitrarily small delta; with kept boundary points
            // it is Corollary 1.
            (Self::UmdRandomized(umd, _), _) if umd.boundary_points == BoundaryPoints::Kept => {
                Some(gr21_corollary1(per_bin(umd), all_bins, alpha))
            }
            (Self::Umd(umd) | Self::UmdRandomized(umd, _), _) => {
                Some(gr21_theorem3(per_bin(umd), all_bins, alpha))
            }
            // Edges that do not depend on the labels: each bin's actual count.
            (Self::Ums(_) | Self::FixedWidth(_), Model::Steps(model)) => {
                let fewest = model.bins.iter().map(|bin| bin.n).filter(|&n| n > 0).min()?;
                Some(sample_split(fewest, all_bins, alpha))
            }
            _ => None,
        }
    }
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

impl Isotonic {
    fn parameters(&self) -> String {
        let max_bins = self.max_bins.filter(|&max| max < usize::MAX);
        let max_bins = max_bins.map_or(String::new(), |max| format!(" max-bins={max}"));
        let smoothing = (self.smoothing != 0.0).then(|| format!(" smoothing={}", self.smoothing));
        max_bins + &smoothing.unwrap_or_default()
    }
}

impl Boundary {
    fn name(self) -> &'static str {
        match self {
            Self::Ceil => "ceil",
            Self::Floor => "floor",
        }
    }
}

impl ScalingMethod {
    /// The loss is the log-loss unless something else is said.
    fn parameters(self, loss: Loss) -> String {
        let loss = match loss {
            Loss::Log => "",
            Loss::Squared => " loss=squared",
        };
        format!("scaling={}{loss}", self.name())
    }

    fn name(self) -> &'static str {
        match self {
            Self::PlattLogit => "platt-logit",
            Self::PlattProb => "platt-prob",
            Self::Beta => "beta",
            Self::Temperature => "temperature",
        }
    }
}
