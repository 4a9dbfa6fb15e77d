//! Devices: their slots and their words, over a serial line and through a debug probe.
//!
//! [`serial`] speaks the device's own protocol; [`probe`] reads and writes its flash behind its back, and lets the device
//! have the last word. Both know artifacts and [`files`](crate::files).

pub mod probe;
pub mod serial;
