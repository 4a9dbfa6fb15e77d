//! `calib compare`

use std::io::Write;
use std::path::{Path, PathBuf};

use calib_host::input::{self, Source};
use calib_host::{
    BinaryMethod, Bootstrap, BoundaryPoints, CompareOptions, Error, EstimateWithInterval, FixedWidth,
    IntervalKind, Isotonic, Loss, MethodComparison, ProperScore, ScalingBinning, ScalingMethod, Umd, Ums,
    compare_methods,
};
use clap::{Args, ValueEnum};

use super::calibrated::{Columns, score_columns};
use super::print_json;

/// Compare binary calibration methods by repeated cross-validation, and recommend one, or none.
///
/// Every point is calibrated by fits to other points only, with the device's arithmetic. Guarantee and size are those of a
/// fit to all points.
#[derive(Args)]
pub(crate) struct Compare {
    /// Scores of class 1 that no classifier was trained on, in [0, 1]: a table, or a NumPy array of shape (n,).
    #[arg(long, value_name = "FILE")]
    scores: PathBuf,
    /// Labels, if not in the table of scores: a NumPy array of integers, or a table.
    #[arg(long, value_name = "FILE")]
    labels: Option<PathBuf>,
    /// The column of scores in a table.
    #[arg(long, default_value = super::options::SCORE_COLUMN, value_name = "NAME")]
    score_column: String,
    /// The column of labels in a table.
    #[arg(long, default_value = "label", value_name = "NAME")]
    label_column: String,
    /// Which methods, separated by commas.
    #[arg(long, value_enum, value_delimiter = ',', default_value = "all", value_name = "NAMES")]
    methods: Vec<Choice>,
    /// The number of bins of methods that have one.
    #[arg(long, default_value_t = 10, value_name = "B", value_parser = clap::value_parser!(u16).range(1..))]
    bins: u16,
    /// The proper scoring rule to rank by.
    #[arg(long, value_enum, default_value_t = Metric::Brier)]
    metric: Metric,
    /// The widest guarantee that will do: others are ranked, but not recommended.
    #[arg(long, value_name = "E")]
    epsilon: Option<f64>,
    /// The failure probability of guarantees.
    #[arg(long, default_value_t = 0.1, value_name = "ALPHA", value_parser = super::parse_alpha)]
    alpha: f64,
    /// The number of parts of the data; each is calibrated by fits to the others.
    #[arg(long, default_value_t = 5, value_name = "K", value_parser = clap::value_parser!(u16).range(2..=1000))]
    folds: u16,
    /// How often the points are dealt out anew.
    #[arg(long, default_value_t = 3, value_name = "R", value_parser = clap::value_parser!(u16).range(1..=1000))]
    repeats: u16,
    /// The number of bootstrap resamples for the 95 % intervals.
    #[arg(long, default_value_t = 1000, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    bootstrap: u32,
    /// The seed of everything random.
    #[arg(long, default_value_t = 0, value_name = "SEED")]
    seed: u64,
    /// Print JSON on standard output.
    #[arg(long)]
    json: bool,
}

#[derive(Clone, Copy, PartialEq, ValueEnum)]
enum Choice {
    All,
    Umd,
    UmdOriginal,
    UmdRandomized,
    Ums,
    FixedWidth,
    Isotonic,
    IsotonicInterpolated,
    Irp,
    ScalingBinning,
    Platt,
    Beta,
    Temperature,
    VennAbers,
}

#[derive(Clone, Copy, ValueEnum)]
enum Metric {
    /// The Brier score.
    Brier,
    /// The log-loss.
    LogLoss,
}

impl Compare {
    pub(crate) fn run(self, quiet: bool) -> Result<(), Error> {
        if self.epsilon.is_some_and(|epsilon| epsilon.is_nan() || epsilon <= 0.0) {
            return Err(Error::Usage("epsilon is a number above 0, such as 0.05".into()));
        }
        let paths: Vec<&Path> = std::iter::once(&*self.scores).chain(self.labels.as_deref()).collect();
        let sources = Source::read_all(&paths, !quiet)?;
        let columns = Columns { score: &self.score_column, label: &self.label_column };
        let (scores, labels) = score_columns(&sources, columns)?;
        // Checks the range, too.
        input::binary_data(&scores, &labels)?;
        if scores.len() < usize::from(self.folds) {
            return Err(Error::Usage(format!(
                "{} points are fewer than the {} folds: choose fewer with --folds",
                scores.len(),
                self.folds
            )));
        }
        let points: Vec<(f64, bool)> =
            scores.values.iter().zip(&labels.values).map(|(&score, &label)| (score, label == 1)).collect();
        let options = CompareOptions {
            folds: self.folds.into(),
            repeats: self.repeats.into(),
            score: match self.metric {
                Metric::Brier => ProperScore::Brier,
                Metric::LogLoss => ProperScore::LogLoss,
            },
            alpha: self.alpha,
            epsilon: self.epsilon,
            bootstrap: Bootstrap {
                kind: IntervalKind::Percentile,
                resamples: self.bootstrap as usize,
                seed: self.seed,
                alpha: 0.05,
            },
        };
        let comparison = compare_methods(&points, &self.chosen(), &options);
        if self.json { print_json(&comparison) } else { print(&comparison) }
    }

