//! Scores in memory, and why they are refused.

use std::borrow::Cow;
use std::path::Path;

use calib_core::{QuantizedScore, ScoreEncoding};
use calib_fit::data::DataError;
use calib_fit::job::NotFitted;
use calib_fit::{ScoreKind, VectorKind};
use calib_io::files::Place;

use crate::error::Error;
use crate::hints::hint;

/// Scores in memory. Floats are the device's `f32`.
#[derive(Clone, Debug)]
pub enum Scores<'a> {
    /// Of class 1 of two.
    Binary(ScoreKind, Cow<'a, [f32]>),
    /// Codes of them, in the encoding that the options name.
    Codes(ScoreKind, &'a [i64]),
    /// Of several classes, row by row, with the number of classes.
    Vectors(VectorKind, Vec<f32>, usize),
    /// Codes of them.
    CodeVectors(VectorKind, &'a [i64], usize),
}

impl Scores<'_> {
    /// The number of rows.
    pub(super) fn rows(&self) -> usize {
        match self {
            Self::Binary(_, values) => values.len(),
            Self::Codes(_, values) => values.len(),
            Self::Vectors(_, values, classes) => values.len() / (*classes).max(1),
            Self::CodeVectors(_, values, classes) => values.len() / (*classes).max(1),
        }
    }
}

/// Whose fault it is that nothing was fitted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// What was asked for makes no sense.
    Options,
    /// The data are of no use.
    Data,
    /// The data and the calibrator do not belong together.
    Mismatch,
}

/// Why nothing was fitted: the sentence of the command, and what to do.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{sentence}{}", hint.as_ref().map_or(String::new(), |hint| format!("\n  hint: {hint}")))]
pub struct Refused {
    /// Whose fault it is.
    pub fault: Fault,
    /// Why.
    pub sentence: String,
    /// What to do about it.
    pub hint: Option<String>,
}

impl Refused {
    /// Why nothing was fitted to scores in memory, with what to do about it.
    pub fn of_fit(cause: NotFitted) -> Self {
        let [scores, reference] = ["scores", "monitor_scores"].map(|name| Place::file(Path::new(name)));
        Error::not_fitted(cause, [&scores, &scores, &reference]).into()
    }
}

impl From<Error> for Refused {
    fn from(error: Error) -> Self {
        let fault = match &error {
            Error::Data(_) => Fault::Data,
            other if other.exit_code() == 1 => Fault::Mismatch,
            other if other.exit_code() == 2 => Fault::Options,
            _ => Fault::Data,
        };
        Self { fault, sentence: error.to_string(), hint: hint(&error) }
    }
}

pub(super) fn binary_labels(labels: &[i64]) -> Result<Vec<bool>, Error> {
    match labels.iter().position(|label| !(0..2).contains(label)) {
        Some(row) => Err(DataError::Class { row, class: labels[row], classes: 2 }.into()),
        None => Ok(labels.iter().map(|&label| label == 1).collect()),
    }
}

/// Codes of an encoding.
pub(super) fn codes_of(codes: &[i64], encoding: ScoreEncoding) -> Result<Vec<QuantizedScore>, DataError> {
    let known = |(row, &code): (usize, &i64)| {
        // No code is near the ends of an i32.
        let narrow = code.clamp(i32::MIN.into(), i32::MAX.into()) as i32;
        QuantizedScore::new(encoding, narrow).map_err(|cause| DataError::Code { row, class: 1, code, cause })
    };
    codes.iter().enumerate().map(known).collect()
}
