//! What an artifact says of rows, with the code and the arithmetic of the device.

mod outputs;
mod probs;
mod row;
mod words;

pub use outputs::Outputs;
pub use probs::apply_probs;
pub use row::{Applied, AppliedClasses, AppliedRow, Others, apply, calibrate};
pub use words::Words;
