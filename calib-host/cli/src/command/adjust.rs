//! `calib adjust`

use std::io::Write;
use std::path::{Path, PathBuf};

use calib_core::Outcome;
use calib_core::artifact::Reduction;
use calib_fit::adjust::{
    AdjustError, Adjustment, CalibrationPrevalence, EstimatedPrevalence, PrevalenceBootstrap, Shift,
    adjusted, adjusted_prevalence,
};
use calib_fit::artifact::{Monitoring, promise};
use calib_fit::{ScoreKind, StoredArtifact};
use calib_io::input::Table;
use clap::{ArgGroup, Args};
use serde_json::json;

use crate::context::Context;
use crate::error::Error;
use crate::kinds::FileKind;
use crate::next::{Given, Suggestion, on};
use crate::options::{ChildOptions, MonitorOptions, SCORE_COLUMN, count, parse_alpha, parse_share};
use crate::out::shown_path;
use crate::read::{NamedArtifact, monitors_of_scores, read_all};
use crate::run::Run;
use crate::show::{monitor_sentences, monitors_json};

/// Make a binary calibrator for another prevalence.
///
/// For where the disease is rarer or more frequent than among the calibration points.
///
/// Every probability, interval and epsilon is changed by Bayes' rule; the device takes no longer. That is right only if scores are
/// distributed among the positives as before, and among the negatives, too (label shift): the same disease, patients and sensor,
/// at another frequency.
#[derive(Args)]
#[command(group = ArgGroup::new("OtherScores").multiple(true))]
#[command(mut_arg("counter", |arg| arg.hide_short_help(false)))]
pub(crate) struct Adjust {
    /// The artefact.
    artifact: PathBuf,
    /// The share of class 1 where the device will be used.
    #[arg(long, value_name = "P", value_parser = parse_share, required_unless_present = "estimate_from", help_heading = "Method and bins")]
    prevalence: Option<f64>,
    /// The share of class 1 in the population of the calibration points. Without it the share among them is taken, with an exact
    /// interval: not where cases and controls were sampled to fixed numbers.
    #[arg(long, value_name = "P0", value_parser = parse_share, help_heading = "Method and bins", hide_short_help = true)]
    calibration_prevalence: Option<f64>,
    /// The probability with which the interval of the calibration prevalence may fail; the alpha of the promise grows by it.
    #[arg(long, default_value_t = 0.05, value_name = "ALPHA", value_parser = parse_alpha, conflicts_with = "calibration_prevalence", help_heading = "Guarantees and intervals", hide_short_help = true)]
    prevalence_alpha: f64,
    /// Scores or margins from the new place, without labels: the prevalence is estimated from them, and nothing is promised.
    #[arg(
        long,
        value_name = "FILE",
        conflicts_with = "prevalence",
        group = "OtherScores",
        help_heading = "Data"
    )]
    estimate_from: Option<PathBuf>,
    /// Scores or margins that monitors on the device compare with, without labels: from the new place, one of each patient. Without them the
    /// calibrator has no monitors, as scores at another prevalence are no draws from those of the calibration.
    #[arg(
        long,
        requires = "monitor_bins",
        value_name = "FILE",
        group = "OtherScores",
        help_heading = "The device",
        hide_short_help = true
    )]
    monitor_scores: Option<PathBuf>,
    #[command(flatten)]
    monitors: MonitorOptions,
    /// The column of scores or margins in these files.
    #[arg(long, default_value = SCORE_COLUMN, value_name = "NAME", requires = "OtherScores", help_heading = "Data")]
    score_column: String,
    /// The number of bootstrap resamples for the interval of the estimate.
    #[arg(long, default_value_t = 1000, value_name = "N", value_parser = count::<u32>(100..=100_000), help_heading = "Guarantees and intervals", hide_short_help = true)]
    bootstrap: u32,
    /// The seed of resamples, and of the random words that a randomised artefact needs.
    #[arg(
        long,
        default_value_t = 0,
        value_name = "SEED",
        help_heading = "Guarantees and intervals",
        hide_short_help = true
    )]
    seed: u64,
    #[command(flatten)]
    child: ChildOptions,
    /// Where to write the artefact.
    #[arg(short, long, value_name = "FILE", help_heading = "Output")]
    output: PathBuf,
    /// Replace an existing output.
    #[arg(long, help_heading = "Output")]
    force: bool,
    /// Print JSON on standard output.
    #[arg(long, help_heading = "Output")]
    json: bool,
}

/// The failure probability of the interval of an estimate.
const ESTIMATE_ALPHA: f64 = 0.05;

impl Run for Adjust {
    const AT_WORK: Option<&str> = Some("adjusting");
    const OUTPUT: Option<FileKind> = Some(FileKind::Artefact);
    const TELLS: bool = true;

    fn run(self, cx: &Context) -> Result<(), Error> {
        let named = NamedArtifact::read(&self.artifact, self.seed)?;
        let reduction = named.stored.artifact().header().reduction;
        let tables = named.stored.artifact().tables().count();
        if reduction == Reduction::Binary && tables != 1 {
            return Err(AdjustError::Tables(tables).into());
        }
        let from = self.from(&named.stored)?;
        let estimate =
            self.estimate_from.as_deref().map(|path| self.estimate(&named, path, from, cx)).transpose()?;
        let to =
            self.prevalence.or(estimate.map(|estimate| estimate.value)).expect("clap asks for one of them");
        let shift = Shift::new(from, to)?;
        let child = self.child.of(&self.artifact, &named.stored, String::new(), cx)?;
        let adjustment = Adjustment {
            shift,
            is_estimated: estimate.is_some(),
            counter: child.counter,
            monitors: self.monitors(&named, cx)?,
        };
        let bytes = adjusted(&named.stored, &adjustment)?;
        cx.write_output(&self.output, self.force, &bytes)?;
        let stored = StoredArtifact::from_bytes(&bytes).expect("just written");
        if self.json {
            return cx.print_json(&self.to_json(&named.stored, &stored, &shift, estimate));
        }
        if !cx.quiet {
            self.print(&stored, &shift, estimate, cx)?;
        }
        Ok(())
    }

