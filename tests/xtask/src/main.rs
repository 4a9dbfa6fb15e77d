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
    /// Bound the stack of what a device calls for every score, on every Cortex-M.
    Stack,
    /// Show where the flash goes: by function in a whole firmware, by part, and for a line of log.
    Sizes,
    /// Fuzz the parser of artefacts, the decoder of frames, the start on any flash, and the serial line.
    Fuzz {
        /// Executions per target.
        #[arg(long, default_value_t = 10_000_000, value_name = "N")]
        runs: u64,
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
        Command::Faults { long, only } => faults::faults(long, only),
        Command::Exhaustive => exhaustive::exhaustive(),
        Command::Miri => miri::miri(),
        Command::Stack => stack::stack(),
        Command::Sizes => sizes::sizes(),
        Command::Fuzz { runs } => fuzz::fuzz(runs),
    }
}

/// The repository's root.
fn root() -> PathBuf {
    let manifest = Path::new(env!("CARGO_MANIFEST_DIR"));
    manifest.ancestors().nth(2).expect("xtask is two folders below the root").to_path_buf()
}
