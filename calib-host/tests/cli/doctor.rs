//! `calib doctor`, and what the commands for devices say without one.

use std::os::unix::fs::PermissionsExt;
use std::process::Command;

use serde_json::Value;

use super::workplace::Workplace;

use crate::data::{Json, scored};
/// Runs the doctor with these programs on the path, as scripts.
fn doctor(programs: &[(&str, &str)]) -> (Vec<Value>, String) {
    let folder = tempfile::tempdir().unwrap();
    for (name, script) in programs {
        let path = folder.path().join(name);
        std::fs::write(&path, format!("#!/bin/sh\n{script}\n")).unwrap();
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
    }
    let run = |args: &[&str]| {
        let output = Command::new(env!("CARGO_BIN_EXE_calib"))
            .env("PATH", folder.path())
            .arg("doctor")
            .args(args)
            .output()
            .unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        output.stdout
    };
    let findings = serde_json::from_slice(&run(&["--json"])).unwrap();
    (findings, String::from_utf8(run(&[])).unwrap())
}

fn finding<'f>(findings: &'f [Value], what: &str) -> &'f Value {
    let named = |finding: &&Value| finding["what"].text().contains(what);
    findings.iter().find(named).unwrap_or_else(|| panic!("nothing about {what}"))
}

#[test]
fn what_is_missing_is_said_with_what_to_do() {
    let (findings, text) = doctor(&[]);
    let advised = [
        ("Rust", "https://rustup.rs"),
        ("target thumbv7em-none-eabihf", "rustup target add"),
        ("target riscv32imac-unknown-none-elf", "rustup target add"),
        ("emulator of the Arm boards", "qemu-system-arm"),
        ("emulator of the RISC-V board", "qemu-system-misc"),
    ];
    for (what, advice) in advised {
        let found = finding(&findings, what);
        assert_eq!((&found["ok"], &found["found"]), (&Value::Bool(false), &Value::Null), "{found}");
        assert!(found["advice"].text().contains(advice), "{found}");
        assert!(!found["problem"].text().is_empty());
        assert!(text.lines().any(|line| line.starts_with("missing") && line.contains(what)), "{text}");
        assert!(text.contains(advice), "{text}");
    }
    // With or without a device: serial ports and probes are always spoken of.
    finding(&findings, "serial port");
    finding(&findings, "debug probe");
}

#[test]
fn what_is_there_is_named() {
    let (findings, text) = doctor(&[
        ("cargo", "echo cargo 1.95.0"),
        ("rustup", "echo thumbv7em-none-eabihf; echo x86_64-unknown-linux-gnu"),
        ("qemu-system-arm", "echo QEMU emulator version 7.2"),
        ("qemu-system-riscv32", "exit 1"),
    ]);
    for (what, shown) in [
        ("Rust", "cargo 1.95.0"),
        ("target thumbv7em-none-eabihf", "installed"),
        ("emulator of the Arm boards", "QEMU emulator version 7.2"),
    ] {
        let found = finding(&findings, what);
        assert_eq!((&found["ok"], found["found"].as_str()), (&Value::Bool(true), Some(shown)));
        assert_eq!((&found["problem"], &found["advice"]), (&Value::Null, &Value::Null));
        assert!(text.lines().any(|line| line.starts_with("ok") && line.contains(shown)), "{text}");
    }
    for what in ["target thumbv6m-none-eabi", "emulator of the RISC-V board"] {
        assert_eq!(finding(&findings, what)["ok"], false, "a program that fails is not there");
    }
}

fn with_artifact() -> Workplace {
    let workplace =
        Workplace::new().with("cal.csv", scored(200, |i| (f64::from(i) / 200.0, i % 20 < i / 10)));
    workplace.ok("calib fit --method umd --bins 5 --scores cal.csv -o cal.bin");
    workplace
}

#[test]
#[cfg(feature = "serial")]
fn a_status_is_of_one_device() {
    let workplace = Workplace::new();
    workplace.says("calib status");
    workplace.says("calib status --port /dev/ttyThereIsNone7");
    // Neither a device of another kind, nor a file, nor a folder is one.
    let workplace = workplace.with("file", "");
    for name in ["/dev/null", "file", "."] {
        for command in ["status", "monitor"] {
            workplace.says(&format!("calib {command} --port {name}"));
        }
    }
    #[cfg(feature = "probe")]
    {
        workplace.says("calib status --port /dev/ttyThereIsNone7 --chip nRF52840_xxAA");
    }
    said!();
}

#[test]
#[cfg(feature = "probe")]
fn a_chip_that_is_none_or_whose_slots_are_unknown_is_refused() {
    let workplace = with_artifact();
    for command in ["flash cal.bin", "status"] {
        workplace.says(&format!("calib {command} --chip nRF52840_xxZZ --slot-addr 0xfe000 --slot-len 4096"));
        workplace.says(&format!("calib {command} --chip STM32F407VGTx"));
    }
    workplace.says("calib flash cal.csv --chip nRF52840_xxAA");
    said!();
}

#[test]
#[cfg(feature = "probe")]
fn without_the_probe_it_is_said() {
    let workplace = with_artifact();
    for command in ["flash cal.bin", "flash cal.bin --dry-run", "status"] {
        // No probe is called that, whatever is plugged in.
        workplace.says(&format!("calib {command} --chip nRF52840_xxAA --probe 0000:0000:none"));
    }
    said!();
}
