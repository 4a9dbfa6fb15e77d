//! The options of a debug probe.

use calib_io::device::probe::{AccessError, Chip, SlotMap, report_addr, slot_map};
use clap::Args;

use super::headings::DEVICE;
use crate::error::Error;

/// How a chip is reached, and where on it things are.
#[derive(Args)]
#[command(next_help_heading = DEVICE)]
pub(crate) struct ProbeOptions {
    /// Debug probe, if there are several: vendor:product:serial number.
    #[arg(long, value_name = "PROBE", hide_short_help = true)]
    probe: Option<String>,
    /// Address of the first of the two slots. Known for the chips that calib has a board crate for.
    #[arg(long, value_name = "ADDR", value_parser = parse_addr, hide_short_help = true)]
    slot_addr: Option<u64>,
    /// Length of each slot in bytes.
    #[arg(long, value_name = "BYTES", value_parser = parse_addr, hide_short_help = true)]
    slot_len: Option<u64>,
    /// Address of the report in the memory of the device, `__calib_report_start` of its program. Known for the same
    /// chips.
    #[arg(long, value_name = "ADDR", value_parser = parse_addr, hide_short_help = true)]
    report_addr: Option<u64>,
}

impl ProbeOptions {
    pub(crate) fn map(&self, chip: &str) -> Result<SlotMap, Error> {
        let known = slot_map(chip);
        let addr = self.slot_addr.or(known.map(|map| map.addr));
        let len = self.slot_len.or(known.map(|map| map.len_bytes.into()));
        match (addr, len.and_then(|len| u32::try_from(len).ok())) {
            (Some(addr), Some(len_bytes)) => Ok(SlotMap { addr, len_bytes }),
            _ => Err(Error::Usage(format!(
                "where the slots of {chip} are is not known: give --slot-addr and --slot-len, as in the firmware"
            ))),
        }
    }

    pub(crate) fn report_addr(&self, chip: &str) -> Option<u64> {
        self.report_addr.or_else(|| report_addr(chip))
    }

    pub(crate) fn attach(&self, chip: &str) -> Result<Chip, AccessError> {
        Chip::attach(chip, self.probe.as_deref())
    }
}

fn parse_addr(text: &str) -> Result<u64, String> {
    let parsed = match text.strip_prefix("0x") {
        Some(hex) => u64::from_str_radix(&hex.replace('_', ""), 16),
        None => text.parse(),
    };
    parsed.map_err(|_| "give a number such as 0xfe000 or 4096".into())
}
