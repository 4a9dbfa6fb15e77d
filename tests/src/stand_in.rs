//! Classifiers that stand in for one: the tests send their outputs, and need only the device around them.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result, anyhow};
use calib_core::ClassifierId;
use calib_host::{VectorKind, Vectors};
use calib_linear::{AlarmRule, LinearModel, LinearParameters};
use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

use crate::{Board, Emulator, build_firmware_for};

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

/// As [`build_firmware`](crate::build_firmware), of a classifier that is in no file yet.
///
/// # Errors
///
/// As [`build_firmware_for`].
pub fn build_firmware_of(model: &LinearModel) -> Result<PathBuf> {
    build_firmware_of_for(Board::Mps2An386, model)
}

/// As [`build_firmware_for`], of a classifier that is in no file yet.
///
/// # Errors
///
/// As [`build_firmware_for`].
pub fn build_firmware_of_for(board: Board, model: &LinearModel) -> Result<PathBuf> {
    let folder = tempfile::tempdir()?;
    let json = folder.path().join("classifier.json");
    model.save(&json)?;
    build_firmware_for(board, &json)
}

/// As [`Emulator::start`], with these bytes in the calibrator slot.
///
/// # Errors
///
/// As [`Emulator::start`].
pub fn start_with(elf: &Path, slot: &[u8]) -> Result<Emulator> {
    start_with_on(Board::Mps2An386, elf, slot)
}

/// As [`Emulator::start_on`], with these bytes in the calibrator slot.
///
/// # Errors
///
/// As [`Emulator::start_on`].
pub fn start_with_on(board: Board, elf: &Path, slot: &[u8]) -> Result<Emulator> {
    let file = tempfile::NamedTempFile::new()?;
    std::fs::write(file.path(), slot)?;
    Emulator::start_on(board, elf, Some(file.path()))
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
