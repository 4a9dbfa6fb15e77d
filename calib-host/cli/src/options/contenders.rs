//! Which methods are compared.

use std::iter;

use calib_core::artifact::Reduction;
use calib_fit::compare::{Claim, Contender, FailedMethod};
use calib_fit::job::{ClassScore, POINTS_PER_BIN as MIN_POINTS};
use calib_fit::joint::{
    CanonicalMethod, Directions, MulticlassIrp, Odir, ProjectionBinning, VectorScalingMethod,
};
use calib_fit::stats::{CrossValidation, Seed};
use calib_fit::{BinaryMethod, JointMethod, ReductionOptions, ScoreKind, VectorKind};
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use clap::{Args, ValueEnum};

use super::headings::METHOD;
use super::method_name::{MethodName, Parameters};
use super::parse::{count, named};
use crate::error::Error;

/// The bins of methods that have a fixed number of them.
const BINS: u16 = 10;
/// Cells for a few classes: 13 and 16 for three.
const SIERPINSKI_DEPTH: u8 = 2;
const GRID_RESOLUTION: u16 = 4;
/// The parts in which multiclass-irp finds its number of regions.
const IRP_FOLDS: usize = 5;
/// The penalties of Dirichlet calibration, as `calib fit` has them.
const DIRICHLET_ODIR: f64 = 0.1;
/// A full matrix takes a while beyond so many classes.
const QUICK_CLASSES: usize = 20;

/// Methods and their bins.
#[derive(Args)]
#[command(next_help_heading = METHOD)]
pub(crate) struct MethodChoice {
    /// Which methods, separated by commas.
    #[arg(long, value_parser = choice(), value_delimiter = ',', default_value = "all", value_name = "NAMES")]
    methods: Vec<Choice>,
    /// The reductions under which binary methods are applied to a matrix, separated by commas: class-wise and normalized, or
    /// confidence and top-label with --claim top-label.
    #[arg(long, value_enum, value_delimiter = ',', value_name = "NAMES", hide_short_help = true)]
    reductions: Option<Vec<ReductionChoice>>,
    /// The number of bins of methods that have one: 10 without a matrix.
    #[arg(long, value_name = "B", value_parser = count::<u16>(1..))]
    bins: Option<u16>,
    /// The calibration points per bin under a reduction: 50 without --bins.
    #[arg(long, value_name = "K", conflicts_with = "bins", value_parser = count::<u32>(2..), hide_short_help = true)]
    points_per_bin: Option<u32>,
    /// The scores of the predicted class that confidence and top-label are tried with, separated by commas: both for --logits with
    /// --claim top-label.
    #[arg(long, value_parser = named::<ClassScore>(), value_delimiter = ',', value_name = "SCORES", hide_short_help = true)]
    class_scores: Option<Vec<ClassScore>>,
}

#[derive(Clone, Copy, PartialEq)]
enum Choice {
    All,
    Method(MethodName),
}

#[derive(Clone, Copy, PartialEq, ValueEnum)]
enum ReductionChoice {
    Confidence,
    TopLabel,
    ClassWise,
    Normalized,
}

/// Methods with their names, and what is not tried with the reason.
pub(crate) type Contenders = (Vec<(String, Contender)>, Vec<FailedMethod>);

impl MethodChoice {
    /// The methods for binary scores of this kind.
    pub(crate) fn binary(&self, seed: Seed, kind: ScoreKind) -> Result<Contenders, Error> {
        if self.reductions.is_some() || self.points_per_bin.is_some() {
            return Err(Error::Usage(
                "--reductions and --points-per-bin need a matrix: --logits or --probs instead of --scores"
                    .into(),
            ));
        }
        let (mut contenders, mut left_out) = (Vec::new(), Vec::new());
        for method in self.chosen() {
            let name = method.name();
            if let Some(reason) = not_on_margins(method).filter(|_| kind == ScoreKind::Margin) {
                left_out.push(FailedMethod { name, reason: reason.into() });
                continue;
            }
            match self.binary_method(method, kind, seed) {
                Some(method) => contenders.push((name, Contender::Binary(method))),
                None if self.is_all() => {}
                None => {
                    return Err(Error::Usage(format!(
                        "{name} calibrates whole vectors: use --logits or --probs instead of --scores"
                    )));
                }
            }
        }
        Ok((contenders, left_out))
    }

