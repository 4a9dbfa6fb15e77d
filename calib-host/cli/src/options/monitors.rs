//! The options of what the monitors on a device compare with.

use calib_core::artifact::MonitorAction;
use calib_fit::artifact::{CompileError, MonitorBins, MonitorError, Monitoring};
use calib_fit::{BinaryData, ScoreKind};
use calib_io::files::Place;
use calib_io::input::Sample;
use clap::{Args, ValueEnum};

use super::parse::count;
use crate::error::Error;

/// Whether the device notices that scores or outcomes have changed.
#[derive(Args)]
#[command(next_help_heading = "The device")]
pub(crate) struct MonitorOptions {
    /// Store what monitors on the device compare with, which notice that scores or outcomes are no longer those of the
    /// calibration: 4 bytes a bin, and about 36 more. Their bins are those of umd; any other method needs --monitor-bins.
    ///
    /// Nothing is wrong while every prediction is a fresh and independent draw from the population of the calibration scores:
    /// repeated readings of one patient are not, and raise alarms.
    #[arg(long, hide_short_help = true)]
    monitor: bool,
    /// Bins of the monitors' own, of so many calibration scores each; their number is set without a look at the labels.
    #[arg(long, requires = "monitor", value_name = "B", value_parser = count::<u16>(2..), hide_short_help = true)]
    monitor_bins: Option<u16>,
    /// Of N devices at most one ever says wrongly that scores come from another distribution, whatever the number of its tables.
    #[arg(long, requires = "monitor", default_value_t = Monitoring::default().shift, value_name = "N", value_parser = rarity(), hide_short_help = true)]
    monitor_shift: u32,
    /// A device says wrongly that scores have changed once in N predictions or less often, on average.
    #[arg(long, requires = "monitor", default_value_t = Monitoring::default().change, value_name = "N", value_parser = rarity(), hide_short_help = true)]
    monitor_change: u32,
    /// Of N devices at most one ever says wrongly that a promise that holds is broken, whatever the number of its tables.
    #[arg(long, requires = "monitor", default_value_t = Monitoring::default().promise, value_name = "N", value_parser = rarity(), hide_short_help = true)]
    monitor_promise: u32,
    /// What a device does on an alarm of a shift or of the promise, until it is told to count anew. A device that cannot do it refuses
    /// the calibrator.
    ///
    /// An alarm of a change is told alone: one comes every --monitor-change predictions with nothing wrong.
    #[arg(long, requires = "monitor", value_enum, default_value_t = ActionName::Flag, value_name = "ACTION", hide_short_help = true)]
    monitor_action: ActionName,
}

/// What a device does on an alarm.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum ActionName {
    /// Tells it when it is asked.
    Flag,
    /// Keeps its own alarm raised, too.
    Alarm,
    /// Answers "uncalibrated" from then on, and keeps its own alarm raised.
    Uncalibrated,
}

/// An alarm in one of one would take no evidence.
fn rarity() -> impl Fn(&str) -> Result<u32, String> + Clone + Send + Sync + 'static {
    count::<u32>(2..)
}

impl MonitorOptions {
    pub(crate) fn are_asked(&self) -> bool {
        self.monitor
    }

    /// How many bins of their own the monitors are to have.
    pub(crate) fn own_bins(&self) -> Option<u16> {
        self.monitor_bins
    }

    /// Whether the monitors count in the tables' bins.
    pub(crate) fn take_bins_of_tables(&self) -> bool {
        self.monitor && self.monitor_bins.is_none()
    }

    /// The monitors of tables, whose bins they have.
    pub(crate) fn of_tables(&self) -> Result<Option<Monitoring>, Error> {
        match self.monitor_bins {
            Some(_) => Err(Error::Usage(
                "--monitor-bins goes with one score of rows that count the same: leave it out, and take --method umd, whose bins the \
                 monitors then have"
                    .into(),
            )),
            None => Ok(self.with(None)),
        }
    }

    /// The monitors of one score.
    pub(crate) fn of_sample(&self, sample: &Sample) -> Result<Option<Monitoring>, Error> {
        match sample {
            Sample::Points(data) => self.of_points(data),
            Sample::Weighted(_) => self.of_tables(),
        }
    }

    /// The monitors of one score, of points that count the same.
    pub(crate) fn of_points(&self, data: &BinaryData) -> Result<Option<Monitoring>, Error> {
        let bins = self.monitor_bins.map(|bins| MonitorBins::of(data, bins.into())).transpose();
        Ok(self.with(bins.map_err(CompileError::from)?))
    }

    /// The monitors of one score, which compare with others than those of the calibration, from this place.
    pub(crate) fn of_scores(
        &self,
        kind: ScoreKind,
        scores: &[f32],
        place: &Place,
    ) -> Result<Option<Monitoring>, Error> {
        if !self.monitor {
            return Err(Error::Usage("scores that monitors compare with go with --monitor: add it".into()));
        }
        let bins = self.monitor_bins.ok_or_else(|| {
            Error::Usage(
                "monitors that compare with scores of their own take bins of their own: add --monitor-bins with a number".into(),
            )
        })?;
        match MonitorBins::of_scores(kind, scores, bins.into()) {
            Ok(bins) => Ok(self.with(Some(bins))),
            Err(MonitorError::Fit(cause)) => Err(Error::fit(place.clone(), cause)),
            Err(cause) => Err(CompileError::from(cause).into()),
        }
    }

    fn with(&self, bins: Option<MonitorBins>) -> Option<Monitoring> {
        let &Self { monitor_shift: shift, monitor_change: change, monitor_promise: promise, .. } = self;
        let action = match self.monitor_action {
            ActionName::Flag => None,
            ActionName::Alarm => Some(MonitorAction::Alarm),
            ActionName::Uncalibrated => Some(MonitorAction::Uncalibrated),
        };
        self.monitor.then_some(Monitoring { shift, change, promise, bins, action })
    }
}
