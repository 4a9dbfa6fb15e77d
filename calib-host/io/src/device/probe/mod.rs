//! A device on a debug probe: its slots are read, planned, written, read back, and the device is asked what it makes of them.
//!
//! All of this works over any [`FlashAccess`]; [`Chip`], which is one behind probe-rs, comes with the feature `probe`.

mod access;
#[cfg(feature = "probe")]
mod chip;
mod deploy;
mod error;
mod flow;
mod image;
mod report;

pub use access::{AccessError, FlashAccess, ProbeState, Sector};
#[cfg(feature = "probe")]
pub use chip::{Chip, ChipLog, elf_segments, log_addr, probes};
pub use deploy::{deploy, prepare, read_slots};
pub use error::{FlashError, Rejection};
pub use flow::{FlashPlan, FlashReport, Segment, flash, flash_plan};
pub use image::{SlotImage, SlotMap, report_addr, slot_map};
pub use report::{DeviceReport, await_report, restart};
