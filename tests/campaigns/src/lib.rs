//! Campaigns that run millions of cases against calib-core, and against its slots through the library for C; and lives
//! of devices with monitors.

mod c_device;
pub mod exhaustive;
pub mod faults;
pub mod lives;

pub use c_device::start as start_c;
