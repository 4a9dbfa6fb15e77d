//! Canonical calibration: a partition of the simplex with a probability of every class in each cell.

mod grid;
mod growth;
mod held_out_loss;
mod hull_guard;
mod irp;
mod method;
mod model;
mod order;
mod projection;
mod reachable;
mod regions;
mod split_search;
mod split_tree;
mod values;

pub use held_out_loss::HeldOutLoss;
pub use irp::{MulticlassIrp, Splits};
pub use method::CanonicalMethod;
pub use model::{CanonicalModel, Partition, SimplexCell};
pub use projection::{Directions, ProjectionBinning};
pub use split_tree::SplitTreeModel;
pub use values::RegionValues;
