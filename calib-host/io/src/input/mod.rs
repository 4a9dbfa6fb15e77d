//! Reading scores and labels, with the place of whatever is wrong.
//!
//! ```
//! use calib_fit::ScoreKind;
//! use calib_io::input::{Source, Table, binary_data};
//!
//! let csv = b"score,label\n0.2,0\n0.9,1\n1.1,1\n".to_vec();
//! let table = Table::read(&Source::from_bytes("scores.csv", csv)?)?;
//! let (scores, labels) = (table.numbers("score")?, table.labels("label")?);
//! // The last of the scores is none, and the error says where it is.
//! let error = binary_data(&scores, &labels, ScoreKind::Probability).unwrap_err();
//! assert_eq!(error.to_string(), "scores.csv, line 4, column score: the score 1.1 is outside [0, 1]");
//! # Ok::<(), calib_io::files::FileError>(())
//! ```
//!
//! A file's [`Format`] follows from its first bytes, and from its name only if these are not enough.
//! [`Table`] gives columns by name whatever the format, [`vectors`] a matrix of logits or probabilities.
//!
//! Every format has one reader, which reads chunk by chunk; a whole table is the collection of its chunks. [`Chunks`] gives the columns of a
//! file chunk by chunk, [`MatrixChunks`] the rows of a matrix, and [`BinaryFiles`] the scores and labels of a binary problem. The files may
//! be larger than memory.
//!
//! A column of numbers is kept in the type that its file has, and checked and converted by block. Cells one by one are left
//! for text, for columns with gaps, and for finding the place of a fault.
//!
//! Nothing that a file says is believed before it is checked: what is unpacked is limited to
//! [`MAX_UNPACKED_BYTES`], and a broken file is an error with a sentence, never a panic.
//!
//! This room makes data of files: it knows [`files`](crate::files), and of the fitting the kinds of data, the costs of
//! decisions and the counters of devices.

mod binary;
mod cell;
mod chunk_reader;
mod chunks;
mod clusters;
mod codes;
mod column;
mod column_kind;
mod costs;
mod counters;
mod csv;
mod fields;
mod fleet_log;
mod guard;
mod hash;
#[cfg(feature = "arrow")]
mod ipc;
mod json_lines;
mod limit;
mod matrix;
mod matrix_chunks;
mod npy;
mod npz;
mod open;
#[cfg(feature = "arrow")]
mod parquet;
mod passes;
mod projection;
mod quotes;
#[cfg(feature = "arrow")]
mod record_batch;
mod rows;
mod shown;
mod similar_names;
mod sniff;
mod source;
mod table;
mod text;
#[cfg(feature = "arrow")]
mod thrift;
mod values;
mod weights;

use crate::files::Format;

pub use binary::{BinaryChunk, BinaryChunks, BinaryFiles, BinaryInput, ScoreNumber};
pub use cell::TableCell;
pub use chunks::Chunks;
pub use clusters::clusters;
pub use codes::{ReadNumbers, code_vectors};
pub use column::{Column, binary_data, check_rows};
pub use column_kind::ColumnKind;
pub use costs::{Costs, read_costs};
pub use counters::{MAX_COUNTERS_BYTES, counters_of, read_counters};
pub use fleet_log::read_fleet_log;
pub use limit::{MAX_READ_BYTES, MAX_UNPACKED_BYTES};
pub use matrix::{columns_of_classes, holds_classes, is_matrix, vectors, vectors_named};
pub use matrix_chunks::MatrixChunks;
pub use passes::{read_first_pass, read_first_pass_by_group, read_second_pass, read_second_pass_by_group};
pub use projection::ColumnType;
pub use shown::Shown;
pub use similar_names::{similar_names, stand_in};
pub use sniff::column_aliases::likely_column;
pub use sniff::options::{TableNote, TableOptions, TableRemark, Tell};
pub use sniff::points::are_thousands;
pub use source::{Source, sha256};
pub use table::Table;
pub use weights::{Sample, counted_data, counted_probs, weighted_data};

/// The formats that this build reads.
const READERS: &[(Format, open::Open)] = &[
    (Format::CSV, csv::open),
    (Format::JSON_LINES, json_lines::open),
    (Format::NPY, npy::open),
    (Format::NPZ, npz::open),
    #[cfg(feature = "arrow")]
    (Format::ARROW_FILE, ipc::open),
    #[cfg(feature = "arrow")]
    (Format::ARROW_STREAM, ipc::open),
    #[cfg(feature = "arrow")]
    (Format::PARQUET, parquet::open),
];
