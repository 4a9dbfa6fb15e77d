//! Counters of devices.

use std::path::{Path, PathBuf};

use calib_fit::fleet::{DeviceCounters, FleetError};
use calib_io::files::{Place, quoted};
use calib_io::input::{MAX_COUNTERS_BYTES, Source, counters_of, similar_names};

use crate::context::Context;
use crate::error::Error;

/// The counters of all files, each with its file.
pub(crate) struct CounterFiles {
    pub(crate) sources: Vec<Source>,
    pub(crate) devices: Vec<DeviceCounters>,
    pub(crate) paths: Vec<PathBuf>,
}

impl CounterFiles {
    pub(crate) fn read(files: &[PathBuf], cx: &Context) -> Result<Self, Error> {
        let mut all = Self { sources: Vec::new(), devices: Vec::new(), paths: Vec::new() };
        for path in files {
            let source = match path.as_os_str() == "-" {
                true => Source::read(path, &cx.reading())?,
                false => Source::read_limited(path, MAX_COUNTERS_BYTES, &cx.reading())?,
            };
            let devices = counters_of(&source)?;
            all.paths.extend(devices.iter().map(|_| path.clone()));
            all.devices.extend(devices);
            all.sources.push(source);
        }
        if let Some([one, other]) = similar_names(all.devices.iter().map(|device| &device.device)) {
            cx.warn(&[format!(
                "{} and {} are two devices, though their names differ in case, spaces or invisible signs only.",
                quoted(&one),
                quoted(&other)
            )])?;
        }
        Ok(all)
    }

    /// Where the counters of a device are: of one that is there twice, where the second are. The calibrator where it is about none.
    pub(crate) fn place(&self, device: Option<&str>, calibrator: &Path) -> Box<Place> {
        let at = self.devices.iter().rposition(|found| Some(&*found.device) == device);
        Box::new(Place::file(at.map_or(calibrator, |at| &self.paths[at])))
    }

    /// The error with the file that it is about.
    pub(crate) fn refused(&self, cause: FleetError, calibrator: &Path) -> Error {
        Error::Fleet { place: self.place(cause.device(), calibrator), cause }
    }
}
