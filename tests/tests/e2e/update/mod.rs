//! Calibrators replaced on emulated boards with two slots: over a terminal, by the command, and through a debug probe.

mod commands;
mod counters;
mod device;
mod hardware;
mod monitor;
mod probe;
mod setting;
