//! Serial ports, and the devices on them.

use std::cmp::Ordering;
use std::io::ErrorKind;

use calib_core::wire::{PROTOCOL_VERSION, Status};
use calib_io::device::serial::DeviceError;

use clap::Args;

use super::Finding;
use crate::options::LineOptions;
use crate::options::headings::DATA;

/// A device that is asked what it is.
#[derive(Args)]
pub(super) struct DevicePort {
    /// Serial port with a device, such as /dev/ttyACM0: calib asks which version of the protocol it speaks.
    #[arg(long, value_name = "PORT", help_heading = DATA)]
    port: Option<String>,
    #[command(flatten)]
    line: LineOptions,
}

impl DevicePort {
    /// What there is to say about the device, if a port is given.
    pub(super) fn finding(&self) -> Option<Finding> {
        let port = self.port.as_ref()?;
        Some(of_device(port, self.line.link(port).and_then(|mut link| link.status())))
    }
}

pub(super) fn serial_ports() -> Vec<Finding> {
    let ports = serialport::available_ports();
    let names = ports.map(|ports| ports.into_iter().map(|port| port.port_name).collect());
    of_ports(names.map_err(|error| error.to_string()))
}

/// What there is to say about the ports that the operating system names, or about its not doing so.
fn of_ports(names: Result<Vec<String>, String>) -> Vec<Finding> {
    let what = "serial ports".to_owned();
    match names {
        Ok(names) if names.is_empty() => {
            let advice = "connect a device by USB; a board with an on-board probe has a serial port, too";
            vec![Finding { what, found: Err("none".into()), advice }]
        }
        Ok(names) => names.into_iter().map(|name| of_port(&name)).collect(),
        Err(error) => vec![Finding { what, found: Err(error), advice: LOOK_AT_THE_LOG }],
    }
}

fn of_port(name: &str) -> Finding {
    let opened = std::fs::File::options().read(true).write(true).open(name);
    let advice = opened.as_ref().map_or_else(|error| to_open(error.kind()), |_| "");
    Finding {
        what: format!("serial port {name}"),
        found: opened.map(|_| "may be opened".into()).map_err(|error| error.to_string()),
        advice,
    }
}

/// What there is to say about a device that was asked what it is.
fn of_device(port: &str, asked: Result<Status, DeviceError>) -> Finding {
    let what = format!("device on {port}");
    match asked {
        Ok(status) => {
            let found = format!("firmware {}, protocol version {}", status.firmware, status.protocol);
            match status.protocol.cmp(&PROTOCOL_VERSION) {
                Ordering::Equal => Finding { what, found: Ok(found), advice: "" },
                Ordering::Greater => Finding {
                    what,
                    found: Err(found),
                    advice: "install a newer version of calib, to use all that it answers",
                },
                Ordering::Less => {
                    let advice = "build its firmware with this version of calib";
                    Finding { what, found: Err(found), advice }
                }
            }
        }
        Err(error) => Finding { what, found: Err(error.to_string()), advice: "try `calib status --port`" },
    }
}

const LOOK_AT_THE_LOG: &str = "look at the operating system's log";

/// What to do about a port that cannot be opened.
const fn to_open(error: ErrorKind) -> &'static str {
    match error {
        ErrorKind::PermissionDenied => {
            "join the group that owns it, often with `sudo usermod -aG dialout $USER`, and log in again"
        }
        ErrorKind::ResourceBusy => {
            "close the other program that has it open, such as a terminal or a monitor"
        }
        ErrorKind::NotFound => "it was there a moment ago: connect the device again",
        _ => LOOK_AT_THE_LOG,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[cfg(unix)]
    fn ports_are_named_with_what_keeps_them_from_being_opened() {
        use serialport::{SerialPort, TTYPort};

        let none = of_ports(Ok(vec![]));
        let [Finding { found: Err(problem), advice, .. }] = &none[..] else { panic!("not one finding") };
        assert!(problem == "none" && advice.contains("connect a device"));
        let failed = of_ports(Err("no such subsystem".into()));
        let [Finding { found: Err(problem), advice, .. }] = &failed[..] else { panic!("not one finding") };
        assert!(problem == "no such subsystem" && advice.contains("log"));

        let (_near, mut far) = TTYPort::pair().unwrap();
        far.set_exclusive(false).unwrap();
        let free = far.name().unwrap();
        let gone = "/dev/ttyThereIsNone7".to_owned();
        let there = of_ports(Ok(vec![free.clone(), gone.clone()]));
        let [opened, missing] = &there[..] else { panic!("not two findings") };
        assert_eq!(
            (&*opened.what, opened.found.as_deref()),
            (&*format!("serial port {free}"), Ok("may be opened"))
        );
        assert_eq!(missing.what, format!("serial port {gone}"));
        assert!(missing.found.is_err() && missing.advice.contains("connect the device again"));

        for (kind, advice) in [
            (ErrorKind::PermissionDenied, "dialout"),
            (ErrorKind::ResourceBusy, "close the other program"),
            (ErrorKind::Other, "log"),
        ] {
            assert!(to_open(kind).contains(advice), "{kind}");
        }
    }
}
