//! `calib adjust`

use std::io::Write;
use std::path::{Path, PathBuf};

use calib_core::Calibrated;
use calib_fit::artifact::{Monitoring, number_of};
use calib_fit::job::{AdjustOptions, Adjusted, AdjustedBin, JobError, adjust};
use calib_fit::stats::{Interval, places, shown};
use calib_io::files::Location;
use calib_io::input::Table;
use clap::{ArgGroup, Args};

use crate::context::Context;
use crate::error::{Error, option};
use crate::kinds::FileKind;
use crate::next::{Given, Suggestion, on};
use crate::options::headings::{DATA, DEVICE, GUARANTEES, METHOD};
use crate::options::{DerivedOptions, MonitorOptions, SCORE_COLUMN, count, parse_alpha, parse_share};
use crate::out::shown_path;
use crate::read::{NamedArtifact, monitors_of_scores, read_all};
use crate::run::Run;
use crate::show::guarantee_and_monitors;

/// An interval that is wider than this is called wide.
const WIDE: f64 = 0.2;
/// How many bins are shown one by one.
const SHOWN_BINS: usize = 32;

/// Adjust a binary calibrator to another prevalence.
///
/// Use it if the disease is rarer or more frequent than among the calibration rows.
///
/// Bayes' rule changes every probability, interval and epsilon. The device needs no more time. The result is right only
/// under label shift: scores are distributed as before among the positives, and as before among the negatives. That
/// means the same disease, patients and sensor, at another frequency.
#[derive(Args)]
#[command(group = ArgGroup::new("OtherScores").multiple(true))]
#[command(mut_arg("counter", |arg| arg.hide_short_help(false)))]
pub(crate) struct Adjust {
    /// Artifact.
    artifact: PathBuf,
    /// Share of class 1 where the device will be used.
    #[arg(long, value_name = "P", value_parser = parse_share, required_unless_present = "estimate_from", help_heading = METHOD)]
    prevalence: Option<f64>,
    /// Share of class 1 in the population of the calibration rows.
    ///
    /// By default, calib uses the share among the calibration rows, with an exact interval. That is wrong if cases and
    /// controls were sampled to fixed numbers.
    #[arg(long, value_name = "P0", value_parser = parse_share, help_heading = METHOD, hide_short_help = true)]
    calibration_prevalence: Option<f64>,
    /// Accepted probability that the interval of the calibration prevalence fails; the alpha of the guarantee grows by
    /// it.
    #[arg(long, default_value_t = 0.05, value_name = "ALPHA", value_parser = parse_alpha, conflicts_with = "calibration_prevalence", help_heading = GUARANTEES, hide_short_help = true)]
    prevalence_alpha: f64,
    /// Scores or raw scores from the new place, without labels: calib estimates the prevalence from them and gives no
    /// guarantee.
    #[arg(long, value_name = "FILE", conflicts_with = "prevalence", group = "OtherScores", help_heading = DATA)]
    estimate_from: Option<PathBuf>,
    /// Scores or raw scores that monitors on the device compare with, without labels.
    ///
    /// Pass scores from the new place, one of each patient. Without them the calibrator has no monitors, as scores at
    /// another prevalence are not draws from those of the calibration.
    #[arg(long, requires = "monitor", value_name = "FILE", group = "OtherScores", help_heading = DEVICE, hide_short_help = true)]
    monitor_scores: Option<PathBuf>,
    #[command(flatten)]
    monitors: MonitorOptions,
    /// Column of scores or raw scores in these files.
    #[arg(long, default_value = SCORE_COLUMN, value_name = "NAME", requires = "OtherScores", help_heading = DATA)]
    score_column: String,
    /// Seed of the random words that a randomized artifact needs.
    #[arg(long, default_value_t = 0, value_name = "SEED", value_parser = count::<u64>(..), help_heading = GUARANTEES, hide_short_help = true)]
    seed: u64,
    #[command(flatten)]
    child: DerivedOptions,
}

impl Run for Adjust {
    const AT_WORK: Option<&str> = Some("adjusting");
    const OUTPUT: Option<FileKind> = Some(FileKind::Artifact);
    const TELLS: bool = true;

    fn run(self, cx: &Context) -> Result<(), Error> {
        let named = NamedArtifact::read(&self.artifact, self.seed)?;
        let rows = self.estimate_from.as_deref().map(|path| self.rows(&named, path, cx)).transpose()?;
        let mut options = AdjustOptions::default();
        (options.prevalence, options.calibration_prevalence) = (self.prevalence, self.calibration_prevalence);
        options.prevalence_alpha = self.prevalence_alpha;
        options.counter = self.child.of(&self.artifact, &named.stored, cx)?;
        options.monitors = self.monitors(&named, cx)?;
        let made = adjust(&named.stored, &options, rows.as_deref()).map_err(|cause| self.error(cause))?;
        cx.write_output(&self.child.output, self.child.force, made.artifact.as_bytes())?;
        match (self.child.json, cx.quiet) {
            (true, _) => cx.print_made(&self.child.output, &made.summary, None),
            (false, true) => Ok(()),
            (false, false) => self.print(&made, cx),
        }
    }

