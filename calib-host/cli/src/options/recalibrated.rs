//! The options of a calibrator from what devices counted.

use std::path::{Path, PathBuf};

use clap::{Args, Command};

use super::headings::DATA;
use crate::error::Error;

/// The counters of devices.
#[derive(Args)]
#[command(next_help_heading = DATA)]
pub(crate) struct CounterOptions {
    /// The outcomes that devices counted: new values for their --calibrator.
    ///
    /// JSON files, as `calib status --counters` writes them and `calib fleet` takes them. Edges and monitors are those of the calibrator,
    /// and a bin's value is the share of its outcomes that were positive, with an exact interval. Which outcomes were told, and when, must
    /// depend neither on the label nor on what predicts it within the bin, and the counters must not be read for what they show.
    #[arg(long, value_name = "COUNTERS", num_args = 1.., group = "ScoreSource", requires_all = ["calibrator", "output"], hide_short_help = true)]
    from_counters: Vec<PathBuf>,
    /// The calibrator that devices counted with.
    #[arg(long, value_name = "ARTIFACT", requires = "from_counters", hide_short_help = true)]
    calibrator: Option<PathBuf>,
    /// Earlier counters of the same devices: only what was counted since is taken.
    ///
    /// Those of when an alarm about outcomes was raised, if that is why there is to be another calibrator: the outcomes that raised it would
    /// be chosen by what they say.
    #[arg(long, value_name = "COUNTERS", num_args = 1.., requires = "from_counters", hide_short_help = true)]
    since: Vec<PathBuf>,
}

/// The options of `fit` that go with counters. All others are about rows, or decided by the calibrator.
const OF_COUNTERS: [&str; 10] = [
    "from_counters",
    "calibrator",
    "since",
    "alpha",
    "alpha_spent",
    "intervals",
    "counter",
    "output",
    "force",
    "json",
];

/// Keeps the options of rows from those of counters.
pub(crate) fn apart_from_rows(program: Command) -> Command {
    program.mut_subcommand("fit", |fit| {
        fit.mut_args(|arg| match OF_COUNTERS.contains(&arg.get_id().as_str()) {
            true => arg,
            false => arg.conflicts_with("from_counters"),
        })
    })
}

impl CounterOptions {
    /// The files of counters; none where rows are fitted.
    ///
    /// # Errors
    ///
    /// With rows, if there is a calibrator or earlier counters: clap asks for nothing that would not go with what is there.
    pub(crate) fn files(&self) -> Result<&[PathBuf], Error> {
        if self.from_counters.is_empty() && (self.calibrator.is_some() || !self.since.is_empty()) {
            return Err(Error::Usage(
                "--calibrator and --since are for --from-counters: leave them out".into(),
            ));
        }
        Ok(&self.from_counters)
    }

    /// The files of earlier counters.
    pub(crate) fn since(&self) -> &[PathBuf] {
        &self.since
    }

    /// The calibrator that devices counted with.
    pub(crate) fn calibrator(&self) -> &Path {
        self.calibrator.as_deref().expect("clap requires it with --from-counters")
    }
}
