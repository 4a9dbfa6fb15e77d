//! Calibrators of a whole vector of scores.
//!
//! A [`VectorScaling`] multiplies the vector by a matrix; a [`CellTable`] divides the probability simplex into the cells of a
//! [`CellScheme`] and gives each cell its frequencies of the classes. A [`Joint`] is either.
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
