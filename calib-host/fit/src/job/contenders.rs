//! Which methods are compared.

use std::fmt;
use std::str::FromStr;

use calib_core::artifact::Reduction;

use super::fit::{ClassScore, MethodName, NamedMethod, ROWS_PER_BIN, ReductionName};
use crate::binary::BinaryMethod;
use crate::compare::{Claim, Contender, FailedMethod};
use crate::data::{ScoreKind, VectorKind};
use crate::names::{Named, UnknownName};
use crate::options_error::OptionsError;
use crate::reduction::ReductionOptions;
use crate::stats::Seed;

/// The bins of methods that have a fixed number of them.
const BINS: usize = 10;
/// The cells for a few classes: 13 and 16 for three.
const SIERPINSKI_DEPTH: u16 = 2;
/// As [`SIERPINSKI_DEPTH`], for grid-style binning.
const GRID_RESOLUTION: u16 = 4;
/// The parts in which multiclass-irp finds its number of regions.
const IRP_FOLDS: usize = 5;
/// With more classes, a method with a full matrix of weights is compared only if it is named.
const QUICK_CLASSES: usize = 20;

/// A method that is compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ContenderName {
    /// A method of a fit.
    Method(MethodName),
    /// Isotonic regression with a largest number of bins: isotonic recursive partitioning. It is no method of a fit, and compared if none is
    /// named.
    Irp,
}

/// Methods and their bins.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct ContenderOptions {
    /// The methods; none for all.
    pub methods: Vec<ContenderName>,
    /// The reductions under which binary methods are applied to a matrix; `None` for those of the claim.
    pub reductions: Option<Vec<ReductionName>>,
    /// The number of bins of methods that have one; `None` for 10, and under a reduction for that of the points per bin.
    pub bins: Option<usize>,
    /// The calibration points per bin under a reduction; `None` for 50.
    pub rows_per_bin: Option<usize>,
    /// The scores of the predicted class that confidence and top-label are tried with; `None` for all that there are.
    pub class_scores: Option<Vec<ClassScore>>,
}

/// Methods with their names, and what is not tried with the reason.
pub(super) type Contenders = (Vec<(String, Contender)>, Vec<FailedMethod>);

impl ContenderName {
    /// Returns all methods that are compared, in the order in which they are tried.
    pub fn all() -> impl Iterator<Item = Self> {
        MethodName::NAMES
            .iter()
            .flat_map(|&(method, ..)| match method {
                // Variants of others, of which one each is compared, and the scores as they are, with which all are compared.
                MethodName::PlattProb
                | MethodName::ScalingBinningOneSet
                | MethodName::ProjectionRandom
                | MethodName::Unchanged => [None, None],
                MethodName::IsotonicInterpolated => [Some(Self::Method(method)), Some(Self::Irp)],
                _ => [Some(Self::Method(method)), None],
            })
            .flatten()
    }

    /// Returns its name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Method(method) => method.name(),
            Self::Irp => "isotonic-max-bins",
        }
    }

    /// The method of a fit.
    fn method(self) -> MethodName {
        match self {
            Self::Method(method) => method,
            Self::Irp => MethodName::Isotonic,
        }
    }

    /// Why it is not compared on raw scores.
    fn refuses_raw_scores(self) -> Option<&'static str> {
        match self {
            Self::Method(MethodName::Beta) => Some("it accepts probabilities"),
            Self::Method(MethodName::FixedWidth) => {
                Some("for margins its bins depend on a range, which has no default")
            }
            _ => None,
        }
    }
}

impl fmt::Display for ContenderName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for ContenderName {
    type Err = UnknownName;

    fn from_str(name: &str) -> Result<Self, UnknownName> {
        let known = || Self::all().filter(|contender| *contender != Self::Irp);
        let named = known().find(|contender| contender.name() == name);
        named.ok_or_else(|| UnknownName::new("method", name, known().map(Self::name)))
    }
}

