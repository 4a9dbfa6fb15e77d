//! `calib flash`

use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::Duration;

use calib_fit::StoredArtifact;
#[cfg(feature = "serial")]
use calib_io::device::probe::FlashError;
use calib_io::device::probe::{
    DeviceReport, FlashPlan, FlashReport, await_report, deploy, elf_segments, flash, flash_plan, prepare,
    restart,
};
use calib_io::files::read_artifact;
use clap::Args;
use serde_json::{Value, json};

use crate::context::Context;
use crate::error::Error;
use crate::next::{Given, Suggestion};
#[cfg(feature = "serial")]
use crate::options::LineOptions;
use crate::options::headings::{DATA, DEVICE, OUTPUT};
use crate::options::{Demanded, ProbeOptions};
use crate::run::Run;

/// How long a device may take after its reset until it has looked at its slots.
const PATIENCE: Duration = Duration::from_secs(5);

/// Write a calibrator or a program to a chip through a probe.
///
/// A calibrator goes into the slot that is not active, as if the device had installed it itself. Only that slot's
/// sectors are erased. calib reads back everything that it wrote, and compares the sectors on either side with their
/// earlier content.
///
/// Then calib resets the device. The device itself reports whether it uses the calibrator: through the probe, or over
/// its serial port with --port.
#[derive(Args)]
pub(crate) struct Flash {
    /// Artifact.
    #[arg(required_unless_present = "firmware", conflicts_with = "firmware")]
    artifact: Option<PathBuf>,
    #[command(flatten)]
    demanded: Demanded,
    /// ELF file of a program to write instead.
    ///
    /// Slots that it does not cover stay unchanged.
    #[arg(long, value_name = "ELF", help_heading = DATA)]
    firmware: Option<PathBuf>,
    /// Chip, as probe-rs calls it, such as nRF52840_xxAA.
    #[arg(long, value_name = "NAME", help_heading = DATA)]
    chip: String,
    #[command(flatten)]
    probe: ProbeOptions,
    /// Serial port, such as /dev/ttyACM0, to ask the device whether it uses the calibrator.
    #[cfg(feature = "serial")]
    #[arg(long, value_name = "PORT", help_heading = DATA)]
    port: Option<String>,
    #[cfg(feature = "serial")]
    #[command(flatten)]
    line: LineOptions,
    /// Do not wait for the device to report whether it uses the calibrator.
    #[arg(long, help_heading = DEVICE, hide_short_help = true)]
    no_verdict: bool,
    /// Show what would be erased, and stop.
    #[arg(long, help_heading = DEVICE)]
    dry_run: bool,
    /// Print JSON on standard output.
    #[arg(long, help_heading = OUTPUT)]
    json: bool,
}

impl Run for Flash {
    fn run(self, cx: &Context) -> Result<(), Error> {
        match (&self.artifact, &self.firmware) {
            (Some(path), _) => {
                let artifact = read_artifact(path)?;
                self.demanded.check(Some((path, &artifact)))?;
                self.calibrator(&artifact, cx)
            }
            (None, Some(elf)) => self.program(elf, cx),
            (None, None) => unreachable!("clap asks for one of them"),
        }
    }

    fn next(given: &Given<'_>, _: &Context) -> Option<Suggestion> {
        given.status()
    }
}

impl Flash {
    fn calibrator(&self, artifact: &StoredArtifact, cx: &Context) -> Result<(), Error> {
        let map = self.probe.map(&self.chip)?;
        let mut chip = self.probe.attach(&self.chip)?;
        let (segment, plan) = prepare(&mut chip, map, artifact)?;
        if !cx.quiet {
            show(&self.chip, &plan, cx)?;
        }
        if self.dry_run {
            return if self.json { cx.print_json(&plan_json(&self.chip, &plan)) } else { Ok(()) };
        }
        let asked = self.no_verdict || self.is_asked_by_port();
        let in_memory = if asked { None } else { self.probe.report_addr(&self.chip) };
        let (written, report) = deploy(&mut chip, (segment, &plan), artifact, in_memory, PATIENCE)?;
        let report = match report {
            None => self.ask_by_port(artifact)?,
            report => report,
        };
        let identity = artifact.artifact().identity().to_string();
        if self.json {
            return self.print_written(Some(&identity), &written, report.as_ref(), cx);
        }
        if !cx.quiet {
            say_written(&written, cx)?;
            let mut err = cx.stderr();
            match report.and_then(|report| report.slots.in_force) {
                Some(slot) => writeln!(err, "the device says: {identity} is active, in slot {slot}")?,
                None => writeln!(
                    err,
                    "written, but the device was not asked whether it uses it: `calib status --port PORT`"
                )?,
            }
        }
        Ok(())
    }

