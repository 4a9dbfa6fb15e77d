//! `cargo xtask examples`

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail, ensure};
use xtask::{cargo, root, run, tool};

use crate::setup::{Needs, QEMU_ARM, Setup};

/// The firmwares by their folders, and the targets that they are built for.
const EXAMPLES: [(&str, &str); 6] = [
    (RUN, "thumbv7m-none-eabi"),
    ("embassy-rp2350", "thumbv8m.main-none-eabihf"),
    ("embassy-updatable", "thumbv8m.main-none-eabihf"),
    ("embassy-nrf52840", "thumbv7em-none-eabihf"),
    ("embassy-stm32f411", "thumbv7em-none-eabihf"),
    ("esp32c3", "riscv32imc-unknown-none-elf"),
];

/// The one that an emulator runs.
const RUN: &str = "rtic-qemu";

/// Where its `memory.x` has the artifact.
const CALIBRATOR: &str = "0x3F000";

/// Builds the examples of calib in firmware of others, and runs one in the emulator: with its artifact, with a damaged one, and without.
pub(crate) fn examples(setup: Setup) -> Result<()> {
    let targets = EXAMPLES.map(|(_, target)| target);
    setup.provide(&Needs { targets: &targets, programs: &[&QEMU_ARM], ..Needs::default() })?;
    for (name, _) in EXAMPLES {
        println!("building {name}");
        run(cargo(&folder().join(name))
            .args(["build", "--locked", "--release"])
            .args(["--target-dir", "../../../target/examples"]))?;
    }
    check_run()
}

fn folder() -> PathBuf {
    root().join("firmware/examples")
}

/// What the emulated example says is what the table and the artifact hold.
fn check_run() -> Result<()> {
    let artifact = folder().join("calibrator/cal.cal");
    let bytes = fs::read(&artifact).with_context(|| format!("cannot read {}", artifact.display()))?;
    let scratch = root().join("target/examples/damaged.cal");
    let mut damaged = bytes;
    *damaged.last_mut().context("an artifact has bytes")? ^= 1;
    fs::write(&scratch, damaged).with_context(|| format!("cannot write {}", scratch.display()))?;

    let whole = answers(Some(&artifact))?;
    ensure!(whole.len() == 3, "three scores were answered by {whole:?}");
    for (score, built_in, from_flash) in &whole {
        println!("score {score}: built in {built_in}, from flash {from_flash}");
        ensure!(built_in == from_flash && built_in.is_finite(), "the built-in table and the artifact differ");
    }
    ensure!(
        whole.windows(2).all(|pair| pair[0].1 < pair[1].1),
        "three scores of three bins, in ascending order"
    );
    for (what, slot) in [("a damaged artifact", Some(&*scratch)), ("blank flash", None)] {
        let answers = answers(slot)?;
        let are_uncalibrated = answers.iter().all(|(_, _, from_flash)| from_flash.is_nan());
        ensure!(answers.len() == 3 && are_uncalibrated, "{what} gave {answers:?}");
        println!("{what}: uncalibrated");
    }
    Ok(())
}

/// Runs the example with this in its slot: scores, and their probabilities by the built-in table and by the artifact.
fn answers(slot: Option<&Path>) -> Result<Vec<(f32, f32, f32)>> {
    let image = root().join("target/examples/thumbv7m-none-eabi/release/calib-example-rtic-qemu");
    let mut qemu = Command::new(tool("qemu-system-arm"));
    qemu.args(["-machine", "lm3s6965evb", "-nographic", "-monitor", "none", "-serial", "none"]);
    qemu.args(["-semihosting-config", "enable=on,target=native"]).arg("-kernel").arg(image);
    if let Some(slot) = slot {
        let mut loader = OsString::from("loader,force-raw=on,file=");
        loader.push(slot);
        loader.push(format!(",addr={CALIBRATOR}"));
        qemu.arg("-device").arg(loader);
    }
    let output = qemu.stdin(Stdio::null()).output().context("cannot run qemu-system-arm")?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    if !output.status.success() {
        bail!("the example failed ({}): {text}{}", output.status, String::from_utf8_lossy(&output.stderr));
    }
    text.lines().map(|line| answer(line).with_context(|| format!("the example said {line:?}"))).collect()
}

/// `score 0.5 built in 0.25 from flash NaN`
fn answer(line: &str) -> Option<(f32, f32, f32)> {
    let (score, probs) = line.strip_prefix("score ")?.split_once(" built in ")?;
    let (built_in, from_flash) = probs.split_once(" from flash ")?;
    Some((score.parse().ok()?, built_in.parse().ok()?, from_flash.parse().ok()?))
}
