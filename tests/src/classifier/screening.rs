//! A simulated screening, in which the true probability of every person is known.

use anyhow::Result;
use calib_classifier::linear::AlarmRule;
use rand::{RngExt, SeedableRng};
use rand_distr::StandardNormal;
use rand_xoshiro::Xoshiro256PlusPlus;

use super::case::{Case, Rows, SEED};
use super::train::train;

/// The number of people to calibrate on.
const CALIBRATION: usize = 20_000;
/// The number of people to judge on.
const TEST: usize = 50_000;
/// The number of cases, and of controls, to train on.
const TRAINING_EACH: usize = 300;
const FEATURES: usize = 8;

/// A screening with the true probability of each person to judge on.
#[derive(Debug)]
pub struct Screening {
    /// The classifier and the people.
    pub case: Case,
    /// The true probability of each person of the test.
    pub truth: Vec<f64>,
}

impl Screening {
    /// Simulates people and trains a classifier.
    ///
    /// About 3 % are ill. The classifier is trained as such classifiers are, on as many ill people as healthy ones, and it is linear
    /// where the truth is not: so its scores are far from probabilities.
    ///
    /// # Errors
    ///
    /// If the training fails.
    pub fn simulate() -> Result<Self> {
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(SEED);
        let mut ill_and_healthy = [Vec::new(), Vec::new()];
        while ill_and_healthy.iter().any(|rows| rows.len() < TRAINING_EACH) {
            let (row, _, label) = person(&mut rng);
            let rows: &mut Vec<Vec<f32>> = &mut ill_and_healthy[usize::from(label)];
            if rows.len() < TRAINING_EACH {
                rows.push(row);
            }
        }
        let labels = [0, 1].into_iter().flat_map(|label| [label; TRAINING_EACH]).collect();
        let training = Rows { features: ill_and_healthy.concat(), labels };
        let model = train("screening", &training, 1.0, AlarmRule::AtLeast(0.02))?;
        let (calibration, _) = people(&mut rng, CALIBRATION);
        let (test, truth) = people(&mut rng, TEST);
        let case = Case { name: "screening", model, training_rows: 2 * TRAINING_EACH, calibration, test };
        Ok(Self { case, truth })
    }
}

fn people(rng: &mut Xoshiro256PlusPlus, n: usize) -> (Rows, Vec<f64>) {
    let mut rows = Rows { features: Vec::with_capacity(n), labels: Vec::with_capacity(n) };
    let mut truth = Vec::with_capacity(n);
    for _ in 0..n {
        let (features, prob, label) = person(rng);
        rows.features.push(features);
        rows.labels.push(label.into());
        truth.push(prob);
    }
    (rows, truth)
}

/// A person's features, true probability of being ill, and whether the person is.
fn person(rng: &mut Xoshiro256PlusPlus) -> (Vec<f32>, f64, bool) {
    let x: [f64; FEATURES] = std::array::from_fn(|_| rng.sample(StandardNormal));
    // Two risks that make each other worse, one that matters at either end, and four that are noise.
    let logit = -4.9 + 1.1 * x[0] + 0.9 * x[1] + 0.5 * x[0] * x[1] + 0.35 * x[2] * x[2] - 0.6 * x[3];
    let prob = 1.0 / (1.0 + (-logit).exp());
    let label = rng.random_bool(prob);
    (x.iter().map(|&value| value as f32).collect(), prob, label)
}
