//! Binary calibration methods: from the points of one binary problem to one function of the score.
//!
//! Each method has a file; [`BinaryMethod`] is the list of them and [`Model`] what they fit. Imports `stats`, `error`,
//! `points` and `guarantee`.

mod fixed_width;
mod irp;
mod isotonic;
mod least_squares;
mod method;
mod model;
mod scaling;
mod scaling_binning;
mod steps;
mod umd;
mod ums;
mod venn_abers;

pub use fixed_width::FixedWidth;
pub use isotonic::{InterpolatedModel, Isotonic};
pub use least_squares::Loss;
pub use method::BinaryMethod;
pub use model::Model;
pub(crate) use model::in_compact_table;
pub use scaling::{ScalingMethod, ScalingModel};
pub use scaling_binning::ScalingBinning;
pub use steps::{Bin, BinnedModel, CodeModel, RandomizedModel};
pub use umd::{Boundary, BoundaryPoints, Umd};
pub use ums::Ums;
pub use venn_abers::VennAbersModel;
