//! `calib status`

#[cfg(feature = "probe")]
mod chip;
#[cfg(feature = "serial")]
mod port;

use clap::Args;

use crate::context::Context;
use crate::error::Error;
use crate::options::headings::OUTPUT;
use crate::run::Run;

/// Show what a device is and what its slots hold.
///
/// Over its serial port, or through a debug probe.
///
/// Over the line it also tells what the device's monitors say, if its calibrator was fitted with --monitor: whether scores still come
/// from where the reference scores did, whether they have changed, and whether outcomes are as frequent as promised. An alarm is a
/// warning.
///
/// Exits with 5 if the device may have fallen back to an older calibrator, because a slot with what may be a newer one is of no
/// use.
#[derive(Args)]
pub(crate) struct Status {
    #[cfg(feature = "serial")]
    #[command(flatten)]
    port: port::PortStatus,
    #[cfg(feature = "probe")]
    #[command(flatten)]
    chip: chip::ChipStatus,
    /// Print JSON on standard output.
    #[arg(long, help_heading = OUTPUT)]
    json: bool,
}

impl Run for Status {
    fn run(self, cx: &Context) -> Result<(), Error> {
        #[cfg(all(feature = "serial", feature = "probe"))]
        if self.port.port.is_some() && self.chip.chip.is_some() {
            return Err(Error::Usage("give either --port or --chip".into()));
        }
        #[cfg(feature = "serial")]
        if let Some(port) = &self.port.port {
            return self.port.show(port, self.json, cx);
        }
        #[cfg(feature = "probe")]
        if let Some(chip) = &self.chip.chip {
            return self.chip.show(chip, self.json, cx);
        }
        let ways = match (cfg!(feature = "serial"), cfg!(feature = "probe")) {
            (true, true) => "--port or --chip",
            (true, false) => "--port",
            _ => "--chip",
        };
        Err(Error::Usage(format!("which device? give {ways}")))
    }
}
