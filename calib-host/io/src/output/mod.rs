//! Tables that are written piece by piece: CSV, JSON lines, Parquet, Arrow and NumPy, as the name of the file says.
//!
//! ```
//! use calib_io::files::OutputPlace;
//! use calib_io::output::{Block, NewColumn, TableFormat, Values, write_table};
//!
//! let folder = tempfile::tempdir()?;
//! let path = folder.path().join("out.csv");
//! let rows = |values| Block::new(vec![NewColumn::probs("prob", values)]);
//! write_table(OutputPlace::File { path: &path, overwrite: false }, TableFormat::of(&path)?, |out| {
//!     out.write(&rows(vec![Some(0.25), None]))?;
//!     out.write(&rows(vec![Some(0.5)]))
//! })?;
//! assert_eq!(std::fs::read_to_string(&path)?, "prob\n0.25\n\"\"\n0.5\n");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! This room knows [`files`](crate::files), and of [`input`](crate::input) the columns of tables that are shown again.

mod block;
mod csv;
mod digits;
mod format;
mod json_lines;
mod npy;
#[cfg(feature = "arrow")]
mod record_batch;
mod stream;
mod writer;

pub use block::{Block, NewColumn, Values};
pub use format::{TableFormat, UnknownFormat};
pub use stream::{RowChunk, write_stream};
pub use writer::{Part, TableWriter, write_table};
