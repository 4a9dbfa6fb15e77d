//! Metrics of CIFAR-10 against reference values, and the estimators of calibration error on data of known error.

use std::path::Path;

use anyhow::{Result, ensure};
use calib_host::VectorKind;
use calib_host::assess::{
    AssessOptions, Binning, Bootstrap, Cell, IntervalKind, Prediction, PredictionKind, ProbMatrix,
    VectorAssessment, assess, assess_vectors, calibration_error,
};
use calib_host::io::input::{self, Source, Table};
use calib_host::stats::Interval;
use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use serde_json::Value;

use super::{Comparison, array, by_bin, float, floats};

/// Both sides compute in f64 from the same logits.
const TOLERANCE: f64 = 1e-12;

/// The reference took logits that were divided by the temperature and stored in f32, which dividing here does not reproduce
/// to the last bit.
const SCALED_TOLERANCE: f64 = 1e-7;

/// Compares the metrics of the classifier as it is and with its temperature set to 1.1, for bins of equal width.
pub(super) fn equal_width(table: &mut Comparison, data: &Path, refs: &Value) -> Result<()> {
    let file = |what| Source::read(&data.join(format!("cifar10_resnet50_test_{what}.npy")), &|_| ());
    let labels = Table::read(&file("labels")?)?.labels("label")?.values;
    let labels: Vec<u16> = labels.into_iter().map(u16::try_from).collect::<Result<_, _>>()?;
    let logits = input::vectors(&file("logits")?, VectorKind::Logits)?;
    for (name, temperature, tolerance) in [("base", 1.0f32, TOLERANCE), ("TS_T1.1", 1.1, SCALED_TOLERANCE)] {
        let reference = &refs["equal_width"][name];
        let probs = logits.rows().flat_map(|row| softmax(row, temperature)).collect();
        let matrix = ProbMatrix::new(probs, labels.clone(), logits.classes());
        let blocks = [("B15_left_closed", 15), ("B10_left_closed", 10)];
        for (block, bins) in blocks {
            let ours = assess_vectors(&matrix, &equal(bins));
            let title = |what: &str| format!("CIFAR-10 {name} B = {bins}: {what}");
            let reference = &reference[block];
            table.values_within(tolerance, &title("calibration errors"), pairs(reference, &ours)?);
            table.values_within(
                tolerance,
                &title("cw_ece by class"),
                floats(&reference["CW_ECE_per_class"])?
                    .into_iter()
                    .zip(ours.class_wise.iter().map(|class| class.conf_ece.value)),
            );
            table.values_within(tolerance, &title("bins"), bin_pairs(reference, &ours)?);
        }
        let scores = assess_vectors(&matrix, &equal(15));
        let proper = [
            (float(&reference["NLL"])?, scores.log_loss.value),
            (float(&reference["Brier_sum"])?, scores.brier.value),
        ];
        table.values_within(tolerance, &format!("CIFAR-10 {name}: log_loss and brier"), proper);
        let mut sweep = Vec::new();
        if let Value::Object(blocks) = &reference["sweep_B"] {
            for (bins, reference) in blocks {
                sweep.extend(pairs(reference, &assess_vectors(&matrix, &equal(bins.parse()?)))?);
            }
        }
        table.values_within(tolerance, &format!("CIFAR-10 {name}: B from 5 to 25"), sweep);
    }
    Ok(())
}

/// Divided in f32, then in f64.
fn softmax(row: &[f32], temperature: f32) -> Vec<f64> {
    let scaled: Vec<f64> = row.iter().map(|&logit| f64::from(logit / temperature)).collect();
    let max = scaled.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let exps: Vec<f64> = scaled.iter().map(|z| (z - max).exp()).collect();
    let sum: f64 = exps.iter().sum();
    exps.into_iter().map(|exp| exp / sum).collect()
}

fn equal(bins: usize) -> AssessOptions<'static> {
    AssessOptions::default().binning(Binning::EqualWidth(bins))
}

