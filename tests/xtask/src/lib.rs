//! What the driver shares with the tests: running other programs, and counting the repository's lines and options.

mod board;
pub mod count;
mod process;

pub use board::Board;
pub use process::{beside, built, c_library, cargo, copy, output, root, run, show, tool, tools};
