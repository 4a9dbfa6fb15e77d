//! End-to-end tests: host, artifact, emulated device, host.

mod bands;
mod brittle;
mod c_library;
pub mod classifier;
mod command;
mod emulator;
mod fingerprint;
mod firmware;
mod gdb;
mod image;
mod kills;
mod load;
mod margins;
mod parity;
mod pipes;
mod stand_in;
mod starvation;
mod tty;
mod watchdog;

pub use bands::around_band_edges;
pub use brittle::{Break, BrittleLine, terminals};
pub use c_library::{SEES_THE_LIBRARY, build_c_firmware, build_c_library};
pub use command::calib;
pub use emulator::Emulator;
pub use firmware::{
    build_firmware, build_firmware_for, build_firmware_of, build_network_firmware, build_nrf52840_dk,
    build_traced_firmware, build_unmonitored_firmware, build_updatable_firmware, cargo_home, remapped_paths,
};
pub use gdb::GdbProbe;
pub use image::{ImageSize, flashed_bytes, function_assembly, image_size, symbol_addr_of, symbol_sizes};
pub use kills::{Changes, Kills, changes, kills};
pub use load::{Answers, LoadReport, load};
pub use margins::{margins, top2_margins};
pub use parity::{
    Parity, asked, bare_scores, classified_rows, code_vectors, coded_rows, expected, quantized_softmax,
    vectors,
};
pub use stand_in::{overconfident_logits, stand_in};
pub use tty::TtyDevice;
pub use xtask::Board;
