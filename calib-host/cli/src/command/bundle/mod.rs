//! `calib bundle`

mod check;
mod make;
mod recipe;
mod remake;

use std::io::Write;
use std::path::PathBuf;

use calib_io::protocol;
use clap::error::Error as ClapError;
use clap::{Arg, ArgAction, ArgMatches, Args, Command, FromArgMatches};

use self::check::CheckBundle;
use self::make::MakeBundle;
use crate::context::Context;
use crate::error::Error;
use crate::next::{Given, Suggestion, on, words};
use crate::options::headings::OUTPUT;
use crate::run::Run;

/// The options that stand for another command: what makes a bundle is not asked beside them.
const CHECK: &str = "check";
const STARTER: &str = "starter";

/// The options that the short help of `calib report` has.
const OF_A_REPORT: [&str; 7] = [
    "calibration_labels",
    "cluster_column",
    "label_column",
    "logits",
    "probs",
    "score_column",
    "test_labels",
];

/// A bundle to be made, or to be checked, or a protocol to begin with.
pub(crate) enum BundleCommand {
    Make(Box<MakeBundle>),
    Check(CheckBundle),
    Starter,
}

impl FromArgMatches for BundleCommand {
    fn from_arg_matches(given: &ArgMatches) -> Result<Self, ClapError> {
        match given.get_one::<PathBuf>(CHECK) {
            _ if given.get_flag(STARTER) => Ok(Self::Starter),
            Some(_) => {
                let mut check = CheckBundle::from_arg_matches(given)?;
                (check.key, check.json) = (given.get_one("key").cloned(), given.get_flag("json"));
                Ok(Self::Check(check))
            }
            None => MakeBundle::from_arg_matches(given).map(|make| Self::Make(Box::new(make))),
        }
    }

    fn update_from_arg_matches(&mut self, given: &ArgMatches) -> Result<(), ClapError> {
        *self = Self::from_arg_matches(given)?;
        Ok(())
    }
}

impl Args for BundleCommand {
    fn augment_args(command: Command) -> Command {
        let make = MakeBundle::augment_args(Command::new("make"));
        let made_of: Vec<_> = make.get_arguments().map(|arg| arg.get_id().clone()).collect();
        let command = MakeBundle::augment_args(CheckBundle::augment_args(command));
        let starter = Arg::new(STARTER)
            .long(STARTER)
            .action(ArgAction::SetTrue)
            .help_heading(OUTPUT)
            .help("Print a protocol to begin with, and nothing else: TOML with a comment on every key");
        // What makes a bundle and what checks one read the owner's key, and answer in JSON.
        let besides_check = made_of.iter().filter(|id| !["key", "json"].contains(&id.as_str()));
        let besides_check: Vec<_> = besides_check.cloned().collect();
        command.arg(starter.conflicts_with_all(made_of)).mut_args(|arg| {
            let arg =
                if OF_A_REPORT.contains(&arg.get_id().as_str()) { arg.hide_short_help(true) } else { arg };
            match (arg.get_id().as_str(), arg.is_required_set()) {
                (CHECK, _) => arg.required(false).conflicts_with_all(besides_check.clone()),
                (_, true) => arg.required(false).required_unless_present_any([CHECK, STARTER]),
                _ => arg,
            }
        })
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

impl Run for BundleCommand {
    const AT_WORK: Option<&str> = Some("making or checking the bundle");
    const NOT_STREAMED: Option<&str> = Some("a bundle is a folder: give -o its name");
    const TELLS: bool = true;

    fn run(self, cx: &Context) -> Result<(), Error> {
        match self {
            Self::Make(make) => make.run(cx),
            Self::Check(check) => check.run(cx),
            Self::Starter => Ok(cx.stdout().write_all(protocol::STARTER.as_bytes())?),
        }
    }

    fn next(given: &Given<'_>, _: &Context) -> Option<Suggestion> {
        let check = on("calib bundle --check", given.text("output")?);
        let public = format!("{}.pub", given.text("key")?);
        let rows = ["calibration", "calibration_labels", "test", "test_labels", "test_clusters", "actions"];
        let rows = rows.iter().filter_map(|id| given.text(id));
        let line = check.into_iter().chain(["--key".into(), public]).chain(words("--rows")).chain(rows);
        Some((
            line.collect(),
            "as a reviewer does, with the rows; without --rows, calib checks all but them".into(),
        ))
    }
}
