//! The options of what the monitors on a device compare with.

use calib_fit::ScoreKind;
use calib_fit::artifact::{CompileError, MonitorBins, MonitorError, Monitoring};
use calib_fit::job::{AlarmAction, MonitorOptions as FitMonitors};
use calib_io::files::Place;
use clap::Args;

use super::headings::DEVICE;
use super::parse::{count, named};
use crate::error::Error;

/// Whether the device notices that scores or outcomes have changed.
#[derive(Args)]
#[command(next_help_heading = DEVICE)]
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
    /// How rare false alarms of a device are, whatever the number of its tables. With a probability of at most 1/SHIFT it says at any time,
    /// wrongly, that scores come from another distribution, and with at most 1/PROMISE that a guarantee that holds is broken. On average,
    /// once in CHANGE predictions or less often it says wrongly that scores have changed. Devices with the same calibrator raise false
    /// alarms together.
    #[arg(long, requires = "monitor", default_value = DEFAULT_RARITY, value_name = "SHIFT,CHANGE,PROMISE", value_parser = parse_rarity, hide_short_help = true)]
    monitor_rarity: Rarity,
    /// What a device does on an alarm of a shift or of the promise, until it is told to count anew. A device that cannot do it refuses
    /// the calibrator.
    ///
    /// An alarm of a change is told alone: one comes every CHANGE predictions of --monitor-rarity with nothing wrong.
    #[arg(long, requires = "monitor", value_parser = named::<AlarmAction>(), default_value = "flag", value_name = "ACTION", hide_short_help = true)]
    monitor_action: AlarmAction,
}

/// How rare false alarms are: of a shift, of a change and of the promise.
type Rarity = [u32; 3];

/// As [`Monitoring`] has them by default.
const DEFAULT_RARITY: &str = "20,10000,100";

fn parse_rarity(text: &str) -> Result<Rarity, String> {
    // An alarm in one of one would take no evidence.
    let numbers: Vec<u32> =
        text.split(',').map(|one| count::<u32>(2..)(one.trim())).collect::<Result<_, _>>()?;
    numbers.try_into().map_err(|_| "three numbers are expected, such as 20,10000,100".to_owned())
}

impl MonitorOptions {
    pub(crate) fn are_asked(&self) -> bool {
        self.monitor
    }

    /// How many bins of their own the monitors are to have.
    pub(crate) fn own_bins(&self) -> Option<u16> {
        self.monitor_bins
    }

    /// What a fit is asked for; `scores` are others than those of the calibration.
    pub(crate) fn of_fit(&self, scores: Option<Vec<f32>>) -> Result<Option<FitMonitors>, Error> {
        if !self.monitor && scores.is_some() {
            return Err(Error::Usage("scores that monitors compare with go with --monitor: add it".into()));
        }
        let [shift, change, promise] = self.monitor_rarity;
        let (bins, action) = (self.monitor_bins, self.monitor_action.get());
        Ok(self.monitor.then_some(FitMonitors { bins, scores, shift, change, promise, action }))
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
        let [shift, change, promise] = self.monitor_rarity;
        self.monitor.then_some(
            Monitoring::default()
                .shift(shift)
                .change(change)
                .promise(promise)
                .bins(bins)
                .action(self.monitor_action.get()),
        )
    }
}