    /// The methods for vectors of so many classes.
    pub(crate) fn vectors(
        &self,
        (classes, kind): (usize, VectorKind),
        claim: Claim,
        seed: Seed,
    ) -> Result<Contenders, Error> {
        let scores = self.class_scores(kind, claim)?;
        let reductions = self.reductions.as_deref().unwrap_or(match claim {
            Claim::AllClasses => &[ReductionChoice::ClassWise, ReductionChoice::Normalized],
            Claim::TopLabel => &[ReductionChoice::Confidence, ReductionChoice::TopLabel],
        });
        let (mut contenders, mut left_out) = (Vec::new(), Vec::new());
        for name in self.chosen() {
            for reduction in reductions.iter().map(|reduction| reduction.get()) {
                contenders
                    .extend(scores.iter().filter_map(|&score| self.reduced(name, reduction, score, seed)));
            }
            let is_slow =
                matches!(name, MethodName::Matrix | MethodName::Dirichlet) && classes > QUICK_CLASSES;
            if is_slow && self.is_all() {
                let reason =
                    format!("it takes long for {classes} classes: name it among --methods to have it tried");
                left_out.push(FailedMethod { name: name.name(), reason });
            } else if let Some(method) = self.joint_method(name, seed) {
                contenders.push((name.name(), Contender::Joint(method)));
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
        let points_per_bin = self.points_per_bin(name);
        let options = |method| ReductionOptions::new(method).points_per_bin(points_per_bin);
        match score {
            ClassScore::Softmax => {
                let method = self.binary_method(name, ScoreKind::Probability, seed)?;
                Some((format!("{reduction}/{}", name.name()), Contender::Reduced(reduction, options(method))))
            }
            ClassScore::Margin => {
                let is_of_class = matches!(reduction, Reduction::Confidence | Reduction::TopLabel);
                if !is_of_class || not_on_margins(name).is_some() {
                    return None;
                }
                let method = self.binary_method(name, ScoreKind::Margin, seed)?;
                let name = format!("{reduction}/{}/margin", name.name());
                Some((name, Contender::ReducedByLead(reduction, options(method))))
            }
        }
    }

    /// The scores of the predicted class that are tried.
    fn class_scores(&self, kind: VectorKind, claim: Claim) -> Result<&[ClassScore], Error> {
        let has_leads = kind == VectorKind::Logits && claim == Claim::TopLabel;
        match self.class_scores.as_deref() {
            Some(scores) if scores.contains(&ClassScore::Margin) && !has_leads => Err(Error::Usage(
                "--class-scores margin goes with --logits and --claim top-label: it is the lead of the predicted logit".into(),
            )),
            Some(scores) => Ok(scores),
            None if has_leads => Ok(&[ClassScore::Softmax, ClassScore::Margin]),
            None => Ok(&[ClassScore::Softmax]),
        }
    }

    /// The options with which `calib fit` fits what goes by this name here.
    pub(crate) fn options_of_fit(&self, name: &str, seed: Seed) -> Vec<String> {
        let parts: Vec<&str> = name.split('/').collect();
        let (reduction, rest) = match parts.len() {
            1 => (None, &parts[..]),
            _ => (Some(parts[0]), &parts[1..]),
        };
        // Recursive partitioning is isotonic regression with a largest number of bins.
        let method = if rest[0] == "irp" { "isotonic" } else { rest[0] };
        let mut options = vec!["--method".to_owned(), method.to_owned()];
        let mut add = |option: &str, value: String| options.extend([option.to_owned(), value]);
        if let Some(reduction) = reduction {
            add("--reduction", reduction.into());
        }
        if let Some(score) = rest.get(1) {
            add("--class-score", (*score).into());
        }
        let bins = self.bins.unwrap_or(BINS).to_string();
        match MethodName::from_str(rest[0], false) {
            Ok(MethodName::Projection) => add("--bins", bins),
            Ok(MethodName::Irp) => add("--max-bins", bins),
            Ok(MethodName::Sierpinski) => add("--resolution", SIERPINSKI_DEPTH.to_string()),
            Ok(MethodName::Grid) => add("--resolution", GRID_RESOLUTION.to_string()),
            Ok(MethodName::MulticlassIrp) => add("--folds", IRP_FOLDS.to_string()),
            Ok(method) if method.has_bins() && (reduction.is_none() || self.bins.is_some()) => {
                add("--bins", bins)
            }
            Ok(method) if reduction.is_some() && (method.has_bins() || self.points_per_bin.is_some()) => {
                add(
                    "--points-per-bin",
                    self.points_per_bin.map_or(MIN_POINTS, |points| points as usize).to_string(),
                );
            }
            _ => {}
        }
        if seed != 0 {
            add("--seed", seed.to_string());
        }
        options
    }

    fn is_all(&self) -> bool {
        self.methods.contains(&Choice::All)
    }

    /// Each once, in the order of their definition.
    fn chosen(&self) -> impl Iterator<Item = MethodName> {
        let all = MethodName::value_variants().iter().copied();
        all.filter(|name| self.is_all() || self.methods.contains(&Choice::Method(*name)))
    }

    /// As `calib fit` has it: a class or rank with fewer points stays uncalibrated.
    fn points_per_bin(&self, name: MethodName) -> Option<usize> {
        let points = self.points_per_bin.map_or(MIN_POINTS, |points| points as usize);
        (!name.has_bins() || self.bins.is_none()).then_some(points)
    }

    /// The method for a binary problem, as `calib fit` has it by default but for the bins; `None` for one of whole vectors.
    fn binary_method(&self, name: MethodName, kind: ScoreKind, seed: Seed) -> Option<BinaryMethod> {
        let bins = usize::from(self.bins.unwrap_or(BINS));
        // Without a limit irp would be isotonic regression.
        let max_bins = (name == MethodName::Irp).then_some(bins);
        name.binary(&Parameters { bins, max_bins, kind, seed, ..Parameters::default() })
    }

    /// The method for whole vectors, with the parameters that `calib fit` has by default where it has some.
    fn joint_method(&self, name: MethodName, seed: Seed) -> Option<JointMethod> {
        let scaling = |method| JointMethod::Scaling { method, log_probs: false, cross_validation: None };
        let odir = |penalty| Odir { lambda: penalty, mu: penalty };
        let bins = usize::from(self.bins.unwrap_or(BINS));
        let canonical = match name {
            MethodName::Temperature => return Some(scaling(VectorScalingMethod::Temperature)),
            MethodName::Vector => return Some(scaling(VectorScalingMethod::Vector)),
            MethodName::Matrix => return Some(scaling(VectorScalingMethod::Matrix(odir(0.0)))),
            MethodName::Dirichlet => {
                return Some(scaling(VectorScalingMethod::Dirichlet(odir(DIRICHLET_ODIR))));
            }
            MethodName::Sierpinski => CanonicalMethod::Sierpinski(SIERPINSKI_DEPTH),
            MethodName::Grid => CanonicalMethod::Grid(GRID_RESOLUTION),
            MethodName::Projection => {
                CanonicalMethod::Projection(ProjectionBinning { bins, directions: Directions::Rotate })
            }
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

/// A method by its name, or all.
fn choice() -> impl TypedValueParser<Value = Choice> {
    let methods = MethodName::value_variants().iter().filter_map(ValueEnum::to_possible_value);
    PossibleValuesParser::new(iter::once(PossibleValue::new("all")).chain(methods))
        .map(|name| MethodName::from_str(&name, false).map_or(Choice::All, Choice::Method))
}

impl ReductionChoice {
    fn get(self) -> Reduction {
        match self {
            Self::Confidence => Reduction::Confidence,
            Self::TopLabel => Reduction::TopLabel,
            Self::ClassWise => Reduction::ClassWise,
            Self::Normalized => Reduction::Normalized,
        }
    }
}
