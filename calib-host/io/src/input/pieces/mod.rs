//! Files that may be larger than memory, piece by piece.

mod binary;
mod column_use;
mod csv;
mod fields;
mod file;
mod hash;
mod json_lines;
mod matrix;
mod npy;
mod text;

pub use binary::{BinaryFiles, BinaryInput, BinaryPiece, BinaryPieces, ScoreNumber};
pub use column_use::ColumnUse;
pub use file::Pieces;
pub use matrix::MatrixPieces;
