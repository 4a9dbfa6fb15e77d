//! `cargo xtask faults`

use std::path::Path;
use std::process::Stdio;
use std::str::FromStr;
use std::time::Instant;
use std::{env, fs};

use anyhow::{Context, Result, bail, ensure};
use calib_run::{cargo, copy, root, run};

use crate::devices::measure;
use crate::flags;
use crate::mutants::{MUTANTS, Mutant};
use crate::setup::{Needs, QEMU_ARM, QEMU_RISCV, Setup};

/// The packages that a mutant is built from, and the one that their tests need.
const PARTS: [&str; 3] = ["calib-core", "tests/faults", "tests/layers"];

/// A part of the faults.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Part {
    /// Power cuts, worn and half-erased flash, forgeries: all on a model of flash.
    Flash,
    /// Power cuts against the counters that a device keeps, on the same model: a part of those on flash.
    Counters,
    /// Power cuts and half-erased flash, through the callbacks of the library for C.
    C,
    /// The emulator, killed during updates over a terminal.
    Kills,
    /// A serial line full of malformed frames.
    Load,
    /// Faults planted in calib-core, each of which must be found.
    Planted,
}

impl FromStr for Part {
    type Err = &'static str;

    fn from_str(name: &str) -> Result<Self, Self::Err> {
        match name {
            "flash" => Ok(Self::Flash),
            "counters" => Ok(Self::Counters),
            "c" => Ok(Self::C),
            "kills" => Ok(Self::Kills),
            "load" => Ok(Self::Load),
            "planted" => Ok(Self::Planted),
            _ => Err("there are flash, counters, c, kills, load and planted"),
        }
    }
}

/// Cuts the power, wears flash out and forges artefacts against the slot store, kills the emulator; then plants faults in
/// calib-core, and checks that each is found.
pub(crate) fn faults(setup: Setup, flags::Faults { long, only, load }: &flags::Faults) -> Result<()> {
    let (start, long) = (Instant::now(), *long);
    let wanted = |part| only.is_none_or(|only| only == part);
    if wanted(Part::Kills) {
        let (targets, programs) = (&["riscv32imac-unknown-none-elf"], &[&QEMU_RISCV]);
        setup.provide(&Needs { targets, programs, ..Needs::default() })?;
    }
    if wanted(Part::Load) {
        let (targets, programs) = (&["thumbv7em-none-eabihf"], &[&QEMU_ARM]);
        setup.provide(&Needs { targets, programs, ..Needs::default() })?;
    }
    for (part, package) in [(Part::Flash, "calib-faults"), (Part::C, "calib-c-faults")] {
        if wanted(part) {
            let scale: &[&str] = if long { &["--", "--long"] } else { &[] };
            let run_suite = ["run", "--quiet", "--locked", "--release", "--package", package];
            run(cargo(&root()).args(run_suite).args(scale))?;
        }
    }
    if *only == Some(Part::Counters) {
        let part: &[&str] = if long { &["counters", "--long"] } else { &["counters"] };
        let run_suite = ["run", "--quiet", "--locked", "--release", "--package", "calib-faults", "--"];
        run(cargo(&root()).args(run_suite).args(part))?;
    }
    if wanted(Part::Kills) {
        measure(["kills", if long { "1000" } else { "350" }])?;
    }
    if wanted(Part::Load) {
        measure(["load", &load.unwrap_or(if long { 10.0 } else { 0.5 }).to_string()])?;
    }
    if wanted(Part::Planted) {
        planted()?;
    }
    println!("faults: all clean ({:.0} s)", start.elapsed().as_secs_f64());
    Ok(())
}

/// Builds calib-core with one fault after the other, and shows each to the suite.
fn planted() -> Result<()> {
    let folder = root().join("target/mutants");
    prepare(&folder)?;
    ensure!(judge(&folder)?.is_none(), "the suite fails without a planted fault");
    println!("planted faults");
    let mut alive = Vec::new();
    for mutant in MUTANTS {
        let start = Instant::now();
        let verdict = with(mutant, &folder, || judge(&folder))?;
        let shown = verdict.as_deref().unwrap_or("NOT FOUND");
        println!("  {:<54} {shown} ({:.0} s)", mutant.name, start.elapsed().as_secs_f64());
        if verdict.is_none() {
            alive.push(mutant.name);
        }
    }
    ensure!(alive.is_empty(), "the suite does not find: {}", alive.join(", "));
    println!("  {} planted, {} found", MUTANTS.len(), MUTANTS.len());
    Ok(())
}

/// Copies what a mutant is built from.
fn prepare(folder: &Path) -> Result<()> {
    for part in PARTS {
        let to = folder.join(part);
        if to.exists() {
            fs::remove_dir_all(&to).with_context(|| format!("cannot remove {}", to.display()))?;
        }
        copy(&root().join(part), &to, &[])?;
    }
    let manifest = fs::read_to_string(root().join("Cargo.toml"))?;
    let (before, rest) = manifest.split_once("members = [").context("no members")?;
    let (_, after) = rest.split_once(']').context("no end of the members")?;
    let ours = PARTS.map(|part| format!("{part:?}")).join(", ");
    fs::write(folder.join("Cargo.toml"), format!("{before}members = [{ours}]{after}"))?;
    fs::copy(root().join("Cargo.lock"), folder.join("Cargo.lock"))?;
    Ok(())
}

/// Plants a fault, works, and takes it out again.
fn with<R>(mutant: &Mutant, folder: &Path, work: impl FnOnce() -> Result<R>) -> Result<R> {
    let mut originals = Vec::new();
    for edit in mutant.edits {
        let path = folder.join("calib-core/src").join(edit.file);
        let source = fs::read_to_string(&path).with_context(|| format!("cannot read {}", path.display()))?;
        let found = source.matches(edit.from).count();
        ensure!(found == 1, "{}: {} is there {found} times: {:?}", mutant.name, edit.file, edit.from);
        fs::write(&path, source.replace(edit.from, edit.to))?;
        originals.push((path, source));
    }
    let result = work();
    for (path, source) in originals.into_iter().rev() {
        fs::write(path, source)?;
    }
    result
}

/// Builds the suite and runs a sample of it; says how it failed, or `None` if it passed.
fn judge(folder: &Path) -> Result<Option<String>> {
    let built = cargo(folder)
        .args(["build", "--quiet", "--release", "--package", "calib-faults", "--no-default-features"])
        .env("CARGO_TARGET_DIR", folder.join("target"))
        .env("RUSTFLAGS", "--cap-lints allow")
        // The next mutant changes a line or two. They are built a few dozen times, and each runs for a few seconds.
        .env("CARGO_INCREMENTAL", "1")
        .env("CARGO_PROFILE_RELEASE_CODEGEN_UNITS", "16")
        .env("CARGO_PROFILE_RELEASE_LTO", "off")
        .stdin(Stdio::null())
        .output()?;
    if !built.status.success() {
        bail!("a mutant does not build\n{}", String::from_utf8_lossy(&built.stderr));
    }
    let suite = folder.join("target/release").join(format!("calib-faults{}", env::consts::EXE_SUFFIX));
    let output = std::process::Command::new(suite).arg("--sample").stdin(Stdio::null()).output()?;
    if output.status.success() {
        return Ok(None);
    }
    let (stdout, stderr) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    let violation = stdout.lines().find_map(|line| line.trim().strip_prefix("VIOLATION: "));
    let panic = stderr.lines().skip_while(|line| !line.contains("panicked")).nth(1);
    let reason = violation.or(panic).unwrap_or("failed").rsplit(": ").next().unwrap_or_default();
    Ok(Some(format!("found: {reason}")))
}
