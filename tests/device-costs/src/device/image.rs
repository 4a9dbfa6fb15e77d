//! The measuring image: built, run in the emulator, and read.

use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;
use std::process::Stdio;

use anyhow::{Context, Result, bail, ensure};
use calib_tests::{Board, symbol_sizes};

use super::peers;
use xtask::{cargo, root, run};

/// How the image is compiled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum OptLevel {
    /// For speed, as the firmware is.
    Speed,
    /// For size.
    Size,
}

impl OptLevel {
    pub(crate) const ALL: [Self; 2] = [Self::Speed, Self::Size];

    /// Where cargo puts what is built with [`STACK_SIZES`]: programs at a level share what they depend on, and both levels are
    /// built at the same time.
    pub(crate) fn target_dir(self) -> PathBuf {
        root().join("firmware/target").join(format!("measured-{}", self.name()))
    }

    /// The compiler's name.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Speed => "3",
            Self::Size => "s",
        }
    }
}

/// Has the compiler record how much stack every function takes, which changes nothing else.
pub(crate) const STACK_SIZES: [(&str, &str); 2] =
    [("RUSTC_BOOTSTRAP", "1"), ("RUSTFLAGS", "-Z emit-stack-sizes")];

/// What was measured of one function.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Cost {
    /// Instructions a call, over uniform scores; of a call that takes much longer than others, the most.
    pub(crate) instructions: f64,
    /// The least and the most over all bins, or of single calls.
    pub(crate) range: Option<(f64, f64)>,
    pub(crate) stack_bytes: Option<u64>,
}

/// What was measured on one core.
#[derive(Debug)]
pub(crate) struct Measured {
    pub(crate) board: Board,
    pub(crate) opt_level: OptLevel,
    /// By the function's name.
    pub(crate) costs: BTreeMap<String, Cost>,
    /// The sizes of functions and tables, by their symbols.
    pub(crate) bytes: BTreeMap<String, u64>,
    /// Why the C functions are missing, if they are.
    pub(crate) no_peers: Option<String>,
    pub(crate) elf: PathBuf,
}

/// Builds the image for a board's core and runs it.
pub(crate) fn measure(board: Board, opt_level: OptLevel, wanted: peers::Peers) -> Result<Measured> {
    let firmware = root().join("firmware");
    let target_dir = opt_level.target_dir();
    let (object, no_peers) = match peers::compile(board, wanted, &target_dir.join("peers"))? {
        Ok(object) => (Some(object), None),
        Err(why) => (None, Some(why)),
    };
    let mut build = cargo(&firmware);
    build
        .args(["build", "--quiet", "--locked", "--release", "--package", "calib-bench"])
        .args(["--target", board.target()])
        .arg("--target-dir")
        .arg(&target_dir)
        .env("CARGO_PROFILE_RELEASE_OPT_LEVEL", opt_level.name())
        .env_remove("CALIB_BENCH_PEERS")
        .env("CALIB_BENCH_MEMORY", firmware.join("boards/src").join(board.memory_map()))
        .envs(STACK_SIZES)
        .env_remove("CARGO_ENCODED_RUSTFLAGS");
    if let Some(object) = &object {
        build.env("CALIB_BENCH_PEERS", object);
    }
    run(&mut build)?;
    let built = target_dir.join(board.target()).join("release/calib-bench");
    // Boards with the same target have images of their own.
    let elf = target_dir.join(format!("{}.elf", board.name()));
    fs::copy(&built, &elf).with_context(|| format!("cannot copy {}", built.display()))?;
    let costs = parse(board, &emulate(board, &elf)?)?;
    Ok(Measured { board, opt_level, costs, bytes: symbol_sizes(&elf)?, no_peers, elf })
}

/// What the image prints.
fn emulate(board: Board, elf: &PathBuf) -> Result<String> {
    let mut qemu = board.emulator();
    qemu.args(["-machine", board.name(), "-display", "none", "-monitor", "none", "-serial", "none"]).args([
        "-icount",
        "shift=0",
        "-semihosting-config",
        "enable=on,target=native",
    ]);
    if board == Board::Virt {
        qemu.args(["-bios", "none"]);
    }
    let output = qemu.arg("-kernel").arg(elf).stdin(Stdio::null()).output();
    let output = output.with_context(|| format!("{} did not start", board.qemu()))?;
    // Semihosting's console is standard error or output, depending on the release.
    let text = [output.stdout, output.stderr].concat();
    let text = String::from_utf8_lossy(&text).into_owned();
    ensure!(output.status.success(), "the measuring image failed on {}: {text}", board.name());
    Ok(text)
}

/// Reads lines of `count NAME CALLS TICKS EMPTY`, `bin NAME TICKS EMPTY`, `call NAME TICKS` and `stack NAME BYTES`.
fn parse(board: Board, text: &str) -> Result<BTreeMap<String, Cost>> {
    const CALLS: f64 = 4096.0;
    let per_tick = board.instructions_per_tick_of_core_timer();
    let mut costs: BTreeMap<String, Cost> = BTreeMap::new();
    for line in text.lines() {
        let words: Vec<&str> = line.split_whitespace().collect();
        let (kind, name, numbers) = match words[..] {
            [kind, name, ref numbers @ ..] => (kind, name, numbers),
            _ => bail!("the measuring image printed `{line}`"),
        };
        let numbers: Result<Vec<f64>, _> = numbers.iter().map(|number| number.parse()).collect();
        let numbers = numbers.with_context(|| format!("the measuring image printed `{line}`"))?;
        let cost = costs.entry(name.to_owned()).or_default();
        // The call of the function that only returns is subtracted, and its one instruction belongs to the call.
        let each = |calls: f64, ticks: f64, empty: f64| {
            (ticks - empty) * per_tick / calls + if empty > 0.0 { 1.0 } else { 0.0 }
        };
        match (kind, &numbers[..]) {
            ("count", &[calls, ticks, empty]) => cost.instructions = each(calls, ticks, empty),
            ("bin", &[ticks, empty]) => {
                let here = each(CALLS, ticks, empty);
                let (least, most) = cost.range.unwrap_or((here, here));
                cost.range = Some((least.min(here), most.max(here)));
            }
            // Of single calls the one that takes longest counts.
            ("call", &[ticks]) => {
                let here = ticks * per_tick;
                let (least, most) = cost.range.unwrap_or((here, here));
                cost.range = Some((least.min(here), most.max(here)));
                cost.instructions = cost.instructions.max(here);
            }
            ("stack", &[bytes]) => cost.stack_bytes = Some(bytes as u64),
            _ => bail!("the measuring image printed `{line}`"),
        }
    }
    ensure!(!costs.is_empty(), "the measuring image printed nothing on {}", board.name());
    Ok(costs)
}
