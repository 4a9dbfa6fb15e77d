//! `calib assess`

use std::path::Path;

use calib_fit::assess::{Binning, BinningScheme, IntervalKind};
use calib_fit::job::{AssessOptions, Finding, assess, assess_predictions};
use clap::Args;
use serde_json::json;

use crate::context::Context;
use crate::error::{Error, sentence};
use crate::next::{Given, Suggestion, on, words};
use crate::options::headings::{GUARANTEES, METHOD, OUTPUT};
use crate::options::{AssessedOptions, ClinicalArgs, count, named, parse_alpha};
use crate::read::{Assessed, NamedArtifact, Read};
use crate::run::Run;
use crate::show;

/// Evaluate probabilities before and after calibration.
///
/// Pass data used for neither training nor calibration. calib accepts a table that `calib apply` wrote, a model's
/// unchanged output, or a model's output before and after an artifact.
#[derive(Args)]
pub(crate) struct Assess {
    #[command(flatten)]
    assessed: AssessedOptions,
    #[command(flatten)]
    clinical: ClinicalArgs,
    /// Grouping of probabilities for calibration errors.
    ///
    /// Group by the calibrator's bins or by value only if the model is known to be binned.
    #[arg(long, value_parser = named::<BinningScheme>(), default_value = "equal-width", value_name = "BINNING", help_heading = METHOD, hide_short_help = true)]
    binning: BinningScheme,
    /// Number of equal-width or equal-frequency bins.
    #[arg(long, default_value_t = 15, value_name = "B", value_parser = count::<u32>(1..=1_000_000), help_heading = METHOD)]
    bins: u32,
    /// Column of bin indices to group by instead: for probabilities that come from a binned calibrator.
    #[arg(long, value_name = "NAME", conflicts_with_all = ["bins", "binning"], help_heading = METHOD, hide_short_help = true)]
    bin_column: Option<String>,
    /// Norm of lp_ce, at least 1.
    #[arg(long, default_value_t = 2.0, value_name = "P", value_parser = parse_norm, help_heading = METHOD, hide_short_help = true)]
    norm: f64,
    /// Also assess the K most probable classes of every row: for a matrix.
    #[arg(long, value_name = "K", value_parser = count::<u16>(1..), help_heading = METHOD, hide_short_help = true)]
    top_k: Option<u16>,
    /// Number of resamples for bootstrap intervals; without it there are none.
    #[arg(long, value_name = "N", value_parser = count::<u32>(1..=100_000), help_heading = GUARANTEES, hide_short_help = true)]
    bootstrap: Option<u32>,
    /// Correct the bootstrap intervals for bias and acceleration; without this flag they are percentiles.
    ///
    /// Calibration errors keep percentiles, moved to where the estimate is: their bias is too large for this
    /// correction. vus also keeps percentiles.
    #[arg(long, requires = "bootstrap", help_heading = GUARANTEES, hide_short_help = true)]
    bca: bool,
    /// Seed of the bootstrap, of the tuples that vus draws, and of the random words that a randomized artifact needs.
    #[arg(long, default_value_t = 0, value_name = "SEED", value_parser = count::<u64>(..), help_heading = GUARANTEES, hide_short_help = true)]
    seed: u64,
    /// One minus the coverage of the intervals.
    #[arg(long, default_value_t = 0.05, value_name = "ALPHA", value_parser = parse_alpha, help_heading = GUARANTEES)]
    alpha: f64,
    /// Print all figures, and every bin or score range with a guarantee.
    #[arg(long, conflicts_with = "json", help_heading = OUTPUT)]
    all: bool,
    /// Print JSON on standard output.
    #[arg(long, help_heading = OUTPUT)]
    json: bool,
}

impl Run for Assess {
    const AT_WORK: Option<&str> = Some("assessing");

    fn run(mut self, cx: &Context) -> Result<(), Error> {
        self.assessed = self.assessed.with_data()?;
        if self.binning == BinningScheme::ByBin && self.assessed.artifact.is_none() {
            return Err(Error::Usage(
                "--binning by-bin needs an artifact; for a table name its column with --bin-column".into(),
            ));
        }
        let mut options = self.options();
        let artifact = self.assessed.artifact.as_ref();
        let artifact = artifact.map(|path| NamedArtifact::read(path, self.seed)).transpose()?;
        let asked = Assessed {
            options: &self.assessed,
            artifact: artifact.as_ref(),
            bin_column: self.bin_column.as_deref(),
        };
        let (read, data_sha256) = asked.read(&options, cx)?;
        options.data_sha256 = data_sha256;
        let found = match &read {
            Read::Data(data) => assess(data, artifact.as_ref().map(|artifact| &artifact.stored), &options),
            Read::Predictions(rows) => assess_predictions(rows, &options),
        };
        let no_artifact = Path::new("-");
        let found = found.map_err(|cause| {
            Error::assess(
                cause,
                asked.path(),
                artifact.as_ref().map_or(no_artifact, |artifact| artifact.path),
            )
        })?;
        let sentences = |finding: &Finding| sentence(finding, asked.path());
        cx.warn(&found.findings.iter().map(sentences).collect::<Vec<_>>())?;
        let class_names = match &read {
            Read::Data(data) => data.class_names(),
            Read::Predictions(_) => None,
        };
        if !self.json {
            let mut out = cx.stdout();
            show::class_names(&mut out, class_names)?;
            return Ok(show::assessed(&mut out, &found, self.all)?);
        }
        let mut json = json!(found);
        if let (Some(names), Some(json)) = (class_names, json.as_object_mut()) {
            json.insert("class_names".into(), json!(names));
        }
        if let Some(warnings) = json.get_mut("warnings") {
            *warnings = found.warnings().map(sentences).collect();
        }
        cx.print_json(&json)
    }

    fn next(given: &Given<'_>, _: &Context) -> Option<Suggestion> {
        let (flag, path) = given.source()?;
        let report = on("calib report", given.text("artifact")?);
        let test = ["--calibration".into(), "CALIBRATION".into(), "--test".into(), path];
        let kind = (flag == "--logits" || flag == "--probs").then(|| flag.to_owned());
        let labels = given.flag("labels", "--test-labels");
        let line = report.into_iter().chain(test).chain(labels).chain(kind).chain(given.columns());
        Some((
            line.chain(words("-o report.html")).collect(),
            "CALIBRATION: the rows that it was fitted to".into(),
        ))
    }
}

impl Assess {
    fn options(&self) -> AssessOptions {
        let binning = match self.bin_column {
            Some(_) => Binning::ByBin,
            None => self.binning.with_bins(self.bins as usize),
        };
        AssessOptions::default()
            .binning(binning)
            .norm(self.norm)
            .alpha(self.alpha)
            .resamples(self.bootstrap.unwrap_or_default() as usize)
            .intervals(if self.bca { IntervalKind::Bca } else { IntervalKind::Percentile })
            .seed(self.seed)
            .top_k(self.top_k)
            .extremes(self.clinical.extreme_probs)
            .same_rows(self.assessed.same_rows.are_allowed())
            .data_sha256(None)
    }
}

fn parse_norm(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(p) if p >= 1.0 && p.is_finite() => Ok(p),
        _ => Err("the norm is a number from 1 on, such as 2".into()),
    }
}
