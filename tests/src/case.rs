//! The two real problems that the demonstration and the end-to-end tests run: a classifier is trained on one part
//! of the data, its calibrator fitted on another, and the device judged on a third.

use anyhow::{Context, Result, anyhow};
use calib_core::ClassifierId;
use calib_firmware::{AlarmRule, LinearModel, LinearParameters};
use rand::SeedableRng;
use rand::seq::SliceRandom;
use rand_xoshiro::Xoshiro256PlusPlus;
use sha2::{Digest, Sha256};
use smartcore::dataset::{Dataset, breast_cancer, digits};
use smartcore::linalg::basic::arrays::Array;
use smartcore::linalg::basic::matrix::DenseMatrix;
use smartcore::linear::logistic_regression::{LogisticRegression, LogisticRegressionParameters};

/// The seed of every split.
pub const SEED: u64 = 20_260_101;

/// A trained classifier and the data that it has not seen.
#[derive(Debug)]
pub struct Case {
    /// The problem's name.
    pub name: &'static str,
    /// The classifier, as the device runs it.
    pub model: LinearModel,
    /// How many rows it was trained on.
    pub training_rows: usize,
    /// The rows to calibrate on.
    pub calibration: Rows,
    /// The rows to judge on.
    pub test: Rows,
}

/// Features and labels.
#[derive(Debug)]
pub struct Rows {
    /// The features, a row each.
    pub features: Vec<Vec<f32>>,
    /// The classes, 0-based.
    pub labels: Vec<u16>,
}

/// What distinguishes one problem from the other.
struct Problem {
    name: &'static str,
    features: Vec<Vec<f32>>,
    labels: Vec<u16>,
    /// How many rows to train on, and how many to calibrate on; the rest is for the test.
    training: usize,
    calibration: usize,
    /// The strength of the penalty on the weights.
    penalty: f64,
    alarm: AlarmRule,
}

impl Case {
    /// Breast cancer (Wisconsin, 569 x 30): class 1 is malignant. The alarm is raised from a probability of 0.2 on.
    ///
    /// # Errors
    ///
    /// If the training fails.
    pub fn breast_cancer() -> Result<Self> {
        let dataset = breast_cancer::load_dataset();
        Problem {
            name: "breast-cancer",
            // The data call malignant 0; the class to watch for is class 1 here.
            labels: dataset.target.iter().map(|&class| 1 - class as u16).collect(),
            features: rows(&dataset),
            training: 190,
            calibration: 190,
            penalty: 2.0,
            alarm: AlarmRule::AtLeast(0.2),
        }
        .train()
    }

    /// Handwritten digits (1797 x 64, 10 classes). The alarm is raised when a prediction is right with a probability
    /// below 0.9.
    ///
    /// # Errors
    ///
    /// If the training fails.
    pub fn digits() -> Result<Self> {
        let dataset = digits::load_dataset();
        Problem {
            name: "digits",
            labels: dataset.target.iter().map(|&class| class as u16).collect(),
            features: rows(&dataset),
            training: 400,
            calibration: 900,
            penalty: 0.1,
            alarm: AlarmRule::Below(0.9),
        }
        .train()
    }
}

impl Problem {
    fn train(self) -> Result<Case> {
        let Self { name, features, labels, training, calibration, penalty, alarm } = self;
        let mut order: Vec<usize> = (0..features.len()).collect();
        order.shuffle(&mut Xoshiro256PlusPlus::seed_from_u64(SEED));
        let (train, rest) = order.split_at(training);
        let (calibrate, test) = rest.split_at(calibration);
        let rows = |indices: &[usize]| Rows {
            features: indices.iter().map(|&i| features[i].clone()).collect(),
            labels: indices.iter().map(|&i| labels[i]).collect(),
        };
        let model =
            fit(name, &rows(train), penalty, alarm).with_context(|| format!("cannot train on {name}"))?;
        Ok(Case { name, model, training_rows: training, calibration: rows(calibrate), test: rows(test) })
    }
}

fn rows<T>(dataset: &Dataset<f32, T>) -> Vec<Vec<f32>> {
    dataset.data.chunks_exact(dataset.num_features).map(<[f32]>::to_vec).collect()
}

/// Logistic regression on standardised features.
fn fit(name: &str, rows: &Rows, penalty: f64, alarm: AlarmRule) -> Result<LinearModel> {
    let n = rows.features.len() as f64;
    let columns = rows.features[0].len();
    let column = |j: usize| rows.features.iter().map(move |row| f64::from(row[j]));
    let mean: Vec<f32> = (0..columns).map(|j| (column(j).sum::<f64>() / n) as f32).collect();
    let scale: Vec<f32> = (0..columns)
        .map(|j| {
            let variance = column(j).map(|x| (x - f64::from(mean[j])).powi(2)).sum::<f64>() / n;
            // A feature that never varies, such as a corner pixel, says nothing at any scale.
            if variance > 0.0 { variance.sqrt() as f32 } else { 1.0 }
        })
        .collect();
    let standardised: Vec<Vec<f64>> = rows
        .features
        .iter()
        .map(|row| (0..columns).map(|j| f64::from((row[j] - mean[j]) * (1.0 / scale[j]))).collect())
        .collect();

    let x = DenseMatrix::from_2d_vec(&standardised).map_err(|e| anyhow!("{e}"))?;
    let y: Vec<u32> = rows.labels.iter().map(|&label| label.into()).collect();
    let parameters = LogisticRegressionParameters::default().with_alpha(penalty);
    let trained = LogisticRegression::fit(&x, &y, parameters).map_err(|e| anyhow!("{e}"))?;
    let (coefficients, intercept) = (trained.coefficients(), trained.intercept());
    let outputs = coefficients.shape().0;
    let weights: Vec<Vec<f32>> =
        (0..outputs).map(|o| (0..columns).map(|j| *coefficients.get((o, j)) as f32).collect()).collect();
    let bias: Vec<f32> = (0..outputs).map(|o| *intercept.get((o, 0)) as f32).collect();

    let numbers = mean.iter().chain(&scale).chain(weights.iter().flatten()).chain(&bias);
    let bytes: Vec<u8> = numbers.flat_map(|number| number.to_le_bytes()).collect();
    let id = ClassifierId(*Sha256::digest(&bytes).first_chunk().expect("a SHA-256 has 32 bytes"));
    LinearModel::new(LinearParameters { name: name.into(), id, mean, scale, weights, bias, alarm })
        .map_err(|fault| anyhow!("{fault}"))
}
