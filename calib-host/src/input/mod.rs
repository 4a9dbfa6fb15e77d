//! Reading scores and labels, with the place of whatever is wrong.

mod csv;
mod npy;

use std::io::Read;
use std::path::{Path, PathBuf};

use calib_core::{LogitsError, ProbsError, ScoreError};
use indicatif::{ProgressBar, ProgressStyle};
use sha2::{Digest, Sha256};

pub use self::csv::CsvTable;
pub use npy::{NpyArray, read_npy};

use crate::data::{BinaryData, DataError, VectorKind, Vectors, device_score};
use crate::error::{Error, Place, Problem, Row};

/// A file's bytes and where they come from.
#[derive(Clone, Debug)]
pub struct Source {
    path: PathBuf,
    bytes: Vec<u8>,
}

/// A column of numbers or labels, each with its place.
#[derive(Clone, Debug)]
pub struct Column<T> {
    /// The values, in row order.
    pub values: Vec<T>,
    place: Place,
    /// The line of each value in a text file; empty for arrays.
    lines: Vec<u64>,
}

impl Source {
    /// Reads a file, showing progress on standard error if it takes long and `progress` is wanted.
    ///
    /// # Errors
    ///
    /// If it cannot be read.
    pub fn read(path: &Path, progress: bool) -> Result<Self, Error> {
        let read_error = |source| Error::Read { path: path.into(), source };
        let file = std::fs::File::open(path).map_err(read_error)?;
        let len = file.metadata().map_err(read_error)?.len();
        // indicatif draws nothing when standard error is not a terminal.
        let bar = if progress { ProgressBar::new(len) } else { ProgressBar::hidden() };
        bar.set_style(
            ProgressStyle::with_template("reading {msg} {wide_bar} {bytes}/{total_bytes} {eta}")
                .expect("a valid template"),
        );
        bar.set_message(path.display().to_string());
        let mut bytes = Vec::new();
        let reserved = bytes.try_reserve_exact(usize::try_from(len).unwrap_or(usize::MAX));
        reserved.map_err(|_| read_error(std::io::ErrorKind::OutOfMemory.into()))?;
        bar.wrap_read(file).read_to_end(&mut bytes).map_err(read_error)?;
        bar.finish_and_clear();
        Ok(Self { path: path.into(), bytes })
    }

    /// The file's name.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The file's content.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Whether this is a NumPy array: by its first bytes or its name.
    pub fn is_npy(&self) -> bool {
        self.bytes.starts_with(b"\x93NUMPY")
            || self.path.extension().is_some_and(|e| e.eq_ignore_ascii_case("npy"))
    }
}

/// The SHA-256 of files, one after the other.
pub fn sha256(sources: &[&Source]) -> [u8; 32] {
    let mut hash = Sha256::new();
    for source in sources {
        hash.update(&source.bytes);
    }
    hash.finalize().into()
}

impl<T> Column<T> {
    /// The place of a row.
    pub fn at(&self, row: usize) -> Place {
        let row = self.lines.get(row).map_or(Row::Index(row), |&line| Row::Line(line));
        self.place.clone().row(row)
    }

    /// The column as a whole.
    pub fn place(&self) -> &Place {
        &self.place
    }

    /// The number of rows.
    #[expect(clippy::len_without_is_empty, reason = "never empty")]
    pub fn len(&self) -> usize {
        self.values.len()
    }
}

impl Column<f64> {
    /// Checks that every value is a score, as the device sees it.
    ///
    /// # Errors
    ///
    /// The first value that is not.
    pub fn scores(&self) -> Result<Vec<calib_core::Score>, Error> {
        let check = |(row, &value): (usize, &f64)| {
            device_score(value).map_err(|cause| Error::input(self.at(row), score_problem(cause, value)))
        };
        self.values.iter().enumerate().map(check).collect()
    }
}

impl Column<i64> {
    /// Checks that every label is one of `0..classes`.
    ///
    /// # Errors
    ///
    /// The first label that is not.
    pub fn check_classes(&self, classes: usize) -> Result<(), Error> {
        let bad = |&label: &i64| usize::try_from(label).map_or(true, |label| label >= classes);
        match self.values.iter().position(bad) {
            None => Ok(()),
            Some(row) => {
                Err(Error::input(self.at(row), Problem::LabelOutOfRange { label: self.values[row], classes }))
            }
        }
    }
}

/// Joins scores and binary labels, mapping the scores to the device's `f32`.
///
/// # Errors
///
/// Different numbers of rows, a score outside `[0, 1]`, or a label other than 0 and 1.
pub fn binary_data(scores: &Column<f64>, labels: &Column<i64>) -> Result<BinaryData, Error> {
    check_rows(labels, scores.len(), &scores.place().file)?;
    labels.check_classes(2)?;
    let scores = scores.scores()?.into_iter().map(|score| f64::from(score.get())).collect();
    let labels = labels.values.iter().map(|&label| label == 1).collect();
    Ok(BinaryData::new(scores, labels).expect("scores and labels were checked").on_device())
}

/// Checks that a label column has as many rows as the scores in `other`.
///
/// # Errors
///
/// If it has not.
pub fn check_rows(labels: &Column<i64>, expected: usize, other: &Path) -> Result<(), Error> {
    if labels.len() == expected {
        return Ok(());
    }
    let problem = Problem::RowCount { got: labels.len(), other: other.into(), expected };
    Err(Error::input(Place::file(&labels.place().file), problem))
}

/// Reads a matrix of logits or probabilities.
///
/// # Errors
///
/// If the file is not a two-dimensional array of floats, or a row is not of its kind.
pub fn vectors(source: &Source, kind: VectorKind) -> Result<Vectors, Error> {
    let array = read_npy(source)?;
    let (values, classes) = array.matrix()?;
    let place = || Place::file(source.path());
    Vectors::new(values, classes, kind).map_err(|cause| {
        let at = |row: usize, class: Option<usize>| {
            let place = place().row(Row::Index(row));
            class.map_or(place.clone(), |class| place.column(class))
        };
        match cause {
            DataError::Empty => Error::input(place(), Problem::Empty),
            DataError::ClassCount(n) => Error::input(place(), Problem::ClassCount(n)),
            DataError::Logits { row, cause: LogitsError::NaN(class) } => {
                Error::input(at(row, Some(class)), Problem::NaN)
            }
            DataError::Logits { row, cause: LogitsError::Infinite(class) } => {
                Error::input(at(row, Some(class)), Problem::Infinite)
            }
            DataError::Probs { row, cause: ProbsError::Score(class, cause) } => {
                let value = if let ScoreError::OutOfRange(value) = cause { value } else { f32::NAN };
                let problem = match score_problem(cause, value.into()) {
                    Problem::ScoreOutOfRange(value) => Problem::ProbOutOfRange(value),
                    other => other,
                };
                Error::input(at(row, Some(class)), problem)
            }
            DataError::Probs { row, cause: ProbsError::Sum(sum) } => {
                Error::input(at(row, None), Problem::Sum(sum))
            }
            other => Error::input(place(), Problem::Format(other.to_string())),
        }
    })
}

fn score_problem(cause: ScoreError, value: f64) -> Problem {
    match cause {
        ScoreError::NaN => Problem::NaN,
        ScoreError::Infinite => Problem::Infinite,
        _ => Problem::ScoreOutOfRange(value),
    }
}
