//! End-to-end tests: host, artefact, emulated device, host.

mod board;
mod brittle;
mod case;
mod command;
mod emulator;
mod gdb;
mod image;
mod kills;
mod parity;
mod tty;

pub use board::Board;
pub use brittle::{BrittleLine, terminals};
pub use case::{Case, Rows, SEED};
pub use command::calib;
pub use emulator::Emulator;
pub use gdb::GdbProbe;
pub use image::{
    ImageSize, build_firmware, build_firmware_for, build_nrf52840_dk, build_updatable_firmware,
    function_assembly, image_size, symbol_addr_of, symbol_sizes,
};
pub use kills::{Kills, kills};
pub use parity::{Parity, bare_scores, classified_rows, vectors};
pub use tty::TtyDevice;
