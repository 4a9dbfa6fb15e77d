//! Calibration data, checked once: what is here can be fitted to.
//!
//! Binary scores, which are [probabilities or margins](ScoreKind) ([`BinaryData`], [`WeightedData`]), vectors of probabilities, logits or
//! codes ([`Vectors`], [`CodeVectors`]) and those with labels ([`VectorData`]). Imports `points`.

mod binary;
mod checks;
mod code_vectors;
mod codes;
mod collector;
mod error;
mod labeled_vectors;
mod overlap;
mod repeats;
mod rounding;
mod row_groups;
mod rows_digest;
mod rows_hash;
mod softmax;
mod vectors;
mod weighted;

pub use crate::stats::ScoreKind;
pub use binary::BinaryData;
pub(crate) use binary::{Form, with_points};
pub(crate) use checks::{check_class, check_device_scores, check_labels, check_lengths, check_score};
pub use code_vectors::CodeVectors;
pub(crate) use codes::{clamped_score, code_of_score, score_of_code, scores_of_codes};
pub use collector::{BinaryCollector, ExactCollector, IN_MEMORY_POINTS};
pub use error::DataError;
pub use labeled_vectors::VectorData;
pub use overlap::Overlap;
pub use repeats::Repeats;
pub use rounding::device_scores;
pub(crate) use rounding::{STEPS, rounded_of};
pub use row_groups::RowGroups;
pub use rows_digest::{RowsDigest, RowsSketch};
pub use rows_hash::RowsHash;
pub use vectors::{VectorKind, Vectors};
pub use weighted::WeightedData;
