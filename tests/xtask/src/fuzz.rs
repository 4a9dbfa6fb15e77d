//! `cargo xtask fuzz`

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::str::FromStr;
use std::time::Instant;

use anyhow::{Context, Result, bail, ensure};
use xtask::{built, cargo, root, run};

use crate::flags;
use crate::setup::{CPP, Needs, Setup};

/// What is fuzzed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Target {
    /// The parser of artifacts.
    Parse,
    /// The decoder of frames.
    Frame,
    /// The start on any flash, and an installation after it.
    Boot,
    /// The serial line of a device with slots.
    Serve,
    /// The host's end of that line.
    Replies,
    /// CSV and JSON lines, compressed or not.
    Text,
    /// NumPy arrays and their archives.
    Npy,
    /// Arrow files and streams.
    Arrow,
    /// Parquet.
    Parquet,
}

impl Target {
    const ALL: [Self; 9] = [
        Self::Parse,
        Self::Frame,
        Self::Boot,
        Self::Serve,
        Self::Replies,
        Self::Text,
        Self::Npy,
        Self::Arrow,
        Self::Parquet,
    ];

    const fn name(self) -> &'static str {
        match self {
            Self::Parse => "parse",
            Self::Frame => "frame",
            Self::Boot => "boot",
            Self::Serve => "serve",
            Self::Replies => "replies",
            Self::Text => "text",
            Self::Npy => "npy",
            Self::Arrow => "arrow",
            Self::Parquet => "parquet",
        }
    }

    /// The executions of a whole run.
    const fn runs(self) -> u64 {
        match self {
            Self::Parse => 100_000_000,
            Self::Frame | Self::Boot | Self::Serve | Self::Replies | Self::Text | Self::Npy => 10_000_000,
            // Each takes as long as a hundred of the others.
            Self::Arrow | Self::Parquet => 1_000_000,
        }
    }

    /// The longest input in bytes: for `Boot`, a choice and two slots.
    const fn max_len(self) -> usize {
        match self {
            Self::Parse | Self::Serve | Self::Replies | Self::Text | Self::Npy => 1024,
            Self::Arrow | Self::Parquet => 4096,
            Self::Boot => 1025,
            Self::Frame => 512,
        }
    }

    /// The inputs that every run begins with, which are committed.
    fn seeds(self) -> PathBuf {
        folder().join("seeds").join(self.name())
    }

    /// The inputs that were found, which stay on this machine.
    fn corpus(self) -> PathBuf {
        folder().join("corpus").join(self.name())
    }
}

impl FromStr for Target {
    type Err = &'static str;

    fn from_str(name: &str) -> Result<Self, Self::Err> {
        let found = Self::ALL.into_iter().find(|target| target.name() == name);
        found.ok_or("there are parse, frame, boot, serve, replies, text, npy, arrow and parquet")
    }
}

/// Fuzzes one target after the other and prints how much was run, and what was reached. Works with stable Rust: coverage
/// is built in; sanitizers are not used, as there is no unsafe code for them to watch.
pub(crate) fn fuzz(setup: Setup, flags::Fuzz { runs, only, keep, seeds }: &flags::Fuzz) -> Result<()> {
    if *seeds {
        ensure!(runs.is_none() && only.is_none() && !keep, "--seeds goes with nothing else");
        setup.provide(&Needs { programs: &[&CPP], ..Needs::default() })?;
        return replay();
    }
    setup.provide(&Needs { programs: &[&CPP], cargo: &["cargo-fuzz"], ..Needs::default() })?;
    for target in Target::ALL.into_iter().filter(|target| only.is_none_or(|only| only == *target)) {
        fuzz_target(target, runs.unwrap_or(target.runs()))?;
        if *keep {
            keep_new_inputs(target)?;
        }
    }
    Ok(())
}

fn fuzz_target(target: Target, runs: u64) -> Result<()> {
    let (name, corpus) = (target.name(), target.corpus());
    fs::create_dir_all(&corpus).with_context(|| format!("cannot create {}", corpus.display()))?;
    let log = folder().join("corpus").join(format!("{name}.log"));
    println!("{name}: {runs} executions; how far it is: {}", log.display());
    let start = Instant::now();
    let status = libfuzzer(target)
        .args([&corpus, &target.seeds()])
        .args(["--", &format!("-runs={runs}"), "-timeout=10", "-print_final_stats=1"])
        .arg(format!("-max_len={}", target.max_len()))
        .stderr(File::create(&log).with_context(|| format!("cannot create {}", log.display()))?)
        .status()?;
    let log = fs::read(&log).with_context(|| format!("cannot read {}", log.display()))?;
    let log = String::from_utf8_lossy(&log);
    let done = last_number(&log, "stat::number_of_executed_units:").unwrap_or(0);
    let edges = last_number(&log, " cov: ").unwrap_or(0);
    let inputs = count_files(&corpus)? + count_files(&target.seeds())?;
    let seconds = start.elapsed().as_secs_f64();
    println!("  {done} executions in {seconds:.0} s, {edges} edges reached, {inputs} inputs kept");
    ensure!(status.success(), "{name} found something\n{}", tail(&log, 40));
    ensure!(done >= runs, "{name} ended early\n{}", tail(&log, 40));
    println!("  no panic, no failed check, no input that takes 10 seconds");
    Ok(())
}

