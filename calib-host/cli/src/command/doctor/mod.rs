//! `calib doctor`

#[cfg(feature = "serial")]
use std::cmp::Ordering;
use std::io::Write;
use std::process::{Command, Stdio};

#[cfg(feature = "serial")]
use calib_core::wire;
use calib_core::wire::PROTOCOL_VERSION;
#[cfg(feature = "serial")]
use calib_io::device::serial::DeviceError;
use clap::Args;
use serde_json::json;

use crate::context::Context;
use crate::error::Error;
#[cfg(feature = "serial")]
use crate::options::LineOptions;
use crate::run::Run;

/// Check what firmware and devices need, and what is missing.
///
/// What is needed to build firmware and to reach devices, and what to do about what is missing.
#[derive(Args)]
pub(crate) struct Doctor {
    /// A serial port with a device, such as /dev/ttyACM0: it is asked which version of the protocol it speaks.
    #[cfg(feature = "serial")]
    #[arg(long, value_name = "PORT", help_heading = "Data")]
    port: Option<String>,
    #[cfg(feature = "serial")]
    #[command(flatten)]
    line: LineOptions,
    /// Print JSON on standard output.
    #[arg(long, help_heading = "Output")]
    json: bool,
}

/// What was found out about one thing.
struct Finding {
    what: String,
    found: Result<String, String>,
    /// What to do, if it is missing.
    advice: &'static str,
}

/// The targets that the boards' firmware is built for.
const TARGETS: [&str; 5] = [
    "thumbv6m-none-eabi",
    "thumbv7m-none-eabi",
    "thumbv7em-none-eabihf",
    "thumbv8m.main-none-eabihf",
    "riscv32imac-unknown-none-elf",
];

impl Run for Doctor {
    fn run(self, cx: &Context) -> Result<(), Error> {
        let mut findings: Vec<Finding> =
            [toolchain(), emulators(), serial_ports(), debug_probes()].into_iter().flatten().collect();
        findings.push(Finding {
            what: "device protocol".into(),
            found: Ok(format!("version {PROTOCOL_VERSION}")),
            advice: "",
        });
        #[cfg(feature = "serial")]
        if let Some(port) = &self.port {
            findings.push(of_device(port, self.line.link(port).and_then(|mut link| link.status())));
        }
        if self.json {
            let one = |finding: &Finding| {
                json!({
                    "what": finding.what,
                    "ok": finding.found.is_ok(),
                    "found": finding.found.as_ref().ok(),
                    "problem": finding.found.as_ref().err(),
                    "advice": finding.found.as_ref().err().map(|_| finding.advice),
                })
            };
            return cx.print_json(&findings.iter().map(one).collect::<Vec<_>>());
        }
        let mut out = cx.stdout();
        for Finding { what, found, advice } in &findings {
            match found {
                Ok(found) => writeln!(out, "ok       {what}: {found}")?,
                Err(problem) => writeln!(out, "missing  {what}: {problem}\n         {advice}")?,
            }
        }
        Ok(())
    }
}

/// The first line that a program prints; `None` if it cannot be run or fails.
fn output(program: &str, args: &[&str]) -> Option<String> {
    let output = Command::new(program).args(args).stdin(Stdio::null()).stderr(Stdio::null()).output().ok()?;
    output.status.success().then(|| String::from_utf8_lossy(&output.stdout).into_owned())
}

fn program(program: &str, what: &str, advice: &'static str) -> Finding {
    let version = output(program, &["--version"]);
    let first = version.and_then(|text| text.lines().next().map(str::to_owned));
    Finding { what: what.into(), found: first.ok_or_else(|| format!("{program} does not run")), advice }
}

fn toolchain() -> Vec<Finding> {
    let mut findings = vec![program("cargo", "Rust", "install it from https://rustup.rs")];
    let installed = output("rustup", &["target", "list", "--installed"]);
    for target in TARGETS {
        let there = installed.as_ref().is_some_and(|list| list.lines().any(|line| line == target));
        findings.push(Finding {
            what: format!("target {target}"),
            found: if there { Ok("installed".into()) } else { Err("not installed".into()) },
            advice: "run `rustup target add` with its name, to build firmware for such a core",
        });
    }
    findings
}

