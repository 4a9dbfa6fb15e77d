//! calib for C firmware: a static library and the header `include/calib.h`, which cbindgen makes of this crate.
//!
//! | file | holds |
//! |---|---|
//! | `version` | the version, and whether a program has this header |
//! | `error` | what functions return, and a text for it |
//! | `memory` | what is checked of every pointer, and states in the caller's memory |
//! | `result` | what is said of one output of the classifier |
//! | `calibrator` | an artifact where it lies |
//! | `table` | an artifact with one binary step table, in less flash |
//! | `apply`, `vectors` | applying it to scores, codes and vectors |
//! | `band` | the band around the calibration curve |
//! | `flash` | the caller's three functions as flash |
//! | `trust` | whose artifacts are accepted |
//! | `store` | two slots: loading and installing |
//! | `pieces` | an artifact that arrives in pieces |
//! | `classifier` | the caller's functions as classifier, alarm, timer and source of random words |
//! | `counters`, `counting`, `saved`, `journal` | counters in the caller's memory, as bytes, and in flash |
//! | `told` | which outcomes are known already |
//! | `monitors` | counting predictions, and what the monitors say |
//! | `device` | all of them behind a serial line: bytes in, bytes out |
//!
//! # What this crate does not do
//!
//! It never allocates, has no global state, and calibrates nothing by itself: calib-core and calib-firmware do. All unsafe code
//! of calib is here, at the wall to C.
#![no_std]
#![deny(unsafe_op_in_unsafe_fn)]

// A static library for the host takes its panic handler from it.
#[cfg(not(target_os = "none"))]
extern crate std;

mod apply;
mod band;
mod calibrator;
mod classifier;
mod counters;
mod counting;
mod device;
mod error;
mod flash;
mod journal;
mod memory;
mod monitors;
#[cfg(all(target_os = "none", feature = "panic-handler"))]
mod panic;
mod pieces;
mod result;
mod saved;
mod store;
mod table;
mod told;
mod trust;
mod vectors;
mod version;

pub use apply::*;
pub use band::*;
pub use calibrator::*;
pub use classifier::*;
pub use counters::*;
pub use counting::*;
pub use device::*;
pub use error::*;
pub use flash::*;
pub use journal::*;
pub use monitors::*;
pub use pieces::*;
pub use result::*;
pub use store::*;
pub use table::*;
pub use told::CALIB_TOLD_WINDOW;
pub use trust::CALIB_KEY_BYTES;
pub use version::*;
