//! Reading scores and labels, with the place of whatever is wrong.
//!
//! A file's format is told by its first bytes, and only if these say nothing by its name; see [`Format`].
//! [`Table`] gives columns by name whatever the format, [`vectors`] a matrix of logits or probabilities.
//!
//! Nothing that a file says is believed before it is checked: what is unpacked is limited to
//! [`MAX_UNPACKED_BYTES`], and a broken file is an error with a sentence, never a panic.

#[cfg(feature = "arrow")]
mod arrow;
mod cell;
mod column;
mod csv;
mod format;
#[cfg(feature = "arrow")]
mod guard;
#[cfg(feature = "arrow")]
mod ipc;
mod json_lines;
mod limit;
mod matrix;
mod npy;
mod npz;
#[cfg(feature = "arrow")]
mod parquet;
mod source;
mod table;

pub use column::{Column, binary_data, check_rows};
pub use format::Format;
pub use limit::MAX_UNPACKED_BYTES;
pub use matrix::{is_matrix, vectors, vectors_named};
pub use source::{Source, sha256};
pub use table::{Shown, Table};
