//! Calibrators from the outcomes that devices counted.

use std::io::Write;
use std::path::PathBuf;

use calib_fit::StoredArtifact;
use calib_fit::fleet::{RecalibrateError, Recalibration, recalibrated, survey};
use calib_io::files::{Place, read_artifact};
use calib_io::input::{self, Source};

use super::FitCommand;
use crate::context::Context;
use crate::error::Error;
use crate::options::ChildOptions;
use crate::read::CounterFiles;
use crate::show::ShownRecalibration;

/// Of intervals that nobody is shown.
const ANY_ALPHA: f64 = 0.05;

impl FitCommand {
    /// Gives a calibrator new values: the shares of positives among the outcomes that devices counted with it.
    pub(super) fn recalibrate(&self, files: &[PathBuf], cx: &Context) -> Result<(), Error> {
        let path = self.counters.calibrator();
        let before = read_artifact(path)?;
        let (now, earlier) = (CounterFiles::read(files, cx)?, CounterFiles::read(self.counters.since(), cx)?);
        let sources: Vec<&Source> = now.sources.iter().chain(&earlier.sources).collect();
        let counter = ChildOptions::at(self.written.counter).of(path, &before, cx)?;
        let how = Recalibration {
            alpha: self.written.alpha,
            alpha_spent: self.written.alpha_spent,
            counter,
            data_sha256: input::sha256(&sources),
        };
        if !earlier.devices.is_empty() {
            // What is wrong with them is told of them.
            survey(&before.artifact(), &earlier.devices, ANY_ALPHA)
                .map_err(|cause| earlier.refused(cause, path))?;
        }
        let made =
            recalibrated(&before, &now.devices, &earlier.devices, &how).map_err(|cause| match cause {
                RecalibrateError::Fleet(cause) => now.refused(cause, path),
                RecalibrateError::Fit(cause) => Error::fit(Place::file(path), cause),
                cause => {
                    let place = match &cause {
                        RecalibrateError::Full { device, .. } => now.place(Some(device), path),
                        RecalibrateError::Back { device, .. } | RecalibrateError::Gone(device) => {
                            earlier.place(Some(device), path)
                        }
                        _ => Box::new(Place::file(path)),
                    };
                    Error::Recalibrate { place, cause }
                }
            })?;
        let output = self.output();
        cx.write_output(&output, self.force, &made.bytes)?;
        let stored = StoredArtifact::from_bytes(&made.bytes).expect("just written");
        let shown = ShownRecalibration {
            before: &before,
            after: &stored,
            made: &made,
            devices: now.devices.len(),
            is_since: !earlier.devices.is_empty(),
            output: &output,
        };
        let warnings = shown.warnings();
        cx.warn(&warnings)?;
        if self.json {
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
