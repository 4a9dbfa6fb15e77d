//! A device on a serial port: `calib push`, and what `calib status` shows

use std::io::Write;
use std::path::PathBuf;
use std::time::Duration;

use calib_core::slot::SlotContent;
use calib_core::wire::{CalibratorStatus, ReplyBody, RequestBody, Slots, Status, UpdateStatus};
use calib_host::{DeviceError, Error, Link, Patience, Stage, StoredArtifact, open_port, push};
use clap::Args;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use serde_json::{Value, json};
use serialport::TTYPort;

use super::print_json;
use super::status::slot_json;

/// The line to a device.
#[derive(Args)]
pub(crate) struct Line {
    /// The serial port, such as /dev/ttyACM0.
    #[arg(long, value_name = "PORT")]
    port: String,
    #[command(flatten)]
    options: LineOptions,
}

/// How a line to a device is used.
#[derive(Args)]
pub(crate) struct LineOptions {
    /// Bits a second.
    #[arg(long, default_value_t = 115_200, value_name = "N")]
    baud: u32,
    /// How long to wait for a reply, in seconds, before asking again.
    #[arg(long, default_value_t = 5.0, value_name = "S", value_parser = parse_seconds)]
    timeout: f64,
    /// How often to ask.
    #[arg(long, default_value_t = 3, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    tries: u32,
}

/// Send a calibrator to a device over a serial line, and let it install it.
///
/// The device goes on answering with the calibrator that it has until the new one is completely in flash and was read
/// back. If anything fails on the way, push again: it goes on where it stopped.
#[derive(Args)]
pub(crate) struct Push {
    /// The artefact.
    artifact: PathBuf,
    #[command(flatten)]
    line: Line,
    /// Print JSON on standard output.
    #[arg(long)]
    json: bool,
}

impl Line {
    pub(crate) fn link(&self) -> Result<Link<TTYPort>, Error> {
        self.options.link(&self.port)
    }

    pub(crate) fn baud(&self) -> u32 {
        self.options.baud
    }
}

impl LineOptions {
    pub(crate) fn link(&self, port: &str) -> Result<Link<TTYPort>, Error> {
        let patience = Patience { reply: Duration::from_secs_f64(self.timeout), tries: self.tries };
        Ok(Link::new(open_port(port, self.baud)?, patience))
    }
}

impl Push {
    pub(crate) fn run(self, quiet: bool) -> Result<(), Error> {
        let artifact = StoredArtifact::read(&self.artifact)?;
        let mut link = self.line.link()?;
        let bar = bar(quiet);
        let mut resumed_at = None;
        let receipt = push(&mut link, &artifact, |stage| {
            // The first stage says what an earlier push has left on the device.
            resumed_at.get_or_insert(match stage {
                Stage::Sending { sent, .. } => sent,
                Stage::Installing { .. } => artifact.as_bytes().len() as u32,
            });
            let (what, position, total) = match stage {
                Stage::Sending { sent, total } => ("sending", sent, total),
                Stage::Installing { done, total } => ("installing", done, total),
            };
            bar.set_message(what);
            bar.set_length(total.into());
            bar.set_position(position.into());
        });
        bar.finish_and_clear();
        let receipt = receipt?;
        if self.json {
            return print_json(&json!({
                "port": self.line.port,
                "identity": receipt.identity.to_string(),
                "slot": receipt.slot,
                "sequence": receipt.sequence,
                "resumed_at_bytes": resumed_at.unwrap_or(0),
                "damaged_frames": link.damaged(),
            }));
        }
        if !quiet {
            let mut err = std::io::stderr().lock();
            writeln!(
                err,
                "{}: id {} is in force, in slot {}, as installation {}",
                self.line.port, receipt.identity, receipt.slot, receipt.sequence
            )?;
        }
        Ok(())
    }
}

fn bar(quiet: bool) -> ProgressBar {
    let target = if quiet { ProgressDrawTarget::hidden() } else { ProgressDrawTarget::stderr() };
    let style = ProgressStyle::with_template("{msg:<10} {wide_bar} {bytes}/{total_bytes}");
    ProgressBar::with_draw_target(None, target).with_style(style.expect("the template is in order"))
}

