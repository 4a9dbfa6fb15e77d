//! The command that makes the report of a bundle again, wherever its files are.

use std::path::{Path, PathBuf};

use clap::parser::ValueSource;

use crate::context::Context;
use crate::dash::option;

/// What a report has that a bundle has not.
const NOT_ASKED: [&str; 8] =
    ["artifact", "output", "force", "json", "help", "quiet", "color", "fail_on_warning"];

/// The words of `calib report` with the options of this command line: files without their folders, in the order of the help.
pub(super) fn recipe(cx: &Context) -> Vec<String> {
    let mut recipe = ["calib", "report", "artifact.cal"].map(str::to_owned).to_vec();
    let all = std::iter::once("calib".into()).chain(cx.words().map(|word| word.into_owned()));
    let matches = cx.program.clone().try_get_matches_from(all.collect::<Vec<String>>());
    let matches = matches.expect("these words were parsed before");
    let report = cx.program.find_subcommand("report").expect("it is a command");
    let Some((_, given)) = matches.subcommand() else { return recipe };
    for arg in report.get_arguments() {
        let id = arg.get_id().as_str();
        let is_asked = !NOT_ASKED.contains(&id) && given.try_contains_id(id).unwrap_or(false);
        let Some(name) = arg.get_long().filter(|_| is_asked) else { continue };
        if given.value_source(id) != Some(ValueSource::CommandLine) {
            continue;
        }
        let name = format!("--{name}");
        if !arg.get_action().takes_values() {
            recipe.push(name);
            continue;
        }
        let is_path = given.try_get_many::<PathBuf>(id).is_ok();
        for value in given.get_raw(id).into_iter().flatten() {
            let value =
                if is_path { file_name(Path::new(value)) } else { value.to_string_lossy().into_owned() };
            recipe.extend(option(&name, value));
        }
    }
    recipe.push("--json".into());
    recipe
}

/// A file's name without its folder.
pub(super) fn file_name(path: &Path) -> String {
    path.file_name().unwrap_or(path.as_os_str()).to_string_lossy().into_owned()
}
