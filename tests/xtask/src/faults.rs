//! `cargo xtask faults`

use std::str::FromStr;
use std::time::Instant;

use anyhow::Result;
use xtask::{cargo, root, run};

use crate::devices::measure;
use crate::flags;
use crate::setup::{Needs, QEMU_ARM, QEMU_RISCV, Setup};

/// A part of the faults.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Part {
    /// Power cuts, worn and half-erased flash, forgeries: all on a model of flash.
    Flash,
    /// Power cuts against the counters that a device keeps, on the same model: a part of those on flash.
    Counters,
    /// Power cuts while keys change: a part of those on flash.
    Rotations,
    /// Bits that turn at rest and in silent reads: a part of those on flash.
    Rest,
    /// Lives of devices with monitors that are switched off all the time.
    Lives,
    /// Numbers of results and their outcomes, through the library for C: a part of those in C.
    Numbers,
    /// Power cuts and half-erased flash, through the callbacks of the library for C.
    C,
    /// The emulator, killed during updates over a terminal.
    Kills,
    /// A serial line full of malformed frames.
    Load,
}

impl FromStr for Part {
    type Err = &'static str;

    fn from_str(name: &str) -> Result<Self, Self::Err> {
        match name {
            "flash" => Ok(Self::Flash),
            "counters" => Ok(Self::Counters),
            "rotations" => Ok(Self::Rotations),
            "lives" => Ok(Self::Lives),
            "rest" => Ok(Self::Rest),
            "numbers" => Ok(Self::Numbers),
            "c" => Ok(Self::C),
            "kills" => Ok(Self::Kills),
            "load" => Ok(Self::Load),
            _ => Err("there are flash, counters, rotations, rest, lives, numbers, c, kills and load"),
        }
    }
}

/// Cuts the power, wears flash out and forges artifacts against the slot store, kills the emulator, and loads a serial line.
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
    let suite = |part: &[&str]| {
        let build =
            ["run", "--quiet", "--locked", "--release", "--package", "calib-campaigns", "--bin", "faults"];
        run(cargo(&root()).args(build).arg("--").args(part).args(long.then_some("--long")))
    };
    if wanted(Part::Flash) {
        suite(&[])?;
    }
    if wanted(Part::C) {
        suite(&["c"])?;
    }
    if *only == Some(Part::Counters) {
        suite(&["counters"])?;
    }
    if *only == Some(Part::Rotations) {
        suite(&["rotations"])?;
    }
    if *only == Some(Part::Rest) {
        suite(&["rest"])?;
    }
    if *only == Some(Part::Numbers) {
        suite(&["numbers"])?;
    }
    if wanted(Part::Lives) {
        suite(&["lives"])?;
    }
    if wanted(Part::Kills) {
        measure(["kills", if long { "1000" } else { "350" }])?;
    }
    if wanted(Part::Load) {
        measure(["load", &load.unwrap_or(if long { 10.0 } else { 0.5 }).to_string()])?;
    }
    println!("faults: all clean ({:.0} s)", start.elapsed().as_secs_f64());
    Ok(())
}
