//! `cargo xtask verify`

use std::path::{Path, PathBuf};
use std::process::Command;
use std::str::FromStr;
use std::{env, fs, thread};

use anyhow::Result;
use xtask::{Board, beside, built, cargo, root, run};

use crate::devices::{Measure, targets};
use crate::setup::{ARM_LIBC, CMAKE, CPP, Needs, OPENSSL, QEMU_ARM, QEMU_RISCV, RISCV_GCC, Setup};
use crate::steps::Steps;
use crate::{fuzz, notices, web, wheel};

/// Combinations of calib-core's features.
const CORE_FEATURES: [&str; 5] = ["", "defmt", "micromath", "defmt,micromath", "ed25519"];
/// Sets of calib-host's features besides all of them.
const FEATURES: [&str; 3] = ["", "cli", "cli,serial"];
/// A target of 32 bits whose programs a processor of 64 bits runs as they are.
const NARROW: &str = "i686-unknown-linux-musl";

/// The board without an emulator, with its target.
const HARDWARE: (&str, &str) = ("nrf52840-dk", "thumbv7em-none-eabihf");
/// A board with a network for a classifier.
const NETWORK_BOARD: (&str, &str) = ("mps2-an386,network", "thumbv7em-none-eabihf");
/// That network: a file of the repository.
const NETWORK: &str = "tests/network/digits.tflite";
/// A classifier for the boards' build script.
const CLASSIFIER: &str = r#"{"name": "any", "id": "0011223344556677", "mean": [0.0], "scale": [1.0],
"weights": [[1.0]], "bias": [0.0], "alarm": {"at_least": 0.5}}"#;
/// The folders of the workspaces.
const WORKSPACES: [&str; 4] = [".", "calib-host/python", "calib-host/web", "firmware"];

/// Modules of the end-to-end tests that do the same in `cargo xtask test`: they draw no inputs, and ignore no test.
const TESTED_BEFORE: [&str; 9] = [
    "c_runtime::counting",
    "c_runtime::device",
    "c_runtime::hostile",
    "c_runtime::mcuboot",
    "c_runtime::page",
    "device_cost",
    "exported",
    "progress",
    "update",
];

const DENY: [&str; 3] = ["--", "-D", "warnings"];

/// What `--only` runs.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Side {
    /// What a host alone is needed for.
    Host,
    /// What is built for devices, and runs on emulated ones.
    Devices,
}

impl FromStr for Side {
    type Err = &'static str;

    fn from_str(name: &str) -> Result<Self, Self::Err> {
        match name {
            "host" => Ok(Self::Host),
            "devices" => Ok(Self::Devices),
            _ => Err("there are host and devices"),
        }
    }
}

/// Runs what proves rather than tests; each part stops at its first failure.
pub(crate) fn verify(setup: Setup, only: Option<Side>) -> Result<()> {
    let mut steps = Steps::new();
    steps.step("set-up", || set_up(setup))?;
    match only {
        Some(Side::Host) => host(&mut steps, setup)?,
        Some(Side::Devices) => devices(&mut steps)?,
        None => {
            // Each keeps one processor busy for much of its time.
            steps.step("devices, and beside them the host", || {
                beside(&mut part("devices")?, &mut part("host")?)
            })?;
            // The host's part made the package, and the devices' part the emulated board.
            steps.step("the Python package's bits on an emulated device", || wheel::on_a_device(setup))?;
            // Its frames come at their pace: nothing else runs beside it.
            steps.step("a serial line under load", || {
                Measure::build()?.run(&["load", &(10.0_f64 / 60.0).to_string()])
            })?;
        }
    }
    steps.summarize();
    if only.is_none() {
        eprintln!("everything is verified");
    }
    Ok(())
}

/// This program, for one part.
fn part(name: &str) -> Result<Command> {
    let mut command = Command::new(env::current_exe()?);
    command.args(["verify", "--only", name, "--no-install"]);
    Ok(command)
}

fn set_up(setup: Setup) -> Result<()> {
    let narrow: &[&str] = if runs_narrow() { &[NARROW] } else { &[] };
    let targets = [&targets()[..], narrow, &[web::TARGET]].concat();
    let needs = Needs {
        targets: &targets,
        components: true,
        programs: &[&OPENSSL, &CPP, &ARM_LIBC, &CMAKE, &RISCV_GCC, &QEMU_ARM, &QEMU_RISCV],
        cargo: &["cargo-deny", "mdbook", "cbindgen"],
    };
    // Making environments of Python keeps one processor busy, if any.
    thread::scope(|scope| {
        let python = scope.spawn(|| wheel::set_up(setup));
        setup.provide(&needs)?;
        python.join().expect("setting up does not panic")
    })
}

