//! Fitting one calibrator of whole vectors.

use calib_core::artifact::Method;

use super::blend::BlendedVectors;
use super::log_loss::Odir;
use super::scaling::{VectorScalingMethod, VectorScalingModel};
use super::simplex::{
    CanonicalMethod, CanonicalModel, Directions, MulticlassIrp, ProjectionBinning, RegionValues, Splits,
};
use crate::accessors::getters;
use crate::data::VectorData;
use crate::error::FitError;
use crate::fit::of_clusters;
use crate::stats::{CrossValidation, Seed};

/// A calibration method of whole vectors, with its parameters.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum JointMethod {
    /// A scaling function.
    Scaling {
        /// Which, with its regularization.
        method: VectorScalingMethod,
        /// Whether log-probabilities are the features although there are logits.
        log_probs: bool,
        /// If given, the regularization is chosen by cross-validation in place of the method's.
        cross_validation: Option<CrossValidation>,
    },
    /// A [blend](BlendedVectors) of scaling functions: a softmax of a matrix times the logarithms of the scores.
    Blend {
        /// The seed of the folds, and of the sample that decides the weights of very many points.
        seed: Seed,
    },
    /// The scores as they are, up to the rounding of a softmax: what can be said of them is said beside them.
    Unchanged,
    /// A partition of the simplex.
    Canonical(CanonicalMethod),
}

/// A calibrator of whole vectors. Nothing is guaranteed of its probabilities.
#[derive(Clone, Debug, PartialEq)]
pub struct JointFit {
    pub(crate) method: Method,
    pub(crate) classes: usize,
    pub(crate) n: u64,
    pub(crate) model: JointModel,
    pub(crate) blend: Option<BlendedVectors>,
    pub(crate) parameters: String,
}

getters! {
    JointFit {
        /// The method.
        method: Method,
        /// The number of classes.
        classes: usize,
        /// The number of calibration points.
        n: u64,
        ;
        /// What was fitted.
        model: JointModel,
        /// What was blended, of a [blend](JointMethod::Blend).
        blend: Option<BlendedVectors>,
        /// The parameters, as `name=value` separated by spaces.
        parameters: str,
    }
}

impl JointFit {
    /// The same, fitted to one row of each cluster, as [`Fit::of_clusters`](crate::fit::Fit::of_clusters).
    #[must_use]
    pub fn of_clusters(mut self, rows: u64, seed: Seed) -> Self {
        self.parameters = of_clusters(&self.parameters, rows, seed);
        self
    }
}

/// What a method of whole vectors fits.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum JointModel {
    /// A scaling function.
    Scaling(VectorScalingModel),
    /// Cells of the simplex.
    Canonical(CanonicalModel),
}

/// Fits a calibrator of whole vectors, as the device sees them. The result does not depend on the order of the rows.
///
/// ```
/// use calib_fit::joint::{JointModel, VectorScalingMethod};
/// use calib_fit::{JointMethod, VectorData, VectorKind, Vectors, fit_joint};
///
/// // The first class has the larger logit by 2, and is right in 3 of 4 cases: the logits are too sure.
/// let logits = Vectors::new([2.0, 0.0].repeat(100), 2, VectorKind::Logits)?;
/// let labels: Vec<i64> = (0..100).map(|row| i64::from(row % 4 == 0)).collect();
/// let method = VectorScalingMethod::Temperature;
/// let method = JointMethod::Scaling { method, log_probs: false, cross_validation: None };
///
/// let fit = fit_joint(&VectorData::new(&logits, &labels)?, &method)?;
/// let JointModel::Scaling(model) = fit.model() else { unreachable!() };
/// assert!((model.weights[0] - 3f64.ln() / 2.0).abs() < 1e-9);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
///
/// One class only, too few points, too many classes, no finite optimum, or a parameter out of range.
pub fn fit_joint(data: &VectorData, method: &JointMethod) -> Result<JointFit, FitError> {
    let mut blend = None;
    let (model, parameters) = match method {
        &JointMethod::Scaling { method, log_probs, cross_validation } => {
            let method = match cross_validation {
                Some(folds) => method.cross_validated(data, log_probs, folds)?,
                None => method,
            };
            let model = method.fit(data, log_probs)?;
            (JointModel::Scaling(model), scaling_parameters(&method, cross_validation))
        }
        &JointMethod::Blend { seed } => {
            let (model, found) = super::blend::fit(data, seed)?;
            blend = Some(found);
            (JointModel::Scaling(model), format!("seed={seed}"))
        }
        JointMethod::Unchanged => {
            let input = VectorScalingMethod::Temperature.input(data, false);
            (JointModel::Scaling(VectorScalingModel::unchanged(data.classes(), input)), String::new())
        }
        JointMethod::Canonical(method) => {
            (JointModel::Canonical(method.fit(data)?), canonical_parameters(method))
        }
    };
    Ok(JointFit {
        method: method.method(),
        classes: data.classes(),
        n: data.len() as u64,
        model,
        blend,
        parameters: parameters.trim().into(),
    })
}

