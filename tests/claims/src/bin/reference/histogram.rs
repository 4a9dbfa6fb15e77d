//! Histogram binning against scaling-binning (Kumar, Liang and Ma 2019, appendix E).

use anyhow::{Context, Result};
use calib_claims::truth::Truth;
use calib_host::binary::{Loss, ScalingBinning, ScalingMethod};
use calib_host::{BinaryMethod, Umd, fit_binary};
use rand::SeedableRng;
use rand_xoshiro::Xoshiro256PlusPlus;

const SETS: u64 = 1000;

/// Prints the mean squared calibration error of both methods where P(Y = 1 | z) is a logistic function of the logit, with
/// a = 2 and c = 1 as in the paper, and how it changes with B and n.
pub(super) fn histogram() -> Result<()> {
    // sigmoid(2 logit(z) + 1), without the logarithms.
    let truth = Truth::uniform("K19", |z| {
        let odds = std::f64::consts::E * z * z;
        odds / (odds + (1.0 - z) * (1.0 - z))
    });
    println!(
        "\nsquared calibration error, mean of {SETS} sets: histogram binning (umd) and scaling-binning (one set, three-way)"
    );
    println!("{:>6} {:>4} {:>22} {:>22} {:>22}", "n", "B", "umd", "one set", "three-way");
    let mut errors = Vec::new();
    for (n, bins) in [(1000, 10), (2000, 10), (4000, 10), (2000, 5), (2000, 20)] {
        let methods: [fn(usize, u64) -> BinaryMethod; 3] = [
            |bins, _| BinaryMethod::Umd(Umd::new(bins)),
            |bins, _| scaling_binning(bins, None),
            |bins, seed| scaling_binning(bins, Some(seed)),
        ];
        let mut means = [(0.0, 0.0); 3];
        for (mean, method) in means.iter_mut().zip(methods) {
            *mean = mean_error(&truth, n, |seed| method(bins, seed))?;
        }
        let shown = means.map(|(mean, error)| format!("{mean:.3e} +- {error:.0e}"));
        println!("{n:>6} {bins:>4} {:>22} {:>22} {:>22}", shown[0], shown[1], shown[2]);
        errors.push(means.map(|mean| mean.0));
    }
    for (what, from, to) in
        [("B from 5 to 20", 3, 4), ("n from 1000 to 2000", 0, 1), ("n from 2000 to 4000", 1, 2)]
    {
        let [umd, one, three] = [0, 1, 2].map(|method| errors[to][method] / errors[from][method]);
        println!("{what}: umd x {umd:.2}, one set x {one:.2}, three-way x {three:.2}");
    }
    println!(
        "the paper: B from 5 to 20 multiplies histogram binning's by 3.71 +- 0.15 and scaling-binning's by 0.98 +- 0.07; doubling n halves both"
    );
    Ok(())
}

fn scaling_binning(bins: usize, split_seed: Option<u64>) -> BinaryMethod {
    BinaryMethod::ScalingBinning(ScalingBinning {
        scaling: ScalingMethod::PlattLogit,
        loss: Loss::Log,
        bins,
        split_seed,
    })
}

/// The mean squared calibration error and the mean's standard error, over calibration sets.
fn mean_error(truth: &Truth, n: usize, method: impl Fn(u64) -> BinaryMethod) -> Result<(f64, f64)> {
    let mut errors = Vec::new();
    for seed in 0..SETS {
        let data = truth.draw(n, &mut Xoshiro256PlusPlus::seed_from_u64(seed));
        let fit = fit_binary(&data, &method(seed), 0.1)?;
        let table = fit.tables()[0].as_ref().context("a binary fit has a table")?;
        let steps = table.model().steps().context("the method fits a step function")?;
        let bins = truth.bins(steps.edges.iter().map(|&edge| (edge, 0.0)));
        errors.push(
            bins.iter().zip(&steps.bins).map(|((mass, prob), bin)| mass * (bin.value - prob).powi(2)).sum(),
        );
    }
    let count = errors.len() as f64;
    let mean = errors.iter().sum::<f64>() / count;
    let variance = errors.iter().map(|error: &f64| (error - mean).powi(2)).sum::<f64>() / (count - 1.0);
    Ok((mean, (variance / count).sqrt()))
}
