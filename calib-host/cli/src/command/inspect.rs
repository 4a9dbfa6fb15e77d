//! `calib inspect`

use std::path::PathBuf;

use calib_io::files::read_artifact;
use clap::Args;

use crate::context::Context;
use crate::error::Error;
use crate::next::{Given, Suggestion, UNSEEN};
use crate::options::headings::OUTPUT;
use crate::run::Run;
use crate::show::{Warnings, artifact_json, print_artifact, print_screen};

/// Check an artifact and show its content.
#[derive(Args)]
pub(crate) struct Inspect {
    /// Artifact.
    artifact: PathBuf,
    /// Print all tables, assumptions and limits in full, and hashes.
    #[arg(long, conflicts_with = "json", help_heading = OUTPUT)]
    all: bool,
    /// Print JSON on standard output.
    #[arg(long, help_heading = OUTPUT)]
    json: bool,
}

impl Run for Inspect {
    fn run(self, cx: &Context) -> Result<(), Error> {
        let stored = read_artifact(&self.artifact)?;
        let warnings = Warnings::of_artifact(&stored.artifact());
        warnings.print(cx)?;
        if self.json {
            let mut value = artifact_json(&stored);
            warnings.add_to(&mut value);
            return cx.print_json(&value);
        }
        let print = if self.all { print_artifact } else { print_screen };
        Ok(print(&self.artifact, &stored, &mut cx.stdout())?)
    }

    fn next(given: &Given<'_>, _: &Context) -> Option<Suggestion> {
        Some((given.judged_by_rows()?, UNSEEN.into()))
    }
}
