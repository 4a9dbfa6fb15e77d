//! The options of a fit to what a database counted.

use std::path::{Path, PathBuf};

use clap::Args;

use super::headings::DATA;

/// The tables of two passes.
#[derive(Args)]
#[command(next_help_heading = DATA)]
pub(crate) struct PassOptions {
    /// Counts from a database: the answer to pass 1, and the answer to pass 2 if pass 1 left anything open.
    ///
    /// `calib sql` prints the queries of both passes. The fit is that of all rows.
    #[arg(long, value_name = "FILE", num_args = 1..=2, group = "ScoreSource", hide_short_help = true)]
    passes: Vec<PathBuf>,
}

impl PassOptions {
    /// The table of the first pass.
    pub(crate) fn first(&self) -> Option<&Path> {
        self.passes.first().map(PathBuf::as_path)
    }

    /// The table of the second pass, which is not needed where the first left nothing open.
    pub(crate) fn second(&self) -> Option<&Path> {
        self.passes.get(1).map(PathBuf::as_path)
    }
}
