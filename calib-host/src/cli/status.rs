//! `calib status`

use calib_host::Error;
use clap::Args;

#[cfg(feature = "probe")]
use super::flash::{self, ProbeOptions};
#[cfg(feature = "serial")]
use super::port::{self, LineOptions};

/// Show what a device is and what its slots hold: over its serial port, or through a debug probe.
#[derive(Args)]
pub(crate) struct Status {
    /// The serial port, such as /dev/ttyACM0.
    #[cfg(feature = "serial")]
    #[arg(long, value_name = "PORT")]
    port: Option<String>,
    #[cfg(feature = "serial")]
    #[command(flatten)]
    line: LineOptions,
    /// The chip on a debug probe, as probe-rs calls it, such as nRF52840_xxAA.
    #[cfg(feature = "probe")]
    #[arg(long, value_name = "NAME")]
    chip: Option<String>,
    #[cfg(feature = "probe")]
    #[command(flatten)]
    probe: ProbeOptions,
    /// Print JSON on standard output.
    #[arg(long)]
    json: bool,
}

impl Status {
    pub(crate) fn run(self) -> Result<(), Error> {
        #[cfg(feature = "serial")]
        if let Some(port) = &self.port {
            #[cfg(feature = "probe")]
            if self.chip.is_some() {
                return Err(Error::Usage("give either --port or --chip".into()));
            }
            return port::status(port, &self.line, self.json);
        }
        #[cfg(feature = "probe")]
        if let Some(chip) = &self.chip {
            return flash::status(chip, &self.probe, self.json);
        }
        let ways = match (cfg!(feature = "serial"), cfg!(feature = "probe")) {
            (true, true) => "--port or --chip",
            (true, false) => "--port",
            _ => "--chip",
        };
        Err(Error::Usage(format!("which device? give {ways}")))
    }
}