fn emulators() -> Vec<Finding> {
    vec![
        program("qemu-system-arm", "emulator of the Arm boards", "run `apt-get install qemu-system-arm`"),
        program(
            "qemu-system-riscv32",
            "emulator of the RISC-V board",
            "run `apt-get install qemu-system-misc`",
        ),
    ]
}

#[cfg(feature = "serial")]
fn serial_ports() -> Vec<Finding> {
    let ports = serialport::available_ports();
    let names = ports.map(|ports| ports.into_iter().map(|port| port.port_name).collect());
    of_ports(names.map_err(|error| error.to_string()))
}

/// What there is to say about the ports that the operating system names, or about its not doing so.
#[cfg(feature = "serial")]
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

#[cfg(feature = "serial")]
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
#[cfg(feature = "serial")]
fn of_device(port: &str, asked: Result<wire::Status, DeviceError>) -> Finding {
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

#[cfg(feature = "serial")]
const LOOK_AT_THE_LOG: &str = "look at the operating system's log";

/// What to do about a port that cannot be opened.
#[cfg(feature = "serial")]
const fn to_open(error: std::io::ErrorKind) -> &'static str {
    use std::io::ErrorKind;
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

#[cfg(not(feature = "serial"))]
fn serial_ports() -> Vec<Finding> {
    let advice = "build it with the feature `serial`";
    vec![Finding {
        what: "serial ports".into(),
        found: Err("this calib does not look for them".into()),
        advice,
    }]
}

#[cfg(feature = "probe")]
fn debug_probes() -> Vec<Finding> {
    of_probes(calib_io::device::probe::probes())
}

/// What there is to say about the probes that are plugged in.
#[cfg(feature = "probe")]
fn of_probes(there: Vec<calib_io::device::probe::ProbeState>) -> Vec<Finding> {
    if there.is_empty() {
        let advice = "connect a debug probe, or a board with one on it, if there is to be one";
        return vec![Finding { what: "debug probes".into(), found: Err("none".into()), advice }];
    }
    let one = |probe: calib_io::device::probe::ProbeState| Finding {
        what: format!("debug probe {} ({})", probe.name, probe.selector),
        found: if probe.accessible { Ok("may be used".into()) } else { Err("no permission".into()) },
        advice: "install the udev rules of https://probe.rs/docs/getting-started/probe-setup, then plug it in again",
    };
    there.into_iter().map(one).collect()
}

#[cfg(not(feature = "probe"))]
fn debug_probes() -> Vec<Finding> {
    let advice = "build it with the feature `probe`";
    vec![Finding {
        what: "debug probes".into(),
        found: Err("this calib does not look for them".into()),
        advice,
    }]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[cfg(all(feature = "serial", unix))]
    fn ports_are_named_with_what_keeps_them_from_being_opened() {
        use std::io::ErrorKind;

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

    #[test]
    #[cfg(feature = "probe")]
    fn probes_are_named_with_what_keeps_them_from_being_used() {
        use calib_io::device::probe::ProbeState;

        let none = of_probes(vec![]);
        let [Finding { found: Err(problem), advice, .. }] = &none[..] else { panic!("not one finding") };
        assert!(problem == "none" && advice.contains("connect a debug probe"));
        let probe = |name: &str, accessible| ProbeState {
            name: name.into(),
            selector: "1366:1015:0001".into(),
            accessible,
        };
        let there = of_probes(vec![probe("J-Link", true), probe("CMSIS-DAP", false)]);
        let [usable, locked] = &there[..] else { panic!("not two findings") };
        assert_eq!(usable.what, "debug probe J-Link (1366:1015:0001)");
        assert_eq!(usable.found.as_deref(), Ok("may be used"));
        assert_eq!(locked.found.as_deref().map_err(|problem| &**problem), Err("no permission"));
        assert!(locked.advice.contains("udev rules"));
    }
}
