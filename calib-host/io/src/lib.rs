//! The world around calib-fit: files and standard input, tables of numbers, pages and plots, SQL, and devices.
//!
//! # Rooms
//!
//! [`files`] < [`draw`] < [`input`] < [`output`] < [`export`] < [`sql`] < [`device`] < [`report`] <
//! [`protocol`] < [`decision_log`] < [`bundle`], where a room imports rooms to its
//! left only.
#![forbid(unsafe_code)]

pub mod bundle;
pub mod decision_log;
pub mod device;
pub mod draw;
pub mod export;
pub mod files;
pub mod input;
pub mod output;
pub mod protocol;
pub mod report;
pub mod sql;
