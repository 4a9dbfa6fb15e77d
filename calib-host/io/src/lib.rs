//! The world around calib-fit: files and standard input, tables of numbers, pages and plots, SQL, and devices.
//!
//! # Rooms
//!
//! [`files`] < [`draw`] < [`input`] < [`output`] < [`export`] < [`sql`] < [`device`] < [`report`], where a room imports rooms to its
//! left only.
#![forbid(unsafe_code)]

pub mod device;
pub mod draw;
pub mod export;
pub mod files;
pub mod input;
pub mod output;
pub mod report;
pub mod sql;
