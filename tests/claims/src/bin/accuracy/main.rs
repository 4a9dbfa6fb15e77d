//! `cargo xtask bench accuracy`: how near the values come to the truth, for curves that are known.
//!
//! Every method is fitted to the same rows. What is printed is its squared error to the true probabilities as a multiple of that of the
//! single method that turns out best for the curve, as a geometric mean over all curves. scikit-learn's two calibrators are computed here: its
//! sigmoid is `platt-prob` on Bayesian targets, its isotonic regression is `isotonic-interpolated`; tests compare both with it.

use std::process::ExitCode;

use anyhow::{Result, ensure};
use calib_fit::binary::{Blend, Isotonic, Model, ScalingMethod, Umd};
use calib_fit::{BinaryData, BinaryMethod, fit_binary};
use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use rayon::prelude::*;

/// The numbers of rows, and how far behind the best the blend may be there. From 1000 rows on it is nearer than every other.
const ROWS: [(usize, f64); 3] = [(200, 1.3), (1000, 1.25), (5000, 1.2)];

/// The scores at which values are compared with the truth.
const PROBES: usize = 4000;

fn main() -> Result<ExitCode> {
    let flags = xflags::parse_or_exit! {
        /// How many sets of rows of each curve; 100 if not given.
        optional --sets n: u64
    };
    let sets = flags.sets.unwrap_or(100);
    ensure!(sets > 0, "at least one set of rows");
    println!(
        "squared error to the truth, as a multiple of that of the best single method; geometric mean over {} curves",
        CURVES.len()
    );
    let names: Vec<&str> = methods(200).into_iter().map(|(name, _)| name).collect();
    println!("{:>6}  {}", "rows", names.iter().map(|name| format!("{name:>12}")).collect::<String>());
    let mut is_kept = true;
    for (n, limit) in ROWS {
        let errors: Vec<Vec<f64>> = CURVES.iter().map(|curve| curve.errors(n, sets)).collect();
        let behind = |method: usize| {
            let ratio = |errors: &Vec<f64>| {
                (errors[method] / errors[..SINGLE].iter().copied().fold(f64::INFINITY, f64::min)).ln()
            };
            (errors.iter().map(ratio).sum::<f64>() / errors.len() as f64).exp()
        };
        let behind: Vec<f64> = (0..names.len()).map(behind).collect();
        println!("{n:>6}  {}", behind.iter().map(|ratio| format!("{ratio:>12.3}")).collect::<String>());
        for (curve, errors) in CURVES.iter().zip(&errors) {
            let errors: String = errors.iter().map(|error| format!("{:>12.2}", 1e4 * error)).collect();
            println!("{:>14}{}  in 1e-4", curve.name, errors);
        }
        let mut others = behind.iter().enumerate().filter(|(method, _)| *method != SINGLE);
        is_kept &= behind[SINGLE] <= limit && (n < 1000 || others.all(|(_, other)| behind[SINGLE] < *other));
    }
    println!(
        "{}",
        if is_kept {
            "the blend is nearest, and as near as it is to be"
        } else {
            "the blend is not as near as it is to be"
        }
    );
    Ok(if is_kept { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// How many of the methods are single ones of calib; the blend comes next.
const SINGLE: usize = 6;

fn methods(n: usize) -> Vec<(&'static str, BinaryMethod)> {
    vec![
        ("none", BinaryMethod::Unchanged),
        ("platt", BinaryMethod::BayesianTargets(ScalingMethod::PlattLogit)),
        ("beta", BinaryMethod::Scaling(ScalingMethod::Beta)),
        ("quadratic", BinaryMethod::BayesianTargets(ScalingMethod::Quadratic)),
        ("isotonic", BinaryMethod::Isotonic(Isotonic::default())),
        ("umd", BinaryMethod::Umd(Umd::new(Umd::suitable_bins(n as u64)))),
        ("blend", BinaryMethod::Blend(Blend::new(0))),
        ("sk-sigmoid", BinaryMethod::BayesianTargets(ScalingMethod::PlattProb)),
        ("sk-isotonic", BinaryMethod::IsotonicInterpolated(Isotonic::default())),
    ]
}

/// How scores are spread, and how often class 1 comes with each.
struct Curve {
    name: &'static str,
    /// The median of the scores' logits, and their spread.
    scores: (f64, f64),
    truth: fn(f64) -> f64,
}

const CURVES: [Curve; 8] = [
    Curve { name: "mild", scores: (0.0, 1.5), truth: |s| sigmoid(0.85 * logit(s) + 0.15) },
    Curve { name: "overconfident", scores: (0.0, 2.5), truth: |s| sigmoid(0.4 * logit(s) - 0.3) },
    Curve { name: "bent", scores: (0.0, 1.5), truth: |s| s * s },
    Curve { name: "underconfident", scores: (0.0, 0.7), truth: |s| sigmoid(2.0 * logit(s) + 0.3) },
    Curve { name: "steps", scores: (0.0, 1.5), truth: |s| step(s, [(0.3, 0.1), (0.7, 0.5)], 0.85) },
    Curve { name: "rare", scores: (-2.0, 1.2), truth: |s| 0.01 + 0.19 * s },
    Curve { name: "rare steps", scores: (-2.0, 1.2), truth: |s| step(s, [(0.1, 0.01), (0.3, 0.06)], 0.2) },
    Curve { name: "wave", scores: (0.0, 1.5), truth: |s| s + 0.12 * (4.0 * std::f64::consts::PI * s).sin() },
];

impl Curve {
    /// The mean squared error to the truth of every method, over so many sets of rows.
    fn errors(&self, n: usize, sets: u64) -> Vec<f64> {
        let of_set = |set: u64| -> Vec<f64> {
            let mut rng = Xoshiro256PlusPlus::seed_from_u64(1000 * set + n as u64);
            let mut score = || f64::from(sigmoid(self.scores.0 + self.scores.1 * normal(&mut rng)) as f32);
            let scores: Vec<f64> = (0..n).map(|_| score()).collect();
            let probes: Vec<f64> = (0..PROBES).map(|_| score()).collect();
            let labels: Vec<bool> = scores.iter().map(|&s| rng.random::<f64>() < (self.truth)(s)).collect();
            let Ok(data) = BinaryData::new(scores, labels) else { return Vec::new() };
            let error = |(_, method): (&str, BinaryMethod)| {
                // A method that cannot be fitted leaves the scores as they are.
                let fit = fit_binary(&data, &method, 0.1).ok();
                let model = fit.as_ref().and_then(|fit| fit.tables()[0].as_ref()).map(|table| table.model());
                let prob = |s: f64| model.map_or(s, |model| value(model, s));
                probes.iter().map(|&s| (prob(s) - (self.truth)(s)).powi(2)).sum::<f64>() / PROBES as f64
            };
            methods(n).into_iter().map(error).collect()
        };
        let all: Vec<Vec<f64>> = (0..sets).into_par_iter().map(of_set).collect();
        let all: Vec<&Vec<f64>> = all.iter().filter(|errors| !errors.is_empty()).collect();
        (0..methods(n).len())
            .map(|m| all.iter().map(|errors| errors[m]).sum::<f64>() / all.len() as f64)
            .collect()
    }
}

/// The value of a model at a score.
fn value(model: &Model, score: f64) -> f64 {
    match model {
        Model::Steps(steps) => steps.prob(score),
        Model::Tabulated(steps) => steps.prob(score),
        Model::Scaling(scaling) => scaling.prob(score),
        Model::Interpolated(line) => {
            let above = line.scores.partition_point(|&knot| knot <= score);
            match (above.checked_sub(1), line.scores.get(above)) {
                (None, _) => line.values[0],
                (Some(below), None) => line.values[below],
                (Some(below), Some(&x)) => {
                    let share = (score - line.scores[below]) / (x - line.scores[below]);
                    line.values[below] + share * (line.values[above] - line.values[below])
                }
            }
        }
        _ => score,
    }
}

/// The value below each of two scores, and above both.
fn step(score: f64, below: [(f64, f64); 2], above: f64) -> f64 {
    below.iter().find(|(edge, _)| score < *edge).map_or(above, |(_, value)| *value)
}

fn logit(score: f64) -> f64 {
    score.ln() - (-score).ln_1p()
}

fn sigmoid(z: f64) -> f64 {
    1.0 / (1.0 + (-z).exp())
}

/// A normal number, by Box and Muller.
fn normal(rng: &mut impl RngExt) -> f64 {
    let (u, v): (f64, f64) = (1.0 - rng.random::<f64>(), rng.random());
    (-2.0 * u.ln()).sqrt() * (std::f64::consts::TAU * v).cos()
}
