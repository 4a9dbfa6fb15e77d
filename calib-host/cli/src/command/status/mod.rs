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

/// Show the identity and the slots of a device.
///
/// It uses the device's serial port, or a debug probe.
///
/// Over the serial link it also shows what the device's monitors report, if its calibrator was fitted with --monitor.
/// They test whether scores are still distributed like the reference scores, whether scores have changed, and whether
/// outcomes are as frequent as predicted. An alert is a warning.
///
/// The command exits with 5 if the device may have fallen back to an older calibrator: a slot with what may be a newer
/// calibrator is unusable.
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
