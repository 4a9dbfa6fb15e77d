//! A linear classifier in a JSON file, as a trainer writes it and a board's build script reads it.
//!
//! ```
//! use calib_classifier::linear::{LinearModel, ModelFault};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let fever = r#"{"name": "fever", "id": "00112233aabbccdd", "mean": [37.0, 80.0], "scale": [0.5, 12.0],
//!     "weights": [[1.5, 0.25]], "bias": [-1.0], "alarm": {"at_least": 0.5}}"#;
//! # let folder = tempfile::tempdir()?;
//! # let path = folder.path().join("fever.json");
//! std::fs::write(&path, fever)?;
//! let mut parameters = LinearModel::load(&path)?.parameters().clone();
//! assert_eq!(parameters.mean, [37.0, 80.0]);
//!
//! parameters.scale[1] = 0.0;
//! assert_eq!(LinearModel::new(parameters), Err(ModelFault::Scale(1)));
//! # Ok(())
//! # }
//! ```
//!
//! # What this module does not do
//!
//! It trains nothing, and is no part of a device's program: the build script writes the classifier as the source code of a
//! [`LinearClassifier`](calib_firmware::LinearClassifier).

mod error;
mod model;
mod parameters;

pub use calib_core::AlarmRule;
pub use error::{ModelError, ModelFault};
pub use model::LinearModel;
pub use parameters::LinearParameters;