    fn next(given: &Given<'_>, _: &Context) -> Option<Suggestion> {
        Some((on("calib inspect", given.text("output")?), "what is guaranteed at that prevalence".into()))
    }
}

impl Adjust {
    /// The error with the name of the file in place of the artifact.
    fn error(&self, cause: JobError) -> Error {
        match cause {
            JobError::Options(cause) => Error::Usage(cause.with_names(|field| match field {
                "the artifact" => self.artifact.display().to_string(),
                field => option(field),
            })),
            cause => Error::job(Location::file(&self.artifact), cause),
        }
    }

    /// The monitors of the new place.
    fn monitors(&self, named: &NamedArtifact<'_>, cx: &Context) -> Result<Option<Monitoring>, Error> {
        let Some(path) = &self.monitor_scores else {
            return match self.monitors.are_asked() {
                false => Ok(None),
                true => Err(Error::Usage(
                    "scores at another prevalence are no draws from those of the calibration: give --monitor-scores from the new place, and \
                     their number of bins with --monitor=B"
                        .into(),
                )),
            };
        };
        monitors_of_scores(&self.monitors, (path, &self.score_column), named.score_kind(), cx)
    }

    /// What the calibrator gives for the scores of a file: the probability and the bin.
    fn rows(&self, named: &NamedArtifact<'_>, path: &Path, cx: &Context) -> Result<Vec<(f64, u16)>, Error> {
        let source = &read_all(&[path], cx)?[0];
        let table = Table::read_only(source, &[&self.score_column])?;
        let applied = named.apply_scores(&table, &self.score_column, named.score_kind(), None)?;
        let row = |found: &Calibrated| (found.prob.into(), found.bin);
        Ok(applied.iter().filter_map(|applied| applied.outcome.calibrated().map(row)).collect())
    }

    fn print(&self, made: &Adjusted, cx: &Context) -> Result<(), Error> {
        let mut err = cx.stderr();
        let (output, shift) = (shown_path(&self.child.output), &made.shift);
        writeln!(
            err,
            "{output}: probabilities at a prevalence of {}, from {}",
            if shift.to() < 1e-4 { shift.to().to_string() } else { shown(4, shift.to()) },
            shown(4, shift.from())
        )?;
        if let Some(estimate) = made.summary.estimate {
            let within = match estimate.interval {
                Some(Interval { lo, hi }) => {
                    let places = places(4, &[lo, hi]);
                    format!("{lo:.places$} to {hi:.places$} with 95% confidence")
                }
                None => "the artifact has no ranges of the score for an interval".into(),
            };
            writeln!(err, "  estimated without labels: {within}; no guarantee is left for an estimate")?;
            if estimate.value <= 0.0 || estimate.value >= 1.0 {
                writeln!(err, "  the estimate is {}: half a row is taken in its place", estimate.value)?;
            }
        }
        for line in guarantee_and_monitors(&made.artifact, "") {
            writeln!(err, "{line}")?;
        }
        for line in intervals(&made.summary.bins) {
            writeln!(err, "  {line}")?;
        }
        Ok(())
    }
}

/// The intervals of bins, a line each, and which of them are wide.
fn intervals(bins: &[AdjustedBin]) -> Vec<String> {
    let is_wide = |bin: &AdjustedBin| bin.interval.hi - bin.interval.lo > WIDE;
    let wide = bins.iter().filter(|bin| is_wide(bin)).count();
    let line = |(index, bin): (usize, &AdjustedBin)| {
        let (value, interval) = (bin.value, bin.interval);
        let remark = if is_wide(bin) { ", wide" } else { "" };
        format!("  bin {}: {} in {interval:.4}{remark}", index + 1, shown(4, value.into()))
    };
    let mut lines: Vec<String> = bins.iter().enumerate().map(line).take(SHOWN_BINS).collect();
    if !lines.is_empty() {
        lines.insert(0, "The event rate of each bin, with its interval:".into());
    }
    if bins.len() > SHOWN_BINS {
        lines.push("  (--json has the others)".into());
    }
    if wide > 0 {
        lines.push(format!("{wide} of {} are wider than {WIDE}.", number_of(bins.len() as u64, "interval")));
    }
    lines
}
