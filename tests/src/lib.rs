//! End-to-end tests: host, artefact, emulated device, host.

mod board;
mod case;
mod emulator;
mod image;
mod kills;
mod parity;
mod tty;

pub use board::Board;
pub use case::{Case, Rows, SEED};
pub use emulator::Emulator;
pub use image::{
    ImageSize, build_firmware, build_firmware_for, build_updatable_firmware, function_assembly, image_size,
    symbol_sizes,
};
pub use kills::{Kills, kills};
pub use parity::{Parity, bare_scores, classified_rows, vectors};
pub use tty::TtyDevice;
