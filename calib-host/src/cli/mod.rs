//! The command line: what is asked ([`options`]), what is read ([`read`]), what is shown ([`show`]), and a file for each
//! command ([`command`]).
//!
//! Here alone the library's errors meet the options that mend them ([`hints`]), and progress meets the screen ([`bar`]).

mod bar;
mod closed;
mod command;
mod error;
mod hints;
mod options;
mod out;
mod paths;
mod read;
mod show;

use std::io::{self, Write};
use std::process::{self, ExitCode};

use calib_host::files::remove_unfinished;
use clap::{CommandFactory, FromArgMatches, Parser};
use command::Command;
use error::Error;

/// The exit code after an interrupt, as shells have it.
const INTERRUPTED: i32 = 130;

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
    let matches = Cli::command().get_matches();
    let cli = Cli::from_arg_matches(&matches).unwrap_or_else(|error| error.exit());
    let checked = matches.subcommand().map_or(Ok(()), |(_, matches)| paths::check(matches));
    if !cli.command.ends_by_interrupt() {
        // Without it an interrupt ends the program all the same, and leaves what it was writing.
        let _ = ctrlc::set_handler(|| {
            remove_unfinished();
            process::exit(INTERRUPTED);
        });
    }
    match checked.and_then(|()| cli.command.run(cli.quiet)) {
        Ok(()) => ExitCode::SUCCESS,
        // The reader of a pipe may leave when it has seen enough.
        Err(Error::Stdout(cause)) if cause.kind() == io::ErrorKind::BrokenPipe => ExitCode::SUCCESS,
        Err(error) => {
            let mut stderr = out::stderr();
            // Nothing is left to be told when standard error is closed.
            let _ = writeln!(stderr, "error: {error}");
            if let Some(hint) = hints::hint(&error) {
                let _ = writeln!(stderr, "  hint: {hint}");
            }
            ExitCode::from(error.exit_code())
        }
    }
}
