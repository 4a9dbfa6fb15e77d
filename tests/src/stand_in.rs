//! Classifiers that stand in for one: the tests send their outputs, and need only the device around them.

use anyhow::{Context, Result, anyhow};
use calib_classifier::linear::{AlarmRule, LinearModel, LinearParameters};
use calib_core::ClassifierId;
use calib_host::{VectorKind, Vectors};
use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

/// A classifier of one feature with so many outputs: one if it is binary, otherwise one a class.
///
/// # Errors
///
/// If it cannot have so many.
pub fn stand_in(name: &str, id: ClassifierId, outputs: usize, alarm: AlarmRule) -> Result<LinearModel> {
    LinearModel::new(LinearParameters {
        name: name.into(),
        id,
        mean: vec![0.0],
        scale: vec![1.0],
        weights: vec![vec![1.0]; outputs],
        bias: vec![0.0; outputs],
        alarm,
    })
    .map_err(|fault| anyhow!("{fault}"))
}

/// Random logits, and labels drawn from their softmax at half the logits: the classifier is overconfident.
///
/// # Errors
///
/// If there are no vectors of so many classes.
pub fn overconfident_logits(classes: usize, n: usize) -> Result<(Vectors, Vec<i64>)> {
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(classes as u64);
    let logits: Vec<f32> = (0..n * classes).map(|_| rng.random_range(-4.0..4.0)).collect();
    let label = |row: &[f32], mut draw: f32| {
        let weights: Vec<f32> = row.iter().map(|logit| (logit / 2.0).exp()).collect();
        draw *= weights.iter().sum::<f32>();
        weights.iter().position(|weight| {
            draw -= weight;
            draw < 0.0
        })
    };
    let labels =
        logits.chunks_exact(classes).map(|row| label(row, rng.random()).unwrap_or(0) as i64).collect();
    Ok((Vectors::new(logits, classes, VectorKind::Logits).context("no vectors")?, labels))
}
