//! How groups of rows compare: the sexes, age bands or sites of a population.

mod comparison;
mod equal_calibration;

pub use crate::data::RowGroups;
pub use comparison::{Difference, GroupAssessment, GroupComparison, GroupOptions, Tested, compare_groups};
pub use equal_calibration::{EqualCalibration, NotTested, test_equal_calibration};
