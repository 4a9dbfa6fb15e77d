//! Integer codes of scores.

use calib_core::{QuantizedScore, ScoreEncoding};

use super::Column;
use crate::codes::score_of_code;
use crate::error::Error;
use crate::problem::Problem;

/// Checks that every value is a code of the encoding.
///
/// # Errors
///
/// The first value that is not.
pub fn codes(column: &Column<i64>, encoding: ScoreEncoding) -> Result<Vec<QuantizedScore>, Error> {
    let check = |(row, &code): (usize, &i64)| {
        let score = i32::try_from(code).ok().and_then(|code| QuantizedScore::new(encoding, code).ok());
        score.ok_or_else(|| Error::input(column.at(row), Problem::CodeOutOfRange { code, encoding }))
    };
    column.values.iter().enumerate().map(check).collect()
}

/// The scores that codes stand for, in the device's `f32`, each with the place of its code.
///
/// # Errors
///
/// The first value that is not a code, or stands for a score outside `[0, 1]`.
pub fn scores_of_codes(column: &Column<i64>, encoding: ScoreEncoding) -> Result<Column<f64>, Error> {
    let score = |(row, code): (usize, QuantizedScore)| {
        let score = score_of_code(code).map(|score| f64::from(score.get()));
        score.ok_or_else(|| {
            let problem = Problem::CodeScore { code: code.code().into(), score: code.dequantized() };
            Error::input(column.at(row), problem)
        })
    };
    let values = codes(column, encoding)?.into_iter().enumerate().map(score).collect::<Result<_, _>>()?;
    Ok(Column {
        values,
        place: column.place.clone(),
        lines: column.lines.clone(),
        first_row: column.first_row,
    })
}
