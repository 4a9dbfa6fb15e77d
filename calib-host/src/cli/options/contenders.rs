//! Which methods are compared.

use calib_core::artifact::Reduction;
use calib_host::binary::{BoundaryPoints, FixedWidth, Isotonic, Loss, ScalingBinning, ScalingMethod, Ums};
use calib_host::compare::{Claim, Contender, FailedMethod};
use calib_host::joint::{
    CanonicalMethod, Directions, MulticlassIrp, Odir, ProjectionBinning, VectorScalingMethod,
};
use calib_host::stats::{CrossValidation, Seed};
use calib_host::{BinaryMethod, JointMethod, ReductionOptions, Umd};
use clap::{Args, ValueEnum};

use super::joint::DIRICHLET_ODIR;
use super::method::MIN_POINTS;
use crate::cli::error::Error;

/// The bins of methods that have a fixed number of them.
const BINS: u16 = 10;
/// Cells for a few classes: 13 and 16 for three.
const SIERPINSKI_DEPTH: u8 = 2;
const GRID_RESOLUTION: u16 = 4;
/// The parts in which multiclass-irp finds its number of regions.
const IRP_FOLDS: usize = 5;
/// A full matrix takes a while beyond so many classes.
const QUICK_CLASSES: usize = 20;

/// Methods and their bins.
#[derive(Args)]
pub(crate) struct MethodChoice {
    /// Which methods, separated by commas.
    #[arg(long, value_enum, value_delimiter = ',', default_value = "all", value_name = "NAMES")]
    methods: Vec<Choice>,
    /// The reductions under which binary methods are applied to a matrix, separated by commas: class-wise and normalized, or
    /// confidence and top-label with --claim top-label.
    #[arg(long, value_enum, value_delimiter = ',', value_name = "NAMES")]
    reductions: Option<Vec<ReductionChoice>>,
    /// The number of bins of methods that have one: 10 without a matrix.
    #[arg(long, value_name = "B", value_parser = clap::value_parser!(u16).range(1..))]
    bins: Option<u16>,
    /// The calibration points per bin under a reduction: 50 without --bins.
    #[arg(long, value_name = "K", conflicts_with = "bins", value_parser = clap::value_parser!(u32).range(2..))]
    points_per_bin: Option<u32>,
}

#[derive(Clone, Copy, PartialEq, ValueEnum)]
enum Choice {
    All,
    Umd,
    UmdOriginal,
    UmdRandomized,
    Ums,
    FixedWidth,
    Isotonic,
    IsotonicInterpolated,
    Irp,
    ScalingBinning,
    Platt,
    Beta,
    Temperature,
    VennAbers,
    Vector,
    Matrix,
    Dirichlet,
    Sierpinski,
    Grid,
    Projection,
    MulticlassIrp,
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
    /// The methods for binary scores.
    pub(crate) fn binary(&self, seed: Seed) -> Result<Contenders, Error> {
        if self.reductions.is_some() || self.points_per_bin.is_some() {
            return Err(Error::Usage(
                "--reductions and --points-per-bin need a matrix: --logits or --probs instead of --scores"
                    .into(),
            ));
        }
        let mut contenders = Vec::new();
        for choice in self.chosen() {
            match self.binary_method(choice, seed) {
                Some(method) => contenders.push((choice.name(), Contender::Binary(method))),
                None if self.is_all() => {}
                None => {
                    let name = choice.name();
                    return Err(Error::Usage(format!(
                        "{name} calibrates whole vectors: use --logits or --probs instead of --scores"
                    )));
                }
            }
        }
        Ok((contenders, Vec::new()))
    }

    /// The methods for vectors of so many classes.
    pub(crate) fn vectors(&self, classes: usize, claim: Claim, seed: Seed) -> Contenders {
        let reductions = self.reductions.as_deref().unwrap_or(match claim {
            Claim::AllClasses => &[ReductionChoice::ClassWise, ReductionChoice::Normalized],
            Claim::TopLabel => &[ReductionChoice::Confidence, ReductionChoice::TopLabel],
        });
        let (mut contenders, mut left_out) = (Vec::new(), Vec::new());
        for choice in self.chosen() {
            if let Some(method) = self.binary_method(choice, seed) {
                let options = ReductionOptions { method, points_per_bin: self.points_per_bin(choice) };
                for reduction in reductions.iter().map(|reduction| reduction.get()) {
                    let name = format!("{reduction}/{}", choice.name());
                    contenders.push((name, Contender::Reduced(reduction, options)));
                }
            }
            let is_slow = matches!(choice, Choice::Matrix | Choice::Dirichlet) && classes > QUICK_CLASSES;
            if is_slow && self.is_all() {
                let reason =
                    format!("it takes long for {classes} classes: name it among --methods to have it tried");
                left_out.push(FailedMethod { name: choice.name(), reason });
            } else if let Some(method) = self.joint_method(choice, seed) {
                contenders.push((choice.name(), Contender::Joint(method)));
            }
        }
        (contenders, left_out)
    }

