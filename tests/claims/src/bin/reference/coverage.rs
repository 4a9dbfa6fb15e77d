//! How often a guarantee fails, over many calibration sets.

use anyhow::{Context, Result, ensure};
use calib_host::binary::{BoundaryPoints, Model, Ums};
use calib_host::fit::FittedTable;
use calib_host::guarantee::gr21_theorem4_marginal;
use calib_host::stats::clopper_pearson;
use calib_host::{BinaryMethod, Umd, fit_binary};
use rand::SeedableRng;
use rand_xoshiro::Xoshiro256PlusPlus;

use super::truth::Truth;

const SETS: u64 = 10_000;
const N: usize = 500;
const BINS: usize = 10;
const ALPHA: f64 = 0.1;
const SEED: u64 = 1;

/// Prints, for several distributions and theorems, the fraction of calibration sets in which some bin misses the truth by
/// more than is guaranteed, with its 99 % interval. Fails if one is significantly above alpha.
pub(super) fn coverage() -> Result<()> {
    println!(
        "\nguarantees that fail, of {SETS} calibration sets each: n = {N}, B = {BINS}, alpha = {ALPHA}, seed {SEED}"
    );
    println!(
        "{:<34} {:<34} {:>8} {:>18} {:>9}",
        "distribution", "guarantee", "failed", "99 % interval", "epsilon"
    );
    let truths = [
        Truth::uniform("uniform, P = s^2", |s| s * s),
        Truth::uniform("uniform, P = s/2 + 1/4", |s| s / 2.0 + 0.25),
        Truth::uniform("uniform, P = s/50 (rare)", |s| s / 50.0),
        Truth::atomic("256 values, P = s^2", 256, |s| s * s),
        Truth::atomic("5 values, P = s/2 + 1/4", 5, |s| s / 2.0 + 0.25),
    ];
    let kept = Umd { boundary_points: BoundaryPoints::Kept, ..Umd::new(BINS) };
    for truth in &truths {
        row(truth, "Theorem 3 (umd)", |_| BinaryMethod::Umd(Umd::new(BINS)), worst_bin)?;
        row(truth, "exact intervals (umd)", |_| BinaryMethod::Umd(Umd::new(BINS)), outside_interval)?;
        row(truth, "Corollary 1 (umd-original)", |_| BinaryMethod::Umd(kept), worst_bin)?;
        let randomized = |seed| BinaryMethod::UmdRandomized(Umd::new(BINS), seed);
        row(truth, "Theorem 4, every bin (randomized)", randomized, worst_bin)?;
        row(truth, "Theorem 4, a random score's bin", randomized, marginal)?;
        row(truth, "exact intervals (randomized)", randomized, outside_interval)?;
        let ums = |seed| BinaryMethod::Ums(Ums { bins: BINS, seed });
        row(truth, "split sample (ums)", ums, worst_bin)?;
        row(truth, "exact intervals (ums)", ums, outside_interval)?;
    }
    Ok(())
}

/// Prints a line. `fails` gives the probability that a guarantee fails, over test points, for one calibration set.
fn row(
    truth: &Truth,
    guarantee: &str,
    method: impl Fn(u64) -> BinaryMethod,
    fails: fn(&FittedTable, &[(f64, f64)]) -> f64,
) -> Result<()> {
    let (mut failed, mut stated, mut epsilons) = (0.0, 0u64, 0.0);
    for set in 0..SETS {
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(SEED + set);
        let data = truth.draw(N, &mut rng);
        // A rare class may be missing altogether; then nothing is fitted and nothing guaranteed.
        let Ok(fit) = fit_binary(&data, &method(set), ALPHA) else { continue };
        if fit.guarantee().is_none() {
            continue;
        }
        let table = fit.tables()[0].as_ref().context("a binary fit has a table")?;
        stated += 1;
        epsilons += table.epsilon().unwrap_or(f64::NAN);
        failed += fails(table, &truth.bins(edges(table.model())));
    }
    if stated == 0 {
        println!("{:<34} {guarantee:<34} {:>8}", truth.name, "none is ever stated: scores tie");
        return Ok(());
    }
    let interval = clopper_pearson((failed + 0.5) as u64, stated, 0.01);
    let rate = failed / stated as f64;
    let rare = if stated < SETS { format!("  stated for {stated}") } else { String::new() };
    println!(
        "{:<34} {guarantee:<34} {rate:>8.4} {:>18} {:>9.4}{rare}",
        truth.name,
        format!("[{:.4}, {:.4}]", interval.lo, interval.hi),
        epsilons / stated as f64
    );
    ensure!(interval.lo <= ALPHA, "{guarantee} fails more often than alpha for {}", truth.name);
    Ok(())
}

fn edges(model: &Model) -> impl Iterator<Item = (f64, f64)> {
    let (edges, words): (&[f64], &[u32]) = match model {
        Model::Steps(steps) => (&steps.edges, &[]),
        Model::Randomized(steps) => (&steps.edges, &steps.words),
        _ => (&[], &[]),
    };
    let word = |i: usize| words.get(i).map_or(0.0, |&word| f64::from(word) / 2f64.powi(32));
    edges.iter().enumerate().map(move |(i, &edge)| (edge, word(i)))
}

/// Whether some bin with points and probability is off by more than epsilon.
fn worst_bin(table: &FittedTable, truth: &[(f64, f64)]) -> f64 {
    let epsilon = table.epsilon().unwrap_or(0.0);
    let off = |(bin, &(mass, prob)): (&calib_host::binary::Bin, &(f64, f64))| {
        bin.n > 0 && mass > 0.0 && (bin.value - prob).abs() > epsilon
    };
    f64::from(u8::from(table.model().bins().iter().zip(truth).any(off)))
}

/// The probability of the bins that are off by more than Theorem 4's marginal epsilon.
fn marginal(table: &FittedTable, truth: &[(f64, f64)]) -> f64 {
    let epsilon = gr21_theorem4_marginal((N / BINS) as u64, ALPHA);
    let bins = table.model().bins().iter().zip(truth);
    bins.filter(|(bin, (_, prob))| (bin.value - prob).abs() > epsilon).map(|(_, (mass, _))| mass).sum()
}

/// Whether some bin's truth is outside its exact interval.
fn outside_interval(table: &FittedTable, truth: &[(f64, f64)]) -> f64 {
    let outside = |(interval, &(mass, prob)): (&calib_host::stats::Interval, &(f64, f64))| {
        mass > 0.0 && (prob < interval.lo || prob > interval.hi)
    };
    f64::from(u8::from(table.intervals().iter().zip(truth).any(outside)))
}
