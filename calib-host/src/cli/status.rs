//! `calib status`

use calib_host::Error;
use clap::Args;

#[cfg(feature = "probe")]
use super::flash::ChipOptions;
#[cfg(feature = "serial")]
use super::port::{self, Line};

/// Show what a device is and what its slots hold: over its serial port, or through a debug probe.
#[derive(Args)]
pub(crate) struct Status {
    #[cfg(feature = "serial")]
    #[command(flatten)]
    line: Option<Line>,
    #[cfg(feature = "probe")]
    #[command(flatten)]
    chip: Option<ChipOptions>,
    /// Print JSON on standard output.
    #[arg(long)]
    json: bool,
}

impl Status {
    pub(crate) fn run(self) -> Result<(), Error> {
        #[cfg(feature = "serial")]
        if let Some(line) = &self.line {
            #[cfg(feature = "probe")]
            if self.chip.is_some() {
                return Err(Error::Usage("give either --port or --chip".into()));
            }
            return port::status(line, self.json);
        }
        #[cfg(feature = "probe")]
        if let Some(chip) = &self.chip {
            return chip.status(self.json);
        }
        let ways = match (cfg!(feature = "serial"), cfg!(feature = "probe")) {
            (true, true) => "--port or --chip",
            (true, false) => "--port",
            _ => "--chip",
        };
        Err(Error::Usage(format!("which device? give {ways}")))
    }
}
