//! `calib inspect`

use std::path::PathBuf;

use calib_io::files::read_artifact;
use clap::Args;

use crate::error::Error;
use crate::out::{print_json, stdout};
use crate::show::{Warnings, artifact_json, print_artifact};

/// Check an artefact and show what it holds.
#[derive(Args)]
pub(crate) struct Inspect {
    /// The artefact.
    artifact: PathBuf,
    /// Print JSON on standard output.
    #[arg(long)]
    json: bool,
}

impl Inspect {
    pub(crate) fn run(self) -> Result<(), Error> {
        let stored = read_artifact(&self.artifact)?;
        let warnings = Warnings::of_artifact(&stored.artifact());
        warnings.print()?;
        if self.json {
            let mut value = artifact_json(&stored);
            warnings.add_to(&mut value);
            return print_json(&value);
        }
        Ok(print_artifact(&self.artifact, &stored, &mut stdout())?)
    }
}
