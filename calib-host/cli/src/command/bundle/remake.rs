//! Making the report of a bundle, also again.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use calib_fit::StoredArtifact;
use calib_io::report::Report;
use clap::FromArgMatches;

use super::recipe::file_name;
use crate::command::report::ReportArgs;
use crate::context::Context;
use crate::error::Error;
use crate::read::NamedArtifact;

/// The files of a report, by the option that names each.
pub(super) type Inputs = BTreeMap<String, PathBuf>;

/// A report with the numbers of its calibration and test rows.
pub(super) struct Remade {
    pub(super) report: Report,
    pub(super) rows: [u64; 2],
}

/// Does what the words of a recipe say, with these files.
pub(super) fn remade(
    words: &[String],
    artifact: &StoredArtifact,
    inputs: &Inputs,
    cx: &Context,
) -> Result<Remade, Error> {
    let no_recipe =
        |why: String| Error::Usage(format!("the command of the claims is none of a report: {why}"));
    let matches = cx.program.clone().try_get_matches_from(words);
    let matches = matches.map_err(|cause| no_recipe(cause.kind().to_string()))?;
    let Some(("report", given)) = matches.subcommand() else {
        return Err(no_recipe("it starts otherwise".into()));
    };
    let mut asked =
        ReportArgs::from_arg_matches(given).map_err(|cause| no_recipe(cause.kind().to_string()))?;
    let names: BTreeMap<PathBuf, String> = asked
        .inputs()
        .filter_map(|(option, name)| Some((inputs.get(option)?.clone(), file_name(name))))
        .collect();
    asked.place(inputs).map_err(no_recipe)?;
    let within = Context::new(cx.program.clone(), words.iter().map(Into::into).collect(), true, given);
    let name = |path: &Path| names.get(path).cloned().unwrap_or_else(|| file_name(path));
    let artifact =
        NamedArtifact { path: Path::new("artifact.cal"), stored: artifact.clone(), seed: asked.data.seed };
    let (report, rows) = asked.report(&artifact, &name, within.command_line(), &within)?;
    Ok(Remade { report, rows })
}
