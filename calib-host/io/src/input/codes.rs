//! Integer codes of scores.

use calib_core::{Margin, QuantizedScore, Score, ScoreEncoding};
use calib_fit::data::{CodeVectors, ScoreKind, VectorKind};
use calib_fit::job::DeviceScores;

use super::column::Column;
use super::matrix::{MatrixRows, array, is_table};
use super::source::Source;
use super::table::Table;
use crate::files::{FileError, Problem};

/// The numbers that a column of scores was read as.
#[derive(Clone, Debug)]
pub enum ReadNumbers {
    /// Scores or margins.
    F64(Vec<f64>),
    /// Codes.
    Integers(Vec<i64>),
}

impl Table {
    /// A column of codes of this encoding.
    ///
    /// ```
    /// use calib_core::ScoreEncoding;
    /// use calib_fit::ScoreKind;
    /// use calib_io::input::{Source, Table, binary_data};
    ///
    /// let csv = b"score,label\n-128,0\n127,1\n".to_vec();
    /// let table = Table::read(&Source::from_bytes("codes.csv", csv)?)?;
    /// let codes = table.codes("score", ScoreEncoding::I8 { scale: 1.0 / 256.0, zero_point: -128 })?;
    /// let scores = codes.stand_for(ScoreKind::Probability)?;
    /// assert_eq!(binary_data(&scores, &table.labels("label")?, ScoreKind::Probability)?.len(), 2);
    /// # Ok::<(), calib_io::files::FileError>(())
    /// ```
    ///
    /// # Errors
    ///
    /// If the column is missing or ambiguous, or a cell is no code of the encoding.
    pub fn codes(&self, name: &str, encoding: ScoreEncoding) -> Result<Column<QuantizedScore>, FileError> {
        self.integers(name)?.map(|&code| {
            let score = i32::try_from(code).ok().and_then(|code| QuantizedScore::new(encoding, code).ok());
            score.ok_or(Problem::CodeOutOfRange { code, encoding })
        })
    }

    /// A column of scores of this kind, or of codes if the encoding has such: as the device has them, and the numbers in it.
    ///
    /// # Errors
    ///
    /// If the column is missing or ambiguous, or a cell is no such score.
    pub fn read_scores(
        &self,
        name: &str,
        encoding: ScoreEncoding,
        kind: ScoreKind,
    ) -> Result<(DeviceScores, ReadNumbers), FileError> {
        if encoding.is_quantized() {
            let codes = self.codes(name, encoding)?.values;
            let numbers = codes.iter().map(|code| code.code().into()).collect();
            return Ok((DeviceScores::Codes(codes), ReadNumbers::Integers(numbers)));
        }
        let numbers = self.numbers(name)?;
        let scores = match kind {
            ScoreKind::Probability => DeviceScores::Scores(numbers.scores()?),
            ScoreKind::Margin => DeviceScores::Margins(numbers.margins()?),
        };
        Ok((scores, ReadNumbers::F64(numbers.values)))
    }
}

impl Column<QuantizedScore> {
    /// The scores of this kind that the codes stand for, in the device's `f32`, each with the place of its code.
    ///
    /// # Errors
    ///
    /// The first code that stands for no score of this kind.
    pub fn stand_for(self, kind: ScoreKind) -> Result<Column<f64>, FileError> {
        self.map(|code| {
            let score = match kind {
                ScoreKind::Probability => code.score().map(Score::get),
                ScoreKind::Margin => Margin::new(code.dequantized()).ok().map(Margin::get),
            };
            let none = Problem::CodeScore { code: code.code().into(), score: code.dequantized() };
            score.map(f64::from).ok_or(none)
        })
    }
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
        true => MatrixRows::of_table(source, name, Table::integers)?,
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
