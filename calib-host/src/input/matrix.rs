//! Matrices of logits and probabilities.

use calib_core::ScoreError;
use calib_core::score::{LogitsError, ProbsError};

use super::Source;
use super::column::score_problem;
use super::format::Format;
use super::npy::{self, NpyArray};
use super::npz::Npz;
use crate::data_error::DataError;
use crate::error::{Error, Place, Row};
use crate::problem::Problem;
use crate::vectors::{VectorKind, Vectors};

/// Reads a matrix of logits or probabilities: a NumPy array of two dimensions, or one in an NPZ archive, where it is the
/// only one of two dimensions or has the name `logits` or `probs`, as `kind` says.
///
/// # Errors
///
/// If there is no such array of floats, or a row is not of its kind.
pub fn vectors(source: &Source, kind: VectorKind) -> Result<Vectors, Error> {
    vectors_named(source, kind, None)
}

/// As [`vectors`], but in an archive with the array of this name.
///
/// # Errors
///
/// As [`vectors`].
pub fn vectors_named(source: &Source, kind: VectorKind, name: Option<&str>) -> Result<Vectors, Error> {
    let (array, place) = array(source, kind, name)?;
    let (values, classes) = array.matrix()?;
    Vectors::new(values, classes, kind).map_err(|cause| {
        let at = |row, class| entry(&place, row, class);
        match cause {
            DataError::Empty => Error::input(place.clone(), Problem::Empty),
            DataError::ClassCount(n) => Error::input(place.clone(), Problem::ClassCount(n)),
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
            other => Error::input(place.clone(), Problem::Format(other.to_string())),
        }
    })
}

/// The array that is the matrix, and where it is.
pub(super) fn array(
    source: &Source,
    kind: VectorKind,
    name: Option<&str>,
) -> Result<(NpyArray, Place), Error> {
    if source.format() == Format::Npz {
        return in_archive(source, kind, name);
    }
    let place = Place::file(source.path());
    Ok((npy::parse(place.clone(), source.bytes())?, place))
}

/// The place of a row of a matrix, or of an entry of it.
pub(super) fn entry(matrix: &Place, row: usize, class: Option<usize>) -> Place {
    let place = matrix.clone().row(Row::Index(row));
    match (class, &place.column) {
        (None, _) => place,
        (Some(class), None) => place.column(class),
        (Some(class), Some(array)) => {
            let column = format!("{class} of {array}");
            place.column(column)
        }
    }
}

/// Whether a file holds a matrix rather than a column of this name: a NumPy array of two dimensions, or an archive with such
/// an array and none of the name.
///
/// # Errors
///
/// If it is an archive that cannot be read.
pub fn is_matrix(source: &Source, column: &str) -> Result<bool, Error> {
    let two_dimensions = |shape: &[u64]| matches!(shape, [_, columns] if *columns != 1);
    match source.format() {
        Format::Npy => Ok(npy::shape(source.bytes()).is_some_and(|shape| two_dimensions(&shape))),
        Format::Npz => {
            let mut npz = Npz::open(source)?;
            let names: Vec<String> = npz.names().map(str::to_owned).collect();
            if names.iter().any(|name| name == column) {
                return Ok(false);
            }
            for index in 0..names.len() {
                if npz.shape(index)?.is_some_and(|shape| two_dimensions(&shape)) {
                    return Ok(true);
                }
            }
            Ok(false)
        }
        _ => Ok(false),
    }
}

fn in_archive(source: &Source, kind: VectorKind, name: Option<&str>) -> Result<(NpyArray, Place), Error> {
    let mut npz = Npz::open(source)?;
    let names: Vec<String> = npz.names().map(str::to_owned).collect();
    let of_name = |name: &str| names.iter().position(|there| there == name);
    let index = match name {
        Some(name) => of_name(name).ok_or_else(|| {
            Error::input(Place::file(source.path()).column(name), Problem::MissingColumn(names.clone()))
        })?,
        None => {
            let conventional = match kind {
                VectorKind::Logits => "logits",
                VectorKind::Probs => "probs",
            };
            match of_name(conventional) {
                Some(index) => index,
                None => only_matrix(&mut npz, &names, source)?,
            }
        }
    };
    Ok((npz.array(index)?, npz.place(index)))
}

/// The only array of two dimensions; one of shape `(n, 1)` is a column.
fn only_matrix(npz: &mut Npz<'_>, names: &[String], source: &Source) -> Result<usize, Error> {
    if names.len() == 1 {
        return Ok(0);
    }
    let mut matrices = Vec::new();
    for index in 0..names.len() {
        if npz.shape(index)?.is_some_and(|shape| matches!(shape[..], [_, columns] if columns != 1)) {
            matrices.push(index);
        }
    }
    match matrices[..] {
        [index] => Ok(index),
        _ => {
            let there = matrices.into_iter().map(|index| names[index].clone()).collect();
            Err(Error::input(Place::file(source.path()), Problem::WhichMatrix(there)))
        }
    }
}
