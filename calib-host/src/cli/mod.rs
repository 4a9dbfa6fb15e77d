//! The command line: one file per command.

mod applied;
mod apply;
mod assess;
mod bins;
mod calibrated;
mod class_probs;
mod codes;
mod compare;
mod decide;
mod decided;
mod doctor;
mod drawing;
mod export;
mod fit;
#[cfg(feature = "probe")]
mod flash;
mod hints;
mod inspect;
mod joint;
mod joint_report;
mod keys;
mod method;
mod mismatch;
#[cfg(feature = "serial")]
mod monitor;
mod options;
mod plan;
mod points;
#[cfg(feature = "serial")]
mod port;
mod reduction;
mod report;
mod rule;
#[cfg(any(feature = "serial", feature = "probe"))]
mod status;

use std::fmt::Display;
use std::io::{self, Write};
use std::process::ExitCode;

use calib_host::Error;
use clap::{Parser, Subcommand};

/// Calibrated probabilities for microcontrollers: fit on held-out scores, with guarantees, and deploy the table.
#[derive(Parser)]
#[command(name = "calib", version, propagate_version = true, max_term_width = 110)]
struct Cli {
    /// Show no progress and no summary on standard error.
    #[arg(long, global = true)]
    quiet: bool,
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    Fit(Box<fit::Fit>),
    Apply(apply::Apply),
    Assess(assess::Assess),
    Decide(Box<decide::Decide>),
    Inspect(inspect::Inspect),
    Plan(plan::PlanCommand),
    #[cfg(feature = "serial")]
    Push(port::Push),
    #[cfg(any(feature = "serial", feature = "probe"))]
    Status(status::Status),
    #[cfg(feature = "probe")]
    Flash(flash::Flash),
    #[cfg(feature = "serial")]
    Monitor(monitor::Monitor),
    Keygen(keys::Keygen),
    Sign(keys::Sign),
    Verify(keys::Verify),
    Bins(bins::Bins),
    Compare(Box<compare::Compare>),
    Report(report::ReportCommand),
    Plot(report::PlotCommand),
    Export(export::Export),
    Doctor(doctor::Doctor),
}

/// Runs the command and turns its error into sentences and an exit code.
pub(crate) fn run() -> ExitCode {
    let cli = Cli::parse();
    let result = match cli.command {
        Command::Fit(fit) => fit.run(cli.quiet),
        Command::Apply(apply) => apply.run(cli.quiet),
        Command::Assess(assess) => assess.run(cli.quiet),
        Command::Decide(decide) => decide.run(cli.quiet),
        Command::Inspect(inspect) => inspect.run(),
        Command::Plan(plan) => plan.run(),
        #[cfg(feature = "serial")]
        Command::Push(push) => push.run(cli.quiet),
        #[cfg(any(feature = "serial", feature = "probe"))]
        Command::Status(status) => status.run(),
        #[cfg(feature = "probe")]
        Command::Flash(flash) => flash.run(cli.quiet),
        Command::Doctor(doctor) => doctor.run(),
        #[cfg(feature = "serial")]
        Command::Monitor(monitor) => monitor.run(cli.quiet),
        Command::Keygen(keygen) => keygen.run(cli.quiet),
        Command::Sign(sign) => sign.run(cli.quiet),
        Command::Verify(verify) => verify.run(),
        Command::Bins(bins) => bins.run(cli.quiet),
        Command::Compare(compare) => compare.run(cli.quiet),
        Command::Report(report) => report.run(cli.quiet),
        Command::Plot(plot) => plot.run(cli.quiet),
        Command::Export(export) => export.run(),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        // The reader of a pipe may leave when it has seen enough.
        Err(Error::Stdout(cause)) if cause.kind() == io::ErrorKind::BrokenPipe => ExitCode::SUCCESS,
        Err(error) => {
            let mut stderr = io::stderr().lock();
            // Nothing is left to be told when standard error is closed.
            let _ = writeln!(stderr, "error: {error}");
            if let Some(hint) = hints::hint(&error) {
                let _ = writeln!(stderr, "  hint: {hint}");
            }
            ExitCode::from(error.exit_code())
        }
    }
}

/// The number of decimals that a number is printed with, so that what is computed from it shows no more.
fn decimals(number: impl Display) -> usize {
    number.to_string().split_once('.').map_or(0, |(_, decimals)| decimals.len())
}

/// Prints a value as JSON on standard output.
fn print_json(value: &impl serde::Serialize) -> Result<(), Error> {
    let mut stdout = io::stdout().lock();
    serde_json::to_writer_pretty(&mut stdout, value).map_err(io::Error::from)?;
    writeln!(stdout)?;
    Ok(())
}

fn parse_alpha(text: &str) -> Result<f64, String> {
    match text.parse() {
        Ok(alpha) if alpha > 0.0 && alpha < 1.0 => Ok(alpha),
        _ => Err("alpha is a fraction between 0 and 1, such as 0.05".into()),
    }
}
