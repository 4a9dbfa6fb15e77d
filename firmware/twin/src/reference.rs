//! What TensorFlow Lite makes of some rows.

use std::path::{Path, PathBuf};
use std::{error, fmt};

use calib_classifier::tflite::{Array, ArrayError};
use calib_core::wire::Refusal;
use calib_firmware::{Classifier, Features};

use crate::{CLASSIFIER, MODEL};

/// The fewest rows that show anything.
pub const MIN_ROWS: usize = 100;

/// Rows of features and TensorFlow Lite's codes of them, which stand beside the network: those of `m.tflite` in
/// `m.features.npy` and `m.codes.npy`.
#[derive(Clone, Debug, PartialEq)]
pub struct Reference {
    /// The features.
    pub features: Array<f32>,
    /// The codes.
    pub codes: Array<i8>,
}

/// Why a network is not known to be TensorFlow Lite's.
#[derive(Debug)]
pub enum ReferenceError {
    /// A file of the reference cannot be read.
    Array(ArrayError),
    /// The rows of features and of codes, and how many values the network takes and gives, do not go together.
    Shape(String),
    /// The network takes this row for none.
    Row(usize, Refusal),
    /// Of so many rows so many came out otherwise, first this one.
    Differs {
        /// How many rows there are.
        rows: usize,
        /// How many of them differ.
        differing: usize,
        /// The first of them, from 0.
        first: usize,
        /// TensorFlow Lite's codes of it.
        expected: Vec<i8>,
        /// The codes that came out.
        got: Vec<i8>,
    },
}

impl Reference {
    /// The files of the reference beside the network, which may not be there.
    pub fn files() -> [PathBuf; 2] {
        ["features.npy", "codes.npy"].map(|extension| Path::new(MODEL).with_extension(extension))
    }

    /// Reads both.
    ///
    /// # Errors
    ///
    /// If one cannot be read, or is no such array.
    pub fn load() -> Result<Self, ReferenceError> {
        let [features, codes] = Self::files();
        Ok(Self { features: Array::features(&features)?, codes: Array::codes(&codes)? })
    }

    /// Runs the network on every row; the number of rows, each of which gave TensorFlow Lite's codes.
    ///
    /// # Errors
    ///
    /// If a code differs, or the reference is none for this network.
    pub fn check(&self) -> Result<usize, ReferenceError> {
        let Self { features, codes } = self;
        let (rows, given) = (features.rows().len(), codes.rows().len());
        if rows != given || rows < MIN_ROWS {
            return Err(ReferenceError::Shape(format!(
                "{rows} rows of features and {given} of codes: as many are needed, and {MIN_ROWS} or more"
            )));
        }
        let got = run(features)?;
        if got.columns != codes.columns {
            return Err(ReferenceError::Shape(format!(
                "{} codes a row, and the network gives {}",
                codes.columns, got.columns
            )));
        }
        let differ = |(_, (got, expected)): &(usize, (&[i8], &[i8]))| got != expected;
        let mut differing = got.rows().zip(codes.rows()).enumerate().filter(differ);
        let Some((first, (got, expected))) = differing.next() else { return Ok(rows) };
        let (got, expected) = (got.to_vec(), expected.to_vec());
        Err(ReferenceError::Differs { rows, differing: 1 + differing.count(), first, expected, got })
    }
}

/// The codes that the network gives for rows of features.
///
/// # Errors
///
/// If the rows are not of the network's length, or a value is not finite.
pub fn run(features: &Array<f32>) -> Result<Array<i8>, ReferenceError> {
    let mut values = Vec::new();
    for (row, features) in features.rows().enumerate() {
        let features = Features::new(features, CLASSIFIER.feature_count())
            .map_err(|refusal| ReferenceError::Row(row, refusal))?;
        values.extend(CLASSIFIER.codes(features));
    }
    Ok(Array { values, columns: CLASSIFIER.outputs() })
}

impl From<ArrayError> for ReferenceError {
    fn from(error: ArrayError) -> Self {
        Self::Array(error)
    }
}

impl fmt::Display for ReferenceError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Array(error) => {
                let [features, codes] = Reference::files().map(|path| path.display().to_string());
                write!(
                    f,
                    "{error}\n  {features} has rows of features, and {codes} TensorFlow Lite's codes of them: the book's page \
                     \"Calibrate a quantized network\" says how to make both"
                )
            }
            Self::Shape(why) => write!(f, "{MODEL}: {why}"),
            Self::Row(row, Refusal::FeatureCount { expected, got }) => {
                write!(f, "row {row} has {got} features, and the network takes {expected}")
            }
            Self::Row(row, Refusal::Feature(feature)) => {
                write!(f, "row {row}, feature {feature} is not a finite number")
            }
            Self::Row(row, refusal) => write!(f, "row {row} is refused: {refusal:?}"),
            Self::Differs { rows, differing, first, expected, got } => write!(
                f,
                "{MODEL}: {differing} of {rows} rows of the reference come out otherwise than in TensorFlow Lite\n  row {first}: \
                 TensorFlow Lite {expected:?}\n  row {first}: microflow       {got:?}\n  a device would run another network \
                 than the one that was trained: take other layers, or make the reference anew if it is of another network"
            ),
        }
    }
}

impl error::Error for ReferenceError {}
