//! Multi-class isotonic recursive partitioning on the synthetic set of Berta, Bach and Jordan 2024, supplement.

use std::time::Instant;

use anyhow::{Result, ensure};
use calib_host::joint::{CanonicalMethod, CanonicalModel, MulticlassIrp, RegionValues};
use calib_host::stats::CrossValidation;
use calib_host::{VectorData, VectorKind, Vectors};
use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

/// The noise of the labels; the paper does not tell its own.
const NOISES: [f64; 3] = [0.1, 0.2, 0.3];
const SETS: u64 = 5;

/// Prints the log-loss on fresh points, as the paper has the method and as ours stops it, and how long a fit takes.
pub(super) fn simplex() -> Result<()> {
    println!(
        "\nmulti-class irp on B24's synthetic set, log-loss of 20 000 fresh points, mean of {SETS} sets (regions in brackets)"
    );
    println!(
        "{:>6} {:>6} {:>13} {:>20} {:>20} {:>20}",
        "n", "noise", "uncalibrated", "run to the end", "cross-validated", "paper-compat"
    );
    for n in [1000, 10_000] {
        for noise in NOISES {
            let mut means = [(0.0, 0.0); 4];
            let mut doubted = 0;
            for seed in 0..SETS {
                let (train, test) = (draw(n, noise, 2 * seed)?, draw(20_000, noise, 2 * seed + 1)?);
                let scores = test.scores();
                let raw = scores.chunks_exact(3).zip(test.labels());
                let loss: f64 = raw.map(|(row, &label)| ln_loss(row[usize::from(label)].into())).sum();
                means[0].0 += loss / test.len() as f64;
                let uncalibrated = loss / test.len() as f64;
                for (mean, irp) in means[1..].iter_mut().zip(methods()) {
                    let model = CanonicalMethod::MulticlassIrp(irp).fit(&train)?;
                    let loss = log_loss(&model, &test);
                    mean.0 += loss;
                    mean.1 += model.cells.len() as f64;
                    if let Some(held_out) = model.held_out {
                        let is_better = held_out.is_better();
                        doubted += u64::from(!is_better);
                        ensure!(
                            !is_better || loss < uncalibrated,
                            "a calibrator that is worse was called better"
                        );
                    }
                }
            }
            let means = means.map(|(loss, regions)| (loss / SETS as f64, regions / SETS as f64));
            let shown = |i: usize| format!("{:.4} ({:.0})", means[i].0, means[i].1);
            println!(
                "{n:>6} {noise:>6} {:>13.4} {:>20} {:>20} {:>20}",
                means[0].0,
                shown(1),
                shown(2),
                shown(3)
            );
            if doubted > 0 {
                println!(
                    "              {doubted} of {SETS} not better than uncalibrated, by the parts that were left out"
                );
            }
            // With more noise the scores are nearly calibrated as they are, and no step function is as good.
            ensure!(noise > 0.2 || means[2].0 <= means[0].0, "cross-validated stopping lost");
        }
    }
    println!("paper-compat's values sum to 1.095: its log-loss is too small by up to ln 1.095 = 0.091");
    let set = draw(10_000, 0.2, 1)?;
    for (name, irp) in ["run to the end", "cross-validated"].into_iter().zip(methods()) {
        let start = Instant::now();
        let model = CanonicalMethod::MulticlassIrp(irp).fit(&set)?;
        println!(
            "10 000 points, 3 classes, {name}: {} regions in {:.1} s",
            model.cells.len(),
            start.elapsed().as_secs_f64()
        );
    }
    Ok(())
}

fn methods() -> [MulticlassIrp; 3] {
    let default = MulticlassIrp::default();
    let cross_validation = Some(CrossValidation { folds: 5, seed: 1 });
    [
        default,
        MulticlassIrp { cross_validation, ..default },
        MulticlassIrp { values: RegionValues::PaperCompatible, ..default },
    ]
}

/// Points uniform on the simplex, each labeled with the largest of its entries after noise.
fn draw(n: usize, noise: f64, seed: u64) -> Result<VectorData> {
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(seed);
    let (mut values, mut labels) = (Vec::new(), Vec::new());
    for _ in 0..n {
        let raw: [f64; 3] = std::array::from_fn(|_| -(1.0 - rng.random::<f64>()).ln());
        let sum: f64 = raw.iter().sum();
        let noisy = raw.map(|entry| entry / sum + noise * normal(&mut rng));
        let largest = (0..3).fold(0, |best, i| if noisy[i] > noisy[best] { i } else { best });
        labels.push(largest as i64);
        values.extend(raw.map(|entry| (entry / sum) as f32));
    }
    Ok(VectorData::new(&Vectors::new(values, 3, VectorKind::Probs)?, &labels)?)
}

/// A standard normal number (Box and Muller).
fn normal(rng: &mut Xoshiro256PlusPlus) -> f64 {
    let radius = (-2.0 * (1.0 - rng.random::<f64>()).ln()).sqrt();
    radius * (std::f64::consts::TAU * rng.random::<f64>()).cos()
}

fn log_loss(model: &CanonicalModel, test: &VectorData) -> f64 {
    let scores = test.scores();
    let rows = scores.chunks_exact(3).zip(test.labels());
    let sum: f64 = rows.map(|(row, &label)| ln_loss(model.cell(row).probs[usize::from(label)])).sum();
    sum / test.len() as f64
}

fn ln_loss(prob: f64) -> f64 {
    -prob.max(f64::EPSILON).ln()
}
