//! Integer codes of scores.

use calib_core::{Margin, QuantizedScore, ScoreEncoding};
use calib_fit::data::{CodeVectors, ScoreKind, VectorKind};

use super::column::Column;
use super::matrix::{MatrixRows, array, is_table};
use super::source::Source;
use super::table::Table;
use crate::files::{FileError, Problem};

/// Checks that every value is a code of the encoding.
///
/// ```
/// use calib_core::ScoreEncoding;
/// use calib_io::input::{Source, Table, codes};
///
/// let csv = b"score,label\n-128,0\n127,1\n".to_vec();
/// let table = Table::read(&Source::from_bytes("codes.csv", csv)?)?;
/// let encoding = ScoreEncoding::I8 { scale: 1.0 / 256.0, zero_point: -128 };
/// assert_eq!(codes(&table.codes("score")?, encoding)?.len(), 2);
/// # Ok::<(), calib_io::files::FileError>(())
/// ```
///
/// # Errors
///
/// The first value that is not.
pub fn codes(column: &Column<i64>, encoding: ScoreEncoding) -> Result<Vec<QuantizedScore>, FileError> {
    let check = |(row, &code): (usize, &i64)| {
        let score = i32::try_from(code).ok().and_then(|code| QuantizedScore::new(encoding, code).ok());
        score.ok_or_else(|| FileError::input(column.at(row), Problem::CodeOutOfRange { code, encoding }))
    };
    column.values.iter().enumerate().map(check).collect()
}

/// The scores of this kind that codes stand for, in the device's `f32`, each with the place of its code.
///
/// ```
/// use calib_core::ScoreEncoding;
/// use calib_fit::ScoreKind;
/// use calib_io::input::{Source, Table, binary_data, scores_of_codes};
///
/// let csv = b"score,label\n-128,0\n127,1\n".to_vec();
/// let table = Table::read(&Source::from_bytes("codes.csv", csv)?)?;
/// let encoding = ScoreEncoding::I8 { scale: 1.0 / 256.0, zero_point: -128 };
/// let kind = ScoreKind::Probability;
/// let scores = scores_of_codes(&table.codes("score")?, encoding, kind)?;
/// assert_eq!(binary_data(&scores, &table.labels("label")?, kind)?.len(), 2);
/// # Ok::<(), calib_io::files::FileError>(())
/// ```
///
/// # Errors
///
/// The first value that is not a code, or stands for no score of this kind.
pub fn scores_of_codes(
    column: &Column<i64>,
    encoding: ScoreEncoding,
    kind: ScoreKind,
) -> Result<Column<f64>, FileError> {
    let score = |(row, code): (usize, QuantizedScore)| {
        let score = match kind {
            ScoreKind::Probability => code.score().map(|score| f64::from(score.get())),
            ScoreKind::Margin => Margin::new(code.dequantized()).ok().map(|margin| f64::from(margin.get())),
        };
        score.ok_or_else(|| {
            let problem = Problem::CodeScore { code: code.code().into(), score: code.dequantized() };
            FileError::input(column.at(row), problem)
        })
    };
    let values = codes(column, encoding)?.into_iter().enumerate().map(score).collect::<Result<_, _>>()?;
    Ok(Column { values, place: column.place.clone(), rows: column.rows.clone(), is_whole: column.is_whole })
}

/// Reads vectors of integer codes, which stand for probabilities or for logits: a NumPy array of two dimensions, or one in an NPZ archive,
/// as [`vectors_named`](super::vectors_named). Or of a table the columns that `name` lists in the order of the classes, as there.
///
/// ```
/// use calib_core::ScoreEncoding;
/// use calib_fit::VectorKind;
/// use calib_io::input::{Source, code_vectors};
///
/// let csv = Source::from_bytes("codes.csv", b"cat,dog\n-128,127\n64,-64\n".to_vec())?;
/// // What TensorFlow Lite's int8 softmax gives.
/// let encoding = ScoreEncoding::I8 { scale: 1.0 / 256.0, zero_point: -128 };
/// let codes = code_vectors(&csv, encoding, VectorKind::Probs, Some("cat,dog"))?;
/// assert_eq!((codes.len(), codes.classes()), (2, 2));
/// # Ok::<(), calib_io::files::FileError>(())
/// ```
///
/// # Errors
///
/// If there is no such array of integers, or no such columns, or a row is not a vector of codes.
pub fn code_vectors(
    source: &Source,
    encoding: ScoreEncoding,
    kind: VectorKind,
    name: Option<&str>,
) -> Result<CodeVectors, FileError> {
    let rows = match is_table(source) {
        true => MatrixRows::of_table(source, name, Table::codes)?,
        false => {
            let (array, place) = array(source, kind, name)?;
            MatrixRows::of_array(array.integer_matrix()?, place, 0)
        }
    };
    rows.checked(encoding, |codes, classes| match kind {
        VectorKind::Probs => CodeVectors::new(&codes, classes, encoding),
        VectorKind::Logits => CodeVectors::of_logits(&codes, classes, encoding),
    })
}
