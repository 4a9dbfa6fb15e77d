//! Calibrators replaced on emulated boards with two slots: over a terminal, by the command, and through a debug probe.

pub(crate) mod monitor_action;
mod commands;
mod counters;
pub(crate) mod device;
mod hardware;
mod persistent;
mod logged;
mod monitor;
mod probe;
pub(crate) mod setting;
