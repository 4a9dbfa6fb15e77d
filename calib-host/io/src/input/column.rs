//! A column of a table, each value with its place.

use std::collections::BTreeSet;
use std::path::Path;

use calib_core::{Margin, Score};
use calib_fit::data::{BinaryData, ScoreKind};

use super::rows::Rows;
use super::values::are_scores;
use crate::files::{FileError, Location, Problem, is_missing_code, score_problem};

/// A column of numbers or labels, each with its place.
#[derive(Clone, Debug)]
pub struct Column<T> {
    /// The values, in row order.
    pub values: Vec<T>,
    pub(super) place: Location,
    /// Where the rows are.
    pub(super) rows: Rows,
    /// Whether these are all rows of the file.
    pub(super) is_whole: bool,
}

impl<T> Column<T> {
    /// The place of a row.
    pub fn at(&self, row: usize) -> Location {
        self.place.clone().row(self.rows.at(row))
    }

    /// The same rows with other values.
    pub(super) fn with_values<U>(self, values: Vec<U>) -> Column<U> {
        Column { values, place: self.place, rows: self.rows, is_whole: self.is_whole }
    }

    /// What is made of each value; a problem is at the place of its value.
    fn each<U>(&self, make: impl Fn(&T) -> Result<U, Problem>) -> Result<Vec<U>, FileError> {
        let at = |(row, value)| make(value).map_err(|problem| FileError::input(self.at(row), problem));
        self.values.iter().enumerate().map(at).collect()
    }

    /// Checks each value; a problem is at the place of its value.
    pub(super) fn check(&self, problem: impl Fn(&T) -> Option<Problem>) -> Result<(), FileError> {
        self.each(|value| problem(value).map_or(Ok(()), Err)).map(drop)
    }

    /// The same rows with what is made of each value; a problem is at the place of its value.
    pub(super) fn map<U>(self, make: impl Fn(&T) -> Result<U, Problem>) -> Result<Column<U>, FileError> {
        self.each(make).map(|values| self.with_values(values))
    }

    /// The column as a whole.
    pub fn place(&self) -> &Location {
        &self.place
    }

    /// The number of rows.
    #[expect(clippy::len_without_is_empty, reason = "never empty")]
    pub fn len(&self) -> usize {
        self.values.len()
    }
}

impl<T: Clone> Column<T> {
    /// Some of the rows, in the order in which they are given, each with its place.
    ///
    /// # Panics
    ///
    /// If there is no such row.
    #[must_use]
    pub fn part(&self, rows: &[usize]) -> Self {
        Self {
            values: rows.iter().map(|&row| self.values[row].clone()).collect(),
            place: self.place.clone(),
            rows: self.rows.part(rows),
            is_whole: false,
        }
    }
}

impl Column<f64> {
    /// Checks that every value is a score, as the device sees it.
    ///
    /// # Errors
    ///
    /// The first value that is not.
    pub fn scores(&self) -> Result<Vec<Score>, FileError> {
        self.each(|&value| {
            let problem = |cause| self.counted(score_problem(cause, value, Problem::ScoreOutOfRange));
            Score::try_from(value).map_err(problem)
        })
    }

    /// Checks that every value is a margin, as the device sees it: rounded to the nearest `f32`, which is finite.
    ///
    /// # Errors
    ///
    /// The first value that is not.
    pub fn margins(&self) -> Result<Vec<Margin>, FileError> {
        self.each(|&value| {
            Margin::new(value as f32).map_err(|cause| match value.is_finite() {
                true => Problem::TooLarge32(value),
                false => self.counted(score_problem(cause, value, Problem::ScoreOutOfRange)),
            })
        })
    }

    /// The problem of a value that is none, with how many others are none.
    fn counted(&self, problem: Problem) -> Problem {
        if problem != Problem::NaN || !self.is_whole {
            return problem;
        }
        problem.of_rows(self.values.iter().filter(|value| value.is_nan()).count(), self.len())
    }

    /// Checks that every value is a score of this kind.
    ///
    /// # Errors
    ///
    /// The first value that is not.
    pub fn check_scores(&self, kind: ScoreKind) -> Result<(), FileError> {
        match kind {
            ScoreKind::Probability if are_scores(&self.values) => Ok(()),
            _ => self.device_scores(kind).map(drop),
        }
    }

    /// Checks that every value is a score of this kind, and returns it as the device sees it.
    ///
    /// # Errors
    ///
    /// The first value that is not.
    pub fn device_scores(&self, kind: ScoreKind) -> Result<Vec<f32>, FileError> {
        Ok(match kind {
            ScoreKind::Probability => self.scores()?.into_iter().map(Score::get).collect(),
            ScoreKind::Margin => self.margins()?.into_iter().map(Margin::get).collect(),
        })
    }
}

impl Column<i64> {
    /// Checks that every label is one of `0..classes`.
    ///
    /// # Errors
    ///
    /// The first label that is not.
    pub fn check_classes(&self, classes: usize) -> Result<(), FileError> {
        let is_class = |label: i64| usize::try_from(label).is_ok_and(|label| label < classes);
        let of_row = |label| Problem::LabelOutOfRange { label, classes };
        self.check(|&label| (!is_class(label)).then(|| of_row(label))).map_err(|of_row| {
            let problem = self.other_labels(classes);
            problem.map_or(of_row, |problem| FileError::input(self.place.clone(), problem))
        })
    }

