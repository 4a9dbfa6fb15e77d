//! The validity curves of Gupta and Ramdas 2021, figures 1 and 3, on the credit scores.

use std::collections::BTreeMap;

use anyhow::{Context, Result, bail};
use calib_host::binary::{
    BinnedModel, Boundary, BoundaryPoints, FixedWidth, InterpolatedModel, Isotonic, Model, ScalingBinning,
    ScalingModel, Ums,
};
use calib_host::points::Group;
use calib_host::{BinaryData, BinaryMethod, Umd, fit_binary};
use serde_json::Value;

use super::{Comparison, float, floats, numpy_permutation};

const RESAMPLES: u32 = 100;
const BINS: usize = 10;
/// A deviation that equals epsilon is within it or not by its last bit. That moves a bin of one resample, about a tenth of
/// its test points, to the other side, or the resample as a whole. So does a pair of isotonic blocks whose equal means
/// scikit-learn, in floats, leaves apart; ours are pooled in integers.
const TIES: [f64; 2] = [0.15 / RESAMPLES as f64, 1.01 / RESAMPLES as f64];
/// The credit scores are the outputs of the reference's scaling function, so that the one left to bin is the identity.
const IDENTITY: ScalingModel = ScalingModel::PlattLogit { a: 1.0, b: 0.0 };

/// Test points of which a calibrator says the same.
#[derive(Default)]
struct Alike {
    value: f64,
    n: u64,
    positives: u64,
}

impl Alike {
    fn deviation(&self) -> f64 {
        (self.positives as f64 / self.n as f64 - self.value).abs()
    }
}

/// A calibrator of the reference.
enum Calibrator {
    Steps(BinnedModel),
    Line(InterpolatedModel),
}

/// A score and whether its label is 1.
type Point = (f64, bool);

/// How one is fitted to rows of the credit scores, in the order of the resample.
type Fit = fn(&[Point]) -> Result<Calibrator>;

impl Calibrator {
    /// What tells bins apart, or the values of a line, and the value.
    fn at(&self, score: f64) -> (u64, f64) {
        match self {
            Self::Steps(model) => (model.bin(score) as u64, model.prob(score)),
            Self::Line(model) => {
                let value = interpolated(model, score);
                (value.to_bits(), value)
            }
        }
    }

    fn alike(&self, test: &[Point]) -> Vec<Alike> {
        let mut alike: BTreeMap<u64, Alike> = BTreeMap::new();
        for &(score, label) in test {
            let (key, value) = self.at(score);
            let there = alike.entry(key).or_default();
            *there = Alike { value, n: there.n + 1, positives: there.positives + u64::from(label) };
        }
        alike.into_values().collect()
    }
}

/// A line between the knots, constant beyond them.
fn interpolated(model: &InterpolatedModel, score: f64) -> f64 {
    let above = model.scores.partition_point(|&knot| knot <= score);
    let (Some(below), true) = (above.checked_sub(1), above < model.scores.len()) else {
        return model.values[above.min(model.values.len() - 1)];
    };
    let share = (score - model.scores[below]) / (model.scores[above] - model.scores[below]);
    model.values[below] + share * (model.values[above] - model.values[below])
}

fn by_method(rows: &[Point], method: BinaryMethod) -> Result<Calibrator> {
    let (scores, labels) = rows.iter().copied().unzip();
    let fit = fit_binary(&BinaryData::new(scores, labels)?, &method, 0.1)?;
    match fit.tables().iter().flatten().next().context("a binary fit has a table")?.model() {
        Model::Steps(steps) => Ok(Calibrator::Steps(steps.clone())),
        Model::Interpolated(line) => Ok(Calibrator::Line(line.clone())),
        _ => bail!("the method fits neither steps nor a line"),
    }
}

fn umd(rows: &[Point], boundary: Boundary, boundary_points: BoundaryPoints) -> Result<Calibrator> {
    by_method(rows, BinaryMethod::Umd(Umd { bins: BINS, boundary, boundary_points }))
}

/// Edges from the first half of the rows, values from the second.
fn ums(rows: &[Point]) -> Result<Calibrator> {
    let (first, second) = rows.split_at(rows.len() / 2);
    Ok(Calibrator::Steps(Ums::fit_parts(BINS, &groups(first), &groups(second))?))
}

/// Edges and means of the given scaling function from the same rows.
fn scaling_binning(rows: &[Point]) -> Result<Calibrator> {
    let groups = groups(rows);
    Ok(Calibrator::Steps(ScalingBinning::fit_parts(&IDENTITY, BINS, &groups, &groups)?))
}

/// The reference steps up at the lowest score of a block, our fit half-way to it.
fn isotonic_step(rows: &[Point]) -> Result<Calibrator> {
    let mut fitted = by_method(rows, BinaryMethod::Isotonic(Isotonic::default()))?;
    if let Calibrator::Steps(model) = &mut fitted {
        let groups = groups(rows);
        for edge in &mut model.edges {
            *edge = groups[groups.partition_point(|group| group.score < *edge)].score;
        }
    }
    Ok(fitted)
}

fn groups(rows: &[Point]) -> Vec<Group> {
    let mut rows = rows.to_vec();
    rows.sort_by(|a, b| a.0.total_cmp(&b.0));
    let group = |tied: &[Point]| Group {
        score: tied[0].0,
        n: tied.len() as u64,
        positives: tied.iter().filter(|row| row.1).count() as u64,
    };
    rows.chunk_by(|a, b| a.0 == b.0).map(group).collect()
}

