//! `calib assess`

use std::io::Write;
use std::path::PathBuf;

use calib_host::input::{self, Source, Table};
use calib_host::{Assessment, Binning, Bootstrap, Error, EstimateWithInterval, Prediction, Problem, assess};
use clap::Args;
use serde_json::{Value, json};

use super::options::{labels_beside, read_labels};
use super::print_json;

/// Measure how good probabilities are, on data that nothing was fitted to.
#[derive(Args)]
pub(crate) struct Assess {
    /// A table of probabilities, such as `calib apply` writes, in any format; as any one input, `-` is standard input.
    #[arg(long, value_name = "FILE")]
    probs: PathBuf,
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
    /// The number of bins of equal width for calibration errors.
    #[arg(long, default_value_t = 15, value_name = "B", value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    bins: u32,
    /// Group by this column of bin indices instead: for probabilities that come from a binned calibrator.
    #[arg(long, value_name = "NAME", conflicts_with = "bins")]
    bin_column: Option<String>,
    /// Give bootstrap percentile intervals from this many resamples.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    bootstrap: Option<u32>,
    /// The seed of the bootstrap.
    #[arg(long, default_value_t = 0, value_name = "SEED")]
    seed: u64,
    /// One minus the coverage of the intervals.
    #[arg(long, default_value_t = 0.05, value_name = "ALPHA", value_parser = super::parse_alpha)]
    alpha: f64,
    /// Print JSON on standard output.
    #[arg(long)]
    json: bool,
}

impl Assess {
    pub(crate) fn run(self, quiet: bool) -> Result<(), Error> {
        let paths: Vec<_> = std::iter::once(&*self.probs).chain(self.labels.as_deref()).collect();
        let sources = Source::read_all(&paths, !quiet)?;
        let columns = [&self.prob_column, &self.label_column].into_iter().chain(&self.class_column);
        let columns: Vec<_> = columns.chain(&self.bin_column).map(String::as_str).collect();
        let table = Table::read_only(&sources[0], &columns)?;
        let probs = table.optional_numbers(&self.prob_column)?;
        let labels = match sources.get(1) {
            Some(labels) => read_labels(labels, &self.label_column)?,
            None => labels_beside(&table, &self.label_column)?,
        };
        input::check_rows(&labels, probs.len(), sources[0].path())?;
        let classes = self.class_column.as_deref().map(|name| table.labels(name)).transpose()?;
        match &classes {
            None => labels.check_classes(2)?,
            Some(classes) => {
                labels.check_classes(calib_core::MAX_CLASSES)?;
                classes.check_classes(calib_core::MAX_CLASSES)?;
            }
        }
        let bins = self.bin_column.as_deref().map(|name| table.bins(name)).transpose()?;

        let mut predictions = Vec::with_capacity(probs.len());
        for (row, prob) in probs.values.iter().enumerate() {
            let Some(prob) = *prob else { continue };
            if !(0.0..=1.0).contains(&prob) {
                let problem = if prob.is_nan() { Problem::NaN } else { Problem::ProbOutOfRange(prob) };
                return Err(Error::input(probs.at(row), problem));
            }
            let class = classes.as_ref().map_or(1, |classes| classes.values[row]);
            predictions.push(Prediction {
                class: u16::try_from(class).expect("classes were checked"),
                prob,
                bin: bins.as_ref().map_or(0, |bins| bins.values[row]),
                hit: labels.values[row] == class,
            });
        }
        let uncalibrated = probs.len() - predictions.len();
        if predictions.is_empty() {
            return Err(Error::input(probs.place().clone(), Problem::AllUncalibrated));
        }
        let top_label = classes.is_some();
        let hits = predictions.iter().filter(|p| p.hit).count();
        if !top_label && (hits == 0 || hits == predictions.len()) {
            return Err(Error::input(labels.place().clone(), Problem::OneClass((hits > 0).into())));
        }

        let binning = if bins.is_some() { Binning::ByBin } else { Binning::EqualWidth(self.bins as usize) };
        let bootstrap = self.bootstrap.map(|resamples| Bootstrap {
            resamples: resamples as usize,
            seed: self.seed,
            alpha: self.alpha,
        });
        let assessment = assess(&predictions, top_label, binning, bootstrap);
        let scheme = match binning {
            Binning::EqualWidth(bins) => json!({"scheme": "equal-width", "bins": bins}),
            Binning::ByBin => json!({"scheme": "by-bin", "bins": assessment.bins.len()}),
        };
        if self.json {
            print_json(&self.to_json(&assessment, uncalibrated, scheme))
        } else {
            print(&assessment, uncalibrated)
        }
    }

    fn to_json(&self, assessment: &Assessment, uncalibrated: usize, scheme: Value) -> Value {
        let mut value = json!(assessment);
        value["uncalibrated"] = uncalibrated.into();
        value["binning"] = scheme;
        if let Some(resamples) = self.bootstrap {
            value["bootstrap"] = json!({
                "kind": "percentile", "resamples": resamples, "seed": self.seed, "alpha": self.alpha,
            });
        }
        value
    }
}

fn print(assessment: &Assessment, uncalibrated: usize) -> Result<(), Error> {
    let mut out = std::io::stdout().lock();
    let share = 100.0 * assessment.hits as f64 / assessment.n as f64;
    writeln!(out, "{} predictions, {} came true ({share:.1} %)", assessment.n, assessment.hits)?;
    if uncalibrated > 0 {
        writeln!(out, "left out, because uncalibrated: {uncalibrated}")?;
    }
    let mut line = |name: &str, estimate: EstimateWithInterval| match estimate.interval {
        Some(interval) => {
            writeln!(out, "{name:<10} {:.6}  [{:.6}, {:.6}]", estimate.value, interval.lo, interval.hi)
        }
        None => writeln!(out, "{name:<10} {:.6}", estimate.value),
    };
    line("accuracy", assessment.accuracy)?;
    line("brier", assessment.brier)?;
    line("log_loss", assessment.log_loss)?;
    line("conf_ece", assessment.conf_ece)?;
    if let Some(tl_ece) = assessment.tl_ece {
        line("tl_ece", tl_ece)?;
    }
    if assessment.log_loss_clipped > 0 {
        writeln!(
            out,
            "{} predictions gave probability 0 to what happened: clipped in log_loss",
            assessment.log_loss_clipped
        )?;
    }
    Ok(())
}
