//! The names of methods, and which methods they are.

use calib_core::artifact::{MonitorAction, Reduction};

use crate::accessors::options;
use crate::binary::{
    BinaryMethod, Blend, Boundary, BoundaryPoints, FixedRange, FixedWidth, Isotonic, Loss, ScalingBinning,
    ScalingMethod, Umd, Ums,
};
use crate::given::{Given, OptionValue};
use crate::names::names;
use crate::stats::{ScoreKind, Seed};

/// A method, by the name that users give it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names say it, below")]
pub enum MethodName {
    Blend,
    Umd,
    UmdOriginal,
    UmdRandomized,
    Ums,
    FixedWidth,
    Isotonic,
    IsotonicInterpolated,
    IsotonicCentered,
    ScalingBinning,
    ScalingBinningOneSet,
    Platt,
    PlattProb,
    Beta,
    Quadratic,
    Temperature,
    VennAbers,
    Unchanged,
    Vector,
    Matrix,
    Dirichlet,
    StructuredVector,
    StructuredMatrix,
    Sierpinski,
    Grid,
    Projection,
    ProjectionRandom,
    MulticlassIrp,
}

names! {
    MethodName, "method":
    Blend "blend" "A weighted mean of the unchanged scores, platt, beta, quadratic, isotonic-centered, venn-abers, umd and others, \
         in one step table. The weights depend on how well each predicts rows that it was not fitted to. Of a matrix without a reduction it is one of \
         sms, svs, temperature and the unchanged scores",
    Umd "umd" "Uniform-mass binning (Gupta and Ramdas 2021, Algorithm 1): with a guarantee",
    UmdOriginal "umd-original" "The same with boundary observations kept (Zadrozny and Elkan): with a slightly wider guarantee",
    UmdRandomized "umd-randomized" "The same with ties broken at random, at fit and on the device (Algorithm 2): with a guarantee whatever the scores",
    Ums "ums" "Uniform-mass binning with edges from one half of the observations and values from the other: with a guarantee",
    FixedWidth "fixed-width" "Bins of equal width: with a guarantee. Raw scores need a range",
    Isotonic "isotonic" "Isotonic regression; with a largest number of bins isotonic recursive partitioning (IRP), which can stop early",
    IsotonicInterpolated "isotonic-interpolated" "The same, interpolated linearly instead of stepping",
    IsotonicCentered "isotonic-centered" "The same, interpolated between the centers of its blocks, so that it rises throughout",
    ScalingBinning "scaling-binning" "Uniform-mass bins of a scaling function's outputs, with its means as values (Kumar et al. 2019)",
    ScalingBinningOneSet "scaling-binning-one-set" "The same with all observations for each of its three steps, instead of a third each",
    Platt "platt" "Platt scaling: a logistic function of the logit; for a raw score that of Platt (1999)",
    PlattProb "platt-prob" "A logistic function of the probability itself",
    Beta "beta" "Beta calibration: a logistic function of both logarithms (Kull et al. 2017)",
    Quadratic "quadratic" "A logistic function of the logit and its square; for a raw score and its square. It may rise and \
         fall",
    Temperature "temperature" "Temperature scaling of the logit; for a matrix, of all logits (Guo et al. 2017)",
    VennAbers "venn-abers" "Inductive Venn-Abers prediction: p0 and p1, and a probability between them",
    Unchanged "none" "The unchanged scores; for raw scores their sigmoid, as for logits",
    Vector "vector" "Vector scaling of a matrix: a weight and an intercept per class (Guo et al. 2017)",
    Matrix "matrix" "Matrix scaling: a full matrix of weights (Guo et al. 2017)",
    Dirichlet "dirichlet" "Dirichlet calibration: a matrix of weights for log-probabilities, regularized (Kull et al. 2019)",
    StructuredVector "svs" "Structured vector scaling: a temperature, then a weight and an intercept per class, regularized by the number of rows and classes (Berta et al. 2025)",
    StructuredMatrix "sms" "Structured matrix scaling: the same with a full matrix of weights (Berta et al. 2025)",
    Sierpinski "sierpinski" "Sierpinski binning of the simplex, for a few classes (Gupta and Ramdas 2022)",
    Grid "grid" "Grid-style binning of the simplex, for a few classes (Gupta and Ramdas 2022)",
    Projection "projection" "Projection-based histogram binning of the simplex (Gupta and Ramdas 2022)",
    ProjectionRandom "projection-random" "The same with directions that are drawn at random, instead of the classes in turn",
    MulticlassIrp "multiclass-irp" "Multi-class isotonic recursive partitioning, for up to 16 classes (Berta et al. 2024)",
}

