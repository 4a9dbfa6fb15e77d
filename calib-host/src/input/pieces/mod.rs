//! Files that may be larger than memory, piece by piece.

mod binary;
mod column_use;
mod csv;
mod fields;
mod file;
mod hash;
mod matrix;
mod npy;

pub use binary::{BinaryFiles, BinaryInput, BinaryPiece, BinaryPieces, ScoreNumber};
pub use column_use::ColumnUse;
pub use file::Pieces;
pub use matrix::MatrixPieces;
