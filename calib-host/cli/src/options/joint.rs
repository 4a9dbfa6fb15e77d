//! The options of methods that calibrate whole vectors.

use calib_fit::JointMethod;
use calib_fit::joint::{
    CanonicalMethod, Directions, MulticlassIrp, Odir, ProjectionBinning, RegionValues, Splits,
    VectorScalingMethod,
};
use calib_fit::stats::{CrossValidation, Seed};
use clap::{Args, ValueEnum};

use super::method_name::MethodName;
use crate::error::Error;

/// The penalties of Dirichlet calibration if none are asked for.
pub(crate) const DIRICHLET_ODIR: f64 = 0.1;

/// Parameters of methods that calibrate whole vectors.
#[derive(Args)]
#[command(next_help_heading = "Methods for whole vectors")]
pub(crate) struct JointOptions {
    /// Scale log-probabilities although the matrix is of logits; without it logits are scaled as they are.
    #[arg(long, hide_short_help = true)]
    log_probs: bool,
    /// The penalty of off-diagonal weights of matrix scaling (0 by default) and of Dirichlet calibration (0.1): LAMBDA
    /// times their mean square.
    #[arg(long, value_name = "LAMBDA", conflicts_with = "folds", hide_short_help = true)]
    odir_lambda: Option<f64>,
    /// The penalty of intercepts: MU times their mean square; LAMBDA by default.
    #[arg(long, value_name = "MU", conflicts_with = "folds", hide_short_help = true)]
    odir_mu: Option<f64>,
    /// Cross-validate with so many parts: the penalties of matrix scaling and Dirichlet calibration, and the number of
    /// regions of multiclass-irp. Parts are drawn with --seed.
    #[arg(long, value_name = "PARTS", hide_short_help = true)]
    folds: Option<usize>,
    /// The depth of Sierpinski binning.
    #[arg(long, value_name = "DEPTH", hide_short_help = true)]
    depth: Option<u8>,
    /// The number of steps from 0 to 1 of grid-style binning.
    #[arg(long, value_name = "STEPS", hide_short_help = true)]
    resolution: Option<u16>,
    /// The directions of projection-based binning.
    #[arg(long, value_enum, hide_short_help = true)]
    directions: Option<DirectionsName>,
    /// The largest number of regions of multiclass-irp.
    #[arg(long, value_name = "R", hide_short_help = true)]
    max_regions: Option<usize>,
    /// Let multiclass-irp split at the points of the simplex whose entries are multiples of 1/STEPS, not next to
    /// calibration points.
    #[arg(long, value_name = "STEPS", hide_short_help = true)]
    split_grid: Option<u16>,
    /// Let multiclass-irp keep the order of all classes together in every split, not of each pair.
    #[arg(long, hide_short_help = true)]
    strict: bool,
    /// Give the regions of multiclass-irp the values of its authors' code, (mean + 0.05) / 1.05: they sum to more than one.
    #[arg(long, conflicts_with = "smoothing", hide_short_help = true)]
    paper_compat: bool,
}

#[derive(Clone, Copy, PartialEq, ValueEnum)]
enum DirectionsName {
    /// The classes in turn: each cell has the largest scores of its class.
    Rotate,
    /// Drawn at random with --seed.
    Random,
}

impl JointOptions {
    /// The first option that was given although the method does not have it.
    pub(crate) fn first_without_use(&self, method: Option<MethodName>) -> Option<&'static str> {
        use MethodName::{
            Dirichlet, Grid, Matrix, MulticlassIrp, Projection, Sierpinski, Temperature, Vector,
        };
        let is = |methods: &[MethodName]| method.is_some_and(|method| methods.contains(&method));
        let odir = is(&[Matrix, Dirichlet]);
        let irp = is(&[MulticlassIrp]);
        let given = [
            (self.log_probs, is(&[Temperature, Vector, Matrix]), "--log-probs"),
            (self.odir_lambda.is_some(), odir, "--odir-lambda"),
            (self.odir_mu.is_some(), odir, "--odir-mu"),
            (self.folds.is_some(), odir || irp, "--folds"),
            (self.depth.is_some(), is(&[Sierpinski]), "--depth"),
            (self.resolution.is_some(), is(&[Grid]), "--resolution"),
            (self.directions.is_some(), is(&[Projection]), "--directions"),
            (self.max_regions.is_some(), irp, "--max-regions"),
            (self.split_grid.is_some(), irp, "--split-grid"),
            (self.strict, irp, "--strict"),
            (self.paper_compat, irp, "--paper-compat"),
        ];
        given.into_iter().find(|(given, allowed, _)| *given && !allowed).map(|(.., option)| option)
    }

    /// The method; `None` if it does not calibrate whole vectors.
    pub(crate) fn method(
        &self,
        method: MethodName,
        bins: Option<usize>,
        smoothing: Option<f64>,
        seed: Seed,
    ) -> Result<Option<JointMethod>, Error> {
        let needs = |option: &str| {
            let name = method.name();
            Error::Usage(format!("{name} needs {option}"))
        };
        let cross_validation = self.folds.map(|folds| CrossValidation { folds, seed });
        let scaling = |method| JointMethod::Scaling { method, log_probs: self.log_probs, cross_validation };
        let odir = |default: f64| {
            let lambda = self.odir_lambda.unwrap_or(default);
            Odir { lambda, mu: self.odir_mu.unwrap_or(lambda) }
        };
        Ok(Some(match method {
            MethodName::Temperature => scaling(VectorScalingMethod::Temperature),
            MethodName::Vector => scaling(VectorScalingMethod::Vector),
            MethodName::Matrix => scaling(VectorScalingMethod::Matrix(odir(0.0))),
            MethodName::Dirichlet => scaling(VectorScalingMethod::Dirichlet(odir(DIRICHLET_ODIR))),
            MethodName::Sierpinski => {
                let depth = self.depth.ok_or_else(|| needs("--depth"))?;
                JointMethod::Canonical(CanonicalMethod::Sierpinski(depth))
            }
            MethodName::Grid => {
                let resolution = self.resolution.ok_or_else(|| needs("--resolution"))?;
                JointMethod::Canonical(CanonicalMethod::Grid(resolution))
            }
            MethodName::Projection => {
                let directions = match self.directions {
                    Some(DirectionsName::Random) => Directions::Random(seed),
                    _ => Directions::Rotate,
                };
                let bins = bins.ok_or_else(|| needs("--bins"))?;
                JointMethod::Canonical(CanonicalMethod::Projection(ProjectionBinning { bins, directions }))
            }
            MethodName::MulticlassIrp => {
                JointMethod::Canonical(CanonicalMethod::MulticlassIrp(MulticlassIrp {
                    max_regions: self.max_regions,
                    cross_validation,
                    splits: self.split_grid.map_or(Splits::Midpoints, Splits::Grid),
                    strict: self.strict,
                    values: if self.paper_compat {
                        RegionValues::PaperCompatible
                    } else {
                        RegionValues::Smoothed(smoothing.unwrap_or(1.0))
                    },
                }))
            }
            _ => return Ok(None),
        }))
    }
}