/// Reference and ours of every metric that a block gives.
fn pairs(reference: &Value, ours: &VectorAssessment) -> Result<Vec<(f64, f64)>> {
    let top = &ours.top_label;
    let value = |estimate: Option<calib_host::assess::BinnedEstimate>| estimate.map_or(f64::NAN, |e| e.value);
    let metrics = [
        ("accuracy", top.accuracy.value),
        ("conf_ECE", top.conf_ece.value),
        ("conf_MCE", top.conf_mce.value),
        ("TL_ECE", value(top.tl_ece)),
        ("TL_MCE_definition17", value(top.tl_mce)),
        ("TL_MCE_max_b_weighted_Delta_b", value(top.tl_mce_bin)),
        ("CW_ECE", ours.cw_ece.value),
    ];
    let given = metrics.into_iter().filter(|(key, _)| !reference[key].is_null());
    given.map(|(key, ours)| Ok((float(&reference[key])?, ours))).collect()
}

fn bin_pairs(reference: &Value, ours: &VectorAssessment) -> Result<Vec<(f64, f64)>> {
    let bins = array(&reference["conf_bins"])?;
    ensure!(bins.len() == ours.top_label.bins.len(), "as many bins hold predictions");
    let mut pairs = Vec::new();
    for (theirs, ours) in bins.iter().zip(&ours.top_label.bins) {
        pairs.push((float(&theirs["bin"])?, f64::from(ours.bin)));
        pairs.push((float(&theirs["count"])?, ours.n as f64));
        pairs.push((float(&theirs["mean_conf"])?, ours.mean_prob));
        pairs.push((float(&theirs["acc"])?, ours.rate));
    }
    Ok(pairs)
}

/// A model with so many equally likely outputs, each off by about as much as the next, up or down.
struct Binned {
    /// Output and true probability.
    values: Vec<(f64, f64)>,
}

impl Binned {
    fn new(bins: usize, off: f64) -> Self {
        let value = |b: usize| {
            let prob = 0.1 + 0.8 * (b as f64 + 0.5) / bins as f64;
            let sign = if b.is_multiple_of(2) { 1.0 } else { -1.0 };
            (prob, prob + sign * off * (0.5 + b as f64 / bins as f64))
        };
        Self { values: (0..bins).map(value).collect() }
    }

    /// The true mean absolute and mean squared deviation.
    fn truth(&self) -> [f64; 2] {
        let mean = |of: fn(f64) -> f64| {
            self.values.iter().map(|(prob, truth)| of(prob - truth)).sum::<f64>() / self.values.len() as f64
        };
        [mean(f64::abs), mean(|d| d * d)]
    }

    fn draw(&self, n: usize, rng: &mut Xoshiro256PlusPlus) -> Vec<Prediction> {
        let mut predictions = Vec::with_capacity(n);
        for _ in 0..n {
            let bin = rng.random_range(0..self.values.len());
            let (prob, truth) = self.values[bin];
            predictions.push(Prediction {
                class: 1,
                prob,
                bin: bin as u32,
                hit: rng.random::<f64>() < truth,
            });
        }
        predictions
    }
}

const SETS: u64 = 1000;

/// Prints the bias and the root mean squared error of plugin and debiased estimates, and fails where the debiased estimate of
/// the squared error is not the better one, as Kumar et al. 2019 (section 5.1) say. Of the absolute error they give a heuristic:
/// it removes most of the bias while that is large, and too much with many points in a bin.
pub(super) fn estimators() -> Result<()> {
    println!("\nestimates of a known calibration error: bias and root mean squared error over {SETS} sets");
    println!(
        "{:>6} {:>4} {:>8}   {:>23} {:>23}   {:>8} {:>23} {:>23}",
        "n", "B", "l1", "plugin", "debiased", "l2^2", "plugin", "debiased"
    );
    for bins in [10, 100] {
        let model = Binned::new(bins, 0.03);
        let truth = model.truth();
        for n in [200, 500, 1000, 2000, 5000, 20_000] {
            let mut sums = [[0.0f64; 2]; 4];
            for seed in 0..SETS {
                let drawn = model.draw(n, &mut Xoshiro256PlusPlus::seed_from_u64(seed));
                let mut cells = vec![Vec::new(); bins];
                drawn.iter().for_each(|p| cells[p.bin as usize].push((p.prob, p.hit)));
                let cells: Vec<Cell> = cells.into_iter().map(Cell::new).collect();
                let got = calibration_error(&cells);
                let errors = [
                    got.l1 - truth[0],
                    got.l1_debiased - truth[0],
                    got.l2_squared - truth[1],
                    got.l2_squared_debiased - truth[1],
                ];
                for (sum, error) in sums.iter_mut().zip(errors) {
                    *sum = [sum[0] + error, sum[1] + error * error];
                }
            }
            let [l1, l1_debiased, l2, l2_debiased] =
                sums.map(|[sum, squares]| (sum / SETS as f64, (squares / SETS as f64).sqrt()));
            let show = |(bias, error): (f64, f64)| format!("{bias:+.2e} rmse {error:.2e}");
            println!(
                "{n:>6} {bins:>4} {:>8.5}   {:>23} {:>23}   {:>8.6} {:>23} {:>23}",
                truth[0],
                show(l1),
                show(l1_debiased),
                truth[1],
                show(l2),
                show(l2_debiased)
            );
            ensure!(l2_debiased.1 < l2.1, "n = {n}, B = {bins}: the debiased squared error is the worse one");
        }
    }
    coverage()
}

