//! A quantized network that reads digits, with what TensorFlow Lite makes of them.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result, anyhow, ensure};
use calib_classifier::linear::AlarmRule;
use calib_classifier::tflite::{Array, ArrayError, Network};
use calib_core::{QuantizedScore, ScoreEncoding};
use smartcore::dataset::digits;

use super::Rows;
use super::case::rows;

/// How many rows `tests/network/train.py` trained on, and how many are to calibrate on.
const TRAINING: usize = 400;
const CALIBRATION: usize = 900;

/// A network with the rows that it has not seen.
#[derive(Debug)]
pub struct NetworkCase {
    /// The network's file; the reference, that a firmware's build compares it with, stands beside it.
    pub file: PathBuf,
    /// What the file says.
    pub network: Network,
    /// When the alarm is raised.
    pub alarm: AlarmRule,
    /// How many rows it was trained on.
    pub training_rows: usize,
    /// The rows to calibrate on, which a reference may leave out.
    pub calibration: Option<CodedRows>,
    /// The rows to judge on.
    pub test: CodedRows,
}

/// Rows with TensorFlow Lite's codes of them.
#[derive(Debug)]
pub struct CodedRows {
    /// Features and labels.
    pub rows: Rows,
    /// A code per class of each row.
    pub codes: Vec<Vec<i8>>,
    /// What the codes stand for.
    pub encoding: ScoreEncoding,
}

impl NetworkCase {
    /// Handwritten digits, by a convolution and two dense layers, in logits. The alarm is raised when a
    /// prediction is right with a probability below 0.9.
    ///
    /// # Errors
    ///
    /// If a file is not as it was committed.
    pub fn digits() -> Result<Self> {
        Self::read("digits")
    }

    /// The same digits by a convolution and one dense layer with a softmax, small enough for 16 KB of RAM.
    ///
    /// # Errors
    ///
    /// As [`NetworkCase::digits`].
    pub fn digits_small() -> Result<Self> {
        Self::read("digits-small")
    }

    fn read(name: &str) -> Result<Self> {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("network");
        let file = folder.join(name).with_extension("tflite");
        let network = Network::load(&file)?;
        let unread = |error: ArrayError| anyhow!("{error}");
        let order = Array::features(&folder.join("order.npy")).map_err(unread)?;
        let features = Array::features(&file.with_extension("features.npy")).map_err(unread)?;
        let codes = Array::codes(&file.with_extension("codes.npy")).map_err(unread)?;
        let (features, codes) = (in_rows(&features), in_rows(&codes));
        ensure!(features.len() == codes.len(), "{} rows and codes of {}", features.len(), codes.len());

        let dataset = digits::load_dataset();
        let (all, labels) = (rows(&dataset), &dataset.target);
        // The reference is of the last rows in that order.
        let order = order.values;
        let indices = order.iter().map(|&index| index as usize).skip(order.len() - codes.len());
        let indices: Vec<usize> = indices.collect();
        ensure!(
            indices.iter().zip(&features).all(|(&index, row)| all[index] == *row),
            "the features beside {name} are not those of the digits"
        );
        let of = |from: usize, to: usize| CodedRows {
            rows: Rows {
                features: features[from..to].to_vec(),
                labels: indices[from..to].iter().map(|&index| labels[index] as u16).collect(),
            },
            codes: codes[from..to].to_vec(),
            encoding: network.encoding(),
        };
        let test = order.len() - TRAINING - CALIBRATION;
        let calibration = codes.len().checked_sub(test).context("fewer rows than those to judge on")?;
        Ok(Self {
            calibration: (calibration > 0).then(|| of(0, calibration)),
            test: of(calibration, codes.len()),
            file,
            network,
            alarm: AlarmRule::Below(0.9),
            training_rows: TRAINING,
        })
    }
}

impl CodedRows {
    /// The first so many.
    #[must_use]
    pub fn first(&self, rows: usize) -> Self {
        let Rows { features, labels } = &self.rows;
        let rows = rows.min(labels.len());
        Self {
            rows: Rows { features: features[..rows].to_vec(), labels: labels[..rows].to_vec() },
            codes: self.codes[..rows].to_vec(),
            encoding: self.encoding,
        }
    }

    /// What the codes of each row stand for: the logits, of a network that gives some.
    pub fn floats(&self) -> Vec<Vec<f32>> {
        let float = |&code: &i8| {
            let score = QuantizedScore::new(self.encoding, code.into());
            score.expect("every int8 is a code").dequantized()
        };
        self.codes.iter().map(|row| row.iter().map(float).collect()).collect()
    }

    /// The codes of each row as keys: counted from the lowest.
    pub fn keys(&self) -> impl Iterator<Item = Vec<u16>> {
        let key = |&code: &i8| (i16::from(code) - i16::from(i8::MIN)) as u16;
        self.codes.iter().map(move |row| row.iter().map(key).collect())
    }
}

fn in_rows<T: Clone>(array: &Array<T>) -> Vec<Vec<T>> {
    array.rows().map(<[T]>::to_vec).collect()
}
