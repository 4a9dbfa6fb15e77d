//! Calibrators of one score: tables that are searched, and functions of a few parameters.
//!
//! Whatever method fitted it, a binned calibrator is a table of edges and values on the device:
//!
//! | table | for |
//! |---|---|
//! | [`StepTable`], [`MarginTable`] | floats |
//! | [`CodeTable`] | integer codes |
//! | [`CompactTable`] | either, in 16-bit numbers |
//! | [`RandomizedTable`], [`RandomizedMarginTable`] | floats, equal ones divided between bins at random |
//! | [`VennAbersTable`], [`MarginVennAbersTable`] | floats, with two probabilities per bin |
//! | [`InterpolatedTable`], [`InterpolatedMarginTable`] | floats, linear between knots |
//! | [`ScalingFunction`], [`MarginFunction`] | floats, by a function without bins |
//! | [`FixedTable`], [`FixedMarginTable`], [`FixedCodeTable`], [`DirectTable`] | a table that is a constant of the program |
//!
//! Where there are two, the first is over scores in `[0, 1]` and the second over margins: the same generic type, such as
//! [`StepTableOf`]. All but the last row borrow their numbers, from constants or in place from a parsed artifact, and share the
//! search in `search.rs`. The last row own their numbers in the layout that takes the core the fewest instructions.
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
mod margin_function;
mod randomized;
mod scaling;
pub(crate) mod search;
mod step;
mod values;
mod venn_abers;

pub use code::CodeTable;
pub use compact::CompactTable;
pub use error::TableError;
pub use fixed::{FixedMarginTable, FixedTable, FixedTableOf};
pub use fixed_code::{DirectTable, FixedCodeTable};
pub use interpolated::{InterpolatedMarginTable, InterpolatedTable, InterpolatedTableOf};
pub use margin_function::{MarginFunction, MarginScaling};
pub use randomized::{RandomizedMarginTable, RandomizedTable, RandomizedTableOf};
pub use scaling::{ParameterError, Scaling, ScalingFunction};
pub use step::{MarginTable, StepTable, StepTableOf};
pub(crate) use values::check_probs;
pub use venn_abers::{MarginVennAbersTable, VennAbersTable, VennAbersTableOf};
