//! `calib flash` and `calib status --chip`

use std::io::Write;
use std::path::PathBuf;

use calib_core::{SlotContent, SlotFault};
use calib_host::{
    Chip, Error, FlashAccess, FlashError, FlashPlan, Segment, SlotImage, SlotMap, StoredArtifact,
    elf_segments, flash, flash_plan, slot_map,
};
use clap::Args;
use serde_json::json;

use super::print_json;

/// A chip on a debug probe.
#[derive(Args)]
pub(crate) struct ChipOptions {
    /// The chip, as probe-rs calls it, such as nRF52840_xxAA.
    #[arg(long, value_name = "NAME")]
    pub(crate) chip: String,
    /// The probe, if there are several: vendor:product:serial number.
    #[arg(long, value_name = "PROBE")]
    pub(crate) probe: Option<String>,
    /// The address of the first of the two slots. Known for the chips that calib has a board crate for.
    #[arg(long, value_name = "ADDR", value_parser = parse_addr)]
    pub(crate) slot_addr: Option<u64>,
    /// The length of either slot in bytes.
    #[arg(long, value_name = "BYTES", value_parser = parse_addr)]
    pub(crate) slot_len: Option<u64>,
}

/// Write a calibrator, or a whole program, to a chip over a debug probe.
///
/// A calibrator goes into the slot that is not in force, as if the device had installed it itself; only that slot's sectors
/// are erased. Everything written is read back, and the sectors on either side are compared with what they were.
#[derive(Args)]
pub(crate) struct Flash {
    /// The artefact.
    #[arg(required_unless_present = "firmware", conflicts_with = "firmware")]
    artifact: Option<PathBuf>,
    /// Write this program instead: an ELF file. Slots that it does not cover stay as they are.
    #[arg(long, value_name = "ELF")]
    firmware: Option<PathBuf>,
    #[command(flatten)]
    chip: ChipOptions,
    /// Show what would be erased, and stop.
    #[arg(long)]
    dry_run: bool,
    /// Print JSON on standard output.
    #[arg(long)]
    json: bool,
}

impl ChipOptions {
    fn map(&self) -> Result<SlotMap, Error> {
        let known = slot_map(&self.chip);
        let addr = self.slot_addr.or(known.map(|map| map.addr));
        let len = self.slot_len.or(known.map(|map| map.len_bytes.into()));
        match (addr, len.and_then(|len| u32::try_from(len).ok())) {
            (Some(addr), Some(len_bytes)) => Ok(SlotMap { addr, len_bytes }),
            _ => Err(Error::Usage(format!(
                "where the slots of {} are is not known: give --slot-addr and --slot-len, as in the firmware",
                self.chip
            ))),
        }
    }

    fn attach(&self) -> Result<Chip, Error> {
        Ok(Chip::attach(&self.chip, self.probe.as_deref()).map_err(FlashError::from)?)
    }

    fn read_slots(&self, chip: &mut Chip) -> Result<SlotImage, Error> {
        let map = self.map()?;
        let mut bytes = vec![0; 2 * map.len_bytes as usize];
        chip.read(map.addr, &mut bytes).map_err(FlashError::from)?;
        Ok(SlotImage::new(map, bytes))
    }

    /// Shows what the slots hold.
    pub(crate) fn status(&self, as_json: bool) -> Result<(), Error> {
        let map = self.map()?;
        let mut chip = self.attach()?;
        let survey = self.read_slots(&mut chip)?.survey().map_err(|error| Error::Usage(error.to_string()))?;
        if as_json {
            let slot = |slot: &Result<SlotContent, SlotFault>| match slot {
                Ok(content) => json!({
                    "state": "valid",
                    "identity": content.identity.to_string(),
                    "len_bytes": content.len_bytes,
                    "counter": content.counter,
                    "sequence": content.sequence,
                }),
                Err(fault) => json!({"state": "invalid", "reason": fault.to_string()}),
            };
            return print_json(
                &json!({"chip": self.chip, "slots": survey.iter().map(slot).collect::<Vec<_>>()}),
            );
        }
        let mut out = std::io::stdout().lock();
        for (index, slot) in survey.iter().enumerate() {
            let addr = map.addr + (index as u64) * u64::from(map.len_bytes);
            match slot {
                Ok(SlotContent { identity, len_bytes, counter, sequence }) => writeln!(
                    out,
                    "{} @ {addr:#010x}: id {identity}, {len_bytes} bytes, counter {counter}, installation {sequence}",
                    self.chip
                )?,
                Err(fault) => writeln!(out, "{} @ {addr:#010x}: {fault}", self.chip)?,
            }
        }
        Ok(())
    }
}

impl Flash {
    pub(crate) fn run(self, quiet: bool) -> Result<(), Error> {
        let artifact = self.artifact.as_deref().map(StoredArtifact::read).transpose()?;
        if artifact.is_some() {
            self.chip.map()?;
        }
        let mut chip = self.chip.attach()?;
        let (segments, whole) = match (&artifact, &self.firmware) {
            (Some(artifact), _) => (vec![self.slot(&mut chip, artifact)?], true),
            (None, Some(elf)) => (elf_segments(&mut chip, elf)?, false),
            (None, None) => unreachable!("clap asks for one of them"),
        };
        let plan = flash_plan(&chip, &segments, whole)?;
        if !quiet {
            show(&self.chip.chip, &plan)?;
        }
        if self.dry_run {
            return Ok(());
        }
        let report = flash(&mut chip, &segments, &plan, |_| ())?;
        if self.json {
            return print_json(&json!({
                "chip": self.chip.chip,
                "identity": artifact.map(|artifact| artifact.artifact().identity().to_string()),
                "sectors": report.sectors,
                "written_bytes": report.written_bytes,
                "neighbour_bytes": report.neighbour_bytes,
            }));
        }
        if !quiet {
            let mut err = std::io::stderr().lock();
            writeln!(
                err,
                "{} bytes written and read back, {} bytes beside them unchanged; the chip was reset",
                report.written_bytes, report.neighbour_bytes
            )?;
            if artifact.is_some() {
                writeln!(err, "what the device makes of it: `calib status --port PORT`")?;
            }
        }
        Ok(())
    }

    fn slot(&self, chip: &mut Chip, artifact: &StoredArtifact) -> Result<Segment, Error> {
        let image = self.chip.read_slots(chip)?;
        let (receipt, segment) = image.install(artifact).map_err(|error| Error::Usage(error.to_string()))?;
        match receipt {
            Ok(_) => Ok(segment),
            Err(refused) => {
                Err(Error::Mismatch(format!("the device would not take the calibrator: {refused}")))
            }
        }
    }
}

fn show(chip: &str, plan: &FlashPlan) -> Result<(), Error> {
    let mut err = std::io::stderr().lock();
    writeln!(err, "{chip}: erases {} bytes", plan.erased_bytes())?;
    for sector in &plan.erased {
        writeln!(err, "  {:#010x}  {} bytes", sector.addr, sector.len_bytes)?;
    }
    for sector in &plan.neighbours {
        writeln!(
            err,
            "  {:#010x}  {} bytes stay as they are, and are compared",
            sector.addr, sector.len_bytes
        )?;
    }
    Ok(())
}

fn parse_addr(text: &str) -> Result<u64, String> {
    let parsed = match text.strip_prefix("0x") {
        Some(hex) => u64::from_str_radix(&hex.replace('_', ""), 16),
        None => text.parse(),
    };
    parsed.map_err(|_| "give a number such as 0xfe000 or 4096".into())
}
