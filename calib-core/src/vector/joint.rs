//! Calibrators of a whole vector.

use super::cells::CellTable;
use super::scaling::VectorScaling;

/// A calibrator of a whole vector, which an artifact holds in place of tables.
///
/// A [`VectorCalibrator`](crate::calibrator::VectorCalibrator) made from it calibrates vectors.
///
/// ```
/// use calib_core::VectorCalibrator;
/// use calib_core::vector::{Joint, ScalingInput, ScalingShape, VectorScaling};
///
/// let shape = ScalingShape::Temperature { inverse_t: 0.5 };
/// let joint = Joint::Scaled(VectorScaling::new(3, ScalingInput::Logits, shape).unwrap());
/// assert_eq!(VectorCalibrator::from(joint).classes(), 3);
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub enum Joint<'a> {
    /// A scaling function of the whole vector.
    Scaled(VectorScaling<'a>),
    /// The frequencies of the classes in cells of the simplex.
    Binned(CellTable<'a>),
}
