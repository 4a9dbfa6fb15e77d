//! Campaigns that run millions of cases against calib-core, and against its slots through the library for C.

mod c_device;
pub mod exhaustive;
pub mod faults;

pub use c_device::start as start_c;
