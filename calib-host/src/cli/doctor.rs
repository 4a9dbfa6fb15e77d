//! `calib doctor`

use std::io::Write;
use std::process::{Command, Stdio};

use calib_host::Error;
use clap::Args;
use serde_json::json;

use super::print_json;

/// Check what is needed to build firmware and to reach devices, and say what to do about what is missing.
#[derive(Args)]
pub(crate) struct Doctor {
    /// Print JSON on standard output.
    #[arg(long)]
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

impl Doctor {
    pub(crate) fn run(self) -> Result<(), Error> {
        let findings: Vec<Finding> =
            [toolchain(), emulators(), serial_ports(), debug_probes()].into_iter().flatten().collect();
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
            return print_json(&findings.iter().map(one).collect::<Vec<_>>());
        }
        let mut out = std::io::stdout().lock();
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
    let what = "serial ports".to_owned();
    let ports = match serialport::available_ports() {
        Ok(ports) if ports.is_empty() => {
            let advice = "connect a device by USB; a board with an on-board probe has a serial port, too";
            return vec![Finding { what, found: Err("none".into()), advice }];
        }
        Ok(ports) => ports,
        Err(error) => {
            let advice = "look at the operating system's log";
            return vec![Finding { what, found: Err(error.to_string()), advice }];
        }
    };
    let one = |port: serialport::SerialPortInfo| {
        let opened = std::fs::File::options().read(true).write(true).open(&port.port_name);
        Finding {
            what: format!("serial port {}", port.port_name),
            found: opened.map(|_| "may be opened".into()).map_err(|error| error.to_string()),
            advice: "join the group that owns it, often with `sudo usermod -aG dialout $USER`, and log in again",
        }
    };
    ports.into_iter().map(one).collect()
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
    let there = calib_host::probes();
    if there.is_empty() {
        let advice = "connect a debug probe, or a board with one on it, if there is to be one";
        return vec![Finding { what: "debug probes".into(), found: Err("none".into()), advice }];
    }
    let one = |probe: calib_host::ProbeState| Finding {
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
