//! Which methods are compared.

use calib_core::artifact::Reduction;

use super::fit::{ClassScore, MethodName, NamedMethod, POINTS_PER_BIN};
use crate::compare::{Claim, Contender, FailedMethod};
use crate::data::{ScoreKind, VectorKind};
use crate::joint::{
    CanonicalMethod, Directions, JointMethod, MulticlassIrp, Odir, ProjectionBinning, VectorScalingMethod,
};
use crate::names::{Named, names};
use crate::options_error::OptionsError;
use crate::reduction::ReductionOptions;
use crate::stats::{CrossValidation, Seed};

/// The bins of methods that have a fixed number of them.
pub const BINS: u16 = 10;
/// Cells for a few classes: 13 and 16 for three.
pub const SIERPINSKI_DEPTH: u8 = 2;
/// As [`SIERPINSKI_DEPTH`], for grid-style binning.
pub const GRID_RESOLUTION: u16 = 4;
/// The parts in which multiclass-irp finds its number of regions.
pub const IRP_FOLDS: usize = 5;
/// The penalties of Dirichlet calibration.
const DIRICHLET_ODIR: f64 = 0.1;
/// A full matrix takes a while beyond so many classes.
const QUICK_CLASSES: usize = 20;

/// A reduction under which binary methods are compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ComparedReduction {
    /// [`Reduction::Confidence`].
    Confidence,
    /// [`Reduction::TopLabel`].
    TopLabel,
    /// [`Reduction::ClassWise`].
    ClassWise,
    /// [`Reduction::Normalized`].
    Normalized,
}

names!(ComparedReduction, "reduction to compare under":
    Confidence "confidence" "",
    TopLabel "top-label" "",
    ClassWise "class-wise" "",
    Normalized "normalized" "",
);

/// Methods and their bins.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct ContenderOptions {
    /// The methods; none for all.
    pub methods: Vec<MethodName>,
    /// The reductions under which binary methods are applied to a matrix; `None` for those of the claim.
    pub reductions: Option<Vec<ComparedReduction>>,
    /// The number of bins of methods that have one; `None` for 10, and under a reduction for that of the points per bin.
    pub bins: Option<u16>,
    /// The calibration points per bin under a reduction; `None` for 50.
    pub points_per_bin: Option<u32>,
    /// The scores of the predicted class that confidence and top-label are tried with; `None` for all that there are.
    pub class_scores: Option<Vec<ClassScore>>,
}

/// Methods with their names, and what is not tried with the reason.
pub(super) type Contenders = (Vec<(String, Contender)>, Vec<FailedMethod>);

impl ContenderOptions {
    /// The methods for binary scores of this kind.
    pub(super) fn binary(&self, seed: Seed, kind: ScoreKind) -> Result<Contenders, OptionsError> {
        if self.reductions.is_some() || self.points_per_bin.is_some() {
            return Err(OptionsError::new(
                "`reductions` and `points_per_bin` need a matrix: `logits` or `probs` instead of `scores`",
            ));
        }
        let (mut contenders, mut left_out) = (Vec::new(), Vec::new());
        for method in self.chosen() {
            if let Some(reason) = not_on_margins(method).filter(|_| kind == ScoreKind::Margin) {
                left_out.push(FailedMethod { name: method.to_string(), reason: reason.into() });
                continue;
            }
            match self.binary_method(method, kind, seed) {
                Some(contender) => contenders.push((method.to_string(), Contender::Binary(contender))),
                None if self.methods.is_empty() => {}
                None => {
                    return Err(OptionsError::new(format!(
                        "{method} calibrates whole vectors: use `logits` or `probs` instead of `scores`"
                    )));
                }
            }
        }
        Ok((contenders, left_out))
    }

    /// The methods for vectors of so many classes.
    pub(super) fn vectors(
        &self,
        (classes, kind): (usize, VectorKind),
        claim: Claim,
        seed: Seed,
    ) -> Result<Contenders, OptionsError> {
        let scores = self.class_scores(kind, claim)?;
        let reductions = self.reductions.as_deref().unwrap_or(match claim {
            Claim::AllClasses => &[ComparedReduction::ClassWise, ComparedReduction::Normalized],
            Claim::TopLabel => &[ComparedReduction::Confidence, ComparedReduction::TopLabel],
        });
        let (mut contenders, mut left_out) = (Vec::new(), Vec::new());
        for name in self.chosen() {
            for reduction in reductions.iter().map(|reduction| reduction.get()) {
                contenders
                    .extend(scores.iter().filter_map(|&score| self.reduced(name, reduction, score, seed)));
            }
            let is_slow =
                matches!(name, MethodName::Matrix | MethodName::Dirichlet) && classes > QUICK_CLASSES;
            if is_slow && self.methods.is_empty() {
                let reason =
                    format!("it takes long for {classes} classes: name it among `methods` to have it tried");
                left_out.push(FailedMethod { name: name.to_string(), reason });
            } else if let Some(method) = self.joint_method(name, seed) {
                contenders.push((name.to_string(), Contender::Joint(method)));
            }
        }
        Ok((contenders, left_out))
    }