/// What a host alone is needed for.
fn host(steps: &mut Steps, setup: Setup) -> Result<()> {
    let root = root();
    steps.step("clippy", || clippy(&root))?;
    steps.step("bans, licenses and sources of dependencies", || dependencies(&root))?;
    steps.step("licenses and notices of what is given away", notices::notices)?;
    steps.step("calib-core's tests with a usize of 32 bits", narrow)?;
    steps.step("fuzz targets on their seeds", fuzz::replay)?;
    steps.step("the Python package", || wheel::verify(setup))?;
    steps.step("the header of the library for C", || header(&root))?;
    // That its links lead somewhere and its commands print what it says, tests of the command see.
    steps.step("the book", || run(Command::new("mdbook").arg("build").arg(root.join("docs"))))?;
    steps.step("documentation", || {
        let document = |folder: &Path, more: &[&str]| {
            let doc = ["doc", "--quiet", "--locked", "--no-deps"];
            run(cargo(folder).env("RUSTDOCFLAGS", "-D warnings").args(doc).args(more))
        };
        document(&root, &["--workspace", "--all-features"])?;
        document(&root.join("firmware"), &[])
    })?;
    steps.step("the same bytes from two folders", || Measure::build()?.run(&["reproducible", "--sample"]))
}

/// What is built for devices, and runs on emulated ones.
fn devices(steps: &mut Steps) -> Result<()> {
    let root = root();
    steps.step("calib-core for devices, with every set of features", || {
        // No line depends on a target and on a feature: the first target sees the sets, each of the others all features.
        let check = |target: &str, features: &[&str]| {
            run(cargo(&root)
                .args(["check", "--quiet", "--locked", "--package", "calib-core", "--target", target])
                .args(features))
        };
        let [first, others @ ..] = &targets()[..] else { unreachable!("there are boards") };
        CORE_FEATURES.iter().try_for_each(|features| check(first, &["--features", features]))?;
        others.iter().try_for_each(|target| check(target, &["--all-features"]))
    })?;
    let mut measure = None;
    steps.step("the measuring program", || {
        measure = Some(Measure::build()?);
        Ok(())
    })?;
    let measure = |arguments: &[&str]| measure.as_ref().map_or(Ok(()), |measure| measure.run(arguments));
    steps.step(
        "proof at link time that calib-core, the firmware's library and the one for C do not panic",
        || measure(&["prove"]),
    )?;
    steps.step("flash of programs in C", || measure(&["sizes", "--c"]))?;
    steps.step("static bounds of the stack", || measure(&["stack", "--check"]))?;
    steps.step("instruction counts and stack of every core", || measure(&["device", "--check"]))?;
    steps.step("the same answers on every board, and for all inputs", || {
        run(cargo(&root)
            .args(["test", "--locked", "--workspace", "--all-features"])
            .args(["--test", "e2e", "--", "--include-ignored"])
            .args(TESTED_BEFORE.iter().flat_map(|module| ["--skip".into(), format!("{module}::")]))
            // Of which `cargo xtask test` sends an eighth.
            .env("CALIB_ALL_INPUTS", "1")
            .env("CALIB", built("calib")?))
    })
}

