//! Calibrators of one score: tables that are searched, and functions of a few parameters.
//!
//! Whatever method fitted it, a binned calibrator is a table of edges and values on the device:
//!
//! | table | for |
//! |---|---|
//! | [`StepTable`] | floats |
//! | [`CodeTable`] | integer codes |
//! | [`CompactTable`] | either, in 16-bit numbers |
//! | [`RandomizedTable`] | floats, equal ones divided between bins by lot |
//! | [`VennAbersTable`] | floats, with two probabilities per bin |
//! | [`InterpolatedTable`] | floats, linear between knots |
//! | [`ScalingFunction`] | floats, by a function without bins |
//! | [`FixedTable`], [`FixedCodeTable`], [`DirectTable`] | a table that is a constant of the program |
//!
//! The first seven borrow their numbers, from constants or in place from a parsed artefact, and share the search in
//! `search.rs`. The last three own their numbers in the layout that takes the core the fewest instructions.
//!
//! This room imports [`score`](crate::score) and [`outcome`](crate::outcome).

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
pub use scaling::{ParameterError, Scaling, ScalingFunction};
pub use step::StepTable;
pub(crate) use values::check_probs;
pub use venn_abers::VennAbersTable;
