//! Drivers of NOR flash, behind the traits of [`embedded_storage::nor_flash`].
//!
//! A board with its own flash keeps its calibrators in two slots. calib-core's `SlotStore` writes the slots through
//! [`NorFlash`](embedded_storage::nor_flash::NorFlash), which the drivers here implement:
//!
//! * [`CfiFlash`]: two parallel 16-bit chips side by side with Intel's command set;
//! * [`NvmcFlash`]: the flash behind the controller of Nordic's nRF51 and nRF52;
//! * [`RamFlash`]: memory that keeps to flash's rules, for boards without flash.
//!
//! All of them hold to `NorFlash`'s contract: a write to a word that is not erased is an error, and changes nothing.
//!
//! # What this crate does not do
//!
//! It touches no register and no address: a board implements [`FlashBus`] or [`NvmcBus`] for its own. It knows nothing of
//! slots, artifacts and calibrators, and depends on no other crate of calib.
//!
//! # Features
//!
//! * `defmt`: the errors can be logged.
#![no_std]
#![forbid(unsafe_code)]

#[cfg(test)]
extern crate std;

mod cfi;
mod nvmc;
mod ram_flash;

pub use cfi::{CfiError, CfiFlash, FlashBus};
pub use nvmc::{NvmcBus, NvmcError, NvmcFlash, NvmcMode};
pub use ram_flash::RamFlash;
