//! The options of what the monitors on a device compare with.

use calib_fit::ScoreKind;
use calib_fit::artifact::{CompileError, MonitorBins, MonitorError, Monitoring};
use calib_fit::job::{AlarmAction, MonitorOptions as FitMonitors};
use calib_io::files::Location;
use clap::Args;

use super::headings::DEVICE;
use super::parse::{count, named};
use crate::error::Error;

/// Whether the device notices that scores or outcomes have changed.
#[derive(Args)]
#[command(next_help_heading = DEVICE)]
pub(crate) struct MonitorOptions {
    /// Store what monitors on the device need to detect changed scores or outcomes.
    ///
    /// Monitors compare scores and outcomes with those of the calibration. They need 4 bytes per bin, and about 36
    /// more. Their bins are those of umd. Any other method needs --monitor=B: B separate bins for the monitors, each with
    /// equally many calibration scores. Choose B without looking at the labels.
    ///
    /// Monitors assume that every prediction is a new and independent draw from the population of the calibration
    /// scores. Repeated readings of one patient are not, and raise alerts.
    #[arg(long, value_name = "B", num_args = 0..=1, require_equals = true, value_parser = count::<u16>(2..), hide_short_help = true)]
    monitor: Option<Option<u16>>,
    /// Bounds on false alerts of a device, for any number of tables.
    ///
    /// The probability that the device at any time wrongly reports scores from another distribution is at most 1/SHIFT.
    /// The probability that it at any time reports a contradicted guarantee although the guarantee holds is at most
    /// 1/GUARANTEE. False alerts of a change are on average at least CHANGE predictions apart. Devices with the same
    /// calibrator raise false alerts together.
    #[arg(long, requires = "monitor", default_value = DEFAULT_RARITY, value_name = "SHIFT,CHANGE,GUARANTEE", value_parser = parse_rarity, hide_short_help = true)]
    monitor_rarity: Rarity,
    /// Action of a device on an alert of a shift or of the guarantee, until you reset its counts.
    ///
    /// A device that does not support the action refuses the calibrator.
    ///
    /// Alerts of a change are only reported and never trigger this action. With nothing wrong, they are on average at
    /// least CHANGE predictions of --monitor-rarity apart.
    #[arg(long, requires = "monitor", value_parser = named::<AlarmAction>(), default_value = "flag", value_name = "ACTION", hide_short_help = true)]
    monitor_action: AlarmAction,
}

/// Bounds on false alerts: of a shift, of a change and of the guarantee.
type Rarity = [u32; 3];

/// As [`Monitoring`] has them by default.
const DEFAULT_RARITY: &str = "20,10000,100";

fn parse_rarity(text: &str) -> Result<Rarity, String> {
    // A bound of 1/1 would need no evidence.
    let numbers: Vec<u32> =
        text.split(',').map(|one| count::<u32>(2..)(one.trim())).collect::<Result<_, _>>()?;
    numbers.try_into().map_err(|_| "three numbers are expected, such as 20,10000,100".to_owned())
}

impl MonitorOptions {
    pub(crate) fn are_asked(&self) -> bool {
        self.monitor.is_some()
    }

    /// The number of separate bins of the monitors.
    pub(crate) fn own_bins(&self) -> Option<u16> {
        self.monitor.flatten()
    }

    /// What a fit is asked for; `scores` are others than those of the calibration.
    pub(crate) fn of_fit(&self, scores: Option<Vec<f32>>) -> Result<Option<FitMonitors>, Error> {
        if !self.are_asked() && scores.is_some() {
            return Err(Error::Usage("scores that monitors compare with go with --monitor: add it".into()));
        }
        let [shift, change, guarantee] = self.monitor_rarity;
        let (bins, action) = (self.own_bins(), self.monitor_action.get());
        Ok(self.are_asked().then_some(FitMonitors { bins, scores, shift, change, guarantee, action }))
    }

    /// The monitors of one score, which compare with others than those of the calibration, from this place.
    pub(crate) fn of_scores(
        &self,
        kind: ScoreKind,
        scores: &[f32],
        place: &Location,
    ) -> Result<Option<Monitoring>, Error> {
        if !self.are_asked() {
            return Err(Error::Usage("scores that monitors compare with go with --monitor: add it".into()));
        }
        let bins = self.own_bins().ok_or_else(|| {
            Error::Usage(
                "monitors that compare with other scores need separate bins: set their number with --monitor=B".into(),
            )
        })?;
        match MonitorBins::of_scores(kind, scores, bins.into()) {
            Ok(bins) => Ok(self.with(Some(bins))),
            Err(MonitorError::Fit(cause)) => Err(Error::fit(place.clone(), cause)),
            Err(cause) => Err(CompileError::from(cause).into()),
        }
    }

    fn with(&self, bins: Option<MonitorBins>) -> Option<Monitoring> {
        let [shift, change, guarantee] = self.monitor_rarity;
        self.are_asked().then_some(
            Monitoring::default()
                .shift(shift)
                .change(change)
                .guarantee(guarantee)
                .bins(bins)
                .action(self.monitor_action.get()),
        )
    }
}