impl MethodName {
    /// Whether it bins the outputs of a scaling function.
    pub(super) fn bins_scaling(self) -> bool {
        matches!(self, Self::ScalingBinning | Self::ScalingBinningOneSet)
    }
}

options! {
    by_name
    /// Which method, with which parameters: what a command line or a keyword call says. `None` and `false` stand for what was not said.
    ///
    /// ```
    /// use calib_fit::ScoreKind;
    /// use calib_fit::job::{MethodChoice, MethodName, NamedMethod, ScoresOf};
    ///
    /// let of = ScoresOf::Binary { kind: ScoreKind::Probability, encoding: None, by_group: false };
    /// let mut named = NamedMethod::default();
    /// assert_eq!(named.choice(of)?, MethodChoice::Auto);
    /// named.method = Some(MethodName::Isotonic);
    /// named.bins = Some(10);
    /// let refused = named.choice(of).unwrap_err();
    /// assert_eq!(refused.to_string(), "isotonic chooses its bins itself: leave out bins");
    /// # Ok::<(), calib_fit::OptionsError>(())
    /// ```
    #[derive(Clone, Debug, PartialEq)]
    pub struct NamedMethod {
        /// The method; without one [`MethodChoice::Auto`](super::MethodChoice::Auto).
        pub method: Option<MethodName> = None,
        /// The number of bins.
        pub bins: Option<usize> = None,
        /// The calibration points per bin, from which the number of bins follows.
        pub rows_per_bin: Option<usize> = None,
        /// The epsilon that the bins are to keep.
        pub epsilon: Option<f64> = None,
        /// The largest number of bins of isotonic regression, or of regions of multiclass-irp.
        pub max_bins: Option<usize> = None,
        /// The smoothing of isotonic regression, or of the regions of multiclass-irp.
        pub smoothing: Option<Smoothing> = None,
        /// The scaling function under scaling-binning.
        pub scaling: Option<ScalingName> = None,
        /// What a scaling function is fitted to.
        pub loss: Option<Loss> = None,
        /// The raw scores between which fixed-width has its bins.
        pub range: Option<(f32, f32)> = None,
        /// Whether log-probabilities are scaled although there are logits.
        pub log_probs: bool = false,
        /// The penalties of off-diagonal weights, and of intercepts if it is another one.
        pub odir: Option<(f64, Option<f64>)> = None,
        /// The parts of cross-validation.
        pub folds: Option<usize> = None,
        /// The depth of Sierpinski binning, the number of steps from 0 to 1 of grid-style binning, or of the grid on which multiclass-irp
        /// splits.
        pub resolution: Option<u16> = None,
        /// The reduction of several classes.
        pub reduction: Option<ReductionName> = None,
        /// The number of first classes of top-k-label and top-k-confidence.
        pub k: Option<u16> = None,
        /// What the score of a predicted class is.
        pub class_score: ClassScore = ClassScore::Softmax,
        /// The seed of whatever is drawn at random.
        pub seed: Seed = 0,
    }
}

/// What shrinks the frequencies of bins or regions.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Smoothing {
    /// This number of points of each label or class is added, at least 0.
    Points(f64),
    /// The values of the authors' code of multiclass-irp, `(mean + 0.05) / 1.05`, which sum to more than one.
    Paper,
}

impl OptionValue for Smoothing {
    fn of<G: Given>(given: &G) -> Result<Self, G::Error> {
        match given.text() {
            Ok(text) if text == "paper" => Ok(Self::Paper),
            _ => given.number().map(Self::Points),
        }
    }
}

impl NamedMethod {
    pub(super) fn name(&self) -> MethodName {
        self.method.unwrap_or(MethodName::Umd)
    }