    fn next(given: &Given<'_>, _: &Context) -> Option<Suggestion> {
        Some((on("calib inspect", given.text("output")?), "what it promises there"))
    }
}

impl Adjust {
    /// The prevalence that the artefact's probabilities are for.
    fn from(&self, stored: &StoredArtifact) -> Result<CalibrationPrevalence, Error> {
        if let Some(stated) = self.calibration_prevalence.or(adjusted_prevalence(stored)) {
            return Ok(CalibrationPrevalence::Stated(stated));
        }
        let n = stored.artifact().header().n;
        match stored.sample().and_then(|sample| sample.positives) {
            Some(positives) => {
                Ok(CalibrationPrevalence::Counted { positives, n, alpha: self.prevalence_alpha })
            }
            None => Err(Error::Usage(format!(
                "{} does not say how many of its calibration points have label 1: give --calibration-prevalence",
                self.artifact.display()
            ))),
        }
    }

    /// The monitors of the new place.
    fn monitors(&self, named: &NamedArtifact<'_>, cx: &Context) -> Result<Option<Monitoring>, Error> {
        let Some(path) = &self.monitor_scores else {
            return match self.monitors.are_asked() {
                false => Ok(None),
                true => Err(Error::Usage(
                    "scores at another prevalence are no draws from those of the calibration: give --monitor-scores from the new place, and \
                     --monitor-bins"
                        .into(),
                )),
            };
        };
        monitors_of_scores(&self.monitors, (path, &self.score_column), named.score_kind(), cx)
    }

    fn estimate(
        &self,
        named: &NamedArtifact<'_>,
        path: &Path,
        from: CalibrationPrevalence,
        cx: &Context,
    ) -> Result<EstimatedPrevalence, Error> {
        let from = match from {
            CalibrationPrevalence::Stated(from) => from,
            CalibrationPrevalence::Counted { positives, n, .. } => positives as f64 / n as f64,
        };
        let source = &read_all(&[path], cx)?[0];
        let table = Table::read_only(source, &[&self.score_column])?;
        let kind: ScoreKind = named.score_kind();
        let applied = named.apply_scores(&table, &self.score_column, kind, None)?;
        let prob = |outcome: &Outcome| outcome.calibrated().map(|found| f64::from(found.prob));
        let probs: Vec<f64> = applied.iter().filter_map(|row| prob(&row.outcome)).collect();
        let bootstrap = PrevalenceBootstrap {
            resamples: self.bootstrap as usize,
            alpha: ESTIMATE_ALPHA,
            seed: self.seed,
        };
        let estimate = EstimatedPrevalence::of(&probs, from, bootstrap)?;
        match estimate.value > 0.0 && estimate.value < 1.0 {
            true => Ok(estimate),
            false => Err(AdjustError::Share { name: "estimated prevalence", value: estimate.value }.into()),
        }
    }

    fn print(
        &self,
        stored: &StoredArtifact,
        shift: &Shift,
        estimate: Option<EstimatedPrevalence>,
        cx: &Context,
    ) -> Result<(), Error> {
        let mut err = cx.stderr();
        let output = shown_path(&self.output);
        writeln!(
            err,
            "{output}: probabilities at a prevalence of {:.4}, from {:.4}",
            shift.to(),
            shift.from()
        )?;
        if let Some(EstimatedPrevalence { interval, .. }) = estimate {
            writeln!(
                err,
                "  estimated without labels: {:.4} to {:.4} in 95 of 100 resamples of the rows; no promise is left for an estimate",
                interval.lo, interval.hi
            )?;
        }
        let monitors = monitor_sentences(&stored.artifact(), "Monitors");
        for line in promise(stored).lines(|condition| &condition.short).into_iter().chain(monitors) {
            writeln!(err, "  {line}")?;
        }
        Ok(())
    }

    fn to_json(
        &self,
        before: &StoredArtifact,
        stored: &StoredArtifact,
        shift: &Shift,
        estimate: Option<EstimatedPrevalence>,
    ) -> serde_json::Value {
        let artifact = stored.artifact();
        let guarantee = artifact.header().guarantee.map(|guarantee| {
            json!({
                "theorem": guarantee.theorem.to_string(),
                "alpha": guarantee.alpha,
                "epsilon": guarantee.epsilon,
            })
        });
        let before = before.artifact();
        json!({
            "output": self.output,
            "len_bytes": artifact.len_bytes(),
            "identity": artifact.identity().to_string(),
            "parent": before.identity().to_string(),
            "prevalence": shift.to(),
            "estimate": estimate,
            "calibration_prevalence": shift.from(),
            "prevalence_alpha": (shift.alpha() > 0.0).then_some(shift.alpha()),
            "guarantee": guarantee,
            "promise": promise(stored).statement,
            "monitors": monitors_json(&artifact),
        })
    }
}
