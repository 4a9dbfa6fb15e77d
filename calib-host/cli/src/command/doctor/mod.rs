//! `calib doctor`

#[cfg(feature = "serial")]
mod ports;
#[cfg(feature = "probe")]
mod probes;

use std::io::Write;
use std::process::{Command, Stdio};

use calib_core::wire::PROTOCOL_VERSION;
use clap::Args;
use serde_json::json;

use crate::context::Context;
use crate::error::Error;
use crate::options::headings::OUTPUT;
use crate::run::Run;

/// Check what firmware and devices need, and what is missing.
///
/// The command checks what you need to build firmware and to reach devices. It prints what to do about anything
/// missing.
#[derive(Args)]
pub(crate) struct Doctor {
    #[cfg(feature = "serial")]
    #[command(flatten)]
    device: ports::DevicePort,
    /// Print JSON on standard output.
    #[arg(long, help_heading = OUTPUT)]
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
        let mut findings = toolchain();
        findings.extend(emulators());
        #[cfg(feature = "serial")]
        findings.extend(ports::serial_ports());
        #[cfg(not(feature = "serial"))]
        findings.extend(not_built("serial ports", "build it with the feature `serial`"));
        #[cfg(feature = "probe")]
        findings.extend(probes::debug_probes());
        #[cfg(not(feature = "probe"))]
        findings.extend(not_built("debug probes", "build it with the feature `probe`"));
        findings.push(Finding {
            what: "device protocol".into(),
            found: Ok(format!("version {PROTOCOL_VERSION}")),
            advice: "",
        });
        #[cfg(feature = "serial")]
        findings.extend(self.device.finding());
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

/// What this calib was not built to look for.
#[cfg(not(all(feature = "serial", feature = "probe")))]
fn not_built(what: &str, advice: &'static str) -> Vec<Finding> {
    vec![Finding { what: what.into(), found: Err("this calib does not look for them".into()), advice }]
}
