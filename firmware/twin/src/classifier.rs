//! The network that the twin was built with; the build script writes it.

use calib_classifier::OutputKind;
use calib_classifier::network::{Codes, Network};
use calib_core::ClassifierId;

/// Its file.
pub const MODEL: &str = env!("CALIB_MODEL");
/// Its source, for the program of a device.
pub const SOURCE: &str = include_str!(concat!(env!("OUT_DIR"), "/classifier.rs"));

include!(concat!(env!("OUT_DIR"), "/classifier.rs"));
