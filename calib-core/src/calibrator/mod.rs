//! Calibrators, ready for use: what a parsed artefact is for.
//!
//! [`Artifact::calibrator`](crate::artifact::Artifact::calibrator) returns the [`Calibrator`] of the artefact:
//!
//! | calibrator | classifier | result |
//! |---|---|---|
//! | [`BinaryCalibrator`], [`BinaryCodeCalibrator`] | two classes, floats or codes | the probability of class 1 |
//! | [`TopLabelCalibrator`], [`TopLabelCodeCalibrator`] | several classes, floats or codes | the probability that the prediction is right |
//! | [`TopKCalibrator`] | several classes | the same for each of the first few classes |
//! | [`VectorCalibrator`] | several classes | a probability for every class |
//!
//! Calibrating is total: every valid score has a result.
//!
//! This room imports [`score`](crate::score), [`outcome`](crate::outcome), [`vector`](crate::vector) and
//! [`artifact`](crate::artifact).

mod binary;
mod class_probs;
mod class_wise;
mod kind;
mod normalized;
mod top_k;
mod top_label;
mod vector;

pub use binary::{BinaryCalibrator, BinaryCodeCalibrator};
pub use class_probs::ClassProbs;
pub use class_wise::ClassWiseCalibrator;
pub use kind::Calibrator;
pub use normalized::NormalizedCalibrator;
pub use top_k::TopKCalibrator;
pub use top_label::{TopLabelCalibrator, TopLabelCodeCalibrator};
pub use vector::VectorCalibrator;