    /// What the labels are instead of those of so many classes, if all of them tell.
    fn other_labels(&self, classes: usize) -> Option<Problem> {
        if classes > 2 {
            return self.counts_from_1(classes).then_some(Problem::LabelsFrom1 { classes });
        }
        let missing =
            || self.two_kinds_and_code().map(|(labels, code)| Problem::MissingCode { labels, code });
        self.two_kinds().map(Problem::TwoLabels).or_else(missing)
    }

    /// The labels, the smaller one first, if there are two of them and a third one that may stand for a missing value, and that one.
    fn two_kinds_and_code(&self) -> Option<([String; 2], i64)> {
        let kinds: BTreeSet<i64> = self.values.iter().copied().collect();
        let (codes, labels): (Vec<i64>, Vec<i64>) =
            kinds.into_iter().partition(|&kind| is_missing_code(kind));
        match (&labels[..], &codes[..]) {
            (&[first, second], &[code]) => Some(([first, second].map(|label| label.to_string()), code)),
            _ => None,
        }
    }

    /// Whether the labels are those of so many classes, counted from 1.
    fn counts_from_1(&self, classes: usize) -> bool {
        let kinds: BTreeSet<i64> = self.values.iter().copied().collect();
        kinds.into_iter().eq(1..=classes as i64)
    }

    /// The labels, the smaller one first, if there are two of them, each of several rows.
    fn two_kinds(&self) -> Option<[String; 2]> {
        let (low, high) = (self.values.iter().min()?, self.values.iter().max()?);
        let count = |label: &i64| self.values.iter().filter(|other| *other == label).count();
        let (of_low, of_high) = (count(low), count(high));
        let are_two = of_low > 1 && of_high > 1 && of_low + of_high == self.len();
        are_two.then(|| [low.to_string(), high.to_string()])
    }
}

/// Joins scores of this kind and binary labels, mapping the scores to the device's `f32`.
///
/// ```
/// use calib_fit::ScoreKind;
/// use calib_io::input::{Source, Table, binary_data};
///
/// let csv = b"score,label\n0.2,0\n0.9,1\n".to_vec();
/// let table = Table::read(&Source::from_bytes("scores.csv", csv)?)?;
/// let (scores, labels) = (table.numbers("score")?, table.labels("label")?);
/// assert_eq!(binary_data(&scores, &labels, ScoreKind::Probability)?.len(), 2);
/// # Ok::<(), calib_io::files::FileError>(())
/// ```
///
/// # Errors
///
/// Different numbers of rows, a value that is no score of this kind, or a label other than 0 and 1.
pub fn binary_data(
    scores: &Column<f64>,
    labels: &Column<i64>,
    kind: ScoreKind,
) -> Result<BinaryData, FileError> {
    check_same_len(&labels.place, labels.len(), &scores.place, scores.len())?;
    labels.check_classes(2)?;
    let scores = scores.device_scores(kind)?;
    let labels: Vec<bool> = labels.values.iter().map(|&label| label == 1).collect();
    let data = match kind {
        ScoreKind::Probability => BinaryData::from_device_scores(&scores, &labels),
        ScoreKind::Margin => BinaryData::of_margins(scores.into_iter().map(f64::from).collect(), labels),
    };
    Ok(data.expect("the rows were checked"))
}

/// Checks that a label column has as many rows as the scores in `other`.
///
/// ```
/// use calib_io::input::{Source, Table, check_rows};
///
/// let labels = Table::read(&Source::from_bytes("labels.csv", b"label\n0\n1\n".to_vec())?)?.labels("label")?;
/// assert!(check_rows(&labels, 2, "scores.npy".as_ref()).is_ok());
/// assert!(check_rows(&labels, 3, "scores.npy".as_ref()).is_err());
/// # Ok::<(), calib_io::files::FileError>(())
/// ```
///
/// # Errors
///
/// If it has not.
pub fn check_rows<T>(labels: &Column<T>, expected: usize, other: &Path) -> Result<(), FileError> {
    check_len(Location::file(&labels.place.file), labels.len(), Location::file(other), expected)
}

/// As [`check_rows`]; two arrays of one archive are distinguished by their names.
pub(super) fn check_same_rows<T>(scores: &Column<f64>, labels: &Column<T>) -> Result<(), FileError> {
    check_same_len(&labels.place, labels.len(), &scores.place, scores.len())
}

/// Checks that there are as many labels as scores; two arrays of one archive are distinguished by their names.
pub(super) fn check_same_len(
    labels: &Location,
    label_count: usize,
    scores: &Location,
    score_count: usize,
) -> Result<(), FileError> {
    let [labels, scores] = match scores.file == labels.file {
        true => [labels, scores].map(Location::clone),
        false => [labels, scores].map(|place| Location::file(&place.file)),
    };
    check_len(labels, label_count, scores, score_count)
}

fn check_len(place: Location, got: usize, other: Location, expected: usize) -> Result<(), FileError> {
    if got == expected {
        return Ok(());
    }
    Err(FileError::input(place, Problem::RowCount { got, other: Box::new(other), expected }))
}
