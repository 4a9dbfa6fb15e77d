//! What is wrong with data, told at its place in a file.

use calib_core::score::{LogitsError, ProbsError};
use calib_core::{ScoreEncoding, ScoreError};
use calib_fit::data::DataError;

use super::problem::Problem;

/// A fault of data that were read from a file.
pub(crate) struct Fault {
    /// The row, from 0 on, unless the data as a whole are at fault.
    pub(crate) row: Option<usize>,
    /// The class, if one entry of the row is at fault.
    pub(crate) class: Option<usize>,
    pub(crate) problem: Problem,
}

impl Fault {
    /// Takes an error of data apart. `encoding` is the encoding of codes.
    pub(crate) fn new(cause: DataError, encoding: ScoreEncoding) -> Self {
        let whole = |problem| Self { row: None, class: None, problem };
        let of_row = |row, problem| Self { row: Some(row), class: None, problem };
        let entry = |row, class, problem| Self { row: Some(row), class: Some(class), problem };
        match cause {
            DataError::Empty => whole(Problem::Empty),
            DataError::ClassCount(n) => whole(Problem::ClassCount(n)),
            DataError::TooMany => whole(Problem::TooManyPoints),
            DataError::NoWeight => whole(Problem::NoWeight),
            DataError::Logits { row, cause: LogitsError::NaN(class) } => entry(row, class, Problem::NaN),
            DataError::Logits { row, cause: LogitsError::Infinite(class) } => {
                entry(row, class, Problem::InfiniteLogit)
            }
            DataError::Probs { row, cause: ProbsError::Score(class, cause) } => {
                let value = if let ScoreError::OutOfRange(value) = cause { value } else { f32::NAN };
                entry(row, class, score_problem(cause, value.into(), Problem::ProbOutOfRange))
            }
            DataError::Probs { row, cause: ProbsError::Sum(sum) } => of_row(row, Problem::Sum(sum)),
            DataError::Code { row, class, code, .. } => {
                entry(row, class, Problem::CodeOutOfRange { code, encoding })
            }
            DataError::CodeScore { row, class, code, score } => {
                entry(row, class, Problem::CodeProb { code: code.into(), score })
            }
            DataError::CodeSum { row, sum } => of_row(row, Problem::CodeSum(sum)),
            other => whole(Problem::Format(other.to_string())),
        }
    }
}

/// The problem with a value that is no score; `out_of_range` says what it should have been.
pub(crate) fn score_problem(cause: ScoreError, value: f64, out_of_range: fn(f64) -> Problem) -> Problem {
    match cause {
        ScoreError::NaN => Problem::NaN,
        ScoreError::Infinite => Problem::Infinite,
        _ => out_of_range(value),
    }
}
