//! Calibrators of a whole vector of scores.
//!
//! A [`Joint`] calibrator is of one of two kinds. A [`VectorScaling`] is the softmax of a matrix times the vector. A [`CellTable`]
//! divides the probability simplex into the cells of a [`CellScheme`], and has the frequencies of the classes in each cell.
//!
//! This room imports [`score`](crate::score), [`outcome`](crate::outcome) and [`table`](crate::table).

mod cells;
mod error;
mod joint;
mod limits;
mod projection;
mod scaling;
mod sierpinski;
mod simplex_grid;
mod split_tree;

pub use cells::{CellScheme, CellTable};
pub use error::VectorError;
pub use joint::Joint;
pub use limits::MAX_CELLS;
pub use projection::Projection;
pub use scaling::{ScalingInput, ScalingShape, VectorScaling};
pub use sierpinski::Sierpinski;
pub use simplex_grid::SimplexGrid;
pub use split_tree::{SplitTree, SplitTreeError};
