//! Calibrators, ready for use: what a parsed artifact is for.
//!
//! [`Artifact::calibrator`](crate::artifact::Artifact::calibrator) returns the [`Calibrator`] of the artifact:
//!
//! | calibrator | classifier | result |
//! |---|---|---|
//! | [`BinaryCalibrator`], [`BinaryMarginCalibrator`], [`BinaryCodeCalibrator`] | two classes: scores in `[0, 1]`, margins, codes | the probability of class 1 |
//! | [`TopLabelCalibrator`], [`TopLabelCodeCalibrator`] | several classes: floats, codes | the probability that the prediction is right |
//! | [`TopLabelMarginCalibrator`], [`TopLabelCodeMarginCalibrator`] | several classes: logits as floats, as codes | the same, without a softmax |
//! | [`TopKCalibrator`] | several classes | the same for each of the first few classes |
//! | [`VectorCalibrator`] | several classes | a probability for every class |
//! | [`Calibrator::Grouped`] | any of the first three rows, with the code of a group | the same by the group's own tables, in [`Artifact::predict`](crate::artifact::Artifact::predict) |
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

pub use binary::{BinaryCalibrator, BinaryCodeCalibrator, BinaryMarginCalibrator};
pub use class_probs::ClassProbs;
pub use class_wise::ClassWiseCalibrator;
pub use kind::Calibrator;
pub use normalized::NormalizedCalibrator;
pub use top_k::TopKCalibrator;
pub use top_label::{
    TopLabelCalibrator, TopLabelCodeCalibrator, TopLabelCodeMarginCalibrator, TopLabelMarginCalibrator,
};
pub use vector::VectorCalibrator;
