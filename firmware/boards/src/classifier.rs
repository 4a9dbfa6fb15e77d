//! The classifier that the firmware was built with; the build script writes it.

#[cfg(feature = "network")]
use calib_classifier::OutputKind;
#[cfg(feature = "network")]
use calib_classifier::network::{Codes, Network};
use calib_core::ClassifierId;
use calib_firmware::AlarmRule;
#[cfg(not(feature = "network"))]
use calib_firmware::LinearClassifier;

include!(concat!(env!("OUT_DIR"), "/classifier.rs"));
