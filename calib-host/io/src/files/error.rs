//! Why a file, or what it holds, is of no use.

use std::io;
use std::path::PathBuf;

use super::location::Location;
use super::problem::Problem;

/// Why a file, or what it holds, is of no use.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum FileError {
    /// A file cannot be read.
    #[error("cannot read {}: {source}", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// The operating system's reason.
        source: io::Error,
    },
    /// A file was read, and its content is wrong.
    #[error("{place}: {problem}")]
    Input {
        /// Where.
        place: Box<Location>,
        /// What.
        problem: Problem,
    },
    /// The temporary file of points that do not fit into memory cannot be written or read.
    #[error("cannot keep the observations in a temporary file in {}: {source}", folder.display())]
    Spill {
        /// Where it is.
        folder: PathBuf,
        /// The operating system's reason.
        source: io::Error,
    },
    /// Two inputs are standard input, which can be read once.
    #[error("only one input can be -, which is standard input")]
    TwoStandardInputs,
    /// The scores are an array that is alone in its file, and there is no file of labels.
    #[error("a NumPy array has only scores: the labels are needed in a separate file")]
    NoLabels,
    /// The codes of several classes are in a table, and its columns are not named.
    #[error("name the columns of all classes of a table")]
    NoClassColumns,
}

impl FileError {
    /// Says that something is wrong at a place.
    pub fn input(place: Location, problem: Problem) -> Self {
        Self::Input { place: Box::new(place), problem }
    }

    /// Says that the temporary file of points failed.
    pub fn spill(source: io::Error) -> Self {
        Self::Spill { folder: std::env::temp_dir(), source }
    }
}
