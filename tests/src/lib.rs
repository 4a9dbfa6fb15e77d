//! End-to-end tests: host, artefact, emulated device, host.

mod board;
mod case;
mod emulator;
mod image;
mod kills;
mod load;
mod parity;
mod tty;
mod watchdog;

pub use board::Board;
pub use case::{Case, Rows, SEED};
pub use emulator::Emulator;
pub use image::{
    ImageSize, build_firmware, build_firmware_for, build_traced_firmware, build_updatable_firmware,
    cargo_home, flashed_bytes, function_assembly, image_size, remapped_paths, symbol_sizes,
};
pub use kills::{Kills, kills};
pub use load::{LINE_RATE_BYTES_PER_S, LoadReport, load};
pub use parity::{Parity, bare_scores, classified_rows, vectors};
pub use tty::TtyDevice;