/// Prints how often bootstrap intervals hold the true value, and fails where those of the Brier score and of debiased
/// estimates do so clearly less often than they state. Those of plugin estimates show how much these vary; they have the
/// bias, and no resampling takes it away. The interval of the mean absolute deviation allows for all of it, and is wide
/// where points are few.
fn coverage() -> Result<()> {
    const SETS: u64 = 300;
    const ALPHA: f64 = 0.1;
    const RESAMPLES: usize = 200;
    println!(
        "\nbootstrap intervals at alpha = {ALPHA} that hold the true value, of {SETS} sets, {RESAMPLES} resamples (mean width in brackets)"
    );
    println!(
        "{:>6} {:>4} {:>11} {:>8} {:>8} {:>15} {:>8} {:>10}",
        "n", "B", "", "brier", "l1", "l1 deb.", "l2^2", "l2^2 deb."
    );
    for (bins, n) in [(10, 200), (10, 2000), (100, 2000), (10, 10_000), (100, 20_000)] {
        let model = Binned::new(bins, 0.03);
        let [l1, l2] = model.truth();
        let brier = model.values.iter().map(|&(s, y)| y * (1.0 - s).powi(2) + (1.0 - y) * s * s).sum::<f64>()
            / bins as f64;
        for (kind, name) in [(IntervalKind::Percentile, "percentile"), (IntervalKind::Bca, "bca")] {
            let mut held = [0u32; 5];
            let mut width = 0.0;
            for seed in 0..SETS {
                let drawn = model.draw(n, &mut Xoshiro256PlusPlus::seed_from_u64(seed));
                // Not the seed that the points were drawn with.
                let bootstrap =
                    Some(Bootstrap { kind, resamples: RESAMPLES, seed: SETS + seed, alpha: ALPHA });
                let options = by_bin().alpha(ALPHA).bootstrap(bootstrap);
                let got = assess(&drawn, PredictionKind::Binary, &options);
                let holds = |interval: Option<Interval>, truth: f64| {
                    u32::from(interval.is_some_and(|i| i.lo <= truth && truth <= i.hi))
                };
                let squared =
                    |of: Option<calib_host::assess::EstimateWithInterval>| of.and_then(|e| e.interval);
                let now = [
                    holds(got.brier.interval, brier),
                    holds(got.conf_ece.interval, l1),
                    holds(got.conf_ece.debiased_interval, l1),
                    holds(squared(got.lp_ce.squared), l2),
                    holds(squared(got.lp_ce.squared_debiased), l2),
                ];
                held.iter_mut().zip(now).for_each(|(held, now)| *held += now);
                width += got.conf_ece.debiased_interval.map_or(0.0, |i| (i.hi - i.lo) / SETS as f64);
            }
            let [brier, l1, l1_debiased, l2, l2_debiased] = held.map(|held| f64::from(held) / SETS as f64);
            println!(
                "{n:>6} {bins:>4} {name:>11} {brier:>8.3} {l1:>8.3} {:>15} {l2:>8.3} {l2_debiased:>10.3}",
                format!("{l1_debiased:.3} ({width:.4})")
            );
            // The quantiles of so few resamples are a little too close together. Three standard deviations of a share of so
            // many sets.
            let expected = (1.0 - ALPHA) * (RESAMPLES - 1) as f64 / (RESAMPLES + 1) as f64;
            let least = expected - 3.0 * (ALPHA * (1.0 - ALPHA) / SETS as f64).sqrt();
            for (what, share) in [("brier", brier), ("l1", l1_debiased), ("l2^2", l2_debiased)] {
                ensure!(
                    share >= least,
                    "n = {n}, B = {bins}, {name}: {what} is held in {share:.3} of the sets"
                );
            }
        }
    }
    Ok(())
}
