//! The two real problems that the demonstration and the end-to-end tests run: a classifier is trained on one part
//! of the data, its calibrator fitted on another, and the device judged on a third.

use anyhow::{Context, Result};
use calib_classifier::linear::{AlarmRule, LinearModel};
use rand::SeedableRng;
use rand::seq::SliceRandom;
use rand_xoshiro::Xoshiro256PlusPlus;
use smartcore::dataset::{Dataset, breast_cancer, digits};

use super::train::train;

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
        .solve()
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
        .solve()
    }
}

impl Problem {
    fn solve(self) -> Result<Case> {
        let Self { name, features, labels, training, calibration, penalty, alarm } = self;
        let mut order: Vec<usize> = (0..features.len()).collect();
        order.shuffle(&mut Xoshiro256PlusPlus::seed_from_u64(SEED));
        let (training, rest) = order.split_at(training);
        let (calibrate, test) = rest.split_at(calibration);
        let rows = |indices: &[usize]| Rows {
            features: indices.iter().map(|&i| features[i].clone()).collect(),
            labels: indices.iter().map(|&i| labels[i]).collect(),
        };
        let model = train(name, &rows(training), penalty, alarm)
            .with_context(|| format!("cannot train on {name}"))?;
        Ok(Case {
            name,
            model,
            training_rows: training.len(),
            calibration: rows(calibrate),
            test: rows(test),
        })
    }
}

pub(crate) fn rows<T>(dataset: &Dataset<f32, T>) -> Vec<Vec<f32>> {
    dataset.data.chunks_exact(dataset.num_features).map(<[f32]>::to_vec).collect()
}
