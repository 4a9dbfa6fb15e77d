//! Calibrators of one score: tables that are searched, and functions of a few parameters.
//!
//! Every binned calibrator is on the device a table of edges and values, whatever method fitted it: [`StepTable`] over
//! floats, [`CodeTable`] over integer codes, [`CompactTable`] in 16-bit numbers, [`RandomizedTable`] with equal scores
//! divided by lot, [`VennAbersTable`] with two values a bin. [`InterpolatedTable`] is linear between knots, and a
//! [`ScalingFunction`] has no bins. They borrow their numbers, in place from a parsed artefact or from constants.
//! [`FixedTable`] and [`FixedCodeTable`] own theirs, laid out for the shortest search: for programs that hold one table,
//! known when they are compiled.
//!
//! All searches are in one file. This room imports [`score`](crate::score) and [`outcome`](crate::outcome).

mod code;
mod compact;
mod error;
mod fixed;
mod fixed_code;
mod fixed_search;
mod fraction;
mod interpolated;
mod randomized;
mod scaling;
pub(crate) mod search;
mod step;
mod values;
mod venn_abers;

pub use code::CodeTable;
pub use compact::CompactTable;
pub use error::TableError;
pub use fixed::FixedTable;
pub use fixed_code::{DirectTable, FixedCodeTable};
pub use interpolated::InterpolatedTable;
pub use randomized::RandomizedTable;
pub use scaling::{Scaling, ScalingError, ScalingFunction};
pub use step::StepTable;
pub(crate) use values::check_probs;
pub use venn_abers::VennAbersTable;