    /// A binary method under a reduction; `None` if there is none with such a score of the predicted class.
    fn reduced(
        &self,
        name: MethodName,
        reduction: Reduction,
        score: ClassScore,
        seed: Seed,
    ) -> Option<(String, Contender)> {
        let kind = match score {
            ClassScore::Softmax => ScoreKind::Probability,
            ClassScore::Margin => ScoreKind::Margin,
        };
        let method = self.binary_method(name, kind, seed)?;
        // As a fit has it: a class or rank with fewer points stays uncalibrated.
        let points = self.points_per_bin.map_or(POINTS_PER_BIN, |points| points as usize);
        let points_per_bin = (!method.has_bins() || self.bins.is_none()).then_some(points);
        let options = ReductionOptions { method, points_per_bin };
        match score {
            ClassScore::Softmax => {
                Some((format!("{reduction}/{name}"), Contender::Reduced(reduction, options)))
            }
            ClassScore::Margin => {
                let is_of_class = matches!(reduction, Reduction::Confidence | Reduction::TopLabel);
                let contender = Contender::ReducedByLead(reduction, options);
                (is_of_class && not_on_margins(name).is_none())
                    .then(|| (format!("{reduction}/{name}/margin"), contender))
            }
        }
    }

    /// The scores of the predicted class that are tried.
    fn class_scores(&self, kind: VectorKind, claim: Claim) -> Result<&[ClassScore], OptionsError> {
        let has_leads = kind == VectorKind::Logits && claim == Claim::TopLabel;
        match self.class_scores.as_deref() {
            Some(scores) if scores.contains(&ClassScore::Margin) && !has_leads => Err(OptionsError::new(
                "`class_scores=margin` goes with `logits` and `claim=top-label`: it is the lead of the predicted logit",
            )),
            Some(scores) => Ok(scores),
            None if has_leads => Ok(&[ClassScore::Softmax, ClassScore::Margin]),
            None => Ok(&[ClassScore::Softmax]),
        }
    }

    /// Each once, in the order of their definition.
    fn chosen(&self) -> impl Iterator<Item = MethodName> {
        let all = MethodName::NAMES.iter().map(|(name, ..)| *name);
        all.filter(|name| self.methods.is_empty() || self.methods.contains(name))
    }

    /// The method for a binary problem, as a fit has it by default but for the bins; `None` for one of whole vectors.
    fn binary_method(&self, name: MethodName, kind: ScoreKind, seed: Seed) -> Option<crate::BinaryMethod> {
        let named = NamedMethod { method: Some(name), seed, ..NamedMethod::default() };
        named.binary(self.bins.unwrap_or(BINS).into(), kind, None)
    }

    /// The method for whole vectors, with the parameters that a fit has by default where it has some.
    fn joint_method(&self, name: MethodName, seed: Seed) -> Option<JointMethod> {
        let scaling = |method| JointMethod::Scaling { method, log_probs: false, cross_validation: None };
        let odir = |penalty| Odir { lambda: penalty, mu: penalty };
        let canonical = match name {
            MethodName::Temperature => return Some(scaling(VectorScalingMethod::Temperature)),
            MethodName::Vector => return Some(scaling(VectorScalingMethod::Vector)),
            MethodName::Matrix => return Some(scaling(VectorScalingMethod::Matrix(odir(0.0)))),
            MethodName::Dirichlet => {
                return Some(scaling(VectorScalingMethod::Dirichlet(odir(DIRICHLET_ODIR))));
            }
            MethodName::Sierpinski => CanonicalMethod::Sierpinski(SIERPINSKI_DEPTH),
            MethodName::Grid => CanonicalMethod::Grid(GRID_RESOLUTION),
            MethodName::Projection => CanonicalMethod::Projection(ProjectionBinning {
                bins: self.bins.unwrap_or(BINS).into(),
                directions: Directions::Rotate,
            }),
            MethodName::MulticlassIrp => CanonicalMethod::MulticlassIrp(MulticlassIrp {
                cross_validation: Some(CrossValidation { folds: IRP_FOLDS, seed }),
                ..MulticlassIrp::default()
            }),
            _ => return None,
        };
        Some(JointMethod::Canonical(canonical))
    }
}

/// Why a method is not compared on margins.
fn not_on_margins(method: MethodName) -> Option<&'static str> {
    match method {
        MethodName::Beta => Some("it takes probabilities"),
        MethodName::FixedWidth => Some("of margins its bins depend on a range, which is nobody's default"),
        _ => None,
    }
}

impl ComparedReduction {
    fn get(self) -> Reduction {
        match self {
            Self::Confidence => Reduction::Confidence,
            Self::TopLabel => Reduction::TopLabel,
            Self::ClassWise => Reduction::ClassWise,
            Self::Normalized => Reduction::Normalized,
        }
    }
}
