//! What can be wrong with the user's files: one plain line, the place, and what to do.

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

use crate::device::DeviceError;
use crate::output::OutputError;
use crate::probe::FlashError;
use crate::problem::Problem;
use calib_fit::artifact::CompileError;
use calib_fit::error::FitError;

/// Why a command failed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The command line makes no sense, although every option for itself does.
    #[error("{0}")]
    Usage(String),
    /// A file cannot be read.
    #[error("cannot read {}: {source}", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// The operating system's reason.
        source: io::Error,
    },
    /// A file was read, and holds what it should not.
    #[error("{place}: {problem}")]
    Input {
        /// Where.
        place: Box<Place>,
        /// What.
        problem: Problem,
    },
    /// Two files do not belong together.
    #[error("{0}")]
    Mismatch(String),
    /// The data are in order, but nothing can be fitted to them, or an option is out of range.
    #[error("{}{cause}", if cause.is_about_options() { String::new() } else { format!("{place}: ") })]
    Fit {
        /// The data.
        place: Box<Place>,
        /// Why not.
        cause: FitError,
    },
    /// The temporary file of points that do not fit into memory cannot be written or read.
    #[error("cannot keep the points in a temporary file in {}: {source}", folder.display())]
    Spill {
        /// Where it is.
        folder: PathBuf,
        /// The operating system's reason.
        source: io::Error,
    },
    /// The fit has no form that a device can run.
    #[error(transparent)]
    Compile(#[from] CompileError),
    /// The result could not be written.
    #[error(transparent)]
    Output(#[from] OutputError),
    /// A device did not do as it was asked.
    #[error(transparent)]
    Device(#[from] DeviceError),
    /// A chip's flash was not read or written.
    #[error(transparent)]
    Flash(#[from] FlashError),
    /// The operating system has no random numbers.
    #[error("the operating system gives no random numbers: {0}")]
    Random(String),
    /// The result could not be printed.
    #[error("cannot write to standard output: {0}")]
    Stdout(#[from] io::Error),
}

/// A place in a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// The file.
    pub file: PathBuf,
    /// The row.
    pub row: Option<Row>,
    /// The column, by name or number.
    pub column: Option<String>,
}

/// A row of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Row {
    /// A line of a text file, from 1 on, the header included: what an editor shows.
    Line(u64),
    /// A row of an array, from 0 on: what NumPy shows.
    Index(usize),
}

impl Error {
    /// An error at a place.
    pub fn input(place: Place, problem: Problem) -> Self {
        Self::Input { place: Box::new(place), problem }
    }

    /// A failure of a fit to the data at a place.
    pub fn fit(place: Place, cause: FitError) -> Self {
        match cause {
            FitError::Spill(kind) => Self::spill(kind.into()),
            cause => Self::Fit { place: Box::new(place), cause },
        }
    }

    /// A failure of the temporary file of points.
    pub(crate) fn spill(source: io::Error) -> Self {
        Self::Spill { folder: std::env::temp_dir(), source }
    }

    /// What to do about it.
    pub fn hint(&self) -> Option<String> {
        Some(match self {
            Self::Input { problem, place } => return problem.hint(place),
            Self::Output(OutputError::Exists(_)) => "add --force to replace it".into(),
            Self::Output(OutputError::DiskFull(path)) => {
                format!("free some space, or write elsewhere than {}", path.display())
            }
            Self::Output(OutputError::NotAFile(_)) => "give the name of a file with -o".into(),
            Self::Output(OutputError::Io { path, source }) if source.kind() == io::ErrorKind::NotFound => {
                format!("create the folder of {} first", path.display())
            }
            Self::Spill { .. } => "set TMPDIR to a folder on a disk with 4 bytes a row to spare".into(),
            Self::Device(cause) => return cause.hint(),
            Self::Flash(FlashError::Access(cause)) => return cause.hint(),
            Self::Flash(FlashError::NotWhole { .. }) => {
                "give the --slot-addr and --slot-len that the firmware was built with".into()
            }
            Self::Flash(FlashError::NoReport { .. }) => {
                "does calib's firmware run on the chip? ask it over its serial port with --port, or not at all with --no-verdict"
                    .into()
            }
            Self::Flash(FlashError::Rejected(rejection)) => rejection.hint(),
            Self::Flash(_) => "the calibrator in force is as before; run it again".into(),
            _ => return None,
        })
    }

    /// The exit code: 1 for files that do not belong together, 2 for usage, 3 for input, 4 for output,
    /// 5 for a device.
    pub fn exit_code(&self) -> u8 {
        match self {
            Self::Mismatch(_) => 1,
            Self::Usage(_) => 2,
            Self::Fit { cause, .. } if cause.is_about_options() => 2,
            Self::Compile(CompileError::Codes(_) | CompileError::NoDirectTable(_)) => 2,
            Self::Read { .. } | Self::Input { .. } | Self::Fit { .. } | Self::Compile(_) => 3,
            Self::Output(_) | Self::Random(_) | Self::Stdout(_) | Self::Spill { .. } => 4,
            Self::Device(_) | Self::Flash(_) => 5,
        }
    }
}

impl Place {
    /// A file as a whole.
    pub fn file(path: &Path) -> Self {
        Self { file: path.into(), row: None, column: None }
    }

    /// A row of it.
    #[must_use]
    pub fn row(mut self, row: Row) -> Self {
        self.row = Some(row);
        self
    }

    /// A column of it.
    #[must_use]
    pub fn column(mut self, column: impl ToString) -> Self {
        self.column = Some(column.to_string());
        self
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.file.display())?;
        match self.row {
            Some(Row::Line(line)) => write!(f, ", line {line}")?,
            Some(Row::Index(index)) => write!(f, ", row {index}")?,
            None => {}
        }
        self.column.as_ref().map_or(Ok(()), |column| write!(f, ", column {column}"))
    }
}
