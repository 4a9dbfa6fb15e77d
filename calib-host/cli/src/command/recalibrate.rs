//! `calib recalibrate`

use std::io::Write;
use std::path::PathBuf;

use calib_fit::StoredArtifact;
use calib_fit::fleet::{RecalibrateError, Recalibration, aggregate, recalibrated};
use calib_io::files::{Location, read_artifact};
use calib_io::input::{self, Source};
use clap::Args;

use crate::context::Context;
use crate::error::Error;
use crate::kinds::FileKind;
use crate::options::headings::{DATA, GUARANTEES};
use crate::options::{DerivedOptions, any_number, parse_spent};
use crate::read::CounterFiles;
use crate::run::Run;
use crate::show::ShownRecalibration;

/// Of intervals that nobody is shown.
const ANY_ALPHA: f64 = 0.05;

/// Update a calibrator with outcomes that devices counted.
///
/// Edges and monitors are those of the calibrator. The value of a bin is the share of its outcomes that were positive,
/// with an exact interval.
///
/// Which outcomes are reported, and when, must depend neither on the label nor on what predicts the label within the
/// bin. Do not choose the time of reading the counts by what they show.
#[derive(Args)]
pub(crate) struct Recalibrate {
    /// Calibrator that devices counted with.
    #[arg(value_name = "ARTIFACT", help_heading = DATA)]
    calibrator: PathBuf,
    /// Counts: JSON files, as `calib status --counters` writes them and `calib fleet` accepts them.
    #[arg(value_name = "COUNTERS", required = true, help_heading = DATA)]
    counters: Vec<PathBuf>,
    /// Earlier counts of the same devices: calib uses only what was counted since.
    ///
    /// If an alert about outcomes is the reason for the new calibrator, give the counts at the time of that alert. The
    /// outcomes that raised it would otherwise be selected by what they show.
    #[arg(long, value_name = "COUNTERS", num_args = 1.., help_heading = DATA)]
    since: Vec<PathBuf>,
    /// Accepted probability, over the draw of the outcomes, that the guarantee fails.
    #[arg(long, default_value_t = 0.1, value_name = "ALPHA", value_parser = any_number, help_heading = GUARANTEES)]
    alpha: f64,
    /// Sum of the alphas of earlier calibrations in the field: at least what the calibrator and earlier ones spent.
    #[arg(long, default_value_t = 0.0, value_name = "A", value_parser = parse_spent, help_heading = GUARANTEES)]
    alpha_spent: f64,
    #[command(flatten)]
    child: DerivedOptions,
}

impl Run for Recalibrate {
    const OUTPUT: Option<FileKind> = Some(FileKind::Artifact);
    const TELLS: bool = true;

    fn run(self, cx: &Context) -> Result<(), Error> {
        let path = &*self.calibrator;
        let before = read_artifact(path)?;
        let (now, earlier) = (CounterFiles::read(&self.counters, cx)?, CounterFiles::read(&self.since, cx)?);
        let sources: Vec<&Source> = now.sources.iter().chain(&earlier.sources).collect();
        let counter = self.child.of(path, &before, cx)?;
        let how = Recalibration {
            alpha: self.alpha,
            alpha_spent: self.alpha_spent,
            counter,
            data_sha256: input::sha256(&sources),
        };
        if !earlier.devices.is_empty() {
            // What is wrong with them is told of them.
            aggregate(&before.artifact(), &earlier.devices, ANY_ALPHA)
                .map_err(|cause| earlier.refused(cause, path))?;
        }
        let made =
            recalibrated(&before, &now.devices, &earlier.devices, &how).map_err(|cause| match cause {
                RecalibrateError::Fleet(cause) => now.refused(cause, path),
                RecalibrateError::Fit(cause) => Error::fit(Location::file(path), cause),
                cause => {
                    let place = match &cause {
                        RecalibrateError::Full { device, .. } => now.place(Some(device), path),
                        RecalibrateError::Back { device, .. } | RecalibrateError::Gone(device) => {
                            earlier.place(Some(device), path)
                        }
                        _ => Box::new(Location::file(path)),
                    };
                    Error::Recalibrate { place, cause }
                }
            })?;
        cx.write_output(&self.child.output, self.child.force, &made.bytes)?;
        let stored = StoredArtifact::from_bytes(&made.bytes).expect("just written");
        let shown = ShownRecalibration {
            before: &before,
            after: &stored,
            made: &made,
            devices: now.devices.len(),
            is_since: !earlier.devices.is_empty(),
            output: &self.child.output,
        };
        let warnings = shown.warnings();
        cx.warn(&warnings)?;
        if self.child.json {
            let mut value = shown.json();
            value["warnings"] = warnings.into();
            return cx.print_json(&value);
        }
        if !cx.quiet {
            let mut err = cx.stderr();
            shown.lines().iter().try_for_each(|line| writeln!(err, "{line}"))?;
        }
        Ok(())
    }
}