/// Shows what a device is and what its slots hold.
pub(crate) fn status(port: &str, options: &LineOptions, as_json: bool) -> Result<(), Error> {
    let mut link = options.link(port)?;
    let ReplyBody::Status(status) = link.ask(&RequestBody::Status)? else {
        return Err(DeviceError::Protocol.into());
    };
    let slots = match link.ask(&RequestBody::Slots) {
        Ok(ReplyBody::Slots(slots)) => Some(slots),
        // Firmware with one slot refuses, which is no failure.
        Err(DeviceError::Refused(_)) => None,
        Ok(_) => return Err(DeviceError::Protocol.into()),
        Err(error) => return Err(error.into()),
    };
    if as_json {
        return print_json(&json!({
            "port": port,
            "device": device_json(&status),
            "slots": slots.as_ref().map(slots_json),
        }));
    }
    print(port, &status, slots.as_ref())
}

fn print(port: &str, status: &Status, slots: Option<&Slots>) -> Result<(), Error> {
    let mut out = std::io::stdout().lock();
    writeln!(
        out,
        "{port}: firmware {}, {} bytes of stack used",
        status.firmware, status.stack_high_water_bytes
    )?;
    writeln!(
        out,
        "classifier  {} ({}), {} features, {} classes",
        status.classifier, status.classifier_id, status.features, status.classes
    )?;
    match &status.calibrator {
        Ok(CalibratorStatus { identity, method, reduction, bins, n, .. }) => {
            writeln!(out, "calibrator  {identity}, {method} ({reduction}), {bins} bins, {n} points")?;
        }
        Err(missing) => writeln!(out, "calibrator  none: {missing:?}")?,
    }
    let Some(slots) = slots else {
        writeln!(out, "slots       one, not written over this line")?;
        return Ok(());
    };
    for (index, slot) in (0..).zip(&slots.slots) {
        let mark = if slots.in_force == Some(index) { "in force" } else { "" };
        match slot {
            Ok(SlotContent { identity, len_bytes, counter, sequence }) => writeln!(
                out,
                "slot {index}      {identity}, {len_bytes} bytes, counter {counter}, installation {sequence} {mark}"
            )?,
            Err(fault) => writeln!(out, "slot {index}      {fault}")?,
        }
    }
    match slots.trusted_key {
        Some(key) => writeln!(out, "accepts     calibrators signed with key {key}")?,
        None => writeln!(out, "accepts     calibrators without a signature")?,
    }
    if let Some(UpdateStatus::Receiving { received, len_bytes }) = slots.update {
        writeln!(out, "update      {received} of {len_bytes} bytes are there")?;
    }
    Ok(())
}

pub(crate) fn device_json(status: &Status) -> Value {
    json!({
        "firmware": status.firmware.as_str(),
        "classifier": status.classifier.as_str(),
        "classifier_id": status.classifier_id.to_string(),
        "features": status.features,
        "classes": status.classes,
        "stack_high_water_bytes": status.stack_high_water_bytes,
        "calibrator": status.calibrator.as_ref().ok().map(|held| json!({
            "identity": held.identity.to_string(),
            "len_bytes": held.len_bytes,
            "method": held.method.to_string(),
            "reduction": held.reduction.to_string(),
            "bins": held.bins,
            "n": held.n,
        })),
        "uncalibrated": status.calibrator.as_ref().err().map(|missing| format!("{missing:?}")),
    })
}

pub(crate) fn slots_json(slots: &Slots) -> Value {
    json!({
        "in_force": slots.in_force,
        "slots": slots.slots.iter().map(slot_json).collect::<Vec<_>>(),
        "max_len_bytes": slots.max_len_bytes,
        "trusted_key": slots.trusted_key.map(|key| key.to_string()),
    })
}

fn parse_seconds(text: &str) -> Result<f64, String> {
    match text.parse() {
        Ok(seconds) if (0.01..=3600.0).contains(&seconds) => Ok(seconds),
        _ => Err("give seconds between 0.01 and 3600".into()),
    }
}