/// Clippy on everything, without a warning.
fn clippy(root: &Path) -> Result<()> {
    let firmware = &root.join("firmware");
    let deny = |command: &mut Command| run(command.args(DENY));
    deny(cargo(root).args([
        "clippy",
        "--quiet",
        "--locked",
        "--workspace",
        "--all-targets",
        "--all-features",
    ]))?;
    // As the library is embedded, and the command without what is large.
    FEATURES.iter().try_for_each(|features| {
        deny(cargo(root).args(["clippy", "--quiet", "--locked", "--package", "calib-host"]).args([
            "--no-default-features",
            "--features",
            features,
        ]))
    })?;
    // No feature chooses among the module's own lines. The wheel of the tests is built in the same folder.
    deny(
        cargo(&root.join("calib-host/python"))
            .args(["clippy", "--quiet", "--locked", "--no-default-features", "--target-dir"])
            .arg(root.join("target/python")),
    )?;
    deny(cargo(&root.join("calib-host/web")).args([
        "clippy",
        "--quiet",
        "--locked",
        "--target",
        web::TARGET,
    ]))?;
    // Without a package: what runs on the host, too.
    deny(cargo(firmware).args(["clippy", "--quiet", "--locked", "--all-targets"]))?;
    let classifier = root.join("target/any-classifier.json");
    fs::write(&classifier, CLASSIFIER)?;
    let board = |&(features, target): &(&str, &str), variables: &[(&str, PathBuf)]| {
        deny(
            cargo(firmware)
                .envs(variables.iter().cloned())
                .args(["clippy", "--quiet", "--locked", "--package", "boards"])
                .args(["--features", features, "--target", target]),
        )
    };
    let linear = [("CALIB_CLASSIFIER", classifier)];
    // Boards with one folder differ in numbers alone.
    let folder = |board: Board| board.memory_map().split('/').next();
    for chosen in Board::one_of_each(folder) {
        for feature in ["", ",slots"] {
            board(&(&format!("{}{feature}", chosen.name()), chosen.target()), &linear)?;
        }
    }
    board(&HARDWARE, &linear)?;
    let network = [("CALIB_MODEL", root.join(NETWORK)), ("CALIB_ALARM", "below 0.9".into())];
    board(&NETWORK_BOARD, &network)?;
    deny(cargo(firmware).envs(network).args(["clippy", "--quiet", "--locked", "--package", "calib-twin"]))
}

/// The header of the library for C is what cbindgen makes of the sources.
fn header(root: &Path) -> Result<()> {
    let c = ["--quiet", "--verify", "--config", "cbindgen.toml", "--output", "include/calib.h"];
    run(Command::new("cbindgen").args(c).current_dir(root.join("firmware/c")))
}

/// `deny.toml`, in every workspace.
fn dependencies(root: &Path) -> Result<()> {
    WORKSPACES.iter().try_for_each(|workspace| {
        run(cargo(&root.join(workspace))
            .args(["deny", "--locked", "--log-level", "error", "--config"])
            .arg(root.join("deny.toml"))
            .args(["check", "bans", "licenses", "sources"]))
    })?;
    advisories(root)
}

/// The same for known vulnerabilities and yanked releases, where the database of RustSec can be had.
fn advisories(root: &Path) -> Result<()> {
    let deny = |workspace: &str| {
        let mut command = cargo(&root.join(workspace));
        command.args(["deny", "--locked", "--log-level", "error", "--config"]).arg(root.join("deny.toml"));
        command
    };
    let fetched = deny(".").args(["fetch", "db"]).output().is_ok_and(|fetched| fetched.status.success());
    if !fetched {
        eprintln!("not run: advisories, as the database of RustSec cannot be fetched here");
        return Ok(());
    }
    WORKSPACES.iter().try_for_each(|workspace| run(deny(workspace).args(["check", "advisories"])))
}

const fn runs_narrow() -> bool {
    cfg!(all(target_os = "linux", target_arch = "x86_64"))
}

/// calib-core's unit and integration tests as a program of 32 bits, statically linked.
fn narrow() -> Result<()> {
    if !runs_narrow() {
        eprintln!(
            "not run: only Linux on x86-64 runs programs for {NARROW}; `cargo xtask miri` interprets them"
        );
        return Ok(());
    }
    run(cargo(&root())
        .args([
            "test",
            "--quiet",
            "--locked",
            "--package",
            "calib-core",
            "--all-features",
            "--target",
            NARROW,
        ])
        .args(["--lib", "--tests"])
        // rustc's own linker: no C compiler for 32 bits is needed.
        .env("CARGO_TARGET_I686_UNKNOWN_LINUX_MUSL_LINKER", "rust-lld"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_run_again_has_no_further_inputs() {
        for module in TESTED_BEFORE {
            let path = root().join("tests/tests/e2e").join(module.replace("::", "/"));
            let files = match fs::read_dir(&path) {
                Ok(entries) => entries.map(|entry| entry.unwrap().path()).collect(),
                Err(_) => vec![path.with_extension("rs")],
            };
            for file in files {
                let text = fs::read_to_string(&file).unwrap();
                for more in ["random_inputs", "harness", "CALIB_ALL_INPUTS", "#[ignore"] {
                    assert!(!text.contains(more), "{}: {more}", file.display());
                }
            }
        }
    }
}
