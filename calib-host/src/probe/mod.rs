//! A device on a debug probe.

mod access;
#[cfg(feature = "probe")]
mod chip;
mod deploy;
mod flow;
mod image;
mod report;

pub use access::{AccessError, FlashAccess, ProbeState, Sector};
#[cfg(feature = "probe")]
pub use chip::{Chip, ChipLog, elf_segments, probes};
pub use deploy::{deploy, prepare, read_slots};
pub use flow::{FlashError, FlashReport, Plan, Segment, flash, plan};
pub use image::{SlotImage, SlotMap, report_addr, slot_map};
pub use report::{DeviceReport, Rejection, await_report, restart};
