//! `cargo xtask test`

use std::fs;
use std::path::Path;
use std::process::Command;

use anyhow::Result;
use calib_run::{built, cargo, root, run};

use crate::devices::TARGETS;
use crate::setup::{ARM_GCC, CPP, Needs, OPENSSL, QEMU_ARM, QEMU_RISCV, RISCV_GCC, Setup};
use crate::steps::Steps;

/// One board of each kind, with its target; the MPS2 boards differ in numbers alone. What replaces calibrators, too, where
/// there is flash for it.
const BOARDS: [(&str, &str); 6] = [
    ("microbit", "thumbv6m-none-eabi"),
    ("mps2-an386", "thumbv7em-none-eabihf"),
    ("mps2-an386,slots", "thumbv7em-none-eabihf"),
    ("virt", "riscv32imac-unknown-none-elf"),
    ("virt,slots", "riscv32imac-unknown-none-elf"),
    ("nrf52840-dk", "thumbv7em-none-eabihf"),
];
/// A classifier for the boards' build script.
const CLASSIFIER: &str = r#"{"name": "any", "id": "0011223344556677", "mean": [0.0], "scale": [1.0],
"weights": [[1.0]], "bias": [0.0], "alarm": {"at_least": 0.5}}"#;
const DENY: [&str; 3] = ["--", "-D", "warnings"];

/// Runs the checks and tests that a change should pass before it is looked at; stops at the first that fails.
pub(crate) fn test(setup: Setup) -> Result<()> {
    let mut steps = Steps::new();
    steps.step("set-up", || {
        setup.provide(&Needs {
            targets: &TARGETS,
            components: true,
            programs: &[&OPENSSL, &CPP, &ARM_GCC, &RISCV_GCC, &QEMU_ARM, &QEMU_RISCV],
            ..Needs::default()
        })
    })?;
    let root = root();
    let firmware = root.join("firmware");
    let fuzz = root.join("tests/fuzz");

    steps.step("format", || {
        [&root, &firmware, &fuzz]
            .into_iter()
            .try_for_each(|folder| run(cargo(folder).args(["fmt", "--all", "--check"])))
    })?;
    steps.step("clippy", || clippy(&root, &firmware))?;
    steps.step("tests of the host, and end to end in the emulator", || {
        // Whose integration tests are built has its command built, too: the emulated devices' tests need no other.
        run(cargo(&root)
            .args(["test", "--locked", "--workspace", "--all-features"])
            .env("CALIB", built("calib")?))
    })?;
    steps.step("tests of the firmware's libraries", || run(cargo(&firmware).args(["test", "--locked"])))?;
    steps.summarise();
    eprintln!("all checks and tests passed");
    Ok(())
}

fn clippy(root: &Path, firmware: &Path) -> Result<()> {
    let deny = |command: &mut Command| run(command.args(DENY));
    deny(cargo(root).args([
        "clippy",
        "--quiet",
        "--locked",
        "--workspace",
        "--all-targets",
        "--all-features",
    ]))?;
    // Without a package: what runs on the host, too.
    deny(cargo(firmware).args(["clippy", "--quiet", "--locked", "--all-targets"]))?;
    let classifier = root.join("target/any-classifier.json");
    fs::write(&classifier, CLASSIFIER)?;
    BOARDS.iter().try_for_each(|(features, target)| {
        deny(
            cargo(firmware)
                .env("CALIB_CLASSIFIER", &classifier)
                .args(["clippy", "--quiet", "--locked", "--package", "boards", "--release"])
                .args(["--features", features, "--target", target]),
        )
    })
}
