//! Calibrators of a whole vector.

use super::cells::CellTable;
use super::scaling::VectorScaling;

/// A calibrator of a whole vector, which an artefact holds in place of tables.
///
/// The calibrator that takes vectors is a [`VectorCalibrator`](crate::calibrator::VectorCalibrator) made from it.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub enum Joint<'a> {
    /// A scaling function of the whole vector.
    Scaled(VectorScaling<'a>),
    /// The frequencies of the classes in cells of the simplex.
    Binned(CellTable<'a>),
}
