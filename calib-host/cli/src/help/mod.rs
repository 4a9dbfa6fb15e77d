//! How the help is laid out: commands in a [`listing`], an [`example`](examples) in every command, and [`topics`].
//!
//! What an option does, and its heading, stand beside the option. Everything here is added to the finished command line.

mod examples;
mod listing;
mod pages;
mod topics;

#[cfg(test)]
mod tests;

use std::ffi::OsString;
use std::io::{self, Write};
use std::process;

use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{Arg, Command};

use crate::error::Error;
use crate::out::Plain;

pub(crate) use pages::{Completions, Manual};
pub(crate) use topics::Methods;

/// The width of help where nothing tells that of the terminal.
const COLUMNS: usize = 80;

/// The command line with its help laid out.
pub(crate) fn laid_out(mut program: Command) -> Command {
    // Before the rest: whether `--help` says more than `-h` is found out when the command line is built.
    program = program.mut_subcommands(with_examples);
    // Adds `--help`, and what is global, to every command.
    program.build();
    let program = program.mut_subcommands(command);
    let listing = listing::listing(&program);
    program
        .subcommand_required(true)
        .arg_required_else_help(true)
        .help_template(format!(
            "{{about-with-newline}}\n{{usage-heading}} {{usage}}\n\n{listing}Options:\n{{options}}{{after-help}}"
        ))
        .override_usage("calib [OPTIONS] <COMMAND>")
        .after_help(format!("{}\n{}", topics::FIRST_STEPS, topics::EXIT_CODES))
}

/// Ends the program with what clap says of arguments that ask for help or are wrong, and an example where something is missing that
/// the command cannot do without. Only here the help is laid out: it takes most of the time until a command starts.
pub(crate) fn exit(program: Command, arguments: &[OsString]) -> ! {
    let program = laid_out(program);
    let error = program.clone().try_get_matches_from(arguments).expect_err("layout changes no argument");
    let names = arguments.iter().skip(1).filter_map(|name| program.find_subcommand(name));
    let command = names.map(Command::get_name).find(|name| !topics::is_one(name));
    if let Some(command) = command.filter(|_| lacks_only_scores(&error)) {
        let example = examples::short(command).replace("Example: ", "");
        let _ = writeln!(
            Plain(io::stderr().lock()),
            "error: no input file: `calib {command}` needs a table of scores and labels\n  hint: {example}"
        );
        process::exit(error.exit_code())
    }
    let printed = error.print();
    if let (Err(cause), false) = (printed, error.use_stderr())
        && cause.kind() != io::ErrorKind::BrokenPipe
    {
        let cause = Error::Stdout(cause);
        let _ = writeln!(Plain(io::stderr().lock()), "error: {cause}");
        process::exit(cause.exit_code().into());
    }
    if let Some(command) = command.filter(|_| error.kind() == ErrorKind::MissingRequiredArgument) {
        let _ = writeln!(Plain(io::stderr().lock()), "\n{}", examples::short(command));
    }
    process::exit(error.exit_code())
}

/// Whether nothing is missing but one of the sources of scores.
fn lacks_only_scores(error: &clap::Error) -> bool {
    match error.get(ContextKind::InvalidArg) {
        Some(ContextValue::Strings(missing)) if error.kind() == ErrorKind::MissingRequiredArgument => {
            matches!(&missing[..], [only] if only.contains("--scores <FILE>|"))
        }
        _ => false,
    }
}

/// A command with its examples, and the exit codes.
fn with_examples(command: Command) -> Command {
    let name = command.get_name().to_owned();
    if topics::is_one(&name) {
        return command;
    }
    command.after_help(examples::short(&name)).after_long_help(format!(
        "{}\n{}",
        examples::long(&name),
        topics::EXIT_CODES
    ))
}

/// A command with its usage in short lines.
fn command(command: Command) -> Command {
    let name = command.get_name().to_owned();
    if topics::is_one(&name) || name == "help" {
        return command;
    }
    let mut command = command.mut_args(placed);
    let usage = match &*name {
        // One of the other sources of scores may take the place of the file.
        "fit" => "calib fit [OPTIONS] <FILE>".to_owned(),
        _ => wrapped(
            command.render_usage().to_string().trim_start_matches("Usage: "),
            COLUMNS - "Usage: ".len(),
        ),
    };
    command.override_usage(usage)
}

/// An option that clap adds to every command under the heading of what commands print, and arguments before options.
fn placed(arg: Arg) -> Arg {
    match arg.get_id().as_str() {
        "help" => arg.help_heading("Output"),
        id if id == "version" || arg.is_global_set() => arg.help_heading("Output").hide_short_help(true),
        _ if arg.is_positional() => arg.display_order(0),
        _ => arg,
    }
}

/// A usage in lines of at most so many characters, broken between arguments.
fn wrapped(usage: &str, columns: usize) -> String {
    let (mut lines, mut depth) = (vec![String::new()], 0_usize);
    let mut word = String::new();
    for c in usage.chars().chain([' ']) {
        match c {
            '<' | '[' => depth += 1,
            '>' | ']' => depth = depth.saturating_sub(1),
            _ => {}
        }
        // A choice between arguments may be broken where the next begins.
        let ends = c == ' ' && depth == 0;
        if !ends {
            word.push(c);
        }
        if ends || c == '|' {
            let line = lines.last_mut().expect("there is one");
            let joined = line.chars().count() + word.chars().count() + 1;
            if joined > columns && !line.is_empty() {
                lines.push(String::new());
            }
            let line = lines.last_mut().expect("there is one");
            if !(line.is_empty() || line.ends_with('|')) {
                line.push(' ');
            }
            line.push_str(&std::mem::take(&mut word));
        }
    }
    lines.join("\n           ")
}