    fn program(&self, elf: &Path, cx: &Context) -> Result<(), Error> {
        let mut chip = self.probe.attach(&self.chip)?;
        let segments = elf_segments(&mut chip, elf)?;
        let plan = flash_plan(&chip, &segments, false)?;
        if !cx.quiet {
            show(&self.chip, &plan, cx)?;
        }
        if self.dry_run {
            return if self.json { cx.print_json(&plan_json(&self.chip, &plan)) } else { Ok(()) };
        }
        let written = flash(&mut chip, &segments, &plan, |_| ())?;
        let in_memory = if self.no_verdict { None } else { self.probe.report_addr(&self.chip) };
        restart(&mut chip, in_memory)?;
        // Not every program is calib's: one that leaves no report is no failure.
        let report = in_memory.and_then(|addr| await_report(&mut chip, addr, PATIENCE).ok());
        if self.json {
            return self.print_written(None, &written, report.as_ref(), cx);
        }
        if !cx.quiet {
            say_written(&written, cx)?;
            let mut err = cx.stderr();
            match report {
                Some(DeviceReport { status, .. }) => writeln!(
                    err,
                    "the device says: firmware {}, classifier {} ({})",
                    status.firmware, status.classifier, status.classifier_id
                )?,
                None => writeln!(err, "the program left no report")?,
            }
        }
        Ok(())
    }

    /// What was written, as JSON; the identity is a calibrator's.
    fn print_written(
        &self,
        identity: Option<&str>,
        written: &FlashReport,
        report: Option<&DeviceReport>,
        cx: &Context,
    ) -> Result<(), Error> {
        cx.print_json(&json!({
            "chip": self.chip,
            "identity": identity,
            "sectors": written.sectors,
            "written_bytes": written.written_bytes,
            "neighbor_bytes": written.neighbor_bytes,
            "verdict": report.map(verdict_json),
        }))
    }

    #[cfg(feature = "serial")]
    fn is_asked_by_port(&self) -> bool {
        self.port.is_some()
    }

    #[cfg(not(feature = "serial"))]
    fn is_asked_by_port(&self) -> bool {
        false
    }

    /// Asks the device over its serial port, if one is given.
    #[cfg(feature = "serial")]
    fn ask_by_port(&self, artifact: &StoredArtifact) -> Result<Option<DeviceReport>, Error> {
        let Some(port) = self.port.as_ref().filter(|_| !self.no_verdict) else { return Ok(None) };
        let report = DeviceReport::ask(&mut self.line.link(port)?)?;
        report.accepts(artifact).map_err(FlashError::Rejected)?;
        Ok(Some(report))
    }

    #[cfg(not(feature = "serial"))]
    fn ask_by_port(&self, _: &StoredArtifact) -> Result<Option<DeviceReport>, Error> {
        Ok(None)
    }
}

fn say_written(written: &FlashReport, cx: &Context) -> Result<(), Error> {
    let &FlashReport { written_bytes, neighbor_bytes: beside, .. } = written;
    Ok(writeln!(
        cx.stderr(),
        "{written_bytes} bytes written and read back, {beside} bytes beside them unchanged; the chip was reset"
    )?)
}

/// What the device reports: null if no calibrator is active.
fn verdict_json(report: &DeviceReport) -> Value {
    json!({
        "active": report.in_force().map(|content| content.identity.to_string()),
        "slot": report.slots.in_force,
        "firmware": report.status.firmware.as_str(),
        "classifier": report.status.classifier.as_str(),
        "classifier_id": report.status.classifier_id.to_string(),
    })
}

/// What would be erased, for programs.
fn plan_json(chip: &str, plan: &FlashPlan) -> Value {
    json!({
        "chip": chip,
        "erased_bytes": plan.erased_bytes(),
        "erased": plan.erased,
        "neighbors": plan.neighbors,
    })
}

fn show(chip: &str, plan: &FlashPlan, cx: &Context) -> Result<(), Error> {
    let mut err = cx.stderr();
    writeln!(err, "{chip}: erases {} bytes", plan.erased_bytes())?;
    for sector in &plan.erased {
        writeln!(err, "  {:#010x}  {} bytes", sector.addr, sector.len_bytes)?;
    }
    for sector in &plan.neighbors {
        writeln!(
            err,
            "  {:#010x}  {} bytes stay unchanged, and are compared",
            sector.addr, sector.len_bytes
        )?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use calib_io::device::probe::Sector;

    use super::*;

    #[test]
    fn a_dry_run_tells_programs_what_it_would_erase() {
        let sector = |addr, len_bytes| Sector { addr, len_bytes };
        let plan = FlashPlan {
            erased: vec![sector(0x8000, 4096), sector(0x9000, 4096)],
            neighbors: vec![sector(0x7000, 4096)],
        };
        let expected = json!({
            "chip": "nRF52840_xxAA",
            "erased_bytes": 8192,
            "erased": [{"addr": 0x8000, "len_bytes": 4096}, {"addr": 0x9000, "len_bytes": 4096}],
            "neighbors": [{"addr": 0x7000, "len_bytes": 4096}],
        });
        assert_eq!(plan_json("nRF52840_xxAA", &plan), expected);
    }
}