impl ContenderOptions {
    /// The methods for binary scores of this kind.
    pub(super) fn binary(&self, seed: Seed, kind: ScoreKind) -> Result<Contenders, OptionsError> {
        if self.reductions.is_some() || self.rows_per_bin.is_some() {
            return Err(OptionsError::new(
                "`reductions` and `rows_per_bin` need a matrix: `kind=logits` or `kind=probs` instead of `kind=scores`",
            ));
        }
        let (mut contenders, mut left_out) = (Vec::new(), Vec::new());
        for name in self.chosen() {
            if let Some(reason) = name.refuses_raw_scores().filter(|_| kind == ScoreKind::Margin) {
                left_out.push(FailedMethod { name: name.to_string(), reason: reason.into() });
                continue;
            }
            match self.binary_method(name, kind, seed) {
                Some(method) => contenders.push((name.to_string(), Contender::Binary(method))),
                None if self.methods.is_empty() => {}
                None => {
                    return Err(OptionsError::new(format!(
                        "{name} calibrates whole vectors: use `kind=logits` or `kind=probs` instead of `kind=scores`"
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
        let reductions = self.reductions(claim)?;
        let (mut contenders, mut left_out) = (Vec::new(), Vec::new());
        for name in self.chosen() {
            for &reduction in &reductions {
                contenders
                    .extend(scores.iter().filter_map(|&score| self.reduced(name, reduction, score, seed)));
            }
            use MethodName::{Dirichlet, Matrix, StructuredMatrix};
            let has_matrix = matches!(name.method(), Matrix | Dirichlet | StructuredMatrix);
            if has_matrix && classes > QUICK_CLASSES && self.methods.is_empty() {
                left_out.push(FailedMethod {
                    name: name.to_string(),
                    reason: format!("it takes long for {classes} classes: name the method to try it"),
                });
            } else if let Ok(method) = self.parameters(name, seed).joint() {
                contenders.push((name.to_string(), Contender::Joint(method)));
            }
        }
        Ok((contenders, left_out))
    }

    /// Returns the parameters with which a fit makes what goes by this name in a comparison; `None` for a name that is not compared.
    ///
    /// ```
    /// use calib_fit::job::{ContenderOptions, MethodName};
    ///
    /// let fitted = ContenderOptions::default().fit_of("top-label/umd", 0).expect("it is compared");
    /// assert_eq!((fitted.method, fitted.rows_per_bin), (Some(MethodName::Umd), Some(50)));
    /// ```
    pub fn fit_of(&self, name: &str, seed: Seed) -> Option<NamedMethod> {
        let parts: Vec<&str> = name.split('/').collect();
        let (reduction, rest) = match &*parts {
            [method] => (None, [*method].to_vec()),
            [reduction, rest @ ..] => (Some(ReductionName::named(reduction).ok()?), rest.to_vec()),
            [] => return None,
        };
        let name = ContenderName::all().find(|contender| contender.name() == rest[0])?;
        let class_score = rest.get(1).map(|score| ClassScore::named(score)).transpose().ok()?;
        let mut named = self.parameters(name, seed);
        (named.reduction, named.class_score) = (reduction, class_score.unwrap_or_default());
        let binary = self.binary_method(name, ScoreKind::Probability, seed);
        let has_bins = binary.is_some_and(|method| method.has_bins());
        if has_bins && (reduction.is_none() || self.bins.is_some()) {
            named.bins = Some(self.bins());
        } else if reduction.is_some() && (has_bins || self.rows_per_bin.is_some()) {
            named.rows_per_bin = Some(self.rows_per_bin());
        }
        Some(named)
    }

    /// A binary method under a reduction; `None` if there is none with such a score of the predicted class.
    fn reduced(
        &self,
        name: ContenderName,
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
        let has_points = !method.has_bins() || self.bins.is_none();
        let rows_per_bin = has_points.then_some(self.rows_per_bin());
        let options = ReductionOptions { method, rows_per_bin };
        match score {
            ClassScore::Softmax => {
                Some((format!("{reduction}/{name}"), Contender::Reduced(reduction, options)))
            }
            ClassScore::Margin => {
                let is_of_class = matches!(reduction, Reduction::Confidence | Reduction::TopLabel);
                let contender = Contender::ReducedByLead(reduction, options);
                (is_of_class && name.refuses_raw_scores().is_none())
                    .then(|| (format!("{reduction}/{name}/margin"), contender))
            }
        }
    }

    /// The scores of the predicted class that are tried.
    fn class_scores(&self, kind: VectorKind, claim: Claim) -> Result<&[ClassScore], OptionsError> {
        let has_top2_margins = kind == VectorKind::Logits && claim == Claim::TopLabel;
        match self.class_scores.as_deref() {
            Some(scores) if scores.contains(&ClassScore::Margin) && !has_top2_margins => {
                Err(OptionsError::new(
                    "`class_scores=margin` goes with `kind=logits` and `claim=top-label`: it is the top-two margin",
                ))
            }
            Some(scores) => Ok(scores),
            None if has_top2_margins => Ok(&[ClassScore::Softmax, ClassScore::Margin]),
            None => Ok(&[ClassScore::Softmax]),
        }
    }

    fn reductions(&self, claim: Claim) -> Result<Vec<Reduction>, OptionsError> {
        let names = self.reductions.as_deref().unwrap_or(match claim {
            Claim::AllClasses => &[ReductionName::ClassWise, ReductionName::Normalized],
            Claim::TopLabel => &[ReductionName::Confidence, ReductionName::TopLabel],
        });
        let without_k = |name: &ReductionName| {
            name.without_k().ok_or_else(|| {
                OptionsError::new(format!("`reductions={name}` is not compared: it gives several classes"))
            })
        };
        names.iter().map(without_k).collect()
    }

    /// Each method once, in the order of their definition.
    fn chosen(&self) -> impl Iterator<Item = ContenderName> {
        ContenderName::all().filter(|name| self.methods.is_empty() || self.methods.contains(name))
    }

    fn bins(&self) -> usize {
        self.bins.unwrap_or(BINS)
    }

    fn rows_per_bin(&self) -> usize {
        self.rows_per_bin.unwrap_or(ROWS_PER_BIN)
    }

    /// The method for a binary problem, as a fit has it by default except for the bins; `None` for one of whole vectors.
    fn binary_method(&self, name: ContenderName, kind: ScoreKind, seed: Seed) -> Option<BinaryMethod> {
        self.parameters(name, seed).binary(self.bins(), kind, None)
    }

    /// The parameters of a method that differ from those of a fit by default; without the bins of a binary method.
    fn parameters(&self, name: ContenderName, seed: Seed) -> NamedMethod {
        let named = NamedMethod { method: Some(name.method()), seed, ..NamedMethod::default() };
        match name {
            // Without a limit it would be isotonic regression.
            ContenderName::Irp => NamedMethod { max_bins: Some(self.bins()), ..named },
            ContenderName::Method(MethodName::Projection) => NamedMethod { bins: Some(self.bins()), ..named },
            ContenderName::Method(MethodName::Sierpinski) => {
                NamedMethod { resolution: Some(SIERPINSKI_DEPTH), ..named }
            }
            ContenderName::Method(MethodName::Grid) => {
                NamedMethod { resolution: Some(GRID_RESOLUTION), ..named }
            }
            ContenderName::Method(MethodName::MulticlassIrp) => {
                NamedMethod { folds: Some(IRP_FOLDS), ..named }
            }
            ContenderName::Method(_) => named,
        }
    }
}
