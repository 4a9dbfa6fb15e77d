//! What `device-costs` does: instructions, stack, flash, panics, load, and the same bytes.

use std::ffi::OsStr;
use std::process::Command;

use anyhow::Result;
use xtask::{Board, built, cargo, root, run};

use crate::flags;
use crate::setup::{ARM_LIBC, CMAKE, Needs, QEMU_ARM, QEMU_RISCV, RISCV_GCC, Setup};

/// The targets of the boards.
pub(crate) fn targets() -> Vec<&'static str> {
    Board::one_of_each(Board::target).map(Board::target).collect()
}

/// `cargo xtask bench device`
pub(crate) fn count(setup: Setup, flags::Device { write_baseline }: &flags::Device) -> Result<()> {
    setup.provide(&Needs {
        targets: &targets(),
        programs: &[&QEMU_ARM, &QEMU_RISCV, &ARM_LIBC, &RISCV_GCC],
        ..Needs::default()
    })?;
    measure(["device"].into_iter().chain(write_baseline.then_some("--write-baseline")))
}

/// `cargo xtask stack`
pub(crate) fn stack(setup: Setup) -> Result<()> {
    setup.provide(&Needs { targets: &targets(), programs: &[&QEMU_ARM, &QEMU_RISCV], ..Needs::default() })?;
    measure(["stack"])
}

/// `cargo xtask sizes`
pub(crate) fn sizes(setup: Setup) -> Result<()> {
    setup.provide(&Needs {
        targets: &["thumbv6m-none-eabi", "thumbv7em-none-eabihf"],
        programs: &[&ARM_LIBC, &CMAKE],
        ..Needs::default()
    })?;
    measure(["sizes"])
}

/// `cargo xtask reproducible`
pub(crate) fn reproducible(setup: Setup, options: &flags::Reproducible) -> Result<()> {
    setup.provide(&Needs { targets: &targets(), ..Needs::default() })?;
    if options.sample {
        Measure::build()?.run(&["reproducible", "--sample"])
    } else {
        measure(["reproducible"])
    }
}

/// Builds `device-costs` with no more than it needs, and runs it.
pub(crate) fn measure(arguments: impl IntoIterator<Item = impl AsRef<OsStr>>) -> Result<()> {
    run(cargo(&root())
        .args(["run", "--quiet", "--locked", "--package", "calib-device-costs", "--"])
        .args(arguments))
}

/// `device-costs` as the whole workspace is built: after the tests that takes little.
pub(crate) struct Measure(());

impl Measure {
    pub(crate) fn build() -> Result<Self> {
        let whole = ["--workspace", "--all-features", "--bin", "device-costs", "--bin", "calib"];
        // With this test among them, dependencies have the features and flags that they have for all tests: they are built already.
        run(cargo(&root()).args(["build", "--quiet", "--locked"]).args(whole).args(["--test", "e2e"]))?;
        Ok(Self(()))
    }

    pub(crate) fn run(&self, arguments: &[&str]) -> Result<()> {
        run(Command::new(built("device-costs")?).args(arguments))
    }
}
