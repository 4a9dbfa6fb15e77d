//! That no output replaces an input, that its name says what it will hold, and that standard output has one thing on it.

use std::path::PathBuf;

use calib_io::files::check_output;
use clap::ArgMatches;

use crate::error::Error;
use crate::kinds::FileKind;
use crate::out::is_standard_output;
use crate::run::Run;

/// The options that name outputs; every other path is an input.
const OUTPUTS: [&str; 6] = ["output", "svg", "html", "csv", "starter", "archive"];

/// Refuses a command that would write where it reads, or two things on standard output, whatever the command.
pub(crate) fn check<C: Run>(matches: &ArgMatches) -> Result<(), Error> {
    let paths = |wanted: &dyn Fn(&str) -> bool| {
        let ids = matches.ids().filter(|id| wanted(id.as_str()));
        // What is no path has another type.
        let paths =
            ids.filter_map(|id| matches.try_get_many::<PathBuf>(id.as_str()).ok().flatten()).flatten();
        paths.collect::<Vec<_>>()
    };
    let inputs = paths(&|id| !OUTPUTS.contains(&id));
    paths(&|id| OUTPUTS.contains(&id)).iter().try_for_each(|output| check_output(output, &inputs))?;
    for id in OUTPUTS {
        let kind = kind::<C>(id);
        paths(&|other| other == id)
            .into_iter()
            .filter(|path| !is_standard_output(path))
            .try_for_each(|path| kind.map_or(Ok(()), |kind| kind.check(path)))?;
    }
    let is_streamed = |id: &str| paths(&|other| other == id).iter().any(|path| is_standard_output(path));
    let is_json = matches.try_get_one::<bool>("json").ok().flatten().is_some_and(|json| *json);
    let beside_answer = ["svg", "html", "csv"].into_iter().find(|id| is_streamed(id));
    let refused = match (beside_answer, is_streamed("output"), C::NOT_STREAMED) {
        (Some(id), ..) => {
            format!("standard output has the answer of the command: give --{id} the name of a file")
        }
        (None, true, Some(why)) => why.into(),
        (None, true, None) if is_json => {
            "-o - and --json both write on standard output: leave one of them out".into()
        }
        _ => return Ok(()),
    };
    Err(Error::Usage(refused))
}

/// What a command writes there, if it is always the same kind.
fn kind<C: Run>(option: &str) -> Option<FileKind> {
    match option {
        "output" => C::OUTPUT,
        "html" => Some(FileKind::Page),
        "svg" => Some(FileKind::Svg),
        _ => None,
    }
}
