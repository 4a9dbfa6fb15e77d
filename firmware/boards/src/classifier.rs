//! The classifier that the firmware was built with; the build script writes it.

use calib_core::ClassifierId;
use calib_firmware::{AlarmRule, LinearClassifier};

include!(concat!(env!("OUT_DIR"), "/classifier.rs"));
