//! One calibrator of whole vectors: a scaling function of them, or a partition of the simplex. Nothing is guaranteed of its probabilities.
//!
//! Imports `stats`, `error`, `data` and `binary`.

mod blend;
mod cross_validated;
mod fit;
mod log_loss;
mod preconditioner;
mod product;
mod rows;
mod scaling;
mod shape;
mod simplex;
mod structured;

pub use blend::BlendedVectors;
pub use fit::{JointFit, JointMethod, JointModel, fit_joint};
pub use log_loss::Odir;
pub use scaling::{VectorScalingMethod, VectorScalingModel};
pub use simplex::{
    CanonicalMethod, CanonicalModel, Directions, HeldOutLoss, MulticlassIrp, Partition, ProjectionBinning,
    RegionValues, SimplexCell, SplitTreeModel, Splits,
};
