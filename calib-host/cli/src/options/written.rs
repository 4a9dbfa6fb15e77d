//! The options of what a fit states, and of the artefact that is written of it.

use calib_core::ClassifierId;
use calib_fit::artifact::Monitoring;
use calib_fit::data::RowsHash;
use calib_fit::fit::divided;
use calib_fit::{ArtifactOptions, Fit};
use clap::{Args, ValueEnum};

use super::monitors::MonitorOptions;
use super::parse::{any_number, count, parse_classifier};
use crate::error::Error;

/// What a fit states, and how it is written.
#[derive(Args)]
pub(crate) struct WrittenOptions {
    /// May fail with this probability.
    ///
    /// The probability, over the draw of the points, with which the guarantee may fail.
    #[arg(long, default_value_t = 0.1, value_name = "ALPHA", value_parser = any_number, help_heading = "Method and bins")]
    pub(crate) alpha: f64,
    /// Among how many choices of method and bins this one was chosen by these labels, as `calib compare` and `calib bins` say:
    /// the guarantee is then for alpha / M, so that it holds for any of them.
    #[arg(long, default_value_t = 1, value_name = "M", value_parser = count::<u32>(1..), help_heading = "Guarantees and intervals", hide_short_help = true)]
    pub(crate) candidates: u32,
    /// The sum of the alphas of earlier calibrations in the field, which the promise then tells. With --from-counters it is at least
    /// what the calibrator and those before it spent.
    #[arg(long, default_value_t = 0.0, value_name = "A", value_parser = parse_spent, help_heading = "Guarantees and intervals", hide_short_help = true)]
    pub(crate) alpha_spent: f64,
    /// Store the exact interval of every bin in the artefact, at 8 bytes a bin: the device then returns it.
    #[arg(long, help_heading = "The device", hide_short_help = true)]
    pub(crate) intervals: bool,
    /// The numbers in the artefact's tables: u16 takes half the room, and the device then rounds scores to the nearest
    /// 1/65535 and gives probabilities in steps of 1/32768. Rounded scores may tie, which voids a guarantee as all ties do.
    /// For methods that fit steps.
    #[arg(long, value_enum, default_value_t = TableWidth::F32, help_heading = "The device", hide_short_help = true)]
    table: TableWidth,
    /// The classifier that the scores come from, as 16 hex digits: a device with another one refuses the artefact.
    #[arg(long, value_name = "HEX", value_parser = parse_classifier, help_heading = "The device", hide_short_help = true)]
    classifier_id: Option<ClassifierId>,
    /// How new the calibrator is: a device refuses one with a lower counter than the one it holds. Raise it when older
    /// calibrators must not come back.
    #[arg(long, default_value_t = 0, value_name = "N", help_heading = "The device", hide_short_help = true)]
    pub(crate) counter: u32,
    #[command(flatten)]
    pub(crate) monitors: MonitorOptions,
}

/// The numbers in a table.
#[derive(Clone, Copy, PartialEq, ValueEnum)]
enum TableWidth {
    F32,
    U16,
}

impl WrittenOptions {
    /// Whether the tables are of 16-bit numbers.
    pub(crate) fn is_compact(&self) -> bool {
        self.table == TableWidth::U16
    }

    /// The alpha of the fit, which is one of so many.
    pub(crate) fn divided_alpha(&self) -> f64 {
        divided(self.alpha, self.candidates)
    }

    /// The fit with what it states; `chosen` is among how many it was chosen besides those that were told, and what it may spend of
    /// alpha.
    pub(crate) fn stated(&self, fit: Fit, chosen: Option<(u32, f64)>) -> Fit {
        let fit = match chosen {
            Some((chosen, share)) => {
                fit.chosen_with_share(self.candidates.saturating_mul(chosen), share, self.alpha)
            }
            None => fit.chosen_among(self.candidates, self.alpha),
        };
        fit.after_spending(self.alpha_spent)
    }

    /// Refuses what is about a guarantee, which a calibrator of whole vectors does not have.
    pub(crate) fn check_joint(&self) -> Result<(), Error> {
        let refuse = |text: &str| Err(Error::Usage(text.into()));
        if self.intervals {
            return refuse("a calibrator of whole vectors has no intervals: leave out --intervals");
        }
        if self.monitors.are_asked() {
            return refuse(
                "a calibrator of whole vectors has no bins of a score, in which monitors count: leave out --monitor",
            );
        }
        if self.candidates > 1 || self.alpha_spent > 0.0 {
            return refuse(
                "a calibrator of whole vectors has no guarantee: leave out --candidates and --alpha-spent",
            );
        }
        Ok(())
    }

    /// What goes into the artefact besides the fit.
    pub(crate) fn artifact_options(
        &self,
        data_sha256: [u8; 32],
        rows: RowsHash,
        direct_table: bool,
        monitors: Option<Monitoring>,
    ) -> ArtifactOptions {
        ArtifactOptions {
            data_sha256,
            rows: Some(rows),
            classifier: self.classifier_id,
            intervals: self.intervals,
            counter: self.counter,
            direct_table,
            monitors,
        }
    }
}

fn parse_spent(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(spent) if (0.0..1.0).contains(&spent) => Ok(spent),
        _ => Err("what was spent is a probability below 1, such as 0.2".into()),
    }
}
