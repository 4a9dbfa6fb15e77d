//! `calib status`

#[cfg(feature = "serial")]
use std::io;
use std::io::Write;
#[cfg(feature = "serial")]
use std::path::PathBuf;

#[cfg(feature = "serial")]
use calib_core::slot::PassedOver;
#[cfg(feature = "probe")]
use calib_core::slot::SlotContent;
#[cfg(feature = "serial")]
use calib_core::wire::{Counters, CountersRefusal, ReplyBody, RequestBody};
#[cfg(feature = "probe")]
use calib_io::device::probe::{FlashError, read_slots};
#[cfg(feature = "serial")]
use calib_io::device::serial::{DeviceError, stored_counters};
use clap::Args;
#[cfg(feature = "probe")]
use serde_json::Value;
use serde_json::json;

use crate::context::Context;
use crate::error::Error;
#[cfg(feature = "serial")]
use crate::options::LineOptions;
#[cfg(feature = "probe")]
use crate::options::ProbeOptions;
use crate::run::Run;
#[cfg(feature = "serial")]
#[cfg(feature = "probe")]
use crate::show::slot_json;
#[cfg(feature = "serial")]
use crate::show::{
    counter_warnings, counters_json, device_json, print_counters, print_device, print_protocol, slots_json,
    standing_json,
};

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
    /// The serial port, such as /dev/ttyACM0.
    #[cfg(feature = "serial")]
    #[arg(long, value_name = "PORT", help_heading = "Data")]
    port: Option<String>,
    #[cfg(feature = "serial")]
    #[command(flatten)]
    line: LineOptions,
    /// Write what the device counted to this file, for `calib fleet`: JSON.
    #[cfg(feature = "serial")]
    #[arg(long, value_name = "FILE", requires = "port", help_heading = "Output")]
    counters: Option<PathBuf>,
    /// The name of the device in that file; that of the file if it is not given.
    #[cfg(feature = "serial")]
    #[arg(long, value_name = "NAME", requires = "counters", help_heading = "Output", hide_short_help = true)]
    name: Option<String>,
    /// Replace an existing output.
    #[cfg(feature = "serial")]
    #[arg(long, requires = "counters", help_heading = "Output")]
    force: bool,
    /// The chip on a debug probe, as probe-rs calls it, such as nRF52840_xxAA.
    #[cfg(feature = "probe")]
    #[arg(long, value_name = "NAME", help_heading = "Data")]
    chip: Option<String>,
    #[cfg(feature = "probe")]
    #[command(flatten)]
    probe: ProbeOptions,
    /// Print JSON on standard output.
    #[arg(long, help_heading = "Output")]
    json: bool,
}

impl Run for Status {
    fn run(self, cx: &Context) -> Result<(), Error> {
        #[cfg(feature = "serial")]
        if let Some(port) = &self.port {
            #[cfg(feature = "probe")]
            if self.chip.is_some() {
                return Err(Error::Usage("give either --port or --chip".into()));
            }
            return self.of_port(port, cx);
        }
        #[cfg(feature = "probe")]
        if let Some(chip) = &self.chip {
            return of_chip(chip, &self.probe, self.json, cx);
        }
        let ways = match (cfg!(feature = "serial"), cfg!(feature = "probe")) {
            (true, true) => "--port or --chip",
            (true, false) => "--port",
            _ => "--chip",
        };
        Err(Error::Usage(format!("which device? give {ways}")))
    }
}

#[cfg(feature = "serial")]
impl Status {
    /// Shows what a device is, what its slots hold and what its monitors say.
    fn of_port(&self, port: &str, cx: &Context) -> Result<(), Error> {
        let mut link = self.line.link(port)?;
        let status = link.status()?;
        let slots = match link.ask(&RequestBody::Slots) {
            Ok(ReplyBody::Slots(slots)) => Some(slots),
            // Firmware with one slot refuses, which is no failure.
            Err(DeviceError::Refused(_)) => None,
            Ok(_) => return Err(DeviceError::Protocol.into()),
            Err(error) => return Err(error.into()),
        };
        let counters = match link.counters() {
            // A device that counts nothing is no failure, unless it is asked for what it counted.
            Err(error @ (DeviceError::UnknownRequest | DeviceError::Counters(_)))
                if self.counters.is_none() =>
            {
                Err(error.to_string())
            }
            counters => Ok(counters?),
        };
        if self.json {
            let shown = |tables: &Vec<Option<Counters>>| {
                tables.iter().map(|table| table.as_ref().map(counters_json)).collect::<Vec<_>>()
            };
            cx.print_json(&json!({
                "port": port,
                "protocol": status.protocol,
                "device": device_json(&status),
                "slots": slots.as_ref().map(slots_json),
                "standing": standing_json(&status),
                "monitors": counters.as_ref().ok().map(shown),
                "not_monitored": counters.as_ref().err(),
            }))?;
        } else {
            print_device(&mut cx.stdout(), port, &status, slots.as_ref())?;
            print_protocol(&mut cx.stdout(), &status)?;
            match &counters {
                Ok(tables) => print_counters(&mut cx.stdout(), tables)?,
                Err(why) => writeln!(cx.stdout(), "monitors    none: {why}")?,
            }
        }
        if let Ok(tables) = &counters {
            self.write_counters(tables, cx)?;
            cx.warn(&counter_warnings(tables))?;
        }
        match status.passed_over {
            Some(PassedOver { slot, fault }) => Err(DeviceError::FellBack { slot, fault }.into()),
            None => Ok(()),
        }
    }

    /// Writes what the device counted, if it is asked for.
    fn write_counters(&self, tables: &[Option<Counters>], cx: &Context) -> Result<(), Error> {
        let Some(path) = &self.counters else { return Ok(()) };
        let of_file =
            || path.file_stem().map_or_else(String::new, |stem| stem.to_string_lossy().into_owned());
        let name = self.name.clone().unwrap_or_else(of_file);
        let stored = stored_counters(&name, tables);
        let stored = stored.ok_or(DeviceError::Counters(CountersRefusal::NotMonitored))?;
        let mut text = serde_json::to_vec_pretty(&stored).map_err(io::Error::from)?;
        text.push(b'\n');
        cx.write_output(path, self.force, &text)
    }
}

/// Shows what the slots of a chip hold.
#[cfg(feature = "probe")]
fn of_chip(chip: &str, options: &ProbeOptions, as_json: bool, cx: &Context) -> Result<(), Error> {
    let map = options.map(chip)?;
    let mut access = options.attach(chip)?;
    let survey = read_slots(&mut access, map)?.survey().map_err(FlashError::from)?;
    if as_json {
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
