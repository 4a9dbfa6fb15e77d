//! The names of methods, and what each is with which parameters.

use calib_fit::binary::{
    Boundary, BoundaryPoints, FixedRange, FixedWidth, Isotonic, Loss, ScalingBinning, ScalingMethod, Ums,
};
use calib_fit::stats::Seed;
use calib_fit::{BinaryMethod, ScoreKind, Umd};
use clap::ValueEnum;

/// A method, by its name.
#[derive(Clone, Copy, PartialEq, ValueEnum)]
pub(crate) enum MethodName {
    /// Uniform-mass binning (Gupta and Ramdas 2021, Algorithm 1): with a guarantee.
    #[value(aliases = ["histogram", "quantile"])]
    Umd,
    /// The same with boundary points kept (Zadrozny and Elkan): with a slightly wider guarantee.
    UmdOriginal,
    /// The same with ties broken at random, at fit and on the device (Algorithm 2): with a guarantee whatever the scores.
    UmdRandomized,
    /// Uniform-mass binning with edges from one half of the points and values from the other: with a guarantee.
    Ums,
    /// Bins of equal width: with a guarantee. Margins take --range.
    FixedWidth,
    /// Isotonic regression.
    Isotonic,
    /// The same, interpolated linearly instead of stepping.
    IsotonicInterpolated,
    /// Isotonic recursive partitioning: isotonic regression that can stop early, at --max-bins.
    Irp,
    /// Uniform-mass bins of a scaling function's outputs, with its means as values (Kumar et al. 2019).
    ScalingBinning,
    /// Platt scaling: a logistic function of the logit or of the score; of a margin that of Platt (1999).
    #[value(alias = "sigmoid")]
    Platt,
    /// Beta calibration: a logistic function of both logarithms (Kull et al. 2017).
    Beta,
    /// Temperature scaling of the logit; of a matrix, of all logits (Guo et al. 2017).
    Temperature,
    /// Inductive Venn-Abers prediction: p0 and p1, and a probability between them.
    VennAbers,
    /// Vector scaling of a matrix: a weight and an intercept per class (Guo et al. 2017).
    Vector,
    /// Matrix scaling: a full matrix of weights (Guo et al. 2017).
    Matrix,
    /// Dirichlet calibration: a matrix of weights for log-probabilities, regularised (Kull et al. 2019).
    Dirichlet,
    /// Sierpinski binning of the simplex, for a few classes (Gupta and Ramdas 2022).
    Sierpinski,
    /// Grid-style binning of the simplex, for a few classes (Gupta and Ramdas 2022).
    Grid,
    /// Projection-based histogram binning of the simplex (Gupta and Ramdas 2022).
    Projection,
    /// Multi-class isotonic recursive partitioning, for up to 16 classes (Berta et al. 2024).
    MulticlassIrp,
}

/// The parameters of binary methods; by default those of `calib fit`.
#[derive(Clone, Copy)]
pub(crate) struct Parameters {
    pub(crate) bins: usize,
    pub(crate) boundary: Boundary,
    pub(crate) randomize_ties: bool,
    pub(crate) max_bins: Option<usize>,
    pub(crate) interpolate: bool,
    pub(crate) smoothing: f64,
    /// The scaling function under scaling-binning.
    pub(crate) scaling: ScalingMethod,
    /// The scaling function that `platt` is.
    pub(crate) platt: ScalingMethod,
    pub(crate) loss: Loss,
    pub(crate) one_set: bool,
    /// What the scores are.
    pub(crate) kind: ScoreKind,
    /// The range of margins that bins of equal width divide.
    pub(crate) range: Option<(f32, f32)>,
    pub(crate) seed: Seed,
}

impl MethodName {
    pub(crate) fn name(self) -> String {
        let value = self.to_possible_value().expect("no method is hidden");
        value.get_name().to_owned()
    }

