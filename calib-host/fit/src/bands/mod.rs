//! A band around the calibration curve, which holds for every score simultaneously if the curve does not fall.
//!
//! The intervals of [`intervals`](crate::intervals) are about the average rate of a range. If a higher score never means a lower probability, an
//! interval of a range is also about each score: the probability of its last score is not below the average, and that of its first score is not above
//! it. Imports `stats`, `error`, `points`, `data`, `guarantee`, `fit` and `intervals`.

mod family;
mod fit;
mod steps;

pub use fit::Band;
pub use steps::Steps;
