//! The training of a classifier.

use anyhow::{Result, anyhow};
use calib_classifier::linear::{AlarmRule, LinearModel, LinearParameters};
use calib_core::ClassifierId;
use sha2::{Digest, Sha256};
use smartcore::linalg::basic::arrays::Array;
use smartcore::linalg::basic::matrix::DenseMatrix;
use smartcore::linear::logistic_regression::{LogisticRegression, LogisticRegressionParameters};

use super::Rows;

/// Logistic regression on standardized features.
pub(crate) fn train(name: &str, rows: &Rows, penalty: f64, alarm: AlarmRule) -> Result<LinearModel> {
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
    let standardized: Vec<Vec<f64>> = rows
        .features
        .iter()
        .map(|row| (0..columns).map(|j| f64::from((row[j] - mean[j]) * (1.0 / scale[j]))).collect())
        .collect();

    let x = DenseMatrix::from_2d_vec(&standardized).map_err(|e| anyhow!("{e}"))?;
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