/// Adds those inputs to the seeds that reach what the seeds do not reach.
fn keep_new_inputs(target: Target) -> Result<()> {
    let before = count_files(&target.seeds())?;
    // Edges, not how often each is taken: a tenth of the inputs.
    run(libfuzzer(target)
        .args([target.seeds(), target.corpus()])
        .args(["--", "-merge=1", "-use_counters=0"])
        .arg(format!("-max_len={}", target.max_len()))
        .stderr(Stdio::null()))?;
    println!("  {} new seeds", count_files(&target.seeds())? - before);
    Ok(())
}

/// Runs every target once with every seed, without cargo-fuzz and without coverage.
pub(crate) fn replay() -> Result<()> {
    let mut build = cargo(&root());
    // With this test among them, dependencies have the features that they have for all tests: they are built already.
    build.args(["build", "--quiet", "--locked", "--workspace", "--all-features", "--test", "e2e"]);
    build.args(["--example", "seeds"]).args(Target::ALL.iter().flat_map(|target| ["--bin", target.name()]));
    run(&mut build)?;
    for target in Target::ALL {
        let (name, seeds) = (target.name(), target.seeds());
        let artifacts = folder().join("artifacts").join(name);
        fs::create_dir_all(&artifacts).with_context(|| format!("cannot create {}", artifacts.display()))?;
        let ran = Command::new(built(name)?)
            .args(["-runs=0", "-timeout=10"])
            .arg(format!("-artifact_prefix={}/", artifacts.display()))
            .arg(&seeds)
            .env("EVERY_WAY", "1")
            .stdin(Stdio::null())
            .output()
            .with_context(|| format!("cannot run the fuzz target {name}"))?;
        let said = String::from_utf8_lossy(&ran.stderr);
        if !ran.status.success() {
            bail!("{name} fails on a seed\n{}", tail(&said, 40));
        }
        // libFuzzer begins with an empty input of its own.
        let (done, wanted) = (last_number(&said, "Done ").unwrap_or(0), count_files(&seeds)? as u64 + 1);
        ensure!(wanted > 1 && done == wanted, "{name} ran {done} of {wanted} inputs\n{}", tail(&said, 40));
        println!("fuzz target {name}: {done} inputs");
    }
    Ok(())
}

fn folder() -> PathBuf {
    root().join("tests/fuzz")
}

fn libfuzzer(target: Target) -> Command {
    let mut command = cargo(&folder());
    command
        .args(["fuzz", "run", "--fuzz-dir", ".", "--sanitizer", "none"])
        // Every CSV reader makes a table first: watching each comparison there took two thirds of the time.
        .args((target == Target::Text).then_some("--no-trace-compares"))
        .arg(target.name())
        // As usual, and not as what is given away: links soon, and the names of functions stay.
        .envs([
            ("CARGO_PROFILE_RELEASE_CODEGEN_UNITS", "16"),
            ("CARGO_PROFILE_RELEASE_LTO", "false"),
            ("CARGO_PROFILE_RELEASE_OPT_LEVEL", "3"),
            ("CARGO_PROFILE_RELEASE_STRIP", "none"),
        ])
        // Memory stays with the process from one input to the next: most of the time went into fresh pages.
        .envs(["MALLOC_MMAP_THRESHOLD_", "MALLOC_TRIM_THRESHOLD_"].map(|name| (name, "1073741824")))
        .stdin(Stdio::null());
    command
}

fn count_files(folder: &Path) -> Result<usize> {
    let entries = fs::read_dir(folder).with_context(|| format!("cannot read {}", folder.display()))?;
    Ok(entries.count())
}

/// The number behind the last `name`.
fn last_number(text: &str, name: &str) -> Option<u64> {
    let (_, rest) = text.rsplit_once(name)?;
    rest.split_whitespace().next()?.parse().ok()
}

fn tail(text: &str, lines: usize) -> String {
    let all: Vec<&str> = text.lines().collect();
    all[all.len().saturating_sub(lines)..].join("\n")
}
