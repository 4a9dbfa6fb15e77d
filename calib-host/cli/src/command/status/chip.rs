//! What the slots of a chip hold, through a debug probe.

use std::io::Write;

use calib_core::slot::SlotContent;
use calib_io::device::probe::{FlashError, read_slots};
use clap::Args;
use serde_json::{Value, json};

use crate::context::Context;
use crate::error::Error;
use crate::options::ProbeOptions;
use crate::options::headings::DATA;
use crate::show::slot_json;

/// A chip on a debug probe.
#[derive(Args)]
pub(super) struct ChipStatus {
    /// Chip on a debug probe, as probe-rs calls it, such as nRF52840_xxAA.
    #[arg(long, value_name = "NAME", help_heading = DATA)]
    pub(super) chip: Option<String>,
    #[command(flatten)]
    probe: ProbeOptions,
}

impl ChipStatus {
    /// Shows what the slots of a chip hold.
    pub(super) fn show(&self, chip: &str, json: bool, cx: &Context) -> Result<(), Error> {
        let map = self.probe.map(chip)?;
        let mut access = self.probe.attach(chip)?;
        let survey = read_slots(&mut access, map)?.survey().map_err(FlashError::from)?;
        if json {
            let slots: Vec<Value> = survey.iter().map(slot_json).collect();
            return cx.print_json(&json!({"chip": chip, "slots": slots}));
        }
        let mut out = cx.stdout();
        for (index, slot) in survey.iter().enumerate() {
            let addr = map.addr + (index as u64) * u64::from(map.len_bytes);
            match slot {
                Ok(SlotContent { identity, len_bytes, counter, sequence }) => writeln!(
                    out,
                    "{chip} @ {addr:#010x}: id {identity}, {len_bytes} bytes, counter {counter}, installation {sequence}"
                )?,
                Err(fault) => writeln!(out, "{chip} @ {addr:#010x}: {fault}")?,
            }
        }
        Ok(())
    }
}
