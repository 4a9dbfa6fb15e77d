//! The command line: what is asked ([`options`]), what is read ([`read`]), what is shown ([`show`]), and a file for each
//! command ([`command`]).
//!
//! Here alone the library's errors meet the options that mend them ([`hints`]), and progress meets the screen ([`bar`]).

mod bar;
mod command;
mod error;
mod hints;
mod options;
mod out;
mod read;
mod show;

use std::io::{self, Write};
use std::process::ExitCode;

use clap::Parser;
use command::Command;
use error::Error;

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

/// Runs the command and turns its error into sentences and an exit code.
pub(crate) fn run() -> ExitCode {
    let cli = Cli::parse();
    match cli.command.run(cli.quiet) {
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