    /// The methods with their names.
    fn chosen(&self) -> Vec<(String, BinaryMethod)> {
        let all = self.methods.contains(&Choice::All);
        let variants = Choice::value_variants().iter().filter(|choice| all || self.methods.contains(choice));
        let named = |choice: &Choice| {
            let name = choice.to_possible_value()?.get_name().to_owned();
            Some((name, self.method(*choice)?))
        };
        variants.filter_map(named).collect()
    }

    fn method(&self, choice: Choice) -> Option<BinaryMethod> {
        let bins = usize::from(self.bins);
        let umd = Umd::new(bins);
        Some(match choice {
            Choice::All => return None,
            Choice::Umd => BinaryMethod::Umd(umd),
            Choice::UmdOriginal => BinaryMethod::Umd(Umd { boundary_points: BoundaryPoints::Kept, ..umd }),
            Choice::UmdRandomized => BinaryMethod::UmdRandomized(umd, self.seed),
            Choice::Ums => BinaryMethod::Ums(Ums { bins, seed: self.seed }),
            Choice::FixedWidth => BinaryMethod::FixedWidth(FixedWidth { bins }),
            Choice::Isotonic => BinaryMethod::Isotonic(Isotonic::default()),
            Choice::IsotonicInterpolated => BinaryMethod::IsotonicInterpolated(Isotonic::default()),
            Choice::Irp => BinaryMethod::Isotonic(Isotonic { max_bins: Some(bins), ..Isotonic::default() }),
            Choice::ScalingBinning => BinaryMethod::ScalingBinning(ScalingBinning {
                loss: Loss::Log,
                scaling: ScalingMethod::PlattLogit,
                bins,
                split_seed: None,
            }),
            Choice::Platt => BinaryMethod::Scaling(ScalingMethod::PlattLogit),
            Choice::Beta => BinaryMethod::Scaling(ScalingMethod::Beta),
            Choice::Temperature => BinaryMethod::Scaling(ScalingMethod::Temperature),
            Choice::VennAbers => BinaryMethod::VennAbers,
        })
    }
}

fn print(comparison: &MethodComparison) -> Result<(), Error> {
    let mut out = std::io::stdout().lock();
    let shown = |estimate: EstimateWithInterval, signed: bool| {
        let number = |value: f64| if signed { format!("{value:+.5}") } else { format!("{value:.5}") };
        match estimate.interval {
            Some(i) => format!("{} [{}, {}]", number(estimate.value), number(i.lo), number(i.hi)),
            None => number(estimate.value),
        }
    };
    writeln!(
        out,
        "{:<22} {:<30} {:<34} {:>10} {:>6}  lookup",
        "method",
        comparison.score.name(),
        "change",
        "epsilon",
        "bytes"
    )?;
    writeln!(out, "{:<22} {:<30}", "uncalibrated", shown(comparison.uncalibrated, false))?;
    for method in &comparison.methods {
        let epsilon = method.epsilon.map_or("none".into(), |epsilon| format!("{epsilon:.4}"));
        let mark = if method.meets_epsilon == Some(true) { "*" } else { "" };
        let lookup = match method.comparisons {
            Some(1) => "1 comparison".to_owned(),
            Some(comparisons) => format!("{comparisons} comparisons"),
            None => "exp, ln".into(),
        };
        writeln!(
            out,
            "{:<22} {:<30} {:<34} {:>10} {:>6}  {lookup}",
            method.name,
            shown(method.loss, false),
            shown(method.change, true),
            format!("{epsilon}{mark}"),
            method.len_bytes
        )?;
    }
    for failed in &comparison.failed {
        writeln!(out, "{:<22} not fitted: {}", failed.name, failed.reason)?;
    }
    match &comparison.recommendation {
        Some(name) => writeln!(out, "take {name}: {}", comparison.reason)?,
        None => writeln!(out, "leave it uncalibrated: {}", comparison.reason)?,
    }
    Ok(())
}
