//! The options that say how tables are read, which all commands take that read rows.

use std::io::Write;
use std::sync::{Arc, OnceLock};

use calib_io::input::{TableNote, TableOptions};
use clap::{Arg, ArgAction, ArgMatches, Command};

use crate::notes;
use crate::out::stderr;

/// The commands that read rows, and whether these have labels.
const COMMANDS: [(&str, bool); 11] = [
    ("fit", true),
    ("apply", false),
    ("assess", true),
    ("report", true),
    ("plot", true),
    ("compare", true),
    ("bins", true),
    ("threshold", true),
    ("sets", true),
    ("decide", true),
    ("adjust", false),
];

const POSITIVE_LABEL: &str = "positive_label";
const DROP_MISSING: &str = "drop_missing";
const CLASS_COLUMN: &str = "class_column";

/// The columns without which a row is of no use. That a row has no probability says that it is uncalibrated.
const NEEDED: [&str; 7] = [
    "score_column",
    "label_column",
    "cluster_column",
    "group_column",
    "weight_column",
    "count_column",
    "positives_column",
];

/// How tables are read, as the command line says.
static OPTIONS: OnceLock<Arc<TableOptions>> = OnceLock::new();

/// Adds the options to the commands.
pub(super) fn with_options(program: Command) -> Command {
    COMMANDS.into_iter().fold(program, |program, (name, has_labels)| {
        program.mut_subcommand(name, |command| {
            let command = command.arg(drop_missing());
            let classes = command.get_arguments().any(|arg| arg.get_id() == CLASS_COLUMN);
            match has_labels {
                // A predicted class is compared with the label itself.
                true if classes => command.arg(positive_label().conflicts_with(CLASS_COLUMN)),
                true => command.arg(positive_label()),
                false => command,
            }
        })
    })
}

fn positive_label() -> Arg {
    Arg::new(POSITIVE_LABEL)
        .long("positive-label")
        .value_name("LABEL")
        .allow_hyphen_values(true)
        .help("The label that is class 1, where labels are not 0 and 1")
        .long_help(
            "The label that is class 1, where labels are not 0 and 1, such as 2 of 1 and 2, 1 of -1 and 1, or case of case and control. \
             The other one is class 0; a third one is an error",
        )
}

fn drop_missing() -> Arg {
    Arg::new(DROP_MISSING)
        .long("drop-missing")
        .action(ArgAction::SetTrue)
        .help("Leave out rows that lack a score or a label")
        .long_help(
            "Leave out rows that lack a score or a label, or a value in another column that the command reads: where it is empty, NaN, NA, \
             null or the like. Their number is told",
        )
}

/// Takes the options from the command line.
pub(super) fn set(given: &ArgMatches, is_quiet: bool) {
    let text = |id: &str| given.try_get_one::<String>(id).ok().flatten().cloned();
    let leaves_out = given.try_get_one::<bool>(DROP_MISSING).ok().flatten().is_some_and(|drop| *drop);
    let needed = NEEDED.into_iter().filter(|_| leaves_out).filter_map(text).collect();
    let positive_label = text(POSITIVE_LABEL).map(|label| label.trim().to_owned());
    let options = TableOptions { guess: true, positive_label, complete: needed, tell: Some(tell) };
    // There is one command a process.
    let _ = OPTIONS.set(Arc::new(options));
    notes::begin(is_quiet, leaves_out);
}

/// Tells it on standard error, once.
fn tell(note: &TableNote) {
    if notes::is_to_be_told(note) {
        // Nothing is left to be told when standard error is closed.
        let _ = writeln!(stderr(), "note: {note}");
    }
}

/// How tables are read.
pub(crate) fn options() -> &'static Arc<TableOptions> {
    OPTIONS.get_or_init(Arc::default)
}

/// The options again, for a command that reads the same table.
pub(crate) fn arguments() -> Vec<String> {
    let options = options();
    let positive =
        options.positive_label.iter().flat_map(|label| ["--positive-label".to_owned(), label.clone()]);
    positive.chain((!options.complete.is_empty()).then(|| "--drop-missing".to_owned())).collect()
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use clap::CommandFactory;

    use super::*;
    use crate::Cli;

    /// A command that takes `--score-column` reads rows.
    #[test]
    fn every_command_that_reads_rows_takes_the_options() {
        let reads = |command: &&Command| command.get_arguments().any(|arg| arg.get_id() == "score_column");
        let program = Cli::command();
        let expected: HashSet<&str> =
            program.get_subcommands().filter(reads).map(|command| command.get_name()).collect();
        assert_eq!(COMMANDS.map(|(name, _)| name).into_iter().collect::<HashSet<_>>(), expected);
        let known = |command: &Command, id: &str| command.get_arguments().any(|arg| arg.get_id() == id);
        for (name, has_labels) in COMMANDS {
            let command = program.find_subcommand(name).unwrap();
            let labels = ["labels", "label_column", "test_labels"].iter().any(|id| known(command, id));
            assert_eq!(labels, has_labels, "{name}");
        }
    }
}
