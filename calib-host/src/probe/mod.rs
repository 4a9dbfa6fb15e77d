//! A device on a debug probe.

mod access;
#[cfg(feature = "probe")]
mod chip;
mod flow;
mod image;

pub use access::{AccessError, FlashAccess, Sector};
#[cfg(feature = "probe")]
pub use chip::{Chip, ProbeState, elf_segments, probes};
pub use flow::{FlashError, FlashReport, Plan, Segment, flash, plan};
pub use image::{SlotImage, SlotMap, slot_map};
