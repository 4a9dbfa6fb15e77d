//! `cargo xtask test`

use std::path::Path;
use std::process::Command;

use anyhow::Result;
use xtask::{beside, built, cargo, root, run};

use crate::devices::targets;
use crate::setup::{ARM_LIBC, CMAKE, CPP, Needs, OPENSSL, QEMU_ARM, QEMU_RISCV, RISCV_GCC, Setup};
use crate::steps::Steps;

/// Runs the tests that a change should pass before it is looked at; stops at the first that fails.
pub(crate) fn test(setup: Setup) -> Result<()> {
    let mut steps = Steps::new();
    steps.step("set-up", || {
        setup.provide(&Needs {
            targets: &targets(),
            components: true,
            programs: &[&OPENSSL, &CPP, &ARM_LIBC, &CMAKE, &RISCV_GCC, &QEMU_ARM, &QEMU_RISCV],
            ..Needs::default()
        })
    })?;
    let root = root();
    let firmware = root.join("firmware");
    let [python, web] = ["calib-host/python", "calib-host/web"].map(|folder| root.join(folder));

    steps.step("format", || {
        [&root, &firmware, &python, &web]
            .into_iter()
            .try_for_each(|folder| run(cargo(folder).args(["fmt", "--all", "--check"])))
    })?;
    // Whose integration tests are built has its command built, too: the emulated devices' tests need no other.
    steps.step("building the tests", || run(host_tests(&root)?.arg("--no-run")))?;
    // Linking the devices' images keeps one processor busy, what the other tests do both.
    steps.step("tests of the host, and beside them end to end in the emulator", || {
        beside(
            host_tests(&root)?.args(["--lib", "--bins", "--test", "[!e]*"]),
            // `e2e`, and whatever else the pattern above leaves out.
            host_tests(&root)?.args(["--test", "e*"]),
        )
    })?;
    steps.step("examples in the documentation, and beside them the firmware's libraries", || {
        beside(host_tests(&root)?.arg("--doc"), cargo(&firmware).args(["test", "--locked"]))
    })?;
    steps.summarize();
    eprintln!("all tests passed");
    Ok(())
}

/// The tests of the host's workspace, without fuzz targets. All calls choose the same packages and features, so that nothing is
/// built twice.
fn host_tests(root: &Path) -> Result<Command> {
    let mut command = cargo(root);
    command.args(["test", "--locked", "--workspace", "--exclude", "calib-fuzz", "--all-features"]);
    command.env("CALIB", built("calib")?);
    Ok(command)
}
