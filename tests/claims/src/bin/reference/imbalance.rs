//! Points per bin against a fixed number of bins where some classes are rare (Gupta and Ramdas 2022, appendix B.2).

use anyhow::{Context, Result, ensure};
use calib_claims::truth::Truth;
use calib_host::{BinaryMethod, Problems, ReductionOptions, Umd, fit_reduction};
use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

use super::steps;

const DRAWS: u64 = 50;
const N: usize = 40_000;
/// How often each class is predicted: as in COVTYPE-7, the most frequent a hundred times as often as the rarest.
const SHARES: [f64; 7] = [0.36, 0.49, 0.06, 0.0049, 0.0160, 0.0300, 0.0391];
/// As in the paper's figure 4.
const ROWS_PER_BIN: usize = 100;
const BINS: usize = 50;

/// Prints the true top-label ECE of every class for both ways to size bins, the mean over many draws, and fails if points
/// per bin do not make it more uniform over the classes.
pub(super) fn imbalance() -> Result<()> {
    println!(
        "\ntop-label ECE by class, mean of {DRAWS} draws of n = {N}: {ROWS_PER_BIN} points per bin, and {BINS} bins for every class"
    );
    // An underconfident classifier.
    let truth = Truth::uniform("underconfident", |score| score.sqrt());
    let umd = |bins| BinaryMethod::Umd(Umd::new(bins));
    let ways = [
        ("points per bin", ReductionOptions::new(umd(1)).rows_per_bin(Some(ROWS_PER_BIN))),
        ("fixed bins", ReductionOptions::new(umd(BINS))),
    ];
    let mut sums = [[0.0; SHARES.len()]; 2];
    let mut more_uniform = 0;
    for draw in 0..DRAWS {
        let data = sample(&truth, &mut Xoshiro256PlusPlus::seed_from_u64(draw))?;
        let mut spreads = [0.0; 2];
        for ((sums, spread), (_, options)) in sums.iter_mut().zip(&mut spreads).zip(&ways) {
            let fit = fit_reduction(&data, options, 0.1)?;
            let mut errors = [0.0; SHARES.len()];
            for (class, error) in errors.iter_mut().enumerate() {
                let model = steps(&fit, class).with_context(|| format!("draw {draw}, class {class}"))?;
                let bins = truth.bins(model.edges.iter().map(|&edge| (edge, 0.0)));
                *error = bins
                    .iter()
                    .zip(&model.bins)
                    .map(|((mass, prob), bin)| mass * (bin.value - prob).abs())
                    .sum();
            }
            *spread = deviation(&errors);
            sums.iter_mut().zip(errors).for_each(|(sum, error)| *sum += error);
        }
        more_uniform += usize::from(spreads[0] < spreads[1]);
    }
    println!(
        "{:<16} {} {:>10}",
        "class's share",
        SHARES.map(|share| format!("{share:>8}")).join(" "),
        "deviation"
    );
    let deviations = [0, 1].map(|way: usize| {
        let means = sums[way].map(|sum| sum / DRAWS as f64);
        let deviation = deviation(&means);
        println!(
            "{:<16} {} {deviation:>10.4}",
            ways[way].0,
            means.map(|mean| format!("{mean:>8.4}")).join(" ")
        );
        deviation
    });
    println!("points per bin are the more uniform in {more_uniform} of {DRAWS} draws");
    ensure!(
        deviations[0] < deviations[1] && 10 * more_uniform > 9 * DRAWS as usize,
        "points per bin are not the more uniform"
    );
    Ok(())
}

/// Predicted classes by their shares, uniform scores, and labels that are right as often as the truth says.
fn sample(truth: &Truth, rng: &mut Xoshiro256PlusPlus) -> Result<Problems> {
    let points = truth.points(N, rng);
    let (mut predicted, mut scores, mut labels) = (Vec::new(), Vec::new(), Vec::new());
    for (score, hit) in points {
        let mut draw = rng.random::<f64>() * SHARES.iter().sum::<f64>();
        let class = SHARES.iter().position(|share| {
            draw -= share;
            draw < 0.0
        });
        let class = class.unwrap_or(0) as u16;
        predicted.push(class);
        scores.push(score);
        labels.push(i64::from(if hit { class } else { (class + 1) % SHARES.len() as u16 }));
    }
    Ok(Problems::of_predictions(&predicted, &scores, &labels, SHARES.len())?)
}

/// The standard deviation over the classes.
fn deviation(values: &[f64]) -> f64 {
    let mean = values.iter().sum::<f64>() / values.len() as f64;
    (values.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / values.len() as f64).sqrt()
}
