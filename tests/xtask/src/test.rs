//! `cargo xtask test`

use std::time::Instant;

use anyhow::{Context, Result};
use calib_classifier::Case;
use calib_tests::Board;

use crate::run::{cargo, run};
use crate::{bench, faults, fuzz, prove, reproducible, root, setup, stack};

/// The targets that calib-core is built for.
const TARGETS: [&str; 3] = ["thumbv6m-none-eabi", "thumbv7em-none-eabihf", "riscv32imac-unknown-none-elf"];
/// Combinations of calib-core's features.
const FEATURES: [&str; 5] = ["", "defmt", "micromath", "defmt,micromath", "ed25519"];

/// Runs all checks and tests; stops at the first that fails.
pub(crate) fn test() -> Result<()> {
    step("set-up", || {
        setup::components()?;
        setup::targets(&Board::ALL.map(Board::target))?;
        setup::test_tools()?;
        setup::qemu()
    })?;
    let root = root();
    let firmware = root.join("firmware");
    let fuzz = root.join("tests/fuzz");

    step("format", || {
        [&root, &firmware, &fuzz]
            .into_iter()
            .try_for_each(|folder| run(cargo(folder).args(["fmt", "--all", "--check"])))
    })?;
    step("clippy", || {
        run(cargo(&root)
            .args(["clippy", "--quiet", "--locked", "--workspace", "--all-targets", "--all-features"])
            .args(DENY))?;
        run(cargo(&firmware)
            .args([
                "clippy",
                "--quiet",
                "--locked",
                "--package",
                "calib-firmware",
                "--all-targets",
                "--features",
                "std",
            ])
            .args(DENY))?;
        // The boards' build script wants a classifier.
        let classifier = root.join("target/classifier.json");
        Case::breast_cancer()?.model.save(&classifier)?;
        // One board of each kind; the MPS2 boards differ in numbers alone. What replaces calibrators, too, where there is
        // flash for it.
        let arm = Board::Mps2An386;
        for (features, target) in [
            ("microbit", Board::Microbit.target()),
            ("mps2-an386", arm.target()),
            ("mps2-an386,slots", arm.target()),
            ("virt", Board::Virt.target()),
            ("virt,slots", Board::Virt.target()),
            ("nrf52840-dk", arm.target()),
        ] {
            run(cargo(&firmware)
                .env("CALIB_CLASSIFIER", &classifier)
                .args(["clippy", "--quiet", "--locked", "--package", "boards", "--release"])
                .args(["--features", features, "--target", target])
                .args(DENY))?;
        }
        Ok(())
    })?;
    step("calib-core for devices", || {
        for target in TARGETS {
            for features in FEATURES {
                run(cargo(&root)
                    .args(["build", "--quiet", "--locked", "--package", "calib-core", "--release"])
                    .args(["--target", target, "--features", features]))?;
            }
        }
        Ok(())
    })?;
    step("proof at link time that calib-core and the firmware's library do not panic", prove::prove)?;
    step("static bounds of the stack", stack::check)?;
    step("instruction counts and stack of every core", bench::device::check)?;
    step("tests of the host, and end to end in the emulator", || {
        run(cargo(&root).args(["test", "--locked", "--workspace", "--all-features"]))
    })?;
    step("calib-core's tests with a usize of 32 bits", narrow)?;
    step("tests of the firmware's library", || {
        run(cargo(&firmware).args(["test", "--locked", "--package", "calib-firmware"]))
    })?;
    step("fuzz targets on their seeds", fuzz::replay)?;
    step("a serial line under load", || faults::loaded(10.0 / 60.0))?;
    step("the same bytes from two folders", || reproducible::reproducible(true))?;
    step("documentation", || {
        run(cargo(&root).env("RUSTDOCFLAGS", "-D warnings").args([
            "doc",
            "--quiet",
            "--locked",
            "--workspace",
            "--no-deps",
            "--all-features",
        ]))?;
        run(cargo(&firmware).env("RUSTDOCFLAGS", "-D warnings").args([
            "doc",
            "--quiet",
            "--locked",
            "--package",
            "calib-firmware",
            "--no-deps",
        ]))
    })?;
    eprintln!("all checks and tests passed");
    Ok(())
}

/// The unit and integration tests as a program of 32 bits, statically linked, which a processor of 64 bits runs as it is.
fn narrow() -> Result<()> {
    const TARGET: &str = "i686-unknown-linux-musl";
    if !cfg!(all(target_os = "linux", target_arch = "x86_64")) {
        eprintln!(
            "not run: only Linux on x86-64 runs programs for {TARGET}; `cargo xtask miri` interprets them"
        );
        return Ok(());
    }
    setup::targets(&[TARGET])?;
    run(cargo(&root())
        .args([
            "test",
            "--quiet",
            "--locked",
            "--package",
            "calib-core",
            "--all-features",
            "--target",
            TARGET,
        ])
        .args(["--lib", "--tests"])
        // rustc's own linker: no C compiler for 32 bits is needed.
        .env("CARGO_TARGET_I686_UNKNOWN_LINUX_MUSL_LINKER", "rust-lld"))
}

const DENY: [&str; 3] = ["--", "-D", "warnings"];

fn step(name: &str, work: impl FnOnce() -> Result<()>) -> Result<()> {
    eprintln!("== {name}");
    let start = Instant::now();
    work().with_context(|| format!("{name} failed"))?;
    eprintln!("== {name}: ok, {:.0} s", start.elapsed().as_secs_f64());
    Ok(())
}
