//! The options that say how tables are read, which all commands take that read rows.

use std::io::Write;
use std::sync::{Arc, LazyLock, Mutex, OnceLock, PoisonError};

use calib_host::input::{TableNote, TableOptions};
use clap::{Arg, ArgAction, ArgMatches, Command};
use serde_json::{Value, json};

use crate::cli::out::stderr;

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

/// What was told of tables.
static TOLD: LazyLock<Mutex<Told>> = LazyLock::new(Mutex::default);

#[derive(Default)]
struct Told {
    notes: Vec<TableNote>,
    is_quiet: bool,
    leaves_out: bool,
}

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
    let mut told = told();
    (told.is_quiet, told.leaves_out) = (is_quiet, leaves_out);
}

/// How tables are read.
pub(super) fn options() -> &'static Arc<TableOptions> {
    OPTIONS.get_or_init(Arc::default)
}

/// The options again, for a command that reads the same table.
pub(super) fn arguments() -> Vec<String> {
    let options = options();
    let positive =
        options.positive_label.iter().flat_map(|label| ["--positive-label".to_owned(), label.clone()]);
    positive.chain((!options.complete.is_empty()).then(|| "--drop-missing".to_owned())).collect()
}

fn told() -> std::sync::MutexGuard<'static, Told> {
    TOLD.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Tells it on standard error, once.
fn tell(note: &TableNote) {
    let mut told = told();
    if told.notes.contains(note) {
        return;
    }
    told.notes.push(note.clone());
    if !told.is_quiet {
        // Nothing is left to be told when standard error is closed.
        let _ = writeln!(stderr(), "note: {note}");
    }
}

/// What was left out of tables, in sentences.
pub(super) fn left_out() -> Vec<String> {
    let is_left_out = |note: &&TableNote| matches!(note, TableNote::LeftOut { .. });
    told().notes.iter().filter(is_left_out).map(|note| format!("{note}.")).collect()
}

/// Adds what was told to the object that a command prints, if anything was.
pub(super) fn add_to(value: &mut Value) {
    let told = told();
    let Some(object) = value.as_object_mut() else { return };
    if told.leaves_out {
        let left_out = told.notes.iter().filter_map(|note| match note {
            TableNote::LeftOut { file, rows, of } => Some(json!({"file": file, "rows": rows, "of": of})),
            _ => None,
        });
        object.insert("left_out".into(), left_out.collect());
    }
    if !told.notes.is_empty() {
        object.insert("notes".into(), told.notes.iter().map(ToString::to_string).collect());
    }
}

/// Whether something is to be added.
pub(super) fn has_told() -> bool {
    let told = told();
    told.leaves_out || !told.notes.is_empty()
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use clap::CommandFactory;

    use super::*;
    use crate::cli::Cli;

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
