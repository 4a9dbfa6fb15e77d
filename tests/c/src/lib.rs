//! The campaigns of `calib-faults` against the slots of calib's library for C, through its three callbacks.

mod device;

pub use device::start;
