//! The options that say how tables are read, which all commands take that read rows.

use calib_io::input::{TableNote, TableOptions, Tell};
use clap::{Arg, ArgAction, ArgMatches, Command};

use crate::dash::option;

const POSITIVE_LABEL: &str = "positive_label";
const DROP_MISSING: &str = "drop_missing";
const CLASS_COLUMN: &str = "class_column";

/// The columns without which a row is of no use. That a row has no probability says that it is uncalibrated.
const NEEDED: [&str; 5] = ["score_column", "label_column", "cluster_column", "group_column", "weight_column"];

/// Adds the options to every command that reads rows: to those with a column of scores.
pub(super) fn with_options(program: Command) -> Command {
    program.mut_subcommands(|command| {
        let has = |ids: &[&str]| command.get_arguments().any(|arg| ids.contains(&arg.get_id().as_str()));
        let has_labels = has(&["labels", "label_column", "test_labels"]);
        match (has(&["score_column"]), has_labels) {
            (false, _) => command,
            (true, false) => command.arg(drop_missing()),
            // A predicted class is compared with the label itself.
            (true, true) if has(&[CLASS_COLUMN]) => {
                command.arg(drop_missing()).arg(positive_label().conflicts_with(CLASS_COLUMN))
            }
            (true, true) => command.arg(drop_missing()).arg(positive_label()),
        }
    })
}

fn positive_label() -> Arg {
    Arg::new(POSITIVE_LABEL)
        .long("positive-label")
        .value_name("LABEL")
        .allow_hyphen_values(true)
        .help_heading("What rows are")
        .hide_short_help(true)
        .help("Label that is class 1, if labels are not 0 and 1")
        .long_help(
            "Label that is class 1, if labels are not 0 and 1. Examples are 2 of 1 and 2, 1 of -1 and 1, or case of case and control. \
             The other label is class 0; a third label is an error",
        )
}

fn drop_missing() -> Arg {
    Arg::new(DROP_MISSING)
        .long("drop-missing")
        .action(ArgAction::SetTrue)
        .help_heading("What rows are")
        .hide_short_help(true)
        .help("Leave out rows that lack a score or a label")
        .long_help(
            "Leave out rows that lack a score or a label, or a value in another column that the command reads: where it is empty, NaN, NA, \
             null or the like. calib reports how many",
        )
}

/// How tables are read, as a command line says.
pub(super) fn options(given: &ArgMatches, tell: impl Fn(&TableNote) + Send + Sync + 'static) -> TableOptions {
    let text = |id: &str| given.try_get_one::<String>(id).ok().flatten().cloned();
    let leaves_out = given.try_get_one::<bool>(DROP_MISSING).ok().flatten().is_some_and(|drop| *drop);
    let counts = given.try_get_one::<(String, String)>("count_columns").ok().flatten();
    let counts = counts.into_iter().flat_map(|(counts, positives)| [counts.clone(), positives.clone()]);
    let complete = NEEDED.into_iter().filter_map(text).chain(counts).filter(|_| leaves_out).collect();
    let positive_label = text(POSITIVE_LABEL).map(|label| label.trim().to_owned());
    TableOptions { guess: true, positive_label, complete, tell: Some(Tell::new(tell)) }
}

/// The options again, for a command that reads the same table.
pub(crate) fn arguments(options: &TableOptions) -> Vec<String> {
    let positive = options.positive_label.iter().flat_map(|label| option("--positive-label", label.clone()));
    positive.chain((!options.complete.is_empty()).then(|| "--drop-missing".to_owned())).collect()
}
