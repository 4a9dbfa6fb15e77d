//! `calib assess`

mod read;
mod show;

use std::path::PathBuf;

use calib_host::{
    AssessOptions, Binning, Bootstrap, CalibratedRows, ClassProbRows, Error, IntervalKind, Prediction,
    PredictionKind, ProbMatrix, assess, assess_before_after, assess_top_k, assess_vectors, roc_surface,
};
use clap::{Args, ValueEnum};
use serde_json::{Value, json};

use super::print_json;

/// Measure how good probabilities are, on data that nothing was fitted to: of a table that `calib apply` wrote, of a model
/// as it is, or of a model before and after an artefact.
#[derive(Args)]
pub(crate) struct Assess {
    /// An artefact: the scores are assessed before and after it, on the same rows.
    artifact: Option<PathBuf>,
    #[command(flatten)]
    source: Source,
    /// The column of scores in a table; in an NPZ archive the array of scores, logits or probabilities.
    #[arg(long, default_value = super::options::SCORE_COLUMN, value_name = "NAME")]
    score_column: String,
    /// The column of probabilities. Rows where it is empty are uncalibrated: they are counted and left out.
    #[arg(long, default_value = "prob", value_name = "NAME")]
    prob_column: String,
    /// The column of labels.
    #[arg(long, default_value = "label", value_name = "NAME")]
    label_column: String,
    /// Labels, if not in the table: a NumPy array of integers, or a table.
    #[arg(long, value_name = "FILE")]
    labels: Option<PathBuf>,
    /// The column of predicted classes: the probabilities are then those of the predictions being right.
    #[arg(long, value_name = "NAME")]
    class_column: Option<String>,
    /// How probabilities are grouped for calibration errors. Group by the calibrator's bins or by value only if the model is
    /// known to be binned.
    #[arg(long, value_enum, default_value_t = BinningName::EqualWidth)]
    binning: BinningName,
    /// The number of bins of equal width or mass.
    #[arg(long, default_value_t = 15, value_name = "B", value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    bins: u32,
    /// Group by this column of bin indices instead: for probabilities that come from a binned calibrator.
    #[arg(long, value_name = "NAME", conflicts_with_all = ["bins", "binning"])]
    bin_column: Option<String>,
    /// The norm of lp_ce, at least 1.
    #[arg(long, default_value_t = 2.0, value_name = "P", value_parser = parse_norm)]
    norm: f64,
    /// Assess the K most probable classes of every row, too: for a matrix.
    #[arg(long, value_name = "K", value_parser = clap::value_parser!(u16).range(1..))]
    top_k: Option<u16>,
    /// Give bootstrap intervals from this many resamples.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    bootstrap: Option<u32>,
    /// Correct the bootstrap intervals for bias and acceleration; without this they are percentiles. Calibration errors keep
    /// percentiles, moved to where the estimate is: their bias is too large for this correction.
    #[arg(long, requires = "bootstrap")]
    bca: bool,
    /// The seed of the bootstrap, of the tuples that vus draws, and of the random words that a randomised artefact needs.
    #[arg(long, default_value_t = 0, value_name = "SEED")]
    seed: u64,
    /// One minus the coverage of the intervals.
    #[arg(long, default_value_t = 0.05, value_name = "ALPHA", value_parser = super::parse_alpha)]
    alpha: f64,
    /// Print JSON on standard output.
    #[arg(long)]
    json: bool,
}

/// What is assessed: exactly one of the three.
#[derive(Args)]
#[group(required = true, multiple = false)]
struct Source {
    /// A table of probabilities, such as `calib apply` writes, in any format; or probabilities of a multi-class
    /// classifier: a NumPy array of shape (n, classes), or one in an NPZ archive. As any one input, `-` is standard input.
    #[arg(long, value_name = "FILE")]
    probs: Option<PathBuf>,
    /// Scores of class 1 of a binary classifier, in [0, 1]: a table, or a NumPy array of shape (n,).
    #[arg(long, value_name = "FILE")]
    scores: Option<PathBuf>,
    /// Logits of a multi-class classifier: a NumPy array of shape (n, classes), or one in an NPZ archive.
    #[arg(long, value_name = "FILE")]
    logits: Option<PathBuf>,
}

#[derive(Clone, Copy, PartialEq, ValueEnum)]
enum BinningName {
    /// Bins of equal width.
    EqualWidth,
    /// Bins of about equal numbers of predictions; ties are never split.
    EqualMass,
    /// Equal probabilities together.
    ByValue,
    /// The bins of the artefact.
    ByBin,
}

/// What was read.
enum Subject {
    /// Predictions, and how many rows were left out because they are uncalibrated.
    Predictions { rows: Vec<Prediction>, kind: PredictionKind, uncalibrated: u64 },
    /// The same rows before and after an artefact.
    BeforeAfter(CalibratedRows),
    /// Vectors of probabilities.
    Vectors(ProbMatrix),
    /// The same vectors before and after an artefact that gives every class a probability.
    ClassProbs(ClassProbRows),
    /// The predictions of each rank before and after an artefact that calibrates several.
    Ranks { before: Vec<Vec<Prediction>>, after: Vec<Vec<Prediction>>, uncalibrated: u64 },
}