    /// Returns the binary method for scores of this kind; `None` if it is one for whole vectors only.
    pub fn binary(&self, bins: usize, kind: ScoreKind, range: Option<(f32, f32)>) -> Option<BinaryMethod> {
        let seed = self.seed;
        let umd = |boundary_points| Umd { bins, boundary: Boundary::Ceil, boundary_points };
        let isotonic = || Isotonic {
            max_bins: self.max_bins,
            smoothing: match self.smoothing {
                Some(Smoothing::Points(points)) => points,
                _ => 0.0,
            },
        };
        let scaling = |method| {
            let method = on_kind(kind, method);
            match self.loss.unwrap_or_default() {
                Loss::Log => BinaryMethod::Scaling(method),
                Loss::LogOfBayesianTargets => BinaryMethod::BayesianTargets(method),
                Loss::Squared => BinaryMethod::LeastSquares(method),
            }
        };
        Some(match self.name() {
            MethodName::Blend => BinaryMethod::Blend(Blend::new(seed)),
            MethodName::Umd => BinaryMethod::Umd(umd(BoundaryPoints::LeftOut)),
            MethodName::UmdOriginal => BinaryMethod::Umd(umd(BoundaryPoints::Kept)),
            MethodName::UmdRandomized => BinaryMethod::UmdRandomized(umd(BoundaryPoints::LeftOut), seed),
            MethodName::Ums => BinaryMethod::Ums(Ums { bins, seed }),
            MethodName::FixedWidth => match range {
                Some((lowest, highest)) => BinaryMethod::FixedRange(FixedRange { bins, lowest, highest }),
                None => BinaryMethod::FixedWidth(FixedWidth { bins }),
            },
            MethodName::Isotonic => BinaryMethod::Isotonic(isotonic()),
            MethodName::IsotonicInterpolated => BinaryMethod::IsotonicInterpolated(isotonic()),
            MethodName::IsotonicCentered => BinaryMethod::IsotonicCentered(isotonic()),
            name @ (MethodName::ScalingBinning | MethodName::ScalingBinningOneSet) => {
                BinaryMethod::ScalingBinning(ScalingBinning {
                    scaling: on_kind(
                        kind,
                        match self.scaling.unwrap_or_default() {
                            ScalingName::Platt => ScalingMethod::PlattLogit,
                            ScalingName::PlattProb => ScalingMethod::PlattProb,
                            ScalingName::Beta => ScalingMethod::Beta,
                            ScalingName::Temperature => ScalingMethod::Temperature,
                        },
                    ),
                    loss: self.loss.unwrap_or_default(),
                    bins,
                    split_seed: (name == MethodName::ScalingBinning).then_some(seed),
                })
            }
            MethodName::Platt => scaling(ScalingMethod::PlattLogit),
            MethodName::PlattProb => scaling(ScalingMethod::PlattProb),
            MethodName::Beta => scaling(ScalingMethod::Beta),
            MethodName::Temperature => scaling(ScalingMethod::Temperature),
            MethodName::Quadratic => scaling(ScalingMethod::Quadratic),
            MethodName::VennAbers => BinaryMethod::VennAbers,
            MethodName::Unchanged => BinaryMethod::Unchanged,
            MethodName::Vector
            | MethodName::Matrix
            | MethodName::Dirichlet
            | MethodName::StructuredVector
            | MethodName::StructuredMatrix
            | MethodName::Sierpinski
            | MethodName::Grid
            | MethodName::Projection
            | MethodName::ProjectionRandom
            | MethodName::MulticlassIrp => return None,
        })
    }
}

/// The function of raw scores that goes by the same name, if scores are such; there is none of beta calibration.
fn on_kind(kind: ScoreKind, method: ScalingMethod) -> ScalingMethod {
    match (kind, method) {
        (ScoreKind::Margin, ScalingMethod::PlattLogit | ScalingMethod::PlattProb) => {
            ScalingMethod::PlattMargin
        }
        (ScoreKind::Margin, ScalingMethod::Temperature) => ScalingMethod::TemperatureMargin,
        (ScoreKind::Margin, ScalingMethod::Quadratic) => ScalingMethod::QuadraticMargin,
        (_, method) => method,
    }
}

