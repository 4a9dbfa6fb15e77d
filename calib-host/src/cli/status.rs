//! `calib status`

use calib_core::slot::{SlotContent, SlotFault};
use calib_host::Error;
use clap::Args;
use serde_json::{Value, json};

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

/// What a slot holds.
pub(super) fn slot_json(slot: &Result<SlotContent, SlotFault>) -> Value {
    match slot {
        Ok(content) => json!({
            "state": "valid",
            "identity": content.identity.to_string(),
            "len_bytes": content.len_bytes,
            "counter": content.counter,
            "sequence": content.sequence,
        }),
        Err(SlotFault::Blank) => json!({"state": "blank"}),
        Err(fault) => json!({"state": "invalid", "reason": fault.to_string()}),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_blank_slot_is_not_an_invalid_one() {
        assert_eq!(slot_json(&Err(SlotFault::Blank)), json!({"state": "blank"}));
        let damaged = slot_json(&Err(SlotFault::Uncommitted));
        assert_eq!(damaged["state"], "invalid");
        assert_eq!(damaged["reason"], SlotFault::Uncommitted.to_string());
    }
}
