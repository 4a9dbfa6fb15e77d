//! `cargo xtask bench host`, `cargo xtask bench monitor` and `cargo xtask bench coverage`

use anyhow::Result;
use xtask::{cargo, root, run};

use crate::flags;
use crate::setup::Setup;
use crate::wheel;

/// Measures this machine with a release build of `bench`. A ratio to a peer that got worse is a failure.
pub(crate) fn host(setup: Setup, flags: &flags::Host) -> Result<()> {
    let flags::Host { rows, huge, only, write_baseline, netcal } = flags;
    let mut arguments = Vec::new();
    arguments.extend(rows.iter().flat_map(|rows| ["--rows".to_owned(), rows.to_string()]));
    arguments.extend(only.iter().flat_map(|words| ["--only".to_owned(), words.clone()]));
    for (flag, is_set) in [
        ("--huge", *huge),
        ("--write-baseline", *write_baseline),
        ("--netcal", *netcal),
        ("--no-install", !setup.may_install),
    ] {
        arguments.extend(is_set.then(|| flag.to_owned()));
    }
    claims("bench", arguments)
}

/// Runs a release build of one of the programs that show what is claimed.
fn claims(bin: &str, arguments: Vec<String>) -> Result<()> {
    eprintln!("building for release");
    let build = ["run", "--quiet", "--locked", "--release", "--package", "calib-claims", "--bin", bin, "--"];
    run(cargo(&root()).args(build).args(arguments))
}

/// Simulates lives with a release build of `lives`. A false alarm more than was guaranteed is a failure.
pub(crate) fn monitor(setup: Setup, flags::Monitor { lives, trials }: &flags::Monitor) -> Result<()> {
    let python = wheel::environment("river", setup)?;
    let number = |flag: &str, n: &Option<u32>| n.map(|n| [flag.to_owned(), n.to_string()]);
    let mut arguments: Vec<String> =
        [number("--lives", lives), number("--trials", trials)].into_iter().flatten().flatten().collect();
    arguments.extend(["--python".to_owned(), python.display().to_string()]);
    claims("lives", arguments)
}

/// Draws calibration sets with a release build of `coverage`. A guarantee that fails significantly more often than its alpha is a failure.
pub(crate) fn coverage(flags::Coverage { sets, only }: &flags::Coverage) -> Result<()> {
    let sets = sets.map(|n| ["--sets".to_owned(), n.to_string()]);
    let only = only.iter().map(|words| ["--only".to_owned(), words.clone()]);
    claims("coverage", sets.into_iter().chain(only).flatten().collect())
}
