//! End-to-end tests: host, artefact, emulated device, host.

mod board;
mod case;
mod emulator;
mod image;
mod parity;

pub use board::Board;
pub use case::{Case, Rows, SEED};
pub use emulator::Emulator;
pub use image::{ImageSize, build_firmware, build_firmware_for, function_assembly, image_size, symbol_sizes};
pub use parity::{Parity, bare_scores, classified_rows, vectors};
