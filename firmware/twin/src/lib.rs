//! The network of a device, run by the device's own code on the host.
//!
//! A [`Reference`] has what TensorFlow Lite makes of some rows. microflow computes otherwise, and some networks come out
//! otherwise: a network that differs in one code of one row is [refused](Reference::check), by this program and by the build of
//! a device's program.
#![forbid(unsafe_code)]

mod classifier;
mod reference;

pub use classifier::{CLASSIFIER, MODEL, SOURCE};
pub use reference::{MIN_ROWS, Reference, ReferenceError, run};
