//! What an artifact says of rows, with the code and the arithmetic of the device.

mod outputs;
mod probs;
mod row;
mod random_words;

pub use outputs::Outputs;
pub use probs::apply_probs;
pub use row::{Applied, AppliedClasses, AppliedRow, Others, apply, calibrate};
pub use random_words::RandomWords;