impl Assess {
    pub(crate) fn run(self, quiet: bool) -> Result<(), Error> {
        if self.binning == BinningName::ByBin && self.artifact.is_none() {
            return Err(Error::Usage(
                "--binning by-bin needs an artefact; for a table name its column with --bin-column".into(),
            ));
        }
        let subject = self.read(quiet)?;
        if self.top_k.is_some() && !matches!(subject, Subject::Vectors(_)) {
            return Err(Error::Usage(
                "--top-k needs a matrix and no artefact: --logits or --probs of shape (n, classes)".into(),
            ));
        }
        let options = self.options();
        let mut value = match subject {
            Subject::Predictions { rows, kind, uncalibrated } => {
                let assessment = assess(&rows, kind, &options);
                if !self.json {
                    return show::assessment(&assessment, uncalibrated);
                }
                let mut value = json!(assessment);
                value["uncalibrated"] = uncalibrated.into();
                value["binning"] = binning_json(options.binning, assessment.bins.len());
                value
            }
            Subject::BeforeAfter(CalibratedRows { before, after, kind, uncalibrated }) => {
                let both = assess_before_after(&before, &after, kind, &options, &options);
                if !self.json {
                    return show::before_after(&both, uncalibrated);
                }
                let mut value = json!(both);
                value["uncalibrated"] = uncalibrated.into();
                value["binning"] = binning_json(options.binning, both.after.bins.len());
                value
            }
            Subject::ClassProbs(ClassProbRows { before, after, uncalibrated }) => {
                let [before, after] = [before, after]
                    .map(|matrix| (assess_vectors(&matrix, &options), roc_surface(&matrix, self.seed)));
                if !self.json {
                    return show::each(uncalibrated, [&before, &after], |(one, surface)| {
                        show::vectors(one, surface.as_ref(), None)
                    });
                }
                let occupied = after.0.top_label.bins.len();
                let [before, after] =
                    [before, after].map(|(one, surface)| show::vectors_json(&one, surface.as_ref()));
                json!({
                    "before": before,
                    "after": after,
                    "uncalibrated": uncalibrated,
                    "binning": binning_json(options.binning, occupied),
                })
            }
            Subject::Ranks { before, after, uncalibrated } => {
                let [before, after] = [before, after].map(|ranks| assess_top_k(&ranks, &options));
                if !self.json {
                    return show::each(uncalibrated, [&before, &after], show::top_k);
                }
                let occupied = after.ranks[0].bins.len();
                json!({
                    "before": before,
                    "after": after,
                    "uncalibrated": uncalibrated,
                    "binning": binning_json(options.binning, occupied),
                })
            }
            Subject::Vectors(matrix) => {
                let assessment = assess_vectors(&matrix, &options);
                let surface = roc_surface(&matrix, self.seed);
                let top_k = self.top_k.map(|k| assess_top_k(&matrix.top_k(k.into()), &options));
                if !self.json {
                    return show::vectors(&assessment, surface.as_ref(), top_k.as_ref());
                }
                let mut value = show::vectors_json(&assessment, surface.as_ref());
                value["binning"] = binning_json(options.binning, assessment.top_label.bins.len());
                if let Some(top_k) = top_k {
                    value["top_k"] = json!(top_k);
                }
                value
            }
        };
        if let Some(bootstrap) = options.bootstrap {
            value["bootstrap"] = json!(bootstrap);
        }
        print_json(&value)
    }

    fn options(&self) -> AssessOptions {
        let bins = self.bins as usize;
        let binning = match self.binning {
            _ if self.bin_column.is_some() => Binning::ByBin,
            BinningName::EqualWidth => Binning::EqualWidth(bins),
            BinningName::EqualMass => Binning::EqualMass(bins),
            BinningName::ByValue => Binning::ByValue,
            BinningName::ByBin => Binning::ByBin,
        };
        let bootstrap = self.bootstrap.map(|resamples| Bootstrap {
            kind: if self.bca { IntervalKind::Bca } else { IntervalKind::Percentile },
            resamples: resamples as usize,
            seed: self.seed,
            alpha: self.alpha,
        });
        AssessOptions { binning, norm: self.norm, alpha: self.alpha, bootstrap }
    }
}

/// The binning and its number of bins: those asked for, or those that hold predictions.
fn binning_json(binning: Binning, occupied: usize) -> Value {
    let mut value = json!(binning);
    if value.get("bins").is_none() {
        value["bins"] = occupied.into();
    }
    value
}

fn parse_norm(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(p) if p >= 1.0 && p.is_finite() => Ok(p),
        _ => Err("the norm is a number from 1 on, such as 2".into()),
    }
}
