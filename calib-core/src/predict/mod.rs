//! What an artefact says of a classifier's output: the one place where kinds of output meet kinds of calibrator.
//!
//! [`Artifact::predict`](crate::artifact::Artifact::predict) calibrates an [`Output`] and asks all that the artefact has to say of it: its
//! thresholds, its prediction sets and its decision rule. A [`Predictor`] does the same for many outputs.
//!
//! Who decides about the alarm, the first that there is: the decision rule by the calibrated probability, the thresholds by the score, the
//! prediction sets unless exactly one class is in the set. If an artefact has none of them, [`Prediction::alarm`] is `None`, and the
//! device's own rule decides.
//!
//! This room imports [`score`](crate::score), [`outcome`](crate::outcome), [`decision`](crate::decision), [`artifact`](crate::artifact) and
//! [`calibrator`](crate::calibrator).

mod output;
mod prediction;
mod predictor;

pub use output::{Output, Query};
pub use prediction::{Mismatch, OtherClasses, Prediction, Ranked, RankedList, ScoreEcho};
pub use predictor::{OutputShape, Predictor, Task};
