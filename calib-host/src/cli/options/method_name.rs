//! The names of methods.

use clap::ValueEnum;

/// A method, by its name.
#[derive(Clone, Copy, PartialEq, ValueEnum)]
pub(crate) enum MethodName {
    /// Uniform-mass binning (Gupta and Ramdas 2021, Algorithm 1): with a guarantee.
    Umd,
    /// The same with boundary points kept (Zadrozny and Elkan): with a slightly wider guarantee.
    UmdOriginal,
    /// The same with ties broken at random, at fit and on the device (Algorithm 2): with a guarantee whatever the scores.
    UmdRandomized,
    /// Uniform-mass binning with edges from one half of the points and values from the other: with a guarantee.
    Ums,
    /// Bins of equal width: with a guarantee.
    FixedWidth,
    /// Isotonic regression.
    Isotonic,
    /// Isotonic recursive partitioning: isotonic regression that can stop early, at --max-bins.
    Irp,
    /// Uniform-mass bins of a scaling function's outputs, with its means as values (Kumar et al. 2019).
    ScalingBinning,
    /// Platt scaling: a logistic function of the logit, or of the score.
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

impl MethodName {
    pub(crate) fn name(self) -> String {
        let value = self.to_possible_value().expect("no method is hidden");
        value.get_name().to_owned()
    }

    /// Whether it calibrates whole vectors only.
    pub(super) fn is_joint(self) -> bool {
        use MethodName::{Dirichlet, Grid, Matrix, MulticlassIrp, Projection, Sierpinski, Vector};
        matches!(self, Vector | Matrix | Dirichlet | Sierpinski | Grid | Projection | MulticlassIrp)
    }
}
