//! What holds of the help of every command.

use std::collections::BTreeSet;

use clap::{Arg, Command, CommandFactory};

use super::{examples, laid_out, listing, topics};
use crate::{Cli, tables};

/// A terminal's width.
const COLUMNS: usize = 80;
/// And its height.
const LINES: usize = 24;

fn program() -> Command {
    laid_out(tables::with_options(Cli::command()))
}

fn commands() -> impl Iterator<Item = Command> {
    let all: Vec<Command> = program().get_subcommands().cloned().collect();
    all.into_iter().filter(|command| command.get_name() != "help" && !topics::is_one(command.get_name()))
}

/// What the commands themselves print, in a terminal of that width.
fn help(command: &Command) -> [String; 2] {
    let mut command = command.clone().term_width(COLUMNS);
    [command.render_help().to_string(), command.render_long_help().to_string()]
}

/// So that whatever is right without the layout is right with it, and the other way around.
#[test]
fn layout_changes_no_argument() {
    let of = |program: Command| {
        let of_command = |command: &Command| {
            let of_arg = |arg: &Arg| {
                let names = (arg.get_id().to_string(), arg.get_long().map(str::to_owned), arg.get_short());
                (names, arg.is_required_set(), arg.get_num_args(), format!("{:?}", arg.get_action()))
            };
            let args = command.get_arguments().map(of_arg).collect::<Vec<_>>();
            (command.get_name().to_owned(), args)
        };
        program.get_subcommands().map(of_command).collect::<Vec<_>>()
    };
    let mut plain = tables::with_options(Cli::command());
    let laid_out = laid_out(plain.clone());
    plain.build();
    assert_eq!(of(plain), of(laid_out));
}

#[test]
fn no_line_of_help_is_wider_than_a_terminal() {
    let all = program().get_subcommands().cloned().chain([program()]).collect::<Vec<_>>();
    for command in all {
        for text in help(&command) {
            let long: Vec<&str> = text.lines().filter(|line| line.chars().count() > COLUMNS).collect();
            assert!(long.is_empty(), "{}: {long:#?}", command.get_name());
        }
    }
}

#[test]
fn the_short_help_of_fit_fits_on_a_screen() {
    let fit = program().find_subcommand("fit").unwrap().clone();
    let [short, _] = help(&fit);
    assert!(short.trim_end().lines().count() <= LINES, "{short}");
    for option in ["[FILE]", "--method", "--bins", "--alpha", "--output"] {
        assert!(short.contains(option), "{option}: {short}");
    }
}

#[test]
fn the_short_help_of_every_command_fits_on_a_large_screen() {
    let too_long: Vec<(String, usize)> = commands()
        .map(|command| (command.get_name().to_owned(), help(&command)[0].trim_end().lines().count()))
        .filter(|(_, lines)| *lines > 40)
        .collect();
    assert!(too_long.is_empty(), "{too_long:?}");
    for command in commands() {
        let [short, _] = help(&command);
        assert!(short.contains("\nExample: calib "), "{short}");
    }
}

#[test]
fn every_option_has_a_group() {
    for command in commands() {
        let options = command.get_opts().chain(command.get_arguments().filter(|arg| !arg.is_positional()));
        for arg in options.filter(|arg| !arg.is_hide_set()) {
            let (name, id) = (command.get_name(), arg.get_id());
            assert!(
                arg.get_help_heading().is_some(),
                "--{id} of {name} has no group: give it a `help_heading` where it is declared"
            );
        }
    }
}

#[test]
fn every_command_has_its_place_and_an_example() {
    let listed: Vec<&str> = listing::COMMANDS.iter().flat_map(|(_, names)| names.iter().copied()).collect();
    assert_eq!(listed.iter().collect::<BTreeSet<_>>().len(), listed.len(), "a command is listed twice");
    for command in program().get_subcommands() {
        assert!(listed.contains(&command.get_name()), "{} is not listed", command.get_name());
    }
    for command in commands() {
        let name = command.get_name();
        let start = format!("\n  calib {name}");
        assert!(examples::long(name).contains(&start), "{name} has no example");
        let [short, long] = help(&command);
        assert!(
            long.contains("Exit codes:") && long.contains("\n  # ") && !short.contains("\n  # "),
            "{long}"
        );
    }
}

/// A page of the manual as it reads: without what it says about type and paragraphs.
fn read(page: &str) -> String {
    let plain =
        ["\\fB", "\\fI", "\\fR", "\\&"].iter().fold(page.to_owned(), |text, code| text.replace(code, ""));
    let plain = plain.replace("\\*(Aq", "'").replace('\\', "");
    let lines = plain.lines().filter(|line| !line.starts_with('.'));
    lines.flat_map(str::split_whitespace).collect::<Vec<_>>().join(" ")
}

#[test]
fn the_manual_has_every_option_with_its_help() {
    for command in commands().chain([program()]) {
        let page = String::from_utf8(super::pages::manual(command.clone()).unwrap()).unwrap();
        let page = read(&page);
        for arg in command.get_arguments().filter(|arg| !arg.is_hide_set()) {
            let (name, id) = (command.get_name(), arg.get_id());
            if let Some(long) = arg.get_long() {
                assert!(page.contains(&format!("--{long}")), "--{long} of {name} is not on its page");
            }
            let help = arg.get_long_help().or(arg.get_help()).expect("every option has help").to_string();
            for paragraph in help.split("\n").filter(|line| !line.trim().is_empty()) {
                let words = paragraph.split_whitespace().collect::<Vec<_>>().join(" ");
                assert!(page.contains(&words), "{id} of {name} lacks {words:?} on its page: {page}");
            }
        }
    }
}

#[test]
fn the_first_help_has_what_holds_for_all_commands() {
    for text in help(&program()) {
        for option in ["--quiet", "--fail-on-warning", "--color", "--version"] {
            let is_listed = text.split_whitespace().any(|word| word == option);
            assert!(is_listed, "{option}: {text}");
        }
    }
}

#[test]
fn a_usage_is_broken_between_arguments() {
    let usage = "calib fit [OPTIONS] --output <FILE> <--scores <FILE>|--probs <FILE>>";
    let lines = super::wrapped(usage, 50);
    let lines: Vec<&str> = lines.lines().map(str::trim).collect();
    assert_eq!(lines, ["calib fit [OPTIONS] --output <FILE>", "<--scores <FILE>|--probs <FILE>>"]);
    assert_eq!(super::wrapped("calib inspect <ARTIFACT>", 50), "calib inspect <ARTIFACT>");
}