/// The rows of a resample: the first `n`, and the last 5000.
fn resample(number: u32, n: usize, scores: &[f64], labels: &[i64]) -> (Vec<Point>, Vec<Point>) {
    let order = numpy_permutation(10_000 + number, scores.len());
    let rows = |order: &[usize]| order.iter().map(|&i| (scores[i], labels[i] == 1)).collect();
    (rows(&order[..n]), rows(&order[order.len() - 5000..]))
}

/// Compares sample-split uniform-mass binning and scaling-binning on fixed subsets: edges, values and what the bins hold of
/// the test rows.
pub(super) fn fixed_cases(
    table: &mut Comparison,
    scores: &[f64],
    labels: &[i64],
    refs: &Value,
) -> Result<()> {
    let methods: [(&str, Fit); 2] = [("scaling_binning_ceil", scaling_binning), ("UMS_ceil", ums)];
    for (n, number) in [(500, 0), (500, 1), (1000, 0), (1000, 1), (3000, 0), (3000, 1)] {
        let (calibration, test) = resample(number, n, scores, labels);
        for (name, fit) in methods {
            let reference = &refs[format!("n{n}_r{number}")][name];
            let calibrator = fit(&calibration)?;
            let Calibrator::Steps(model) = &calibrator else { bail!("{name} fits steps") };
            let alike = calibrator.alike(&test);
            let mut compare = |key: &str, ours: Vec<f64>| -> Result<()> {
                let theirs = floats(&reference[key])?;
                anyhow::ensure!(theirs.len() == ours.len(), "{name}: {key}");
                table.values(
                    &format!("credit n = {n}, subset {number}, {name}: {key}"),
                    theirs.into_iter().zip(ours),
                );
                Ok(())
            };
            compare("edges", model.edges.clone())?;
            compare("values", model.bins.iter().map(|bin| bin.value).collect())?;
            compare("test_counts", alike.iter().map(|bin| bin.n as f64).collect())?;
            compare("test_positives", alike.iter().map(|bin| bin.positives as f64).collect())?;
            let ece = alike.iter().map(|bin| bin.n as f64 * bin.deviation()).sum::<f64>() / test.len() as f64;
            let title = format!("credit n = {n}, subset {number}, {name}: l1-ECE");
            table.value(&title, float(&reference["l1_ECE"])?, ece, None);
        }
    }
    Ok(())
}

/// Compares `V(epsilon)`, the probability that what a calibrator says of a test point is within epsilon of the mean label
/// of the test points of which it says the same, and the probability that this is so for all of them, averaged over
/// resamples.
pub(super) fn validity(table: &mut Comparison, scores: &[f64], labels: &[i64], refs: &Value) -> Result<()> {
    use Boundary::{Ceil, Floor};
    let epsilons = floats(&refs["eps"])?;
    let methods: [(&str, Fit); 8] = [
        ("UMD_alg1_ceil", |rows| umd(rows, Ceil, BoundaryPoints::LeftOut)),
        ("UMD_alg1_floor", |rows| umd(rows, Floor, BoundaryPoints::LeftOut)),
        ("UMD_authors_code_cor1", |rows| umd(rows, Floor, BoundaryPoints::Kept)),
        ("fixed_width", |rows| by_method(rows, BinaryMethod::FixedWidth(FixedWidth { bins: BINS }))),
        ("UMS_50_50", ums),
        ("scaling_binning_doubledip", scaling_binning),
        ("isotonic_step", isotonic_step),
        ("isotonic_sklearn_interp", |rows| {
            by_method(rows, BinaryMethod::IsotonicInterpolated(Isotonic::default()))
        }),
    ];
    println!(
        "\nvalidity curves on the credit scores, on the reference's own {RESAMPLES} resamples. Its conventions:\n\
         UMS takes edges from the first half of the rows and values from the second; the scores are the outputs of the\n\
         scaling function that is binned; isotonic_step steps up at a block's lowest score, where `calib fit` steps\n\
         half-way between blocks. The isotonic curves differ by up to 0.0005: in a few resamples scikit-learn's floats\n\
         leave two blocks of equal mean apart, which are pooled here. The others are the same but where a deviation\n\
         equals epsilon to the last digit."
    );
    for n in [500, 1000, 3000, 4000, 5000, 7000, 10_000] {
        let mut curves = vec![[vec![0.0; epsilons.len()], vec![0.0; epsilons.len()]]; methods.len()];
        for number in 0..RESAMPLES {
            let (calibration, test) = resample(number, n, scores, labels);
            for ((_, fit), [marginal, conditional]) in methods.iter().zip(&mut curves) {
                let alike = fit(&calibration)?.alike(&test);
                for (k, &epsilon) in epsilons.iter().enumerate() {
                    let within = |bin: &&Alike| bin.deviation() <= epsilon;
                    let valid: u64 = alike.iter().filter(within).map(|bin| bin.n).sum();
                    marginal[k] += valid as f64 / test.len() as f64 / f64::from(RESAMPLES);
                    conditional[k] +=
                        f64::from(u8::from(alike.iter().all(|bin| within(&bin)))) / f64::from(RESAMPLES);
                }
            }
        }
        for ((name, _), ours) in methods.iter().zip(curves) {
            let reference = &refs["results"][n.to_string()][name];
            for ((key, ours), tie) in
                ["V_marginal_mean", "V_conditional_mean"].into_iter().zip(ours).zip(TIES)
            {
                let title = format!("credit n = {n}, {name}: {key}");
                table.values_within(tie, &title, floats(&reference[key])?.into_iter().zip(ours));
            }
        }
    }
    Ok(())
}
