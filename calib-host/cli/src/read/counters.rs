//! Counters of devices.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use calib_fit::fleet::{DeviceCounters, FleetError};
use calib_io::files::{Location, quoted};
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
        if let Some([one, other]) = all.counted_twice() {
            cx.warn(&[format!(
                "{} and {} have the same counters: are they one device, which counts twice here?",
                quoted(one),
                quoted(other)
            )])?;
        }
        Ok(all)
    }

    /// Two devices that counted the same to the last prediction, more than a few.
    fn counted_twice(&self) -> Option<[&str; 2]> {
        /// As many predictions fall into the same bins by chance.
        const FEW: u64 = 20;
        let mut names = HashMap::new();
        self.devices.iter().find_map(|device| {
            let tables = device.tables.iter().flatten();
            let counted: Vec<_> =
                tables.map(|table| (&table.predictions, &table.labeled, &table.positives)).collect();
            let predictions =
                counted.iter().flat_map(|table| table.0).fold(0, |sum: u64, &n| sum.saturating_add(n));
            let of = (&device.calibrator, counted);
            let earlier = (predictions > FEW).then(|| names.insert(of, &*device.device)).flatten();
            earlier.filter(|earlier| *earlier != device.device).map(|earlier| [earlier, &*device.device])
        })
    }

    /// Where the counters of a device are: of one that is there twice, where the second are. The calibrator where it is about none.
    pub(crate) fn place(&self, device: Option<&str>, calibrator: &Path) -> Box<Location> {
        let at = self.devices.iter().rposition(|found| Some(&*found.device) == device);
        Box::new(Location::file(at.map_or(calibrator, |at| &self.paths[at])))
    }

    /// The error with the file that it is about.
    pub(crate) fn refused(&self, cause: FleetError, calibrator: &Path) -> Error {
        Error::Fleet { place: self.place(cause.device(), calibrator), cause }
    }
}
