//! How good probabilities are: of a data set as it is, or before and after an artifact.

mod assess_data;
mod assessed;
mod calibrated;
mod device_scores;
mod error;
mod mismatch;
mod options;
mod points;
mod sets;

pub use assess_data::{
    Predictions, assess, assess_calibrated, assess_matrix, assess_predictions, overlap_with_fit, reads_points,
};
pub use assessed::{
    Assessed, AssessedBeforeAfter, AssessedClasses, AssessedFigures, AssessedOperating, AssessedPredictions,
    AssessedRanks, AssessedSets, AssessedVectors, Compared,
};
pub use calibrated::{Calibrated, Ranks};
pub use device_scores::{CheckedScores, DeviceScores, binary_encoding, scores_encoding};
pub use error::AssessError;
pub use mismatch::{Mismatch, codes_of_classes, got_vectors, mismatch, needs_logits, vectors_encoding};
pub use options::AssessOptions;
