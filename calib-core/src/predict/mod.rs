//! What an artifact says of a classifier's output: the one place where kinds of output meet kinds of calibrator.
//!
//! [`Artifact::predict`](crate::artifact::Artifact::predict) calibrates an [`Output`] and says all that the artifact has to say of it. A
//! [`Predictor`] does the same for many outputs.
//!
//! An artifact may decide about the alarm: by a decision rule about the calibrated probability, by thresholds of the score, or by prediction
//! sets, which raise it unless exactly one class is in the set. It has one of these at most. If it has none, [`Prediction::alarm`] is
//! `None`, and the device's own rule decides.
//!
//! This room imports [`score`](crate::score), [`outcome`](crate::outcome), [`decision`](crate::decision), [`artifact`](crate::artifact) and
//! [`calibrator`](crate::calibrator).

mod output;
mod prediction;
mod predictor;

pub use output::{Output, Query};
pub use prediction::{Mismatch, OtherClasses, Prediction, Ranked, RankedList, ScoreEcho};
pub use predictor::{OutputShape, Predictor, Task};