impl JointMethod {
    /// The method's name in the artifact.
    pub fn method(&self) -> Method {
        match self {
            Self::Scaling { method, .. } => match method {
                VectorScalingMethod::Temperature => Method::Temperature,
                VectorScalingMethod::Vector => Method::VectorScaling,
                VectorScalingMethod::Matrix(_) => Method::MatrixScaling,
                VectorScalingMethod::Dirichlet(_) => Method::Dirichlet,
                VectorScalingMethod::StructuredVector => Method::StructuredVector,
                VectorScalingMethod::StructuredMatrix => Method::StructuredMatrix,
            },
            Self::Blend { .. } => Method::Blend,
            Self::Unchanged => Method::Unchanged,
            Self::Canonical(method) => match method {
                CanonicalMethod::Sierpinski(_) => Method::Sierpinski,
                CanonicalMethod::Grid(_) => Method::Grid,
                CanonicalMethod::Projection(_) => Method::Projection,
                CanonicalMethod::MulticlassIrp(_) => Method::MulticlassIrp,
            },
        }
    }
}

fn scaling_parameters(method: &VectorScalingMethod, folds: Option<CrossValidation>) -> String {
    let (VectorScalingMethod::Matrix(odir) | VectorScalingMethod::Dirichlet(odir)) = method else {
        return String::new();
    };
    let Odir { lambda, mu } = odir;
    format!("lambda={lambda} mu={mu} {}", cross_validation(folds))
}

fn canonical_parameters(method: &CanonicalMethod) -> String {
    match method {
        CanonicalMethod::Sierpinski(depth) => format!("depth={depth}"),
        CanonicalMethod::Grid(resolution) => format!("resolution={resolution}"),
        CanonicalMethod::Projection(ProjectionBinning { bins, directions }) => match directions {
            Directions::Rotate => format!("bins={bins} directions=rotate"),
            Directions::Random(seed) => format!("bins={bins} directions=random seed={seed}"),
            Directions::Given(_) => format!("bins={bins} directions=given"),
        },
        CanonicalMethod::MulticlassIrp(irp) => irp_parameters(irp),
    }
}

fn irp_parameters(irp: &MulticlassIrp) -> String {
    let values = match irp.values {
        RegionValues::Smoothed(a) => format!("smoothing={a}"),
        RegionValues::PaperCompatible => "values=paper-compat".into(),
    };
    let splits = match irp.splits {
        Splits::Midpoints => "midpoints".into(),
        Splits::Grid(resolution) => format!("1/{resolution}"),
    };
    let most = irp.max_regions.map(|most| format!("max-regions={most}")).unwrap_or_default();
    let parts = [format!("splits={splits}"), values, most, cross_validation(irp.cross_validation)];
    parts.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join(" ")
}

fn cross_validation(folds: Option<CrossValidation>) -> String {
    folds.map(|CrossValidation { folds, seed }| format!("folds={folds} seed={seed}")).unwrap_or_default()
}
