//! Operating points: thresholds on a score that guarantee a sensitivity, a specificity or a predictive value.
//!
//! A guarantee about one class needs the scores of its calibration points in order, and nothing else: no calibrated probability, no
//! bins, no assumption about how the scores are distributed. So it holds with far fewer points than a guarantee about every bin.
//! Imports `stats`, `error`, `points` and `data`.

mod error;
mod point;
mod predictive;
mod rank;
mod scores;

pub use error::OperatingError;
pub use point::{Aims, GroupScores, OperatingPoint, OperatingPoints, PointCounts, Sharing};
pub use predictive::{PredictiveValues, threshold_of_npv, threshold_of_ppv};
pub use rank::{Aim, rows_needed};
pub use scores::{Class, KeyedScores};
