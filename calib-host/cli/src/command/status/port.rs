//! What a device says over its serial port.

use std::io::{self, Write};
use std::path::PathBuf;

use calib_core::slot::UnusableSlot;
use calib_core::wire::{Counters, CountersRefusal, ReplyBody, RequestBody};
use calib_io::device::serial::{DeviceError, stored_counters};
use clap::Args;
use serde_json::json;

use crate::context::Context;
use crate::error::Error;
use crate::options::LineOptions;
use crate::options::headings::{DATA, OUTPUT};
use crate::show::{
    counter_warnings, counters_json, device_json, print_counters, print_device, print_protocol, slots_json,
    standing_json,
};

/// A device on a serial port, and what becomes of its counters.
#[derive(Args)]
pub(super) struct PortStatus {
    /// Serial port, such as /dev/ttyACM0.
    #[arg(long, value_name = "PORT", help_heading = DATA)]
    pub(super) port: Option<String>,
    #[command(flatten)]
    line: LineOptions,
    /// JSON file for what the device counted, for `calib fleet`.
    #[arg(long, value_name = "FILE", requires = "port", help_heading = OUTPUT)]
    counters: Option<PathBuf>,
    /// Name of the device in that file; by default the name of the file.
    #[arg(long, value_name = "NAME", requires = "counters", help_heading = OUTPUT, hide_short_help = true)]
    name: Option<String>,
    /// Replace an existing output.
    #[arg(long, requires = "counters", help_heading = OUTPUT)]
    force: bool,
}

impl PortStatus {
    /// Shows what the device on a port is, what its slots hold and what its monitors say.
    pub(super) fn show(&self, port: &str, json: bool, cx: &Context) -> Result<(), Error> {
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
        if json {
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
        match status.fallback_from {
            Some(UnusableSlot { slot, fault }) => Err(DeviceError::FellBack { slot, fault }.into()),
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
