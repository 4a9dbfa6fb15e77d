//! What an artifact says of rows, with the code and the arithmetic of the device.

mod outputs;
mod probs;
mod random_words;
mod row;

pub use outputs::Outputs;
pub use probs::apply_probs;
pub use random_words::RandomWords;
pub use row::{Applied, AppliedClasses, AppliedRow, Others, apply, calibrate};
