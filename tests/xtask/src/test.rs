//! `cargo xtask test`

use anyhow::Result;
use calib_run::{built, cargo, root, run};

use crate::devices::TARGETS;
use crate::setup::{ARM_GCC, CPP, Needs, OPENSSL, QEMU_ARM, QEMU_RISCV, RISCV_GCC, Setup};
use crate::steps::Steps;

/// Runs the tests that a change should pass before it is looked at; stops at the first that fails.
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
    steps.step("tests of the host, and end to end in the emulator", || {
        // Whose integration tests are built has its command built, too: the emulated devices' tests need no other.
        run(cargo(&root)
            .args(["test", "--locked", "--workspace", "--all-features"])
            .env("CALIB", built("calib")?))
    })?;
    steps.step("tests of the firmware's libraries", || run(cargo(&firmware).args(["test", "--locked"])))?;
    steps.summarise();
    eprintln!("all tests passed");
    Ok(())
}
