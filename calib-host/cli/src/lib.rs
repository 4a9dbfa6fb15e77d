//! The command line: what is asked (`options`), what is read (`read`), what is shown (`show`), and a file for each
//! command (`command`).
//!
//! Only here, the library's errors meet the options that fix them (`hints`), and progress meets the screen (`progress`).

#![forbid(unsafe_code)]

mod command;
mod context;
mod dash;
mod error;
mod help;
mod hints;
mod kinds;
mod next;
mod options;
mod out;
mod paths;
mod progress;
mod read;
mod run;
mod show;
mod spinner;
mod tables;

use std::ffi::{OsStr, OsString};
use std::io::{self, Write};

use clap::{ColorChoice, CommandFactory, FromArgMatches, Parser, ValueEnum};
use command::Command;
use context::Context;
use error::Error;

/// More threads help nobody, whatever `RAYON_NUM_THREADS` says.
const MOST_THREADS: usize = 256;

/// The exit code after a warning, if that was asked for.
const WARNED: u8 = 6;

/// Calibrate classifier scores, and run the result on microcontrollers.
#[derive(Parser)]
#[command(name = "calib", version, propagate_version = true, max_term_width = 110)]
struct Cli {
    /// Show no progress and no summary on standard error.
    #[arg(long, global = true)]
    quiet: bool,
    /// Exit with 6 if there was a warning; outputs are still written.
    #[arg(long, global = true)]
    fail_on_warning: bool,
    /// Color of help and usage errors. `auto`: on a terminal, unless NO_COLOR is set.
    #[arg(long, global = true, value_name = "WHEN", default_value = "auto", hide_possible_values = true)]
    color: ColorChoice,
    #[command(subcommand)]
    command: Command,
}

/// Runs the command `calib`, and turns its error into sentences and an exit code. The first of the arguments is the name of the
/// program.
///
/// It is a whole program: it prints, sets a handler for interrupts, and ends the process where help is asked for or an argument is
/// none.
///
/// ```no_run
/// let code = calib_cli::run_from(["calib", "plan", "--n", "1500", "--bins", "10"].map(Into::into));
/// assert_eq!(code, 0);
/// ```
pub fn run_from(arguments: impl IntoIterator<Item = OsString>) -> u8 {
    let threads = std::env::var("RAYON_NUM_THREADS").ok().and_then(|number| number.parse::<usize>().ok());
    if threads.is_some_and(|threads| threads > MOST_THREADS) {
        // It fails where the threads are there already.
        let _ = rayon::ThreadPoolBuilder::new().num_threads(MOST_THREADS).build_global();
    }
    let arguments: Vec<OsString> = arguments.into_iter().collect();
    let program = tables::with_options(Cli::command()).mut_subcommands(with_negative_numbers);
    let program = program.color(color(&arguments));
    let matches = program.clone().try_get_matches_from(&arguments);
    let matches = matches.unwrap_or_else(|_| help::exit(program.clone(), &arguments));
    let cli = Cli::from_arg_matches(&matches).unwrap_or_else(|error| error.exit());
    let (_, given) = matches.subcommand().unwrap_or_else(|| unreachable!("clap asks for a command"));
    let cx = Context::new(program, arguments, cli.quiet, given);
    let done = cli.command.run(given, &cx);
    match done {
        Ok(()) if cli.fail_on_warning && cx.has_warned() => WARNED,
        Ok(()) => 0,
        // The reader of a pipe may leave when it has seen enough.
        Err(Error::Stdout(cause)) if cause.kind() == io::ErrorKind::BrokenPipe => 0,
        Err(error) => {
            let mut stderr = cx.stderr();
            // Nothing is left to be told when standard error is closed.
            let _ = writeln!(stderr, "error: {error}");
            if let Some(hint) = hints::hint(&error) {
                let _ = writeln!(stderr, "  hint: {hint}");
            }
            error.exit_code()
        }
    }
}

/// The command, of which every option takes a negative number for its value and not for another option: the option then says what it takes.
fn with_negative_numbers(command: clap::Command) -> clap::Command {
    command.mut_args(|arg| match arg.get_action().takes_values() && !arg.is_positional() {
        true => arg.allow_negative_numbers(true),
        false => arg,
    })
}

/// The colors that were asked for: they are needed before anything is parsed, since parsing may end in help.
fn color(arguments: &[OsString]) -> ColorChoice {
    let choice = |name: &OsStr| ColorChoice::from_str(name.to_str()?, false).ok();
    let joined = |argument: &OsStr| choice(OsStr::new(argument.to_str()?.strip_prefix("--color=")?));
    let apart = arguments.windows(2).filter(|pair| pair[0] == "--color").find_map(|pair| choice(&pair[1]));
    apart.or_else(|| arguments.iter().find_map(|argument| joined(argument))).unwrap_or_default()
}