    fn is_all(&self) -> bool {
        self.methods.contains(&Choice::All)
    }

    /// Each once, in the order of their definition.
    fn chosen(&self) -> impl Iterator<Item = Choice> {
        let all = Choice::value_variants().iter().copied().filter(|choice| *choice != Choice::All);
        all.filter(|choice| self.is_all() || self.methods.contains(choice))
    }

    /// As `calib fit` has it: a class or rank with fewer points stays uncalibrated.
    fn points_per_bin(&self, choice: Choice) -> Option<usize> {
        use Choice::{FixedWidth, ScalingBinning, Umd, UmdOriginal, UmdRandomized, Ums};
        let has_bins =
            matches!(choice, Umd | UmdOriginal | UmdRandomized | Ums | FixedWidth | ScalingBinning);
        let points = self.points_per_bin.map_or(MIN_POINTS, |points| points as usize);
        (!has_bins || self.bins.is_none()).then_some(points)
    }

    /// The method for a binary problem; `None` for one of whole vectors.
    fn binary_method(&self, choice: Choice, seed: Seed) -> Option<BinaryMethod> {
        let bins = usize::from(self.bins.unwrap_or(BINS));
        let umd = Umd::new(bins);
        Some(match choice {
            Choice::Umd => BinaryMethod::Umd(umd),
            Choice::UmdOriginal => BinaryMethod::Umd(Umd { boundary_points: BoundaryPoints::Kept, ..umd }),
            Choice::UmdRandomized => BinaryMethod::UmdRandomized(umd, seed),
            Choice::Ums => BinaryMethod::Ums(Ums { bins, seed }),
            Choice::FixedWidth => BinaryMethod::FixedWidth(FixedWidth { bins }),
            Choice::Isotonic => BinaryMethod::Isotonic(Isotonic::default()),
            Choice::IsotonicInterpolated => BinaryMethod::IsotonicInterpolated(Isotonic::default()),
            Choice::Irp => BinaryMethod::Isotonic(Isotonic { max_bins: Some(bins), ..Isotonic::default() }),
            Choice::ScalingBinning => BinaryMethod::ScalingBinning(ScalingBinning {
                loss: Loss::Log,
                scaling: ScalingMethod::PlattLogit,
                bins,
                split_seed: None,
            }),
            Choice::Platt => BinaryMethod::Scaling(ScalingMethod::PlattLogit),
            Choice::Beta => BinaryMethod::Scaling(ScalingMethod::Beta),
            Choice::Temperature => BinaryMethod::Scaling(ScalingMethod::Temperature),
            Choice::VennAbers => BinaryMethod::VennAbers,
            _ => return None,
        })
    }

    /// The method for whole vectors, with the parameters that `calib fit` has by default where it has some.
    fn joint_method(&self, choice: Choice, seed: Seed) -> Option<JointMethod> {
        let scaling = |method| JointMethod::Scaling { method, log_probs: false, cross_validation: None };
        let odir = |penalty| Odir { lambda: penalty, mu: penalty };
        let bins = usize::from(self.bins.unwrap_or(BINS));
        let canonical = match choice {
            Choice::Temperature => return Some(scaling(VectorScalingMethod::Temperature)),
            Choice::Vector => return Some(scaling(VectorScalingMethod::Vector)),
            Choice::Matrix => return Some(scaling(VectorScalingMethod::Matrix(odir(0.0)))),
            Choice::Dirichlet => return Some(scaling(VectorScalingMethod::Dirichlet(odir(DIRICHLET_ODIR)))),
            Choice::Sierpinski => CanonicalMethod::Sierpinski(SIERPINSKI_DEPTH),
            Choice::Grid => CanonicalMethod::Grid(GRID_RESOLUTION),
            Choice::Projection => {
                CanonicalMethod::Projection(ProjectionBinning { bins, directions: Directions::Rotate })
            }
            Choice::MulticlassIrp => CanonicalMethod::MulticlassIrp(MulticlassIrp {
                cross_validation: Some(CrossValidation { folds: IRP_FOLDS, seed }),
                ..MulticlassIrp::default()
            }),
            _ => return None,
        };
        Some(JointMethod::Canonical(canonical))
    }
}

impl Choice {
    fn name(self) -> String {
        self.to_possible_value().expect("no choice is hidden").get_name().to_owned()
    }
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
