//! End-to-end tests: host, artefact, emulated device, host.

mod case;
mod emulator;
mod image;
mod parity;

pub use case::{Case, Rows, SEED};
pub use emulator::Emulator;
pub use image::{ImageSize, build_firmware, image_size};
pub use parity::{Parity, bare_scores, classified_rows, vectors};