/// The scaling function under scaling-binning.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names say it, below")]
pub enum ScalingName {
    #[default]
    Platt,
    PlattProb,
    Beta,
    Temperature,
}

names! {
    ScalingName, "scaling function":
    Platt "platt" "A logistic function of the logit, or of a raw score",
    PlattProb "platt-prob" "A logistic function of the probability",
    Beta "beta" "A logistic function of both logarithms",
    Temperature "temperature" "A logistic function of the logit without an intercept",
}

names! {
    Loss, "loss":
    Log "log" "The log-loss: convex, with one optimum, or none if a threshold separates the labels",
    LogOfBayesianTargets "bayes" "The log-loss of Platt's (1999) Bayesian targets, as in scikit-learn: (P + 1) / (P + 2) for each of the P positives, 1 / (N + 2) for each of the N negatives. It always has an optimum",
    Squared "squared" "The squared loss (Brier score), which limits the influence of a single label. calib descends from the optimum of the log-loss to a local minimum, which may not exist",
}

/// What the score of a predicted class is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names say it, below")]
pub enum ClassScore {
    #[default]
    Softmax,
    Margin,
}

names! {
    ClassScore, "score of a class":
    Softmax "softmax" "Its probability: the softmax of logits, or the unchanged probability",
    Margin "margin" "Its logit minus the second largest",
}

/// How a problem with several classes becomes binary ones.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names say it, below")]
pub enum ReductionName {
    Confidence,
    TopLabel,
    ClassWise,
    Normalized,
    TopKLabel,
    TopKConfidence,
}

names! {
    ReductionName, "reduction":
    Confidence "confidence" "The probability that the prediction is right, from one calibrator for all classes",
    TopLabel "top-label" "The probability that the prediction is right, from one calibrator per predicted class",
    ClassWise "class-wise" "A probability for every class, from one one-vs-rest calibrator per class; they need not sum to one",
    Normalized "normalized" "Class-wise, divided by the sum: this has no guarantee",
    TopKLabel "top-k-label" "The top-K classes and the probability of each being right, from one calibrator per rank and class",
    TopKConfidence "top-k-confidence" "The same from one calibrator per rank",
}

impl ReductionName {
    /// The reduction; `None` for one that gives a number of classes.
    pub(in crate::job) fn without_k(self) -> Option<Reduction> {
        match self {
            Self::Confidence => Some(Reduction::Confidence),
            Self::TopLabel => Some(Reduction::TopLabel),
            Self::ClassWise => Some(Reduction::ClassWise),
            Self::Normalized => Some(Reduction::Normalized),
            Self::TopKLabel | Self::TopKConfidence => None,
        }
    }
}

/// The form of an artifact's tables.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names say it, below")]
pub enum TableWidth {
    #[default]
    F32,
    U16,
    Direct,
    Steps,
}

names! {
    TableWidth, "table":
    F32 "f32" "32-bit floats, or integer codes",
    U16 "u16" "16-bit numbers, at half the size, for methods that fit steps. The device rounds scores to the nearest 1/65535 and gives probabilities in steps of 1/32768. Rounded scores may tie: bins then end between two different scores",
    Direct "direct" "The bin of each of the 256 codes of an 8-bit encoding: the device looks up instead of searching, at 256 bytes a table and 8 more",
    Steps "steps" "A smooth function as at most 64 steps that are equal in value, of which fit and inspect state the largest difference to the function. A device finds a step in tens of instructions, where a function takes thousands",
}

/// What a device does on an alarm of its monitors.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names say it, below")]
pub enum AlarmAction {
    #[default]
    Flag,
    Alarm,
    Uncalibrated,
}

names! {
    AlarmAction, "action of monitors":
    Flag "flag" "Reports the alert when it is queried",
    Alarm "alarm" "Also keeps its own alarm raised",
    Uncalibrated "uncalibrated" "Returns \"uncalibrated\" from then on, and keeps its own alarm raised",
}

impl AlarmAction {
    /// Returns the action as an artifact has it; `None` if the device only tells.
    pub fn get(self) -> Option<MonitorAction> {
        match self {
            Self::Flag => None,
            Self::Alarm => Some(MonitorAction::Alarm),
            Self::Uncalibrated => Some(MonitorAction::Uncalibrated),
        }
    }
}
