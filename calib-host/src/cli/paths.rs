//! That no output replaces an input.

use std::path::PathBuf;

use calib_host::files::check_output;
use clap::ArgMatches;

use crate::cli::error::Error;

/// The options that name outputs; every other path is an input.
const OUTPUTS: [&str; 3] = ["output", "svg", "csv"];

/// Refuses a command that would write where it reads, whatever the command.
pub(super) fn check(matches: &ArgMatches) -> Result<(), Error> {
    let paths = |outputs: bool| {
        let ids = matches.ids().filter(move |id| OUTPUTS.contains(&id.as_str()) == outputs);
        // What is no path has another type.
        ids.filter_map(|id| matches.try_get_many::<PathBuf>(id.as_str()).ok().flatten()).flatten()
    };
    paths(true).try_for_each(|output| Ok(check_output(output, paths(false))?))
}
