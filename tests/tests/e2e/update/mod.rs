//! Calibrators replaced on emulated boards with two slots: over a terminal, by the command, and through a debug probe.

mod commands;
mod counters;
pub(crate) mod device;
mod hardware;
mod monitor;
mod probe;
pub(crate) mod setting;
