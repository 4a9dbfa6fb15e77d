//! Calibrators, ready for use: what a parsed artefact is for.
//!
//! [`Artifact::calibrator`](crate::artifact::Artifact::calibrator) gives the [`Calibrator`] that the artefact's reduction and
//! score encoding say, one kind for each shape of classifier. Calibrating is total: a valid score has an
//! [`Outcome`](crate::outcome::Outcome).
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
