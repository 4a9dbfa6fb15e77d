//! Calibrators replaced on emulated boards with two slots: over a terminal, by the command, and through a debug probe.

mod commands;
mod counters;
pub(crate) mod device;
mod hardware;
mod logged;
mod monitor;
pub(crate) mod monitor_action;
mod persistent;
mod probe;
pub(crate) mod setting;