    /// The binary method; `None` of one for whole vectors only.
    pub(crate) fn binary(self, parameters: &Parameters) -> Option<BinaryMethod> {
        let &Parameters { bins, seed, .. } = parameters;
        Some(match self {
            Self::Umd => parameters.umd(BoundaryPoints::LeftOut, parameters.randomize_ties),
            Self::UmdOriginal => parameters.umd(BoundaryPoints::Kept, parameters.randomize_ties),
            Self::UmdRandomized => parameters.umd(BoundaryPoints::LeftOut, true),
            Self::Ums => BinaryMethod::Ums(Ums { bins, seed }),
            Self::FixedWidth => match parameters.range {
                Some((lowest, highest)) => BinaryMethod::FixedRange(FixedRange { bins, lowest, highest }),
                None => BinaryMethod::FixedWidth(FixedWidth { bins }),
            },
            Self::Isotonic => parameters.isotonic(parameters.max_bins, parameters.interpolate),
            Self::IsotonicInterpolated => parameters.isotonic(parameters.max_bins, true),
            Self::Irp => {
                let max_bins = parameters.max_bins.unwrap_or(usize::MAX);
                parameters.isotonic(Some(max_bins), parameters.interpolate)
            }
            Self::ScalingBinning => BinaryMethod::ScalingBinning(ScalingBinning {
                scaling: parameters.on_kind(parameters.scaling),
                loss: parameters.loss,
                bins,
                split_seed: (!parameters.one_set).then_some(seed),
            }),
            Self::Platt => parameters.scaling_function(parameters.platt),
            Self::Beta => parameters.scaling_function(ScalingMethod::Beta),
            Self::Temperature => parameters.scaling_function(ScalingMethod::Temperature),
            Self::VennAbers => BinaryMethod::VennAbers,
            Self::Vector
            | Self::Matrix
            | Self::Dirichlet
            | Self::Sierpinski
            | Self::Grid
            | Self::Projection
            | Self::MulticlassIrp => return None,
        })
    }

    /// Whether the number of bins is the user's choice.
    pub(super) fn has_bins(self) -> bool {
        self.binary(&Parameters::default()).is_some_and(|method| method.has_bins())
    }
}

impl Parameters {
    fn umd(&self, boundary_points: BoundaryPoints, randomized: bool) -> BinaryMethod {
        let umd = Umd { bins: self.bins, boundary: self.boundary, boundary_points };
        if randomized { BinaryMethod::UmdRandomized(umd, self.seed) } else { BinaryMethod::Umd(umd) }
    }

    fn isotonic(&self, max_bins: Option<usize>, interpolate: bool) -> BinaryMethod {
        let isotonic = Isotonic { max_bins, smoothing: self.smoothing };
        if interpolate {
            BinaryMethod::IsotonicInterpolated(isotonic)
        } else {
            BinaryMethod::Isotonic(isotonic)
        }
    }

    /// The function of margins that goes by the same name, if scores are such; there is none of beta calibration.
    fn on_kind(&self, method: ScalingMethod) -> ScalingMethod {
        match (self.kind, method) {
            (ScoreKind::Margin, ScalingMethod::PlattLogit | ScalingMethod::PlattProb) => {
                ScalingMethod::PlattMargin
            }
            (ScoreKind::Margin, ScalingMethod::Temperature) => ScalingMethod::TemperatureMargin,
            (_, method) => method,
        }
    }

    fn scaling_function(&self, method: ScalingMethod) -> BinaryMethod {
        let method = self.on_kind(method);
        match self.loss {
            Loss::Log => BinaryMethod::Scaling(method),
            Loss::LogOfBayesianTargets => BinaryMethod::BayesianTargets(method),
            Loss::Squared => BinaryMethod::LeastSquares(method),
        }
    }
}

impl Default for Parameters {
    fn default() -> Self {
        Self {
            bins: 1,
            boundary: Boundary::Ceil,
            randomize_ties: false,
            max_bins: None,
            interpolate: false,
            smoothing: 0.0,
            scaling: ScalingMethod::PlattLogit,
            platt: ScalingMethod::PlattLogit,
            loss: Loss::Log,
            one_set: false,
            kind: ScoreKind::Probability,
            range: None,
            seed: 0,
        }
    }
}
