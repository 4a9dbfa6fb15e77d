//! What can be wrong with the user's files: one plain line, the place, and what to do.

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

use calib_core::ParseError;

use crate::compile::CompileError;
use crate::fit::FitError;
use crate::output::OutputError;

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
    /// The data are in order, but nothing can be fitted to them.
    #[error(transparent)]
    Fit(#[from] FitError),
    /// The fit has no form that a device can run.
    #[error(transparent)]
    Compile(#[from] CompileError),
    /// The result could not be written.
    #[error(transparent)]
    Output(#[from] OutputError),
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

/// What is wrong at a place.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Problem {
    /// The file or array has no rows.
    Empty,
    /// The text is not a number.
    NotANumber(String),
    /// The number is NaN.
    NaN,
    /// The number is infinite.
    Infinite,
    /// The score is outside `[0, 1]`.
    ScoreOutOfRange(f64),
    /// The number of bins is not an integer from 0 on.
    BinNumber(String),
    /// The label is not a whole number.
    LabelNotInteger(String),
    /// The label is not one of the classes `0..classes`.
    LabelOutOfRange {
        /// The label.
        label: i64,
        /// The number of classes.
        classes: usize,
    },
    /// All labels are the same.
    OneClass(u8),
    /// The column is not there; these are.
    MissingColumn(Vec<String>),
    /// The column is there already, so it cannot be added.
    ColumnExists,
    /// The column is there twice.
    ColumnTwice,
    /// The row has another number of fields than the header.
    Ragged {
        /// The header's number.
        expected: u64,
        /// The row's.
        got: u64,
    },
    /// The text is not UTF-8.
    NotUtf8,
    /// The file is not what its name says.
    Format(String),
    /// The array's elements are of this type, not of one of those.
    Dtype {
        /// The type found.
        got: String,
        /// The types that would do.
        expected: &'static str,
    },
    /// The array has this shape.
    Shape {
        /// The shape found.
        got: Vec<u64>,
        /// What would do.
        expected: &'static str,
    },
    /// The file ends too early.
    Truncated {
        /// The length in bytes that the header promises.
        expected: u64,
        /// The length found.
        got: u64,
    },
    /// The file goes on after the data.
    TrailingBytes {
        /// The length in bytes that the header promises.
        expected: u64,
        /// The length found.
        got: u64,
    },
    /// A row of probabilities does not sum to one.
    Sum(f32),
    /// The number of classes is out of range.
    ClassCount(usize),
    /// There is another number of rows than in the other file.
    RowCount {
        /// The number here.
        got: usize,
        /// The other file.
        other: PathBuf,
        /// The number there.
        expected: usize,
    },
    /// The file is larger than any artefact.
    ArtifactTooLarge {
        /// Its length.
        len_bytes: u64,
        /// The limit.
        max: u64,
    },
    /// The file is not an artefact.
    Artifact(ParseError),
    /// The artefact's identity is not the hash of its content.
    Identity,
}

impl Error {
    /// An error at a place.
    pub fn input(place: Place, problem: Problem) -> Self {
        Self::Input { place: Box::new(place), problem }
    }

    /// What to do about it.
    pub fn hint(&self) -> Option<String> {
        Some(match self {
            Self::Input { problem, place } => return problem.hint(place),
            Self::Output(OutputError::Exists(_)) => "add --force to replace it".into(),
            Self::Output(OutputError::DiskFull(path)) => {
                format!("free some space, or write elsewhere than {}", path.display())
            }
            Self::Fit(FitError::TooFewPoints { n, .. }) if *n >= 2 => {
                format!("use --bins {} or fewer, or add calibration data", n / 2)
            }
            Self::Fit(FitError::OneClass { .. }) => "calibration data must hold both labels, 0 and 1".into(),
            Self::Fit(FitError::NoClass { most, .. }) if *most >= 2 => {
                format!("use --points-per-bin {most} or less, or fewer --bins, or add calibration data")
            }
            Self::Fit(FitError::Alpha(_)) => "alpha is a fraction such as 0.1, not a percentage".into(),
            _ => return None,
        })
    }

    /// The exit code: 1 for files that do not belong together, 2 for usage, 3 for input, 4 for output.
    pub fn exit_code(&self) -> u8 {
        match self {
            Self::Mismatch(_) => 1,
            Self::Usage(_) => 2,
            Self::Read { .. } | Self::Input { .. } | Self::Fit(_) | Self::Compile(_) => 3,
            Self::Output(_) | Self::Stdout(_) => 4,
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

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Empty => f.write_str("there are no rows"),
            Self::NotANumber(text) if text.is_empty() => f.write_str("the field is empty"),
            Self::NotANumber(text) => write!(f, "\"{text}\" is not a number"),
            Self::NaN => f.write_str("the value is NaN"),
            Self::Infinite => f.write_str("the value is infinite"),
            Self::ScoreOutOfRange(value) => write!(f, "the score {value} is outside [0, 1]"),
            Self::BinNumber(text) => write!(f, "\"{text}\" is not a bin number"),
            Self::LabelNotInteger(text) => write!(f, "the label \"{text}\" is not a whole number"),
            Self::LabelOutOfRange { label, classes } => {
                write!(f, "the label {label} is out of range: the {classes} classes are 0 to {}", classes - 1)
            }
            Self::OneClass(label) => write!(f, "all labels are {label}"),
            Self::MissingColumn(_) => f.write_str("there is no such column"),
            Self::ColumnExists => f.write_str("the column to be added is there already"),
            Self::ColumnTwice => f.write_str("the column is there twice"),
            Self::Ragged { expected, got } => write!(f, "{got} fields, where the header has {expected}"),
            Self::NotUtf8 => f.write_str("the text is not UTF-8"),
            Self::Format(why) => f.write_str(why),
            Self::Dtype { got, expected } => write!(f, "the elements are {got}, expected {expected}"),
            Self::Shape { got, expected } => {
                let sizes: Vec<String> = got.iter().map(u64::to_string).collect();
                write!(f, "the shape is ({}), expected {expected}", sizes.join(", "))
            }
            Self::Truncated { expected, got } => {
                write!(f, "the file is cut off: {got} of {expected} bytes are there")
            }
            Self::TrailingBytes { expected, got } => {
                write!(f, "the file has {got} bytes where its header promises {expected}")
            }
            Self::Sum(sum) => write!(f, "the probabilities sum to {sum}, not to 1"),
            Self::ClassCount(n) => {
                write!(f, "{n} classes: a classifier has 2 to {}", calib_core::MAX_CLASSES)
            }
            Self::RowCount { got, other, expected } => {
                write!(f, "{got} rows, but {} has {expected}", other.display())
            }
            Self::ArtifactTooLarge { len_bytes, max } => {
                write!(f, "{len_bytes} bytes are more than any artefact has ({max})")
            }
            Self::Artifact(cause) => cause.fmt(f),
            Self::Identity => {
                f.write_str("the identity is not the hash of the content: the artefact was altered")
            }
        }
    }
}

impl Problem {
    fn hint(&self, place: &Place) -> Option<String> {
        Some(match self {
            Self::ScoreOutOfRange(_) => {
                "a score is a probability-like output in [0, 1]; for a matrix of logits use --logits".into()
            }
            Self::NaN | Self::Infinite | Self::NotANumber(_) => "remove or repair the row".into(),
            Self::LabelNotInteger(_) | Self::LabelOutOfRange { .. } => {
                "labels are class indices from 0 on; for binary data 0 and 1".into()
            }
            Self::MissingColumn(there) => format!("the columns are: {}", there.join(", ")),
            Self::ColumnExists => {
                format!("{} looks like an earlier output; apply to the original file", place.file.display())
            }
            Self::Dtype { .. } => "convert it with NumPy's astype".into(),
            Self::Sum(_) => "if these are logits, use --logits instead of --probs".into(),
            Self::Truncated { .. } | Self::TrailingBytes { .. } => "save or copy the file again".into(),
            Self::RowCount { .. } => "every row needs one score and one label".into(),
            Self::Artifact(ParseError::FormatVersion(_) | ParseError::UnknownSection(_)) => {
                "install a newer version of calib".into()
            }
            Self::Artifact(_) | Self::Identity | Self::ArtifactTooLarge { .. } => {
                "write the artefact again with `calib fit`".into()
            }
            _ => return None,
        })
    }
}
