//! Prediction sets: all classes that conform well enough, with a stated probability that the true one is among them.
//!
//! Imports `stats`, `points`, `data` and `operating`.

mod conformity;
mod figures;
mod fit;

pub use conformity::{ConformityScore, ConformityScores};
pub use figures::SetFigures;
pub use fit::{PredictionSets, SetAim, SetError, SetThreshold};
