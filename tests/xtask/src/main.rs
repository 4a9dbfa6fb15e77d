//! The project's driver: `cargo xtask <command>`.

mod bench;
mod demo;
mod exhaustive;
mod faults;
mod fuzz;
mod miri;
mod mutants;
mod papers;
mod prove;
mod report_check;
mod reproducible;
mod run;
mod setup;
mod side_by_side;
mod sizes;
mod stack;
mod test;

use std::path::{Path, PathBuf};

use clap::{Parser, Subcommand};

/// The project's driver. Each command installs what it needs and is missing.
#[derive(Parser)]
#[command(bin_name = "cargo xtask", arg_required_else_help = true, subcommand_required = true)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Run the main job on real data: train, calibrate, deploy to an emulated device, compare, assess.
    Demo,
    /// Run all checks and tests.
    Test,
    /// Compare with independently computed reference values.
    Papers {
        /// The folder with cifar10_resnet50_*.npy and credit_scores.csv.
        #[arg(long, value_name = "DIR")]
        data: PathBuf,
        /// The folder with cifar10_resnet50.json, credit_fixed_cases.json and theory_tables.json.
        #[arg(long, value_name = "DIR")]
        refs: PathBuf,
    },
    /// Cut the power at every step of an installation, wear out flash, forge artefacts, kill the emulator, plant faults.
    Faults {
        /// Take longer: ten times the images and artefacts.
        #[arg(long)]
        long: bool,
        /// Run only this part.
        #[arg(long, value_enum, value_name = "PART")]
        only: Option<faults::Part>,
        /// For how many minutes the serial line is under load.
        #[arg(long, value_name = "MINUTES")]
        load: Option<f64>,
    },
    /// Measure speed and memory.
    #[command(subcommand)]
    Bench(Bench),
    /// Open reports in headless Chromium: no console message, no request, nothing that axe-core objects to.
    ReportCheck,
    /// Send all 2^32 floats through every kind of table, and compare with a linear scan.
    Exhaustive,
    /// Run calib-core's tests under Miri, on 64 and on 32 bits; big-endian targets are refused. Takes a nightly toolchain.
    Miri,
    /// Bound the stack of what a device calls for every score, on every core.
    Stack,
    /// Show where the flash goes: by function in a whole firmware, by part, and for a line of log.
    Sizes,
    /// Build twice, in two folders and environments, and compare the firmware, an artefact and a report byte by byte.
    Reproducible {
        /// One board, and the `calib` that is built already: what `cargo xtask test` runs.
        #[arg(long)]
        sample: bool,
    },
    /// Fuzz the parser of artefacts, the decoder of frames, the start on any flash, and the serial line.
    Fuzz {
        /// Executions per target; 100 million of the parser and 10 million of the others if not given.
        #[arg(long, value_name = "N")]
        runs: Option<u64>,
        /// Only this target.
        #[arg(long, value_enum, value_name = "TARGET")]
        only: Option<fuzz::Target>,
        /// Add the inputs to the seeds that reach what the seeds do not reach.
        #[arg(long)]
        keep: bool,
        /// Run each target only once with every seed, as `cargo xtask test` does.
        #[arg(long, conflicts_with_all = ["runs", "only", "keep"])]
        seeds: bool,
    },
}

#[derive(Subcommand)]
enum Bench {
    /// Fits and lookups on this machine, ours against NumPy and scikit-learn.
    Host(bench::Host),
    /// Count instructions, bytes and stack on every emulated core, next to functions in C.
    Device {
        /// Replace the committed counts by these.
        #[arg(long)]
        write_baseline: bool,
    },
}

fn main() -> anyhow::Result<()> {
    match Cli::parse().command {
        Command::Demo => demo::demo(),
        Command::Test => test::test(),
        Command::Papers { data, refs } => papers::papers(&data, &refs),
        Command::Bench(Bench::Host(options)) => bench::host(&options),
        Command::ReportCheck => report_check::report_check(),
        Command::Bench(Bench::Device { write_baseline }) => bench::device::device(write_baseline),
        Command::Faults { long, only, load } => faults::faults(long, only, load),
        Command::Exhaustive => exhaustive::exhaustive(),
        Command::Miri => miri::miri(),
        Command::Stack => stack::stack(),
        Command::Sizes => sizes::sizes(),
        Command::Reproducible { sample } => reproducible::reproducible(sample),
        Command::Fuzz { seeds: true, .. } => fuzz::replay(),
        Command::Fuzz { runs, only, keep, .. } => fuzz::fuzz(only, runs, keep),
    }
}

/// The repository's root.
fn root() -> PathBuf {
    let manifest = Path::new(env!("CARGO_MANIFEST_DIR"));
    manifest.ancestors().nth(2).expect("xtask is two folders below the root").to_path_buf()
}
